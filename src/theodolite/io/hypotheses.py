"""Ways to read a file's joints and positions, and how well each fits a robot.

A reading says which column is which joint, in which unit, direction and from which zero, and
whether the coordinates are left-handed. With the robot's own frame j -> (R_j, p_j) and a target t,
measurements are any affine image of the tips,

    p_j + R_j t = A m_j + c

where A is a rotation over a scale, or a reflection. Left free, A, c and t are linear: one small
solve, done for many readings at once, says which of them deserve a placement of the robot
(``calibration.placement``), which then tells hand, scale and misfit. Units are tried first, then
directions, then exchanged joints, then zeros.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice, product

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.calibration.placement import solve_placement
from theodolite.io.units import ANGLES, LENGTHS
from theodolite.model.conventions import Convention, Joint, Row
from theodolite.model.robot import Robot

#: Rows that are enough to tell readings apart.
SAMPLE = 40
#: Nominal robots predict positions to better than this part of their spread.
GOOD = 0.03
#: So many of the readings that fit best are worth a placement.
_PLACED = 24
#: So many readings are looked at together.
_TOGETHER = 256
#: Of arms with more joints only directions are tried, and those of the first.
_ALL_SIGNS = 8
#: So many readings are tried of each kind: some seconds.
_MOST = 24_000


@dataclass(frozen=True)
class Reading:
    """How columns are read."""

    #: Place of each joint's column among the joint columns of the file.
    order: tuple[int, ...]
    signs: tuple[int, ...]
    #: Zeros of the joints, in quarter turns.
    quarters: tuple[int, ...]
    #: Units of revolute and prismatic joints.
    angle: str
    slide: str
    mirrored: bool = False

    def changes(self, plain: Reading) -> int:
        """In how many ways it differs from another."""
        own = (self.angle, self.slide, self.mirrored, *self.signs, *self.quarters)
        other = (plain.angle, plain.slide, plain.mirrored, *plain.signs, *plain.quarters)
        moved = sum(a != b for a, b in zip(self.order, plain.order, strict=True))
        return sum(a != b for a, b in zip(own, other, strict=True)) + moved

    def flipped(self, joint: int) -> Reading:
        """The same with one joint reversed."""
        signs = [-sign if place == joint else sign for place, sign in enumerate(self.signs)]
        return replace(self, signs=tuple(signs))


@dataclass(frozen=True)
class Tried:
    """A reading and how it fits."""

    reading: Reading
    #: Rms distance between measured and predicted positions, as part of the positions' spread.
    misfit: float
    #: How long a metre of the robot is in the file's unit.
    scale: float


class Trial:
    """Joint columns (n, joints) and positions (n, targets, 3) as they stand, with their robot."""

    def __init__(self, robot: Robot, columns: FloatArray, positions: FloatArray) -> None:
        rows = np.unique(np.linspace(0, len(columns) - 1, SAMPLE).astype(int))
        self.columns, self.positions = columns[rows], positions[rows]
        self.revolute = np.array([kind is Joint.REVOLUTE for kind in robot.joint_types])
        frames = robot.frames[robot.joint_rows[0] :]
        self._arm = replace(robot, frames=(Row(Convention.POSE, Joint.FIXED), *frames), targets=())
        centred = self.positions - self.positions.mean(axis=0)
        self.spread = float(np.sqrt((centred**2).sum(axis=2).mean()))
        # What no affine image of the measured positions explains, (rows, rows).
        scaled = np.column_stack([centred[:, 0] / (self.spread or 1.0), np.ones(len(rows))])
        explained = np.linalg.qr(scaled)[0]
        self._left = np.eye(len(rows)) - explained @ explained.T

    @property
    def decidable(self) -> bool:
        """Are there twice as many equations as unknowns, and any motion?"""
        return 3 * len(self.positions) >= 2 * 15 and self.spread > 0

    def motors(self, reading: Reading) -> FloatArray:
        """The motor variables in SI that a reading gives, (rows, joints)."""
        factors = np.where(self.revolute, ANGLES[reading.angle], LENGTHS[reading.slide])
        zeros = np.where(self.revolute, np.pi / 2 * np.array(reading.quarters), 0.0)
        return self.columns[:, reading.order] * factors * np.array(reading.signs) + zeros

    def _frames(self, readings: Sequence[Reading]) -> tuple[FloatArray, FloatArray]:
        """Orientations (readings, rows, 3, 3) and positions (readings, rows, 3)."""
        motors = np.concatenate([self.motors(reading) for reading in readings])
        motion = self._arm.chains[0].motion(self._arm.values, self._arm.basis(motors))
        shape = (len(readings), len(self.columns))
        return motion.rotation.reshape(*shape, 3, 3), motion.position.reshape(*shape, 3)

    def promising(self, readings: Iterable[Reading]) -> list[Reading]:
        """The readings that an affine image fits best, whatever the hand and the scale."""
        wanted = list(dict.fromkeys(readings))
        misfits = [
            misfit
            for start in range(0, len(wanted), _TOGETHER)
            for misfit in self._affine_misfits(wanted[start : start + _TOGETHER])
        ]
        return [wanted[place] for place in np.argsort(misfits, kind="stable")[:_PLACED]]

    def _affine_misfits(self, readings: Sequence[Reading]) -> FloatArray:
        R, p = self._frames(readings)
        # Rows of all three coordinates below each other, without what A and c explain.
        left_p = (self._left @ p).reshape(len(readings), -1)
        left_R = np.einsum("mn,hnij->hmij", self._left, R).reshape(len(readings), -1, 3)
        normal = left_R.swapaxes(1, 2) @ left_R + 1e-9 * np.eye(3)
        t = -np.linalg.solve(normal, (left_R.swapaxes(1, 2) @ left_p[..., None]))
        tips = p + (R @ t[:, None])[..., 0]
        spread = np.linalg.norm(tips - tips.mean(axis=1, keepdims=True), axis=(1, 2))
        rest = np.linalg.norm(left_p + (left_R @ t)[..., 0], axis=1)
        return np.divide(rest, spread, out=np.full(len(rest), np.inf), where=spread > 0)

    def placed(self, readings: Iterable[Reading]) -> list[Tried]:
        """The readings in either hand, each with its misfit, the best first."""
        wanted = list(dict.fromkeys(replace(reading, mirrored=False) for reading in readings))
        R, p = self._frames(wanted)
        found = [
            self._placed(replace(reading, mirrored=mirrored), R[place], p[place])
            for place, reading in enumerate(wanted)
            for mirrored in (False, True)
        ]
        return sorted(found, key=lambda each: each.misfit)

    def _placed(self, reading: Reading, rotations: FloatArray, tips: FloatArray) -> Tried:
        measured = self.positions * [1.0, 1.0, -1.0] if reading.mirrored else self.positions
        try:
            found = solve_placement(rotations, tips, measured, find_targets=True, find_scale=True)
        except (np.linalg.LinAlgError, ZeroDivisionError):
            return Tried(reading, float("inf"), 1.0)
        targets = range(measured.shape[1])
        off = np.stack([found.apply(rotations, tips, target) for target in targets], axis=1)
        rms = float(np.sqrt(((off - measured) ** 2).sum(axis=2).mean()))
        return Tried(reading, rms / self.spread if np.isfinite(rms) else float("inf"), found.scale)


def best(trial: Trial, plain: Reading, units: Sequence[tuple[str, str]]) -> list[Tried]:
    """The readings that fit best, the plain one among them; ``units`` are those that may be."""
    found = trial.placed([plain])
    stages = (directions, _exchanges, _one_zero, _two_zeros)
    for stage in stages if len(plain.signs) <= _ALL_SIGNS else stages[:1]:
        promising = trial.promising(islice(stage(plain, units, trial.revolute), _MOST))
        tried = trial.placed([*promising, *(each.reading for each in found)])
        found = tried[: 2 * _PLACED]
        if found[0].misfit <= GOOD:
            break
    return found


_Units = Sequence[tuple[str, str]]


def directions(plain: Reading, units: _Units, revolute: FloatArray) -> Iterator[Reading]:
    """All directions of all joints, in all units."""
    for angle, slide in units:
        for signs in product((1, -1), repeat=min(len(plain.signs), _ALL_SIGNS)):
            whole = (*signs, *plain.signs[len(signs) :])
            yield replace(plain, angle=angle, slide=slide, signs=whole)


def _exchanges(plain: Reading, units: _Units, revolute: FloatArray) -> Iterator[Reading]:
    """Two joints exchanged, the last joint first, columns that begin elsewhere; any direction."""
    orders = []
    for one, other in combinations(range(len(plain.order)), 2):
        swapped = list(plain.order)
        swapped[one], swapped[other] = swapped[other], swapped[one]
        orders.append(tuple(swapped))
    orders.append(plain.order[::-1])
    orders += [(*plain.order[n:], *plain.order[:n]) for n in range(1, len(plain.order))]
    for order in orders:
        yield from directions(replace(plain, order=order), units, revolute)


def _one_zero(plain: Reading, units: _Units, revolute: FloatArray) -> Iterator[Reading]:
    """One joint that counts from elsewhere. Zeros of the outer joints change nothing."""
    for joint in range(1, len(plain.signs) - 1):
        for turn in (1, 2, 3) if revolute[joint] else ():
            quarters = [turn if place == joint else q for place, q in enumerate(plain.quarters)]
            yield from directions(replace(plain, quarters=tuple(quarters)), units, revolute)


def _two_zeros(plain: Reading, units: _Units, revolute: FloatArray) -> Iterator[Reading]:
    """Two such joints."""
    inner = [joint for joint in range(1, len(plain.signs) - 1) if revolute[joint]]
    for pair in combinations(inner, 2):
        for turns in product((1, 2, 3), repeat=2):
            quarters = list(plain.quarters)
            for joint, turn in zip(pair, turns, strict=True):
                quarters[joint] = turn
            yield from directions(replace(plain, quarters=tuple(quarters)), units, revolute)
