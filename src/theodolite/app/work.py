"""Long work: verbs of the command line, each in a process of its own, one after the other.

A job's folder holds what it was asked, what it printed and what it wrote for the page, so that a
page that is opened again, or in a second tab, shows the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from enum import Enum
from pathlib import Path
from typing import Any

from theodolite.app.workspace import Workspace
from theodolite.cli.options import PROGRESS
from theodolite.errors import InputError

FOLDER = "work"
#: Jobs that are kept; older ones that gave no result are removed.
KEPT = 60
#: Seconds that a process has to end by itself when it is cancelled.
GRACE = 2.0
#: More words than this of a program's messages are cut.
LONGEST = 20_000
#: Files of results that are kept read: that of a long recording takes some 100 MB.
LOADED = 6


class State(Enum):
    """How far a job is."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    #: Done, but the result is bad: exit code 1.
    POOR = "done, with doubts"
    #: Wrong input: exit code 2.
    REFUSED = "refused"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        return self not in (State.WAITING, State.RUNNING)


_BY_CODE = {0: State.DONE, 1: State.POOR, 2: State.REFUSED}


@dataclass
class Job:
    """One verb to run."""

    number: int
    #: Which page asked, such as ``method/position/identification``.
    page: str
    #: As one would type it, without what the application adds.
    command: list[str]
    #: What the application adds: files for the page.
    added: list[str] = field(default_factory=list)
    state: State = State.WAITING
    progress: str = ""
    asked: float = 0.0
    started: float = 0.0
    ended: float = 0.0
    #: Counts changes, for pages that watch.
    version: int = 0

    def argument(self, number: int) -> str:
        """A positional argument of its command."""
        return self.command[self.command.index("--") + 1 + number]

    def option(self, name: str) -> str | None:
        """What an option of its command says."""
        given = [part for part in self.command if part.startswith(f"{name}=")]
        return given[0].partition("=")[2] if given else None

    @property
    def seconds(self) -> float:
        """How long it has been running, or ran."""
        if not self.started:
            return 0.0
        return (self.ended or time.time()) - self.started


