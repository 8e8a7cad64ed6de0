"""Pages that no browser came back for are forgotten, and their memory is given back.

A page is some thousand small objects. Many pages loaded at once, as by a tool that checks links,
leave the C library with free memory in small pieces, which it keeps until it is asked.
"""

from __future__ import annotations

import ctypes
import gc
from functools import cache
from typing import Any

from nicegui import Client

#: Seconds after which a page without a browser is forgotten.
PRUNE = 60.0
#: Beyond so many pages without a browser, those of this age are, s: a browser comes back sooner.
MANY, SOON = 10, 3.0


def forget_pages() -> None:
    """Forget old pages that no browser shows."""
    before = len(Client.instances)
    alone = sum(not client.has_socket_connection for client in Client.instances.values())
    Client.prune_instances(client_age_threshold=SOON if alone > MANY else PRUNE)
    if len(Client.instances) < before:
        gc.collect()
        if (trim := _trim()) is not None:
            trim(0)


@cache
def _trim() -> Any | None:
    """The C library's way to give memory back, where it has one."""
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):
        return None
