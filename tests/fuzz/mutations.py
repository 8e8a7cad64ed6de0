"""Small damage to files and command lines, all drawn from one generator."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

#: What stands in files of people with bad luck or bad intentions.
NASTY = [
    *(b"", b" ", b"0", b"-0", b"-1", b"1e308", b"-1e308", b"1e-308", b"1e400", b"1e12", b"9e11"),
    *(b"nan", b"inf", b"-inf", b"1_000", b"0x1F", b"0b1", b"1,5", b"1.5.2", b"--", b"true", b"x"),
    *(b"9" * 400, b"9" * 5000, b"0x" + b"f" * 5000, b"q" + b"9" * 5000, b"1e" + b"9" * 50),
    *(b"\x1b[31mred\x1b[0m", b"\x07\x08", b"[/x]", b"[bold]", b"[link=http://x]", b"\\", b"\x00"),
    *("\u202eevil".encode(), "é°µ".encode(), b"\xff\xfe", b"\xed\xa0\x80", "\u0085".encode()),
    *(b"'", b'"', b'"""', b"[[[", b"{}", b"<x>", b"&lol;", b"#", b"%s%n", b"=1+1", b"../../x"),
    *(b"q1,...,q999999999999", b"...", b"q1_deg", b"x_mm", b"set", b"p1_x_mm", b"a" * 10_000),
    *(b"1979-05-27", b"12:30", b"/dev/zero", b"/dev/full", b"/", b".", b"n" * 300, b"loop"),
]
_NUMBER = re.compile(rb"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_WORD = re.compile(rb"[A-Za-z_]\w*")
_ENCODINGS = ("utf-16", "utf-16-le", "utf-8-sig", "latin-1", "utf-32", "cp1252", "utf-7")

_FACTORS = (0.5, 0.99, 1.01, 2.0, -1.0, 0.0, 1e-9, 10.0, 1e3, 1e6, 1e9, 57.29577951308232)

Rng = np.random.Generator


def nasty(rng: Rng) -> bytes:
    return NASTY[int(rng.integers(len(NASTY)))]


def damaged(content: bytes, rng: Rng) -> bytes:
    """The content with one other number, so that it can still be read, or after some mishaps."""
    if rng.random() < 0.5:
        return _scaled(content, rng)
    for _ in range(int(rng.integers(1, 4))):
        content = _MISHAPS[int(rng.integers(len(_MISHAPS)))](content, rng)
    return content


def _place(content: bytes, rng: Rng) -> int:
    return int(rng.integers(len(content) + 1))


def _flipped(content: bytes, rng: Rng) -> bytes:
    changed = bytearray(content)
    for _ in range(int(rng.integers(1, 6))):
        if changed:
            changed[int(rng.integers(len(changed)))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _cut(content: bytes, rng: Rng) -> bytes:
    return content[: _place(content, rng)]


def _removed(content: bytes, rng: Rng) -> bytes:
    start = _place(content, rng)
    return content[:start] + content[start + int(rng.integers(1, 60)) :]


def _repeated(content: bytes, rng: Rng) -> bytes:
    start = _place(content, rng)
    piece = content[start : start + int(rng.integers(1, 200))]
    return content[:start] + piece * int(rng.integers(2, 20)) + content[start:]


def _inserted(content: bytes, rng: Rng) -> bytes:
    start = _place(content, rng)
    return content[:start] + nasty(rng) + content[start:]


def _replaced(pattern: re.Pattern[bytes]) -> Callable[[bytes, Rng], bytes]:
    def change(content: bytes, rng: Rng) -> bytes:
        found = list(pattern.finditer(content))
        if not found:
            return content
        match = found[int(rng.integers(len(found)))]
        return content[: match.start()] + nasty(rng) + content[match.end() :]

    return change


def _scaled(content: bytes, rng: Rng) -> bytes:
    """One number is another: plausible, but wrong."""
    found = list(_NUMBER.finditer(content))
    if not found:
        return content
    match = found[int(rng.integers(len(found)))]
    factor = _FACTORS[int(rng.integers(len(_FACTORS)))]
    try:
        number = repr(float(match[0]) * factor).encode()
    except ValueError:
        return content
    return content[: match.start()] + number + content[match.end() :]


def _recoded(content: bytes, rng: Rng) -> bytes:
    text = content.decode("utf-8", errors="replace")
    return text.encode(_ENCODINGS[int(rng.integers(len(_ENCODINGS)))], errors="replace")


def _shuffled_lines(content: bytes, rng: Rng) -> bytes:
    lines = content.split(b"\n")
    rng.shuffle(lines)
    return b"\n".join(lines)


def _other_column(content: bytes, rng: Rng) -> bytes:
    """A column is dropped, doubled, made nasty, or changes its place."""
    separator = b";" if content.count(b";") > content.count(b",") else b","
    rows = [line.split(separator) for line in content.split(b"\n")]
    width = max(map(len, rows))
    column, other = (int(rng.integers(width)) for _ in range(2))
    what = int(rng.integers(4))
    value = nasty(rng)
    for row in rows:
        if column >= len(row) or other >= len(row):
            continue
        if what == 0:
            del row[column]
        elif what == 1:
            row.insert(column, row[column])
        elif what == 2:
            row[column] = value
        else:
            row[column], row[other] = row[other], row[column]
    return b"\n".join(separator.join(row) for row in rows)


def _separated(content: bytes, rng: Rng) -> bytes:
    return content.replace(b",", [b";", b"\t", b" ", b"|", b", "][int(rng.integers(5))])


def _long(content: bytes, rng: Rng) -> bytes:
    lines = content.split(b"\n")
    line = lines[int(rng.integers(len(lines)))]
    return content + b"\n" + (line + b"\n") * 300


_MISHAPS: list[Callable[[bytes, Rng], bytes]] = [
    *(_flipped, _cut, _removed, _repeated, _inserted, _scaled, _scaled, _recoded),
    *(_shuffled_lines, _other_column, _other_column, _separated, _long),
    *(_replaced(_NUMBER), _replaced(_NUMBER), _replaced(_WORD)),
]


def damaged_words(words: list[str], options: list[str], rng: Rng) -> list[str]:
    """A command line with a word replaced, doubled, dropped or added."""
    words = list(words)
    place = int(rng.integers(len(words)))
    word = nasty(rng).replace(b"\x00", b"0").decode("utf-8", errors="surrogateescape")
    what = int(rng.integers(5))
    if what == 0:
        words[place] = word
    elif what == 1:
        words.insert(place, words[place])
    elif what == 2:
        del words[place]
    elif what == 3:
        words.append(options[int(rng.integers(len(options)))])
    else:
        words += [options[int(rng.integers(len(options)))], word]
    return words