class Work:
    """All jobs of a workspace; one runs at a time."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.jobs: list[Job] = self._kept()
        self._process: asyncio.subprocess.Process | None = None
        #: Ready for the next job.
        self._spare: asyncio.subprocess.Process | None = None
        self._runner: asyncio.Task[None] | None = None
        self._stopped = False
        self._loaded: dict[tuple[int, int, str], Any] = {}

    def submit(self, page: str, command: list[str], added: list[str] | None = None) -> Job:
        """Queue a verb; the result that the page had before gives way when this one has its own."""
        number = max((job.number for job in self.jobs), default=0) + 1
        job = Job(number, page, command, asked=time.time())
        folder = self.folder(job)
        job.added = [text.replace("{folder}", str(folder)) for text in added or []]
        folder.mkdir(parents=True, exist_ok=True)
        self.jobs.append(job)
        self._changed(job)
        self._tidy()
        if self._runner is None or self._runner.done():
            self._runner = asyncio.ensure_future(self._run())
        return job

    def of_page(self, page: str) -> Job | None:
        """The last job of a page."""
        return next((job for job in reversed(self.jobs) if job.page == page), None)

    def result_of(self, page: str) -> Job | None:
        """The last job of a page that gave a result."""
        good = (State.DONE, State.POOR)
        return next((j for j in reversed(self.jobs) if j.page == page and j.state in good), None)

    def folder(self, job: Job) -> Path:
        return self.workspace.own(FOLDER, str(job.number))

    def output(self, job: Job) -> str:
        return self._read(job, "out.txt")

    def messages(self, job: Job) -> str:
        """What it said on standard error, without progress."""
        lines = self._read(job, "messages.txt").splitlines()
        return "\n".join(line for line in lines if not line.startswith("progress: "))[:LONGEST]

    def _read(self, job: Job, name: str) -> str:
        try:
            return (self.folder(job) / name).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def data(self, job: Job) -> dict[str, Any]:
        """What it printed, where that is JSON."""
        try:
            content = json.loads(self.output(job))
        except (ValueError, RecursionError):
            return {}
        return content if isinstance(content, dict) else {}

    def loaded(self, job: Job, name: str, read: Callable[[Path], Any]) -> Any:
        """What a file of a job holds, read once: pages show it again and again."""
        key = (job.number, job.version, name)
        if key not in self._loaded:
            while len(self._loaded) >= LOADED:
                self._loaded.pop(next(iter(self._loaded)), None)
            self._loaded[key] = read(self.folder(job) / name)
        return self._loaded[key]

    def close(self, job: Job) -> None:
        """Forget a job that has ended."""
        if not job.state.ended:
            raise InputError(f"job {job.number} is {job.state.value}", remedy="Cancel it first")
        if job in self.jobs:
            self.jobs.remove(job)
        shutil.rmtree(self.folder(job), ignore_errors=True)

    async def cancel(self, job: Job) -> None:
        """End a job now. Verbs write whole files or none, so nothing is half-written."""
        if job.state is State.WAITING:
            job.state, job.ended = State.CANCELLED, time.time()
            self._changed(job)
            return
        if job.state is not State.RUNNING:
            return
        job.state = State.CANCELLED
        process = self._process
        if process is None:
            # It has not been told its command yet, and will not be.
            return
        _end(process, signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(process.wait()), GRACE)
            return
        _end(process, signal.SIGKILL)

    async def stop(self) -> None:
        """End everything, when the application ends."""
        self._stopped = True
        for job in sorted(self.jobs, key=lambda job: job.state is State.RUNNING):
            await self.cancel(job)
        if self._runner is not None:
            # It may just be starting a process, which must not outlive this.
            await self._runner
        if self._spare is not None:
            _end(self._spare, signal.SIGKILL)
            await self._spare.wait()
            self._spare = None

    async def _run(self) -> None:
        while (job := self._next()) is not None:
            try:
                await self._run_one(job)
            except OSError as error:
                # A full disk, or no process to be had: the others go on.
                self._process = None
                job.state, job.progress = State.FAILED, str(error)
            finally:
                if job.state is State.RUNNING:
                    job.state = State.FAILED
                job.ended = time.time()
            with contextlib.suppress(OSError, InputError):
                self._end_of(job)
            if self._next() is None and not self._stopped:
                # Another job may come meanwhile.
                await self.warm_up()

    def _end_of(self, job: Job) -> None:
        """Keep how a job ended; with a result, older ones of its page are no longer needed."""
        if job not in self.jobs:
            return
        self._changed(job)
        older = [j for j in self.jobs if j.page == job.page and j.number < job.number]
        for one in older:
            if one.state.ended and job.state in (State.DONE, State.POOR):
                self.close(one)

    def _next(self) -> Job | None:
        return next((job for job in self.jobs if job.state is State.WAITING), None)

    async def _run_one(self, job: Job) -> None:
        job.state, job.started = State.RUNNING, time.time()
        self._changed(job)
        folder = self.folder(job)
        # Options stand before the two dashes, behind which are only names of files.
        command = list(job.command)
        place = command.index("--") if "--" in command else len(command)
        command[place:place] = job.added
        spare = self._spare
        if spare is None or spare.returncode is not None:
            spare = await self._start_spare()
        self._spare = None
        if job.state is not State.RUNNING:
            # Cancelled meanwhile; the process is there for the next job.
            self._spare = spare
            return
        self._process = spare
        assert spare.stdin is not None
        asked = {"command": command, "out": str(folder / "out.txt")}
        with contextlib.suppress(ConnectionError):
            spare.stdin.write(json.dumps(asked).encode() + b"\n")
            await spare.stdin.drain()
        await self._follow(job, spare)
        code = await spare.wait()
        self._process = None
        if job.state is State.RUNNING:
            job.state = _BY_CODE.get(code, State.FAILED)

    async def warm_up(self) -> None:
        """Have a process ready for the next job."""
        if self._spare is None:
            self._spare = await self._start_spare()

    async def _start_spare(self) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            # -P: a file of the folder called numpy.py is not to be run.
            *(sys.executable, "-P", "-m", "theodolite.app.spare"),
            cwd=self.workspace.root,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, PROGRESS: "1", "COLUMNS": "100", "NO_COLOR": "1"},
            start_new_session=True,
        )

    async def _follow(self, job: Job, process: asyncio.subprocess.Process) -> None:
        """Keep what a process says, and its progress."""
        assert process.stderr is not None
        with (self.folder(job) / "messages.txt").open("wb") as messages:
            while chunk := await process.stderr.read(65536):
                messages.write(chunk)
                messages.flush()
                lines = chunk.decode("utf-8", errors="replace").splitlines()
                told = [line for line in lines if line.startswith("progress: ")]
                if told:
                    job.progress = told[-1].removeprefix("progress: ")
                    job.version += 1

    def _changed(self, job: Job) -> None:
        job.version += 1
        content = {**asdict(job), "state": job.state.name}
        self.workspace.keep(content, FOLDER, str(job.number), "job.json")

    def _tidy(self) -> None:
        ended = [j for j in self.jobs if j.state.ended and j.state not in (State.DONE, State.POOR)]
        for job in ended[: max(0, len(self.jobs) - KEPT)]:
            self.close(job)

    def _kept(self) -> list[Job]:
        """Jobs of earlier days; one that was running then has been lost."""
        found = []
        for path in self.workspace.own(FOLDER, "job").parent.glob("*/job.json"):
            content = self.workspace.recall(FOLDER, path.parent.name, "job.json")
            names = {one.name for one in fields(Job)}
            try:
                job = Job(**{key: value for key, value in content.items() if key in names})
                job.state = State[content["state"]]
            except (TypeError, KeyError):
                continue
            if not job.state.ended:
                job.state, job.ended = State.CANCELLED, job.ended or job.started or job.asked
            found.append(job)
        return sorted(found, key=lambda job: job.number)


def _end(process: asyncio.subprocess.Process, number: int) -> None:
    """Signal a process and all that it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, number)
        else:  # pragma: no cover
            process.kill()
