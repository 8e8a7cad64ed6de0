"""Which columns of a file may be joints and positions: by their names, else by their places."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from theodolite.io.naming import LONGEST_NAME, with_unit

#: What people put before the number of a joint, the clearest first.
_JOINTS = (
    *("q", "j", "joint", "a", "ax", "axis", "theta", "th", "jointangle", "jointposition"),
    *("angle", "motor", "m", "enc", "encoder", "achse"),
)
#: What stands before numbers or letters that are something else.
_NO_JOINTS = re.compile(r"(.*)(x|y|z|qd|qdd|dq|v|vel|velocity|tau|torque|i|current|temp|r|e)")
_NO_POINTS = re.compile(r"(.*)(r|q|n|v|w|rot|plane|planen|fixture|point)")
#: Positions that are wanted and not measured come last.
_WANTED = re.compile(r"(.*)(cmd|command|commanded|nominal|nom|ref|target|desired|soll)(.*)")
#: So many ways to cut a file without names into joints and positions are tried.
MOST_GUESSES = 400


@dataclass(frozen=True)
class Roles:
    """Places of the columns of joints, and of x, y, z for each target."""

    joints: tuple[int, ...]
    points: tuple[tuple[int, int, int], ...]
    targets: tuple[str, ...] = ("",)
    #: Do the names say so?
    by_name: bool = True


def roles(names: Mapping[int, str], joints: int) -> list[Roles]:
    """What columns may be, by their places; ``names`` are those of the columns with numbers."""
    stems = {place: _stem(name) for place, name in names.items()}
    groups = _points(stems)
    used = {place for _, places in groups for place in places}
    arms = list(_joints({p: stem for p, stem in stems.items() if p not in used}, joints))
    if arms and groups:
        targets, points = _alike(groups)
        return [Roles(arm, points, targets) for arm in arms]
    guesses = []
    free = [place for place in names if place not in used]
    for arm in arms or _windows(free, joints):
        if groups:
            targets, points = _alike(groups)
            guesses.append(Roles(arm, points, targets, by_name=False))
            continue
        rest = [place for place in free if place not in arm]
        for x, y, z in _windows(rest, 3):
            guesses.append(Roles(arm, ((x, y, z),), by_name=False))
    return guesses[:MOST_GUESSES]


def _stem(name: str) -> str:
    """A name without its unit, separators and capitals; nothing for a column without one."""
    if re.fullmatch(r"#\d+", name):
        return ""
    return re.sub(r"[\W_]+", "", with_unit(name[:LONGEST_NAME])[0]).lower()


def _joints(stems: Mapping[int, str], count: int) -> Iterator[tuple[int, ...]]:
    """Columns that are numbered, or lettered, as joints are; the clearest first."""
    numbered: dict[tuple[str, str], dict[int, int]] = {}
    lettered: dict[str, list[int]] = {}
    for place, stem in stems.items():
        if match := re.fullmatch(r"(.*?)(\d{1,3})(\D*)", stem):
            numbered.setdefault((match[1], match[3]), {})[int(match[2])] = place
        elif re.fullmatch(r".+[a-z]", stem):
            lettered.setdefault(stem[:-1], []).append(place)
    found: list[tuple[int, tuple[int, ...]]] = []
    for (before, _), places in numbered.items():
        for first in (1, 0):
            wanted = range(first, first + count)
            if all(number in places for number in wanted):
                found.append((_rank(before), tuple(places[number] for number in wanted)))
                break
    for before, group in lettered.items():
        if len(group) == count:
            found.append((_rank(before) + len(_JOINTS), tuple(group)))
    worst = 3 * len(_JOINTS)
    yield from (places for rank, places in sorted(found) if rank < worst)


def _rank(before: str) -> int:
    if before in _JOINTS:
        return _JOINTS.index(before)
    return 3 * len(_JOINTS) if _NO_JOINTS.fullmatch(before) else len(_JOINTS)


def _points(stems: Mapping[int, str]) -> list[tuple[str, tuple[int, int, int]]]:
    """Names of points with the places of their x, y and z; measured ones first."""
    axes: dict[str, dict[str, int]] = {}
    for place, stem in stems.items():
        match = re.fullmatch(r"(.*?)([xyz])(\d{0,3})", stem)
        if match and not _NO_POINTS.fullmatch(match[1]):
            axes.setdefault(match[1] + match[3], {}).setdefault(match[2], place)
    whole = [(n, (a["x"], a["y"], a["z"])) for n, a in axes.items() if len(a) == 3]
    return sorted(whole, key=lambda point: bool(_WANTED.fullmatch(point[0])))


def _alike(
    groups: Sequence[tuple[str, tuple[int, int, int]]],
) -> tuple[tuple[str, ...], tuple[tuple[int, int, int], ...]]:
    """The first point and those that differ from it only in their number: several targets."""
    first = groups[0][0].rstrip("0123456789")
    alike = [(name, places) for name, places in groups if name.rstrip("0123456789") == first]
    if len(alike) == 1:
        return ("",), (alike[0][1],)
    names = [name for name, _ in alike]
    if not all(re.fullmatch(r"(?!q\d)[a-z][a-z0-9]*", name) for name in names):
        names = [f"p{number}" for number in range(1, len(alike) + 1)]
    return tuple(names), tuple(places for _, places in alike)


def _windows(places: Iterable[int], size: int) -> Iterator[tuple[int, ...]]:
    """Neighbouring columns."""
    every = list(places)
    for start in range(len(every) - size + 1):
        yield tuple(every[start : start + size])
