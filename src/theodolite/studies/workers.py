"""Much work in pieces: one after the other here, or by Dask in other processes and machines.

This is the only file that knows Dask. Pieces are large enough to be worth sending (a second or
more), and few at a time are on their way, so that the scheduler never holds more than two for each
worker, however many there are. What a piece gives is small: rows, not data.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from theodolite.errors import InputError, TheodoliteError, install_command
from theodolite.estimation.merging import Each, in_turn

Task = TypeVar("Task")
Result = TypeVar("Result")

#: Pieces that are on their way for each worker: one is computed while the next is sent.
AHEAD = 2
#: How often a piece is tried whose worker died.
TRIES = 5
#: Seconds to wait for a scheduler to answer.
PATIENCE = "5s"
#: More processes than this are a mistake.
MOST_WORKERS = 1024


class LostError(TheodoliteError):
    """The scheduler is gone; what was done is kept."""


@contextlib.contextmanager
def in_processes(workers: int = 0, scheduler: str | None = None) -> Iterator[Each]:
    """A way to do many tasks: here, in ``workers`` processes, or where a Dask ``scheduler`` says.

    A task whose worker dies is done again elsewhere.
    """
    if not 0 <= workers <= MOST_WORKERS:
        raise InputError(f"{workers} workers", allowed=f"0 to {MOST_WORKERS}")
    if scheduler is None and workers < 2:
        yield in_turn
        return
    distributed = _distributed()
    with _client(distributed, workers, scheduler) as client:
        yield partial(_by_dask, distributed, client)


def _by_dask(
    distributed: Any, client: Any, function: Callable[[Task], Result], tasks: Sequence[Task]
) -> Iterator[tuple[int, Result]]:
    """Results with the number of their task, as they come."""
    waiting = iter(enumerate(tasks))
    numbers: dict[str, int] = {}

    def send(number: int, task: Task) -> Any:
        # Not pure: equal tasks are not one.
        future = client.submit(function, task, pure=False)
        numbers[future.key] = number
        return future

    try:
        room = AHEAD * max(len(client.scheduler_info()["workers"]), 1)
        running = distributed.as_completed(send(*pair) for pair in islice(waiting, room))
        for future in running:
            yield numbers.pop(future.key), future.result()
            future.release()
            for pair in islice(waiting, 1):
                running.add(send(*pair))
    except distributed.scheduler.KilledWorker as error:
        raise LostError(
            "a piece of the work ended every worker that tried it; whole files that were written "
            "are kept"
        ) from error
    except (OSError, distributed.client.FutureCancelledError, TimeoutError) as error:
        raise LostError(
            "the scheduler cannot be reached any more; whole files that were written are kept. "
            "Start it and run the same again"
        ) from error


@contextlib.contextmanager
def _client(distributed: Any, workers: int, scheduler: str | None) -> Iterator[Any]:
    """Connected to a scheduler, or to processes of our own that end with the work."""
    if scheduler is not None:
        try:
            client = distributed.Client(scheduler, timeout=PATIENCE)
        except (OSError, TimeoutError, ValueError) as error:
            raise InputError(
                f"no Dask scheduler answers at '{scheduler}'",
                remedy="Start one, or work in processes of this machine",
            ) from error
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except (OSError, TimeoutError) as error:
            client.close()
            raise InputError(
                f"the Dask scheduler at '{scheduler}' has no workers", remedy="Start some"
            ) from error
        # What is wrong is said by us, once.
        for name in ("distributed", "distributed.client", "distributed.core"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            yield client
        finally:
            client.close()
        return
    import dask

    quiet = {
        "distributed.scheduler.allowed-failures": TRIES,
        "distributed.admin.tick.limit": "1h",
        "distributed.worker.daemon": True,
    }
    with dask.config.set(quiet), _one_thread():
        cluster = distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs="CRITICAL",
        )
        with cluster, distributed.Client(cluster) as client:
            yield client


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Workers share the cores already: inside them, linear algebra keeps to one."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "THEODOLITE_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise InputError(
            "work in several processes needs Dask",
            remedy=f"Install it with: {install_command('scale')}; one process needs nothing",
        ) from error
    return distributed
