"""The orientation fixture: completing a calibration made with a single-point sensor.

A single-point sensor says where one point of the hand is, but not how the hand is turned. So the
robot carries a fixture with targets at known places S_t, and brings each of them to a pointer that
stands somewhere, at an unknown X. With the calibrated sensor frame (R_i, p_i) of touch i and the
fixture's unknown place (R, p) in it,

    residual = R_i (R S_t + p) + p_i - X                       [Everett1988, eqs. 79-80]

three rows per touch, any number of touches, least squares over the rotation. The report solves
four touches for zero instead, which uses less of the data (`reproduce/everett_fixture.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.errors import InputError
from theodolite.estimation.problem import Block
from theodolite.model import rotations
from theodolite.model.parameters import Group, Parameter, Unit
from theodolite.model.twists import skews

#: Directions that a hand hardly turns into, of the one it turns into most: kept at zero.
UNSEEN = 1e-6
#: Targets whose spread across a line is below this part of their spread along it are collinear.
COLLINEAR = 1e-3
#: Gauss-Newton steps from the linear estimate; they converge quadratically.
REFINEMENTS = 4


@dataclass(frozen=True, eq=False)
class Touches:
    """Where the sensor frame was when each target touched the pointer."""

    #: Orientations of the sensor frame in the world, (n, 3, 3).
    rotations: FloatArray
    #: Its positions, (n, 3).
    positions: FloatArray
    #: Which target touched, (n,).
    target: IntArray
    #: Places of the targets in the fixture, (targets, 3).
    targets: FloatArray
    #: Line of the file for each touch, and the file.
    lines: IntArray | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        used = np.unique(self.target)
        if used.min(initial=0) < 0 or used.max(initial=0) >= len(self.targets):
            raise InputError(
                f"touch {int(np.argmax(self.target >= len(self.targets))) + 1} names a target "
                "that the fixture does not have",
                where=self.name,
                allowed=f"0 to {len(self.targets) - 1}",
            )
        if len(used) < 4:
            raise InputError(
                f"{self._rows()}: only {len(used)} different targets were touched",
                where=self.name,
                allowed="four or more",
            )
        spread = np.linalg.svd(
            self.targets[used] - self.targets[used].mean(axis=0), compute_uv=False
        )
        if spread[1] < COLLINEAR * spread[0]:
            raise InputError(
                f"{self._rows()}: the targets lie on one line, and turning the fixture about it "
                "would go unnoticed",
                where=self.name,
                remedy="Move one of them off the line",
            )

    def _rows(self) -> str:
        numbers = np.arange(1, len(self.target) + 1) if self.lines is None else self.lines
        word = "touches" if self.lines is None else "lines"
        return f"{word} {int(numbers.min())} to {int(numbers.max())}"

    def __len__(self) -> int:
        return len(self.target)


def touch_rows(
    turns: FloatArray,
    shifts: FloatArray,
    places: FloatArray,
    values: FloatArray,
    fixture: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Errors of touches (n, 3), their derivative by pointer and fixture (n, 3, 9), and the arms.

    ``turns`` and ``shifts`` are the sensor's frames, ``fixture`` the fixture's orientation in it,
    ``values`` as in ``FixtureProblem``. The arm goes from the sensor to the touching target.
    """
    turned = places @ fixture.T
    arm = np.einsum("nij,nj->ni", turns, turned + values[3:6])
    error = arm + shifts - values[:3]
    jacobian = np.zeros((len(error), 3, 9))
    jacobian[:, :, :3] = -np.eye(3)
    jacobian[:, :, 3:6] = turns
    bend = np.linalg.inv(rotations.left_inverse(values[None, 6:])[0])
    jacobian[:, :, 6:] = -turns @ skews(turned) @ bend
    return error, jacobian, arm


