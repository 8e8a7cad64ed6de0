"""OpenCV, which only pictures need."""

from __future__ import annotations

from typing import Any

from theodolite.errors import MissingExtraError


def opencv() -> Any:
    """The library, or what to install."""
    try:
        import cv2
    except ImportError as error:
        raise MissingExtraError("reading pictures", "vision") from error
    return cv2
