"""Writing files so that nothing is lost or half-written."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from theodolite.errors import InputError


def check_writable(path: Path, *, force: bool) -> None:
    """Refuse, before any work is done, an output that exists or has nowhere to go."""
    if path.is_dir():
        raise InputError("is a folder, not a file", where=str(path))
    if path.exists() and not force:
        raise InputError(
            "exists already", where=str(path), remedy="Choose another name or add --force"
        )
    if not path.parent.is_dir():
        raise InputError("its folder does not exist", where=str(path), remedy="Make it first")


def write_text(path: Path, text: str, *, force: bool = False) -> None:
    """Write beside the target and rename, so that the file is there whole or not at all."""
    check_writable(path, force=force)
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", where=str(path)) from error
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def read_text(path: Path) -> str:
    """The text of a file, or a clear reason why there is none."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise InputError("there is no such file", where=str(path)) from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"is not text (byte {error.start} is not UTF-8)", where=str(path)
        ) from error
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from error