class FixtureProblem:
    """Pointer and fixture from touches: `px py pz`, and `fx fy fz frx fry frz` in the sensor."""

    warm_start = None
    constraint = False

    def __init__(self, touches: Touches, *, noise: float = 1e-4) -> None:
        self.touches, self.noise = touches, noise
        self._turn, shift, pointer = self._first_estimate()
        values = self._refined(np.array([*pointer, *shift, 0.0, 0.0, 0.0]))
        size = float(np.linalg.norm(np.ptp(touches.positions, axis=0)) + np.ptp(touches.targets))
        names = ["px", "py", "pz", "fx", "fy", "fz", "frx", "fry", "frz"]
        self.parameters = tuple(
            Parameter(
                name,
                float(value),
                Unit.RADIAN if name.startswith("fr") else Unit.METRE,
                Group.SENSOR,
                0,
                column,
                # Nothing is known but that the hand reaches the pointer.
                tolerance=np.pi if name.startswith("fr") else size,
            )
            for column, (name, value) in enumerate(zip(names, values, strict=True))
        )
        self.priorities = (1,) * len(self.parameters)

    @cached_property
    def _places(self) -> FloatArray:
        return self.touches.targets[self.touches.target]

    def _first_estimate(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """R, p and X from the linear problem with R any matrix, made a rotation afterwards.

        The places are taken in their principal axes: where the targets are coplanar, the third
        column of R is not seen, and the first two fix it.
        """
        touches = self.touches
        centre = touches.targets.mean(axis=0)
        axes = np.linalg.svd(touches.targets - centre)[2].T
        axes[:, 2] *= np.linalg.det(axes)
        local = (self._places - centre) @ axes
        flat = np.ptp(local[:, 2]) < COLLINEAR * np.ptp(local[:, 0])
        columns = 2 if flat else 3
        n = len(touches)
        matrix = np.zeros((n, 3, 3 * columns + 6))
        for column in range(columns):
            matrix[:, :, 3 * column : 3 * column + 3] = (
                touches.rotations * local[:, column, None, None]
            )
        matrix[:, :, -6:-3] = touches.rotations
        matrix[:, :, -3:] = -np.eye(3)
        solution = np.linalg.lstsq(
            matrix.reshape(3 * n, -1), -touches.positions.ravel(), rcond=UNSEEN
        )[0]
        free = solution[: 3 * columns].reshape(columns, 3).T
        if flat:
            free = np.column_stack([free, np.cross(free[:, 0], free[:, 1])])
        left, _, right = np.linalg.svd(free)
        turn = left @ np.diag([1.0, 1.0, np.linalg.det(left @ right)]) @ right @ axes.T
        return turn, solution[-6:-3] - turn @ centre, solution[-3:]

    def _refined(self, values: FloatArray) -> FloatArray:
        """A few Gauss-Newton steps, so that what is measured at the start is the touches."""
        for _ in range(REFINEMENTS):
            error, jacobian, _ = self._rows(values)
            step = np.linalg.lstsq(jacobian.reshape(-1, 9), error.ravel(), rcond=UNSEEN)[0]
            values = values - step
        return values

    def rotation(self, values: FloatArray) -> FloatArray:
        """The fixture's orientation in the sensor frame, (3, 3)."""
        return rotations.exp(values[None, 6:])[0] @ self._turn

    def blocks(self, values: FloatArray) -> Iterator[Block]:
        error, jacobian, _ = self._rows(values)
        rows = np.concatenate([jacobian.transpose(2, 1, 0), error.T[None]])
        yield Block(rows.reshape(10, -1) / self.noise, 3)

    def structure(self, values: FloatArray) -> Iterator[FloatArray] | None:
        return None

    def errors(self, values: FloatArray) -> dict[str, FloatArray]:
        return {"position": np.linalg.norm(self._rows(values)[0], axis=1)}

    def _rows(self, values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        touches = self.touches
        turn = self.rotation(values)
        return touch_rows(touches.rotations, touches.positions, self._places, values, turn)

    def extras(self, values: FloatArray) -> dict[str, Any]:
        """Pointer and fixture, SI."""
        return {
            "pointer_m": values[:3].tolist(),
            "fixture": {
                "position_m": values[3:6].tolist(),
                "rotation": self.rotation(values).tolist(),
                "rotation_vector_deg": np.degrees(
                    rotations.log(self.rotation(values)[None])[0]
                ).tolist(),
            },
        }
