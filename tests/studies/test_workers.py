"""Work in pieces: here, in processes of Dask, and when some of them die."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import theodolite as th
from theodolite.errors import InputError
from theodolite.estimation.merging import in_turn
from theodolite.studies import workers
from theodolite.studies.monte_carlo import Piece, Study, rows_of
from theodolite.studies.workers import LostError, in_processes

#: A scheduler with one worker, in a process group of its own.
CLUSTER = """
import time
from distributed import LocalCluster
if __name__ == "__main__":
    cluster = LocalCluster(n_workers=1, threads_per_worker=1, host="127.0.0.1",
                           dashboard_address="127.0.0.1:0", silence_logs="CRITICAL")
    print(cluster.scheduler_address, flush=True)
    time.sleep(300)
"""


def square(number: int) -> int:
    return number * number


def square_in(task: tuple[int, float]) -> tuple[int, int]:
    number, seconds = task
    time.sleep(seconds)
    return number * number, os.getpid()


def ends_its_process(number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_one_process_needs_nothing() -> None:
    with in_processes() as each:
        assert list(each(square, [3, 4, 3])) == [(0, 9), (1, 16), (2, 9)]


def test_a_number_of_workers_that_cannot_be_meant() -> None:
    with pytest.raises(InputError, match="0 to 1024"), in_processes(10**6):
        pass


@pytest.mark.filterwarnings("ignore")
class TestDask:
    """A cluster of two processes."""

    pytest.importorskip("distributed")

    def test_a_killed_worker_costs_a_study_nothing(self) -> None:
        study = Study(th.robots.puma560(), th.Position(), 30, th.Noise(position=5e-5, known=True))
        pieces = [Piece(study, range(first, first + 6)) for first in range(0, 48, 6)]
        alone = dict(in_turn(rows_of, pieces))
        found = {}
        with in_processes(2) as each:
            (_, victim), *_ = each(square_in, [(1, 0.0)])
            assert victim[1] != os.getpid()
            for number, rows in each(rows_of, pieces):
                if not found:
                    os.kill(victim[1], signal.SIGKILL)
                assert number not in found
                found[number] = rows
            with pytest.raises(LostError, match="whole files that were written are kept"):
                list(each(ends_its_process, [1]))
        assert found.keys() == alone.keys()
        for number, rows in alone.items():
            assert [row["after_m"] for row in rows] == [row["after_m"] for row in found[number]]

    def test_a_lost_scheduler_leaves_a_study_that_goes_on(self, theodolite, tmp_path) -> None:
        """Killed with all its workers after the first rows; then the rest is done here."""
        elsewhere = subprocess.Popen(
            [sys.executable, "-c", CLUSTER], stdout=subprocess.PIPE, text=True,
            start_new_session=True,
        )  # fmt: skip
        try:
            assert elsewhere.stdout is not None
            address = elsewhere.stdout.readline().strip()
            folder, whole = tmp_path / "study", tmp_path / "whole"

            def cut() -> None:
                while not list(folder.glob("runs-*")):
                    time.sleep(0.02)
                os.killpg(elsewhere.pid, signal.SIGKILL)

            watch = threading.Thread(target=cut, daemon=True)
            watch.start()
            options = ("study", "puma560", "-m", "position", "--runs", 120)
            code, _, err = theodolite(*options, "--out", folder, "--scheduler", address)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(elsewhere.pid, signal.SIGKILL)
            elsewhere.communicate()
        assert code == 2
        assert "scheduler cannot be reached any more" in err
        assert "run the same again" in err
        done = len(list(folder.glob("runs-*")))
        assert 0 < done < 3
        code, out, err = theodolite(*options, "--out", folder, "--json")
        assert code == 0, err
        assert theodolite(*options, "--out", whole, "--json")[1] == out
        assert json.loads(out)["runs"] == 120

    def test_a_scheduler_that_is_not_there(self, monkeypatch) -> None:
        monkeypatch.setattr(workers, "PATIENCE", "1s")
        with pytest.raises(InputError, match="no Dask scheduler answers"):  # noqa: SIM117
            with in_processes(scheduler="tcp://127.0.0.1:9"):
                pass
