"""Merging the results of many pieces in a tree, whatever order they come in.

Neighbours are merged first, then pairs of neighbours, and so on, so the numbers do not depend on
who was ready first. In order of the pieces, at most log2 of their number are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

Part = TypeVar("Part")
Task = TypeVar("Task")
Result = TypeVar("Result")


class Each(Protocol):
    """Runs a function on every task and yields (number of the task, result) as they come."""

    def __call__(
        self, function: Callable[[Task], Result], tasks: Sequence[Task]
    ) -> Iterator[tuple[int, Result]]: ...


def in_turn(
    function: Callable[[Task], Result], tasks: Sequence[Task]
) -> Iterator[tuple[int, Result]]:
    """One task after the other, in this process."""
    for number, task in enumerate(tasks):
        yield number, function(task)


def merge_tree(
    numbered: Iterable[tuple[int, Part]], merge: Callable[[Part, Part], Part]
) -> Part | None:
    """All parts as one; ``merge`` takes a part and the one behind it. None where there is none."""
    waiting: dict[tuple[int, int], Part] = {}
    for number, part in numbered:
        level, place = 0, number
        while (other := waiting.pop((level, place ^ 1), None)) is not None:
            part = merge(part, other) if place % 2 == 0 else merge(other, part)
            level, place = level + 1, place // 2
        waiting[level, place] = part
    whole: Part | None = None
    # What is left stands side by side, the larger ones first.
    for _, part in sorted(waiting.items(), key=lambda item: item[0][1] << item[0][0]):
        whole = part if whole is None else merge(whole, part)
    return whole
