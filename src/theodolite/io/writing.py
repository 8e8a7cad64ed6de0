"""Writing files so that nothing is lost, half-written or overwritten unasked.

Every output is written to a part file beside its target, brought to the disk, and only then given
its name, in one step that fails if the name was taken meanwhile. A writer holds a lock on its part
file; one without a lock belongs to a writer that died, and the next writer removes it.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path

from theodolite.errors import InputError
from theodolite.io.reading import reason

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:  # pragma: no cover - Windows, where an open file cannot be removed anyway
    flock = None  # type: ignore[assignment]

_PART = ".theodolite-{}.part"


def check_writable(path: Path, *, force: bool) -> None:
    """Refuse, before any work is done, an output that exists or has nowhere to go."""
    if exists(path) and path.is_dir():
        raise InputError("is a folder, not a file", where=str(path))
    if exists(path) and not path.is_file():
        raise InputError("is not an ordinary file", where=str(path))
    if os.path.lexists(path) and not force:
        raise _taken(path)
    if not exists(path.parent) or not path.parent.is_dir():
        raise InputError("its folder does not exist", where=str(path), remedy="Make it first")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise InputError("its folder cannot be written to", where=str(path))
    _remove_orphans(path.parent)


def check_outputs(
    paths: Iterable[Path | None], *, force: bool, inputs: Iterable[Path] = ()
) -> None:
    """The same for several outputs, no two of which are one file, nor an input."""
    taken = [resolved(path) for path in inputs]
    for path in paths:
        if path is None:
            continue
        check_writable(path, force=force)
        if resolved(path) in taken:
            raise InputError(
                "is already an input or another output", where=str(path), remedy="Choose another"
            )
        taken.append(resolved(path))


def make_folder(folder: Path, *, empty: bool = False, inputs: Iterable[Path] = ()) -> None:
    """Make a folder to write into, or say why it cannot be one.

    With ``empty``, refuse one that holds anything; ``inputs`` are folders that are read.
    """
    try:
        if any(folder.resolve() == other.resolve() for other in inputs):
            raise InputError("is a folder to read from", where=str(folder))
        if empty and folder.is_dir() and any(folder.iterdir()):
            raise InputError(
                "is not empty", where=str(folder), remedy="Choose another folder, or overwrite"
            )
        folder.mkdir(parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK | os.X_OK)
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(
            f"is not a folder that can be written to: {reason(error)}", where=str(folder)
        ) from error
    if not writable:
        raise InputError("cannot be written to", where=str(folder))


def exists(path: Path) -> bool:
    """Is there such a file? Names that no file can have are refused."""
    try:
        path.stat()
        return True
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be accessed: {reason(error)}", where=str(path)) from error


def resolved(path: Path) -> Path:
    """The file that a name stands for, links followed."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError("it is a broken symbolic link", where=str(path)) from error


@contextlib.contextmanager
def writing(path: Path, *, force: bool = False) -> Iterator[Path]:
    """A part file to write to, which becomes ``path`` when all went well, and vanishes otherwise.

    The part file exists and is empty. It has another suffix than ``path``.
    """
    check_writable(path, force=force)
    # A link is written through, not replaced.
    target = resolved(path)
    try:
        part, handle = _part_in(target.parent)
    except OSError as error:
        raise InputError(f"cannot be written: {reason(error)}", where=str(path)) from error
    try:
        yield part
        if force and target.exists():
            part.chmod(target.stat().st_mode & 0o777)
        os.fsync(handle)
        _give_name(part, target, force=force)
        _sync_folder(target.parent)
    except FileExistsError as error:
        raise _taken(path) from error
    except OSError as error:
        raise InputError(f"cannot be written: {reason(error)}", where=str(path)) from error
    finally:
        # Gone already where it was renamed.
        part.unlink(missing_ok=True)
        os.close(handle)


def write_bytes(path: Path, content: bytes, *, force: bool = False) -> None:
    """Write a whole file or none."""
    with writing(path, force=force) as part, part.open("r+b") as stream:
        stream.write(content)


def write_text(path: Path, text: str, *, force: bool = False) -> None:
    """Write a whole file of text or none; characters that no file can hold become ``?``."""
    write_bytes(path, text.encode("utf-8", errors="replace"), force=force)


def _taken(path: Path) -> InputError:
    return InputError(
        "exists already",
        where=str(path),
        remedy="Choose another name, or allow overwriting",
    )


def _part_in(folder: Path) -> tuple[Path, int]:
    """A new part file, locked by the handle that is returned."""
    while True:
        part = folder / _PART.format(secrets.token_hex(8))
        handle = os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
        # Another writer may take it for an orphan before it is locked; then there is another.
        if _lock(handle) and os.fstat(handle).st_nlink:
            return part, handle
        os.close(handle)
        part.unlink(missing_ok=True)


def _lock(handle: int) -> bool:
    """Lock a part file, unless somebody else has."""
    if flock is None:  # pragma: no cover
        return True
    try:
        flock(handle, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # A file system without locks: nothing is ever taken for an orphan there.
        return True
    return True


def _remove_orphans(folder: Path) -> None:
    """Remove part files whose writers died. What cannot be removed is no trouble."""
    with contextlib.suppress(OSError):
        for part in folder.glob(_PART.format("*")):
            with contextlib.suppress(OSError):
                _remove_orphan(part)


def _remove_orphan(part: Path) -> None:
    handle = os.open(part, os.O_RDWR)
    try:
        if flock is not None:
            flock(handle, LOCK_EX | LOCK_NB)
            part.unlink()
    finally:
        os.close(handle)


def _give_name(part: Path, target: Path, *, force: bool) -> None:
    """Rename in one step; without ``force``, only if the name is free."""
    if force:
        part.replace(target)
        return
    try:
        os.link(part, target)
    except FileExistsError:
        raise
    except OSError:
        # No hard links here: take the name first, then fill it.
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        try:
            part.replace(target)
        except BaseException:
            target.unlink(missing_ok=True)
            raise


def _sync_folder(folder: Path) -> None:
    """Bring the name to the disk too, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
