"""Recordings as a user has them, on their way to the fit: trimmed, split and filtered alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from theodolite.dynamics.filtering import Cutoff, Run, filter_recording, propose_cutoff
from theodolite.dynamics.recording import Recording
from theodolite.dynamics.recording_checks import note_gaps
from theodolite.dynamics.tree import Tree
from theodolite.errors import InputError

#: What the functions of dynamics take: recordings, or runs that were filtered before.
Recorded = Recording | Run | Sequence[Recording | Run]


def prepare_runs(
    recordings: Recorded,
    *,
    cutoff: float | Cutoff | None = None,
    trim: bool = True,
    dynamics: Tree | None = None,
) -> list[Run]:
    """Even samples of recordings, all at one cut-off; interrupted ones become several runs.

    By default the cut-off is the highest that is proposed for any of them. With ``trim``, the
    standstill before and after moving is left out. ``dynamics`` says which joints slide, and where
    the tool is. Runs that were filtered before stay as they are.
    """
    return prepare_groups([recordings], cutoff=cutoff, trim=trim, dynamics=dynamics)[0]


def prepare_groups(
    groups: Sequence[Recorded],
    *,
    cutoff: float | Cutoff | None = None,
    trim: bool = True,
    dynamics: Tree | None = None,
) -> list[list[Run]]:
    """The same for several groups of recordings, all at one cut-off."""
    prepared = [
        [_Pieces.of(item, trim=trim, dynamics=dynamics) for item in _listed(group)]
        for group in groups
    ]
    if cutoff is None:
        proposed = (
            propose_cutoff(part) for group in prepared for pieces in group for part in pieces.parts
        )
        cutoff = max(proposed, key=lambda choice: choice.frequency, default=None)
    return [[run for pieces in group for run in pieces.runs(cutoff)] for group in prepared]


def _listed(recordings: Recorded) -> list[Recording | Run]:
    return [recordings] if isinstance(recordings, Recording | Run) else list(recordings)


class _Pieces:
    """One recording between its interruptions, or a run that was filtered before."""

    def __init__(
        self, item: Recording | Run, parts: Sequence[Recording], dynamics: Tree | None
    ) -> None:
        self.item, self.parts, self.dynamics = item, parts, dynamics

    @staticmethod
    def of(item: Recording | Run, *, trim: bool, dynamics: Tree | None) -> _Pieces:
        if isinstance(item, Run):
            return _Pieces(item, [], dynamics)
        if item.slides is None and dynamics is not None:
            item = replace(item, slides=dynamics.slides)
        item = item.drop_repeats()
        item = item.trim_rest() if trim else item
        return _Pieces(item, item.split_at_gaps() if len(item.gaps) else [item], dynamics)

    def runs(self, cutoff: float | Cutoff | None) -> Iterator[Run]:
        """Every part that is long enough for the low-pass."""
        if isinstance(self.item, Run):
            yield self.item
            return
        notes = (*self.item.notes, *note_gaps(self.item))
        refused = InputError(
            "no part between its interruptions is long enough", where=self.item.name
        )
        count = 0
        for part in self.parts:
            try:
                run = filter_recording(part, cutoff=cutoff, dynamics=self.dynamics)
            except InputError as error:
                refused = error
                continue
            count += 1
            yield replace(run, notes=notes)
        if not count:
            raise refused
