"""Work in processes of its own: one at a time, kept, cancelled without a trace."""

from __future__ import annotations

import asyncio
import time

import pytest

from tests.app.conftest import run_alone
from theodolite.app.work import State, Work
from theodolite.app.workspace import Workspace
from theodolite.errors import InputError

LONG = ["generate", "--method=position", "--out=big.csv", "--points=3000000", "--", "puma560"]


async def _until(condition, seconds=30.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        await asyncio.sleep(0.02)


def test_jobs_run_one_after_the_other(tmp_path):
    async def scenario():
        work = Work(Workspace(tmp_path))
        first = work.submit("a", ["robots", "--json"])
        second = work.submit("b", ["identifiable", "--method=frame", "--", "scara"], ["--json"])
        bad = work.submit("c", ["identifiable", "--", "nobody"])
        assert (first.state, second.state) == (State.WAITING, State.WAITING)
        seen = set()

        def ended():
            seen.add(sum(job.state is State.RUNNING for job in work.jobs))
            return bad.state.ended

        await _until(ended)
        assert max(seen) == 1
        assert (first.state, second.state, bad.state) == (State.DONE, State.DONE, State.REFUSED)
        assert work.data(second)["rank"] > 0
        assert work.messages(bad).startswith("error: 'nobody' is neither a file")
        assert first.ended <= second.started
        # Another application sees the same work.
        again = Work(Workspace(tmp_path))
        assert [job.state for job in again.jobs] == [job.state for job in work.jobs]
        assert again.messages(again.of_page("c")) == work.messages(bad)
        work.close(bad)
        assert work.of_page("c") is None
        assert not work.folder(bad).exists()
        await work.stop()

    run_alone(scenario())


def test_cancel_ends_a_job_and_leaves_nothing(tmp_path):
    async def scenario():
        work = Work(Workspace(tmp_path))
        running = work.submit("a", LONG)
        waiting = work.submit("b", LONG)
        await _until(lambda: running.progress)
        process = work._process
        with pytest.raises(InputError):
            work.close(running)
        await work.cancel(waiting)
        await work.cancel(running)
        await _until(lambda: process.returncode is not None)
        await _until(lambda: running.ended)
        assert (running.state, waiting.state) == (State.CANCELLED, State.CANCELLED)
        assert [path.name for path in tmp_path.iterdir()] == [".theodolite"]
        # The queue goes on.
        done = work.submit("c", ["robots"])
        await _until(lambda: done.state.ended)
        assert done.state is State.DONE
        await work.stop()

    run_alone(scenario())


def test_work_that_was_lost_is_told(tmp_path):
    workspace = Workspace(tmp_path)
    job = {"number": 4, "page": "a", "command": ["robots"], "state": "RUNNING", "started": 5.0}
    workspace.keep(job, "work", "4", "job.json")
    workspace.keep({"number": "x"}, "work", "5", "job.json")
    (found,) = Work(workspace).jobs
    assert found.state is State.CANCELLED
    assert found.number == 4


def test_a_result_stays_until_there_is_another(tmp_path):
    async def scenario():
        work = Work(Workspace(tmp_path))
        first = work.submit("a", ["robots"])
        await _until(lambda: first.ended)
        bad = work.submit("a", ["identifiable", "--", "nobody"])
        await _until(lambda: bad.ended)
        assert work.of_page("a") is bad
        assert work.result_of("a") is first
        assert "puma560" in work.output(first)
        better = work.submit("a", ["robots", "--json"])
        await _until(lambda: better.ended)
        await _until(lambda: work.jobs == [better])
        assert work.result_of("a") is better
        # Cancelled before it began.
        other = work.submit("b", ["robots"])
        await work.cancel(other)
        await asyncio.sleep(0.1)
        assert other.state is State.CANCELLED
        assert not work.output(other)
        await work.stop()

    run_alone(scenario())


def test_a_file_of_the_folder_is_never_run(tmp_path):
    """A folder may hold any file, also one that is called like a module."""
    for name in ("numpy", "json", "theodolite"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(7)\n")

    async def scenario():
        work = Work(Workspace(tmp_path))
        job = work.submit("page", ["robots", "--json"])
        await _until(lambda: job.state.ended)
        await work.stop()
        assert job.state is State.DONE

    run_alone(scenario())
