"""Writing files so that nothing is lost or half-written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from theodolite.errors import InputError


def check_writable(path: Path, *, force: bool) -> None:
    """Refuse, before any work is done, an output that exists or has nowhere to go."""
    if exists(path) and path.is_dir():
        raise InputError("is a folder, not a file", where=str(path))
    if exists(path) and not path.is_file():
        raise InputError("is no ordinary file", where=str(path))
    if os.path.lexists(path) and not force:
        raise InputError(
            "exists already", where=str(path), remedy="Choose another name or add --force"
        )
    if not path.parent.is_dir():
        raise InputError("its folder does not exist", where=str(path), remedy="Make it first")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise InputError("its folder cannot be written to", where=str(path))


def check_outputs(
    paths: Iterable[Path | None], *, force: bool, inputs: Iterable[Path] = ()
) -> None:
    """The same for several outputs, no two of which are one file, nor an input."""
    taken = [path.resolve() for path in inputs]
    for path in paths:
        if path is None:
            continue
        check_writable(path, force=force)
        if path.resolve() in taken:
            raise InputError(
                "is already an input or another output", where=str(path), remedy="Choose another"
            )
        taken.append(path.resolve())


def exists(path: Path) -> bool:
    """Is there such a file? Names that no file can have are refused."""
    try:
        return path.exists()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot be looked at: {reason}", where=f"{str(path)[:80]}") from error


def write_text(path: Path, text: str, *, force: bool = False) -> None:
    """Write beside the target and rename, so that the file is there whole or not at all."""
    check_writable(path, force=force)
    # A link is written through, not replaced.
    path = path.resolve()
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
    except OSError as error:
        Path(name).unlink(missing_ok=True)
        raise InputError(f"cannot be written: {error.strerror}", where=str(path)) from error
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
