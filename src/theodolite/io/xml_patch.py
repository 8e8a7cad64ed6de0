"""Attributes of XML changed in place: not a byte besides is touched.

Elements are counted in the order in which they start, as parsers visit them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

#: An attribute with its value, in a start tag.
_ATTRIBUTE = re.compile(rb"""([^\s=/>"']+)(\s*=\s*)("[^"]*"|'[^']*')""")


@dataclass(frozen=True)
class Change:
    """What becomes of one element: values of attributes, None to remove; and a new first child."""

    attributes: Mapping[str, str | None] = field(default_factory=dict)
    #: Text of an element to put in first, such as ``<origin .../>``.
    child: str = ""


def patched(content: bytes, changes: Mapping[int, Change]) -> bytes:
    """The file with some elements changed, by their number."""
    tags = _start_tags(content)
    for number in sorted(changes, reverse=True):
        start, end = tags[number]
        tag = _with_attributes(content[start:end], changes[number].attributes)
        child = changes[number].child.encode()
        if child:
            before = content[:start].rpartition(b"\n")[2]
            indent = before if not before.strip() else b""
            inner = b"\n" + indent + b"  " + child
            if tag.endswith(b"/>"):
                name = re.match(rb"<([^\s/>]+)", tag)
                assert name is not None
                tag = tag[:-2].rstrip() + b">" + inner + b"\n" + indent + b"</" + name[1] + b">"
            else:
                tag += inner
        content = content[:start] + tag + content[end:]
    return content


def _with_attributes(tag: bytes, changes: Mapping[str, str | None]) -> bytes:
    for name, value in changes.items():
        for found in _ATTRIBUTE.finditer(tag):
            if found[1] != name.encode():
                continue
            if value is None:
                # With the blanks before it.
                before = tag[: found.start()].rstrip()
                tag = before + tag[found.end() :]
            else:
                quote = found[3][:1]
                tag = tag[: found.start(3)] + quote + value.encode() + quote + tag[found.end(3) :]
            break
        else:
            if value is not None:
                end = len(tag) - (2 if tag.endswith(b"/>") else 1)
                kept = tag[:end].rstrip()
                tag = kept + f' {name}="{value}"'.encode() + tag[end:]
    return tag


def _start_tags(content: bytes) -> list[tuple[int, int]]:
    """Where each start tag begins and ends, in bytes."""
    from xml.parsers import expat

    parser = expat.ParserCreate()
    starts: list[int] = []
    parser.StartElementHandler = lambda name, attributes: starts.append(parser.CurrentByteIndex)
    parser.Parse(content, True)
    return [(start, _end_of_tag(content, start)) for start in starts]


def _end_of_tag(content: bytes, start: int) -> int:
    """Behind the tag that starts there; values in quotes may hold the sign that ends it."""
    quote = b""
    for place in range(start, len(content)):
        sign = content[place : place + 1]
        if quote:
            quote = b"" if sign == quote else quote
        elif sign in (b'"', b"'"):
            quote = sign
        elif sign == b">":
            return place + 1
    return len(content)
