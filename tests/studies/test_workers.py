"""Work in pieces: here, in processes of Dask, and when some of them die."""

from __future__ import annotations

import os
import signal
import time

import pytest

from theodolite.errors import InputError
from theodolite.studies.workers import LostError, in_processes


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

    def test_results_are_the_same_and_a_killed_worker_costs_nothing(self) -> None:
        tasks = [(number, 0.2) for number in range(14)]
        found: dict[int, int] = {}
        killed = None
        with in_processes(2) as each:
            for number, (result, process) in each(square_in, tasks):
                found[number] = result
                if killed is None:
                    killed = process
                    assert killed != os.getpid()
                    os.kill(killed, signal.SIGKILL)
            assert found == {number: number**2 for number in range(14)}
            with pytest.raises(LostError, match="whole files that were written are kept"):
                list(each(ends_its_process, [1]))

    def test_a_scheduler_that_is_not_there(self) -> None:
        with pytest.raises(InputError, match="no Dask scheduler answers"):  # noqa: SIM117
            with in_processes(scheduler="tcp://127.0.0.1:9"):
                pass
