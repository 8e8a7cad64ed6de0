"""Whether compiled kernels run, on how many threads, and where their code is kept.

Numba is an extra: without it, with ``THEODOLITE_FAST=0`` or for a small job, NumPy does the work.
Compiled code is kept in the user's cache folder, in a folder of its own for every version of the
kernels' sources; where that folder cannot be used, code is compiled anew by every process.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import parent_process
from pathlib import Path
from typing import Any

from theodolite.errors import InputError

#: Environment variables: 0 turns kernels off, 1 has them do even small jobs; the number of threads.
FAST, THREADS = "THEODOLITE_FAST", "THEODOLITE_THREADS"
#: Seconds that NumPy must need for kernels to pay: loading Numba and cached code takes about half a
#: second once, and compiling about twenty.
PAYS_LOADED, PAYS_CACHED, PAYS_COMPILED = 5e-4, 1.0, 40.0

_announce: Callable[[str], object] | None = None
_threads: int | None = None
#: Can the cache folder be used?
_kept = [False]


def announce_with(tell: Callable[[str], object] | None) -> None:
    """Have somebody told, in one line, before anything is compiled."""
    global _announce
    _announce = tell


def use_threads(count: int | None) -> None:
    """Set the number of threads, instead of the environment; None: as the environment says."""
    global _threads
    if count is not None and count < 1:
        raise InputError(f"{count} threads", allowed="1 or more")
    _threads = count


def threads() -> int:
    """How many threads one large job may use: by default all cores, and one in a worker process."""
    if _threads is not None:
        return _threads
    given = os.environ.get(THREADS, "").strip()
    if given:
        if not given.isdecimal() or int(given) < 1:
            raise InputError(f"{THREADS} is {given!r}", allowed="a whole number, 1 or more")
        return int(given)
    if parent_process() is not None:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def installed() -> bool:
    """Is Numba there? It is not imported for that."""
    return find_spec("numba") is not None


def pays(seconds: float) -> bool:
    """Is a job, which takes NumPy so many seconds, worth a kernel?"""
    wish = os.environ.get(FAST, "").strip().lower()
    if wish in ("0", "no", "off", "false") or not installed():
        return False
    if wish == "1":
        return True
    if "theodolite.kernels.rows" in sys.modules:
        return seconds >= PAYS_LOADED
    return seconds >= (PAYS_CACHED if _has_code() else PAYS_COMPILED)


def prepare(seconds: float) -> None:
    """Load kernels for a job of many small parts, which takes NumPy so many seconds, if it pays."""
    if pays(seconds):
        load("rows")


def load(name: str) -> Any:
    """A module of kernels, ready to be compiled into the cache."""
    full = f"theodolite.kernels.{name}"
    if full not in sys.modules:
        import numba

        place = cache_folder()
        # Numba's settings come from the environment and have no types.
        settings: Any = numba.config
        before = settings.CACHE_DIR
        _kept[0] = place is not None and _usable(place)
        if _announce is not None and not _has_code():
            _announce("compiling, once")
        try:
            # Numba asks for the folder where a function is defined, not where it is compiled.
            if _kept[0]:
                settings.CACHE_DIR = str(place)
            return import_module(full)
        finally:
            settings.CACHE_DIR = before
    return import_module(full)


def caching() -> bool:
    """Is compiled code kept? Asked by kernels that are being loaded."""
    return _kept[0]


def shares(n: int, least: int) -> list[int]:
    """Where each thread's part of n samples begins, and the end; none has fewer than ``least``."""
    count = max(1, min(threads(), n // least))
    return [n * part // count for part in range(count + 1)]


def in_parallel(work: Callable[[int], Any], parts: int) -> list[Any]:
    """``work(0)``, ``work(1)`` ..., each on a thread of its own; kernels release Python's lock."""
    if parts == 1:
        return [work(0)]
    with ThreadPoolExecutor(parts) as pool:
        return list(pool.map(work, range(parts)))


def cache_folder() -> Path | None:
    """Where this version's compiled code is kept; None where there is no home."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    try:
        base = Path(given) if Path(given).is_absolute() else Path.home() / ".cache"
    except RuntimeError:
        return None
    return base / "theodolite" / "kernels" / _version()


@cache
def _version() -> str:
    """A hash of the kernels' sources: code compiled from others is never used."""
    content = sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        content.update(source.read_bytes())
    return content.hexdigest()[:12]


def _has_code() -> bool:
    """Was this version compiled before?"""
    place = cache_folder()
    try:
        return place is not None and any(place.rglob("*.nbc"))
    except OSError:
        return False


def _usable(place: Path) -> bool:
    """Can files be written there, and can those that are there be read?"""
    from tempfile import TemporaryFile

    try:
        place.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=place):
            return all(_sound(index) for index in place.rglob("*.nbi"))
    except OSError:
        return False


def _sound(index: Path) -> bool:
    """Is an index of compiled code whole? Numba itself fails at one that is not."""
    import pickle

    try:
        with index.open("rb") as stream:
            pickle.load(stream)
            pickle.loads(stream.read())
    except Exception:
        return False
    return True
