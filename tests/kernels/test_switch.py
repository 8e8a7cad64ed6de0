"""When kernels run, on how many threads, and where compiled code goes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from theodolite.errors import InputError
from theodolite.kernels import switch

#: One compiled function, in a process of its own; prints what was announced and where code went.
SCRIPT = """
import numpy as np
from theodolite.kernels import switch
switch.announce_with(print)
module = switch.load("triangle")
R = np.zeros((2, 2))
module.fold(R, np.ones((2, 3)), 0)
assert np.allclose(R.T @ R, 3.0)
print(switch.caching())
"""


def run(script: str, **environment: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split("\n")[:-1]


def test_small_jobs_stay_with_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(switch.FAST, raising=False)
    assert not switch.pays(1e-6)
    assert switch.pays(1e6) == switch.installed()


def test_turned_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(switch.FAST, "0")
    assert not switch.pays(1e6)


def test_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(switch.THREADS, "3")
    assert switch.threads() == 3
    monkeypatch.setenv(switch.THREADS, "many")
    with pytest.raises(InputError, match="many"):
        switch.threads()
    monkeypatch.delenv(switch.THREADS)
    assert switch.threads() >= 1
    with pytest.raises(InputError, match="0 threads"):
        switch.use_threads(0)


def test_one_thread_in_workers() -> None:
    script = """
import multiprocessing, theodolite.kernels.switch as switch
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(1) as pool:
        print(pool.apply(switch.threads))
"""
    assert run(script, THEODOLITE_THREADS="") == ["1"]


def test_importing_does_not_load_numba() -> None:
    script = "import sys, theodolite, theodolite.dynamics.tree; print('numba' in sys.modules)"
    assert run(script) == ["False"]


def test_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    place = switch.cache_folder()
    assert place is not None
    assert place.is_relative_to(tmp_path / "theodolite")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    place = switch.cache_folder()
    assert place is not None
    assert place.is_relative_to(Path.home() / ".cache")


@pytest.mark.study
def test_a_cache_that_cannot_be_used_is_no_error(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert run(SCRIPT, XDG_CACHE_HOME=str(blocked)) == ["compiling, once", "False"]


def test_a_broken_cache_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    place = switch.cache_folder()
    assert place is not None
    (place / "kernels").mkdir(parents=True)
    (place / "kernels" / "broken.nbi").write_bytes(b"nonsense")
    assert run(SCRIPT, XDG_CACHE_HOME=str(tmp_path)) == ["compiling, once", "False"]


@pytest.mark.study
def test_a_new_cache_is_used(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    assert run(SCRIPT, XDG_CACHE_HOME=str(tmp_path))[-1] == "True"
