"""Measurements of one robot, as arrays: one row per configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from theodolite import edges
from theodolite.arrays import BoolArray, FloatArray, IntArray, seen
from theodolite.errors import InputError, shown
from theodolite.model.machine import Machine

#: Configurations that differ by less than this part of the range that a recording covers are one;
#: a group that reaches so many times further is no repetition but a path.
REPEATED, CHAINED = 1e-3, 20.0
#: On a path the step to the next row is less than this part of the usual distance between rows.
NEIGHBOURS = 0.2
#: So many stretches of a path are held out one by one.
STRETCHES = 20
#: Rows beyond this number are not compared with each other.
MOST_COMPARED = 200_000
#: Rows of a session that are never held out: three place a sensor, and some may be out of sight.
KEPT_PER_SESSION = 4
#: What holds one entry per row beside the motors, with the shape of an entry.
_SHAPES: Mapping[str, tuple[int, ...]] = {
    "rotations": (3, 3),
    "sets": (),
    "sessions": (),
    "planes": (4,),
    "fixture": (3,),
    "pixels": (2,),
    "points": (3,),
    "cameras": (),
    "boards": (),
    "covariances": (6, 6),
    "lines": (),
    "file": (),
}


@dataclass(frozen=True, eq=False, init=False)
class Dataset:
    """Motor variables and what was measured there. What a method does not need may be None.

    Lists are welcome wherever arrays are. Positions of a single target may be (n, 3).
    """

    #: Motor variables, (n, joints), radians and metres.
    motors: FloatArray
    #: Measured positions of the targets, (n, targets, 3); NaN where one of several was not seen.
    positions: FloatArray | None = None
    #: Names of those targets; "" is the tool's own origin.
    targets: tuple[str, ...] = ("",)
    #: Measured orientations, (n, 3, 3).
    rotations: FloatArray | None = None
    #: Which configurations reach the same point or pose, (n,), any labels.
    sets: IntArray | None = None
    #: Known planes, (n, 4): unit normal and distance, n . P = h.
    planes: FloatArray | None = None
    #: Place in the fixture of the target that touched the pointer, (n, 3); NaN where none did.
    fixture: FloatArray | None = None
    #: Pixels (n, 2) in which points (n, 3) of a target were seen, one row per point and picture.
    pixels: FloatArray | None = None
    points: FloatArray | None = None
    #: Which of several cameras saw the point, and on which of several boards it is, (n,).
    cameras: IntArray | None = None
    boards: IntArray | None = None
    #: Names of the pictures that ``sets`` counts from 0.
    pictures: tuple[str, ...] = ()
    #: Covariance of each measured pose, (n, 6, 6): displacements, then turns, in the world's axes.
    covariances: FloatArray | None = None
    #: Where each row came from: line in the file.
    lines: IntArray | None = None
    #: Which of several files, and their names.
    file: IntArray | None = None
    files: tuple[str, ...] = ()
    name: str = "data"
    #: What methods of your own need, (n,) each, by the names of their columns: ``length_m``.
    columns: Mapping[str, FloatArray] = field(default_factory=dict)
    #: From where each row was seen, (n,), any labels: the sensor was moved in between.
    sessions: IntArray | None = None

    def __init__(
        self,
        motors: ArrayLike,
        positions: ArrayLike | None = None,
        targets: Sequence[str] = ("",),
        rotations: ArrayLike | None = None,
        sets: ArrayLike | None = None,
        planes: ArrayLike | None = None,
        fixture: ArrayLike | None = None,
        pixels: ArrayLike | None = None,
        points: ArrayLike | None = None,
        covariances: ArrayLike | None = None,
        lines: ArrayLike | None = None,
        file: ArrayLike | None = None,
        files: Sequence[str] = (),
        name: str = "data",
        columns: Mapping[str, ArrayLike] | None = None,
        sessions: ArrayLike | None = None,
        cameras: ArrayLike | None = None,
        boards: ArrayLike | None = None,
        pictures: Sequence[str] = (),
    ) -> None:
        given = {
            **{"motors": motors, "positions": positions, "rotations": rotations, "sets": sets},
            **{"sessions": sessions, "cameras": cameras, "boards": boards},
            **{"planes": planes, "fixture": fixture, "pixels": pixels, "points": points},
            **{"covariances": covariances, "lines": lines, "file": file},
        }
        arrays = {key: _array(key, value, name) for key, value in given.items()}
        targets = (targets,) if isinstance(targets, str) else tuple(targets)
        measured = arrays["positions"]
        if measured is not None and measured.ndim == 2 and len(targets) == 1:
            arrays["positions"] = measured[:, None]
        if not isinstance(columns, Mapping | None):
            raise InputError(
                f"columns are {shown(columns)}", where=name, allowed="{'time_s': [0, 10, 20]}"
            )
        own = {
            key: _array(f"column '{key}'", value, name) for key, value in (columns or {}).items()
        }
        names = {
            **{"targets": targets, "files": tuple(files), "name": name},
            "pictures": tuple(pictures),
        }
        values = {**arrays, **names, "columns": own}
        for key, value in values.items():
            object.__setattr__(self, key, value)
        self._check_shapes()

    def _check_shapes(self) -> None:
        n = np.shape(self.motors)[0] if np.ndim(self.motors) else 0
        self._check_shape("motors", self.motors, (n, None))
        self._check_shape("positions", self.positions, (n, len(self.targets), 3))
        for part, shape in _SHAPES.items():
            self._check_shape(part, getattr(self, part), (n, *shape))
        for name, values in self.columns.items():
            self._check_shape(f"column '{name}'", values, (n,))

    def _check_shape(
        self, field: str, array: FloatArray | IntArray | None, wanted: tuple[int | None, ...]
    ) -> None:
        if array is None:
            return
        found = np.shape(array)
        pairs = zip(found, wanted, strict=False)
        if len(found) != len(wanted) or any(w not in (None, f) for f, w in pairs):
            text = " x ".join("n" if size is None else str(size) for size in wanted)
            verb = "has" if field.startswith("column") else "have"
            raise InputError(
                f"{field} {verb} the shape {found}",
                where=self.name,
                allowed=text,
                remedy="Give one row per configuration",
            )

    def check_finite(self, needs: Sequence[str]) -> None:
        """Refuse, by row, NaN and infinity in the motors and in what a method needs.

        With a fixture, blanks are intended: a touch has no reading, and a reading no touch.
        """
        blank = {"positions", "rotations", "fixture"} if self.fixture is not None else set()
        # A joint that was not recorded at all may belong to another arm.
        recorded = ~np.isnan(self.motors).all(axis=0)
        arrays: dict[str, Any] = {"motors": self.motors[:, recorded]}
        if self.positions is not None and self.positions.shape[1] > 1:
            # Some of several targets may be out of sight, not all of them.
            blank |= {"positions"}
            there = seen(self.positions).any(axis=1)
            arrays["positions"] = np.where(there, 0.0, np.nan)
        arrays |= {need: getattr(self, need) for need in needs if need not in blank}
        arrays |= {f"column '{name}'": values for name, values in self.columns.items()}
        for part, array in arrays.items():
            if array is None:
                continue
            bad = ~np.isfinite(array).reshape(len(self), -1).all(axis=1)
            if bad.any():
                row = int(np.argmax(bad))
                place = f"row {row + 1}" if self.lines is None else f"line {self.line(row)}"
                raise InputError(
                    f"{place}: NaN or infinity in {part} ({int(bad.sum())} of {len(self)} rows)",
                    where=self.name,
                    allowed="finite numbers",
                    remedy="Complete the row or leave it out: data.take(rows)",
                )

    def __repr__(self) -> str:
        return (
            f"Dataset '{self.name}': {len(self)} rows, {self.motors.shape[1]} motors\n"
            f"  with {', '.join(self.holds) or 'nothing else'}"
        )

    @property
    def holds(self) -> tuple[str, ...]:
        """What was recorded beside the motors."""
        names = ("positions", *_SHAPES)
        origin = ("lines", "file")
        present = [name for name in names if name not in origin and getattr(self, name) is not None]
        return (*present, *self.columns)

    def to_dict(self) -> dict[str, Any]:
        """Everything as lists, SI; ``Dataset(**data.to_dict())`` is the same data."""
        plain: dict[str, Any] = {
            field.name: value.tolist()
            for field in fields(self)
            if isinstance(value := getattr(self, field.name), np.ndarray)
        }
        own = {name: values.tolist() for name, values in self.columns.items()}
        names = {"targets": list(self.targets), "files": list(self.files), "name": self.name}
        return {**plain, **names, "pictures": list(self.pictures), "columns": own}

    def to_frame(self, robot: Machine | None = None) -> Any:
        """A pandas DataFrame, one column per number.

        With a robot, its columns are those of measurement files, and every verb takes it as data.
        Without, they are called ``motors_1``, ``positions_1_1`` ... and are in SI units.
        """
        return edges.data_frame(self, robot)

    def _repr_html_(self) -> str:
        return edges.html(self)

    def __len__(self) -> int:
        return len(self.motors)

    def take(self, rows: IntArray) -> Dataset:
        """Some of the rows."""
        chosen: dict[str, Any] = {
            field.name: value[rows]
            for field in fields(self)
            if isinstance(value := getattr(self, field.name), np.ndarray)
        }
        own = {name: values[rows] for name, values in self.columns.items()}
        return replace(self, **chosen, columns=own)

    def of_targets(self, other: Dataset) -> Dataset:
        """The same with no other targets than those of other data, where these are among them."""
        chosen = [number for number, name in enumerate(self.targets) if name in other.targets]
        if self.positions is None or other.positions is None or not chosen:
            return self
        names = tuple(self.targets[number] for number in chosen)
        return replace(self, positions=self.positions[:, chosen], targets=names)

    def first_session(self) -> Dataset:
        """The rows that were seen from where the sensor stood first."""
        if self.sessions is None or not len(self):
            return self
        return self.take(np.flatnonzero(self.sessions == self.sessions[0]))

    def line(self, row: int | np.integer[Any]) -> int:
        """The line of a row in its file, or its number."""
        return int(row) + 1 if self.lines is None else int(self.lines[row])

    def picture(self, row: int) -> str:
        """The name of the picture that a row is from, or its number."""
        if self.sets is None:
            return f"the picture of line {self.line(row)}"
        label = int(self.sets[row])
        return self.pictures[label] if self.pictures else f"picture {label}"

    def configurations(self) -> IntArray:
        """Which rows were read in one configuration, (n,): pictures show many points at once."""
        if self.pixels is None:
            return np.arange(len(self))
        if self.sets is not None:
            return np.unique(self.sets, return_inverse=True)[1].ravel()
        return np.unique(self.motors, axis=0, return_inverse=True)[1].ravel()

    def each(self, change: Callable[[Dataset], Dataset]) -> Dataset:
        """The data changed; where they come from several sources, each of these."""
        return change(self)

    def drawn(self, part: float, rng: np.random.Generator) -> tuple[BoolArray, int]:
        """Random rows to hold out, sets and pictures together, and how many groups these are."""
        if self.sessions is not None:
            return self._drawn_by_session(part, rng)
        groups = self.kept_together()
        count = int(groups.max(initial=-1)) + 1
        left_out = round(part * count)
        if left_out < 1 or count - left_out < 1:
            return np.zeros(len(self), dtype=bool), 0
        return np.isin(groups, rng.permutation(count)[:left_out]), left_out

    def _drawn_by_session(self, part: float, rng: np.random.Generator) -> tuple[BoolArray, int]:
        """Of each session the same part, and no more than leaves it enough to be placed by."""
        chosen = np.zeros(len(self), dtype=bool)
        sessions = np.asarray(self.sessions)
        for label in np.unique(sessions):
            rows = np.flatnonzero(sessions == label)
            left_out = min(round(part * len(rows)), len(rows) - KEPT_PER_SESSION)
            chosen[rng.permutation(rows)[: max(left_out, 0)]] = True
        return chosen, int(chosen.sum())

    def groups(self) -> IntArray:
        """What is one measurement: the sets, or each row by itself.

        Touches are never held out (-1): they place a pointer that new touches would move.
        """
        if self.fixture is not None:
            read = ~np.isfinite(self.fixture).all(axis=1)
            return np.where(read, np.cumsum(read) - 1, -1)
        if self.sets is None:
            return np.arange(len(self))
        return np.unique(self.sets, return_inverse=True)[1]

    def kept_together(self) -> IntArray:
        """What must stay together when rows are held out: measurements, and rows that are alike.

        Rows in one configuration share the error of its joints, and neighbours on a path share what
        the model lacks there: one would predict the other better than it predicts anything new.
        """
        alone = self.sets is None and self.fixture is None
        return alike(self.motors) if alone else self.groups()


def alike(motors: FloatArray) -> IntArray:
    """Numbers of groups of rows (n,): repeated configurations, and stretches of a path."""
    n = len(motors)
    alone: IntArray = np.arange(n)
    if n < 2 or n > MOST_COMPARED:
        return alone
    spans = np.ptp(motors, axis=0)
    x = motors[:, spans > 0] / spans[spans > 0]
    if not x.shape[1] or not np.isfinite(x).all():
        return alone
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    pairs = cKDTree(x).query_pairs(REPEATED, output_type="ndarray")
    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    labels = np.asarray(connected_components(graph, directed=False)[1], dtype=np.intp)
    first = np.unique(labels, return_index=True)[1]
    # Samples of a path may be so near to each other that they hang together as a chain.
    chained = np.abs(x - x[first][labels]).max() > CHAINED * REPEATED
    places = x[np.sort(first)]
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    others = np.linalg.norm(places - np.roll(places, len(places) // 2, axis=0), axis=1)
    on_path = len(places) > 2 and np.median(steps) < NEIGHBOURS * np.median(others)
    return alone * STRETCHES // n if n >= 2 * STRETCHES and (chained or on_path) else labels


def _array(field: str, value: ArrayLike | None, where: str) -> Any:
    """Numbers as an array: labels and lines whole, everything else as floats."""
    if value is None:
        return None
    whole = field in ("sets", "sessions", "cameras", "boards", "lines", "file")
    try:
        array = np.asarray(value)
        if whole and (array.dtype.kind in "iu" or np.array_equal(array, array.astype(np.intp))):
            return array.astype(np.intp, copy=False)
        if not whole and array.dtype.kind in "iufb":
            return array if array.dtype.kind == "f" else array.astype(np.float64)
    except (TypeError, ValueError):
        pass
    raise InputError(
        f"{field}: {shown(value)}",
        where=where,
        allowed="whole numbers" if whole else "numbers in rows of equal length",
    )


def rows_by_count(labels: IntArray) -> list[IntArray]:
    """Row numbers of equal labels, one matrix (groups, members) for each number of members."""
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order])) + 1
    members = np.split(order, starts)
    counts = sorted({len(rows) for rows in members})
    return [np.array([rows for rows in members if len(rows) == count]) for count in counts]
