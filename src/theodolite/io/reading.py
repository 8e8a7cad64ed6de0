"""Reading files of any origin: never more than a bounded part, and text in the usual encodings."""

from __future__ import annotations

import codecs
import os
import stat
from pathlib import Path

from theodolite.errors import InputError

#: Few instruments record more at a time; as cells it takes eight times as much memory.
LARGEST_FILE = 1 << 28
#: Files that people write are smaller.
WRITTEN_BY_HAND = 1 << 22
#: Byte order marks, the longer ones first: that of UTF-16 begins that of UTF-32.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
#: Bytes that stand in no text, whatever its encoding.
_CONTROLS = frozenset(range(32)) - frozenset(b"\t\n\v\f\r")


def read_bytes(path: Path, *, limit: int = LARGEST_FILE) -> bytes:
    """The content of a file or pipe, or a clear reason why there is none."""
    try:
        with path.open("rb") as stream:
            found = os.fstat(stream.fileno())
            if not stat.S_ISREG(found.st_mode) and not stat.S_ISFIFO(found.st_mode):
                raise InputError("is not an ordinary file", where=str(path))
            # A pipe has no size; it is read no further than a file would be.
            content = stream.read(limit + 1) if found.st_size <= limit else None
    except FileNotFoundError as error:
        raise InputError("there is no such file", where=str(path)) from error
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {reason(error)}", where=str(path)) from error
    if content is None or len(content) > limit:
        raise InputError(
            "is too large",
            where=str(path),
            allowed=f"up to {limit >> 20} MB",
            remedy="Split it into several files",
        )
    return content


def is_folder(path: Path) -> bool:
    """Is it a folder? What cannot be looked at is none; reading it then says why."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def is_file(path: Path) -> bool:
    """Is it a file? What cannot be looked at is none; reading it then says why."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def read_text(path: Path, *, limit: int = LARGEST_FILE, foreign: bool = False) -> str:
    """The text of a file in UTF-8 or, if its byte order mark or its zeros say so, in UTF-16.

    With ``foreign``, other text is taken for what Windows programs of western Europe write.
    """
    content = read_bytes(path, limit=limit)
    encoding, start = _encoding(content)
    try:
        return content[start:].decode(encoding)
    except UnicodeDecodeError as error:
        if foreign and encoding == "utf-8" and not _CONTROLS.intersection(content):
            return content.decode("cp1252", errors="replace")
        raise InputError(
            f"is not text (byte {start + error.start} is not {encoding.upper()})",
            where=str(path),
            remedy="Save it as UTF-8",
        ) from error


def reason(error: Exception) -> str:
    """Why the system refused, in its words."""
    return getattr(error, "strerror", None) or str(error)


def _encoding(content: bytes) -> tuple[str, int]:
    """Encoding of a text and where it starts, behind its mark."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return encoding, len(mark)
    # Without a mark, text in UTF-16 shows by the zero in every other byte of its first letters.
    first = content[:64]
    if len(first) >= 4 and len(first) % 2 == 0:
        if not any(first[1::2]) and all(first[0::2]):
            return "utf-16-le", 0
        if not any(first[0::2]) and all(first[1::2]):
            return "utf-16-be", 0
    return "utf-8", 0
