"""OpenCV, which only pictures need."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from theodolite.errors import MissingExtraError


def opencv() -> Any:
    """The library, or what to install."""
    try:
        import cv2
    except ImportError as error:
        raise MissingExtraError("reading pictures", "vision") from error
    return cv2


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Decoders of damaged pictures write to standard error by themselves: not here.

    What is wrong with a picture is said by us, in one line and with its name.
    """
    try:
        kept = os.dup(2)
    except OSError:
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
