"""Random robots for laws that hold for all of them, degenerate ones included."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

import theodolite as th
from theodolite.model.conventions import Piece

ANGLES = st.one_of(
    st.sampled_from([0.0, np.pi / 2, -np.pi / 2, np.pi, 1e-9, 1e-4]),
    st.floats(-3.0, 3.0, allow_nan=False),
)
LENGTHS = st.one_of(st.sampled_from([0.0, 1e-6]), st.floats(-0.8, 0.8, allow_nan=False))


@st.composite
def products(draw: st.DrawFn, joint: th.Joint) -> tuple[Piece, ...]:
    """Any elements in any order, one of them the joint unless the row is fixed."""
    still = st.builds(Piece, st.booleans(), st.integers(0, 2), sign=st.just(0), free=st.booleans())
    pieces = draw(st.lists(still, min_size=1, max_size=5))
    if joint is not th.Joint.FIXED:
        moving = Piece(
            joint is th.Joint.REVOLUTE,
            draw(st.integers(0, 2)),
            draw(st.sampled_from([-1, 1])),
            draw(st.booleans()),
        )
        pieces.insert(draw(st.integers(0, len(pieces))), moving)
    return tuple(pieces)


@st.composite
def rows(draw: st.DrawFn, joint: th.Joint | None = None) -> th.Row:
    """A row of any convention and, unless given, any joint."""
    convention = draw(st.sampled_from(list(th.Convention)))
    if joint is None:
        joint = draw(st.sampled_from([th.Joint.REVOLUTE, th.Joint.PRISMATIC]))
    if convention is th.Convention.HAYATI and joint is not th.Joint.REVOLUTE:
        convention = th.Convention.DH
    pieces = draw(products(joint)) if convention is th.Convention.PRODUCT else ()
    slots = th.Row(convention, joint, pieces=pieces).slots
    values = {slot.symbol: draw(ANGLES if slot.rotation else LENGTHS) for slot in slots}
    nominal = (0.0,) * 6
    if convention.has_nominal:
        nominal = tuple(draw(LENGTHS) for _ in range(3)) + tuple(draw(ANGLES) for _ in range(3))
    return th.Row(convention, joint, values, nominal, pieces)


@st.composite
def random_robots(draw: st.DrawFn, max_joints: int = 5) -> th.Robot:
    """Base row, some joints, tool row; coupled motors and gains that are not one."""
    joints = draw(st.integers(1, max_joints))
    middle = [draw(rows()) for _ in range(joints)]
    base, tool = draw(rows(th.Joint.FIXED)), draw(rows(th.Joint.FIXED))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    coupling = np.eye(joints) + 0.3 * np.triu(rng.uniform(-1, 1, (joints, joints)), 1)
    transmission = th.Transmission.of(
        joints,
        com=coupling.T,
        coa=coupling,
        gains=rng.uniform(0.8, 1.2, joints),
        offset=rng.uniform(-1, 1, joints),
    )
    return th.Robot.of("random", [base, *middle, tool], transmission=transmission)


def central_differences(function, point: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """Derivative of an array-valued function by each coordinate, on a new last axis."""
    columns = []
    for index in range(len(point)):
        shift = np.zeros(len(point))
        shift[index] = step
        columns.append((function(point + shift) - function(point - shift)) / (2 * step))
    return np.stack(columns, axis=-1)
