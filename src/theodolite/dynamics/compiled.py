"""Trees handed to compiled kernels: the regressor of many samples, and its fold into R."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from theodolite.arrays import BoolArray, FloatArray, IntArray
from theodolite.dynamics.drives import State
from theodolite.dynamics.link_motion import Link
from theodolite.kernels import switch
from theodolite.kernels.trees import Links

#: Seconds that NumPy takes for one sample and link, about: of the regressor, and of its fold; and
#: for a link, however few samples there are.
FILLING, FOLDING, STARTING = 1.5e-7, 4e-7, 2e-4
#: How many times as long it takes for derivatives by the motion.
SLOPES = 4
#: Samples that a thread takes at a time, at least: fewer would not pay for the thread.
SHARE = 1024
#: No coupling: the joints are the motors.
NO_COUPLING: FloatArray = np.zeros((0, 0, 0))


@dataclass(frozen=True, eq=False)
class Folding:
    """What a fold needs besides the tree's own motion."""

    #: Drive terms (terms, n), with the column and motor of each, (terms, 2).
    drives: FloatArray
    places: IntArray
    #: Residuals without any parameters, (n, motors).
    last: FloatArray
    #: (motors, motors), or empty.
    whitening: FloatArray
    #: Values of all columns at which the residual is taken.
    values: FloatArray
    #: Columns that are folded, and for each motor the first of them that it sees.
    chosen: IntArray
    seen: IntArray


def filling(links: Sequence[Link], samples: int) -> float:
    """Seconds that NumPy takes for a regressor, about."""
    return len(links) * (STARTING + FILLING * samples)


def as_arrays(
    links: Sequence[Link], places: dict[int, int], columns: BoolArray, gravity: FloatArray
) -> Links:
    """Links for the kernels; ``columns`` says which of all columns are needed."""
    paths: list[list[int]] = []
    for link in links:
        paths.append([*(paths[link.parent] if link.parent >= 0 else ()), link.joint])
    depth = max(map(len, paths), default=0)
    simple = np.array([len(set(path)) == len(path) for path in paths])
    turns = [_turns(link) for link in links]
    return Links(
        parent=np.array([link.parent for link in links], dtype=np.intp),
        joint=np.array([link.joint for link in links], dtype=np.intp),
        revolute=np.array([link.revolute for link in links]),
        offset=np.array([link.offset for link in links], dtype=np.float64),
        sign=np.array([link.sign for link in links], dtype=np.float64),
        still=np.array([still for still, _, _ in turns]),
        by_cos=np.array([by_cos for _, by_cos, _ in turns]),
        by_sin=np.array([by_sin for _, _, by_sin in turns]),
        position=np.array([link.position for link in links]),
        along=np.array([link.after_rotation[link.axis] for link in links]),
        after=np.array([link.after_position @ link.after_rotation for link in links]),
        path=np.array([path + [-1] * (depth - len(path)) for path in paths], dtype=np.intp),
        length=np.array([len(path) for path in paths], dtype=np.intp),
        simple=simple,
        all_simple=bool(simple.all()),
        depth=depth,
        place=np.array([places.get(number, -1) for number in range(len(links))], dtype=np.intp),
        wanted=np.ascontiguousarray(columns),
        acceleration=-gravity,
    )


def _turns(link: Link) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The turn across a link: its constant part, and what goes with cosine and sine."""
    if not link.revolute:
        whole = link.rotation @ link.after_rotation
        return whole, np.zeros((3, 3)), np.zeros((3, 3))
    i, j, k = link.axis, (link.axis + 1) % 3, (link.axis + 2) % 3
    axis, plane, quarter = np.zeros((3, 3)), np.zeros((3, 3)), np.zeros((3, 3))
    axis[i, i] = plane[j, j] = plane[k, k] = quarter[k, j] = 1.0
    quarter[j, k] = -1.0
    still, by_cos, by_sin = (
        link.rotation @ part @ link.after_rotation for part in (axis, plane, quarter)
    )
    return still, by_cos, by_sin


def fill(out: FloatArray, links: Links, joints: State, F: FloatArray | None) -> None:
    """Fill the links' columns of a regressor (columns, motors, n)."""
    kernel = switch.load("tree_torques").fill
    state, coupling = _stacked(joints), _coupling(F)

    def work(part: int) -> None:
        kernel(out, *ends[part : part + 2], links, state, coupling)

    ends = switch.shares(len(joints), SHARE)
    switch.in_parallel(work, len(ends) - 1)


def slopes(links: Links, joints: State, weights: FloatArray) -> FloatArray:
    """Derivatives of the links' weighted torques by q, q' and q'', (3, n, joints)."""
    kernel = switch.load("link_slopes").slopes
    state, weights = _stacked(joints), np.ascontiguousarray(weights)
    found = np.zeros_like(state)

    def work(part: int) -> None:
        kernel(found, *ends[part : part + 2], links, state, weights)

    ends = switch.shares(len(joints), SHARE)
    switch.in_parallel(work, len(ends) - 1)
    return found


def fold(
    links: Links, joints: State, F: FloatArray | None, folding: Folding, sizes: FloatArray
) -> tuple[list[FloatArray], float]:
    """Triangular factors of all samples, one of each thread, and the sum of squares.

    ``sizes`` (n,) takes the size of every sample's residual.
    """
    kernel = switch.load("tree_torques").fold_samples
    state, coupling = _stacked(joints), _coupling(F)
    size = len(folding.chosen) + 1

    def work(part: int) -> tuple[FloatArray, float]:
        R = np.zeros((size, size))
        squares = kernel(
            R,
            sizes,
            *ends[part : part + 2],
            links,
            state,
            coupling,
            folding.drives,
            folding.places,
            folding.last,
            folding.whitening,
            folding.values,
            folding.chosen,
            folding.seen,
        )
        return R, squares

    ends = switch.shares(len(joints), SHARE)
    found = switch.in_parallel(work, len(ends) - 1)
    return [R for R, _ in found], float(sum(squares for _, squares in found))


def _stacked(state: State) -> FloatArray:
    return np.stack([state.q, state.qd, state.qdd])


def _coupling(F: FloatArray | None) -> FloatArray:
    return NO_COUPLING if F is None else np.ascontiguousarray(F)
