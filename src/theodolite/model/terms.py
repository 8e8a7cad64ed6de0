"""Further error terms of a robot: a coefficient times a basis function of the sample.

    amount of an element = constant + gain * motor + sum of coefficient * basis(sample)

The coefficient is a parameter like any other. The basis function depends on joints, on columns of
the data, or on gravity at the nominal robot; that it would be a little different at the calibrated
robot is neglected (docs/explanation/whole-error.md shows how little that matters).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from theodolite.arrays import BoolArray, FloatArray
from theodolite.errors import InputError
from theodolite.model.expressions import Environment, Expression, moment_name, parse

#: The joint's own motion, whatever the convention calls it.
JOINT = "q"
#: Displacements and turns of a row's frame after everything else in the row.
AXES: Mapping[str, tuple[bool, int]] = {
    "x": (False, 0),
    "y": (False, 1),
    "z": (False, 2),
    "rx": (True, 0),
    "ry": (True, 1),
    "rz": (True, 2),
}
#: Turns after the joint of a row whose own rx and ry come before it, as those of poses do.
BENDS: Mapping[str, tuple[bool, int]] = {"bx": (True, 0), "by": (True, 1)}
#: The number of the row in its session.
ROW = "row"
#: The columns that say when a row was measured, the more telling first.
TIMES = ("time_s", ROW)
#: The sign of a joint's last motion, from the order of the rows if no column says otherwise.
DIRECTION = re.compile(r"direction([1-9]\d?)")
_JOINT_VALUE = re.compile(r"q([1-9]\d?)")


@dataclass(frozen=True)
class ErrorTerm:
    """One further term."""

    #: Number of the row, as in the names of its parameters.
    row: int
    #: A symbol of that row, ``q`` for the joint's motion, or x y z rx ry rz of its frame.
    on: str
    #: The text of the basis function.
    basis: str
    #: The coefficient, in metres or radians per unit of the basis function.
    value: float = 0.0

    @property
    def name(self) -> str:
        """The coefficient as a parameter: ``q3:sin(q3)``."""
        return f"{self.on}{self.row}:{self.basis}"

    @cached_property
    def expression(self) -> Expression:
        return parse(self.basis)


def distinct(terms: Sequence[ErrorTerm]) -> tuple[Expression, ...]:
    """The basis functions of some terms, each once."""
    return tuple({term.basis: term.expression for term in terms}.values())


def columns_needed(expressions: Sequence[Expression]) -> tuple[str, ...]:
    """What the data must say beside the joints."""
    names = {name for expression in expressions for name in expression.names}
    return tuple(sorted(name for name in names if not _JOINT_VALUE.fullmatch(name)))


def joints_named(expressions: Sequence[Expression]) -> set[int]:
    """Numbers of the joints and links that occur in some basis functions."""
    numbers = set()
    for expression in expressions:
        axes = [*expression.loads, *(axis for pair in expression.moments for axis in pair)]
        numbers |= {int(axis[1:]) for axis in axes}
        for name in expression.names:
            match = _JOINT_VALUE.fullmatch(name) or DIRECTION.fullmatch(name)
            if match:
                numbers.add(int(match.group(1)))
    return numbers


def evaluated(
    expressions: Sequence[Expression], environment: Environment, recorded: BoolArray
) -> FloatArray:
    """The basis functions' values, (n, functions); refuses what is not finite.

    Where not all joints were ``recorded`` (n,), some functions are not known.
    """
    values = np.empty((len(recorded), len(expressions)))
    for column, expression in enumerate(expressions):
        values[:, column] = expression(environment)
        bad = ~np.isfinite(values[:, column]) & recorded
        if bad.any():
            raise InputError(
                f"basis '{expression.text}' is not finite in row {int(np.argmax(bad)) + 1}",
                remedy="Check its divisions, roots and logarithms",
            )
    return values


def moments(
    pairs: set[tuple[str, str]], axes: Mapping[str, FloatArray], gravity: FloatArray
) -> dict[str, FloatArray]:
    """Moments of unit weights about axes (3, n), in the direction of gravity (3,)."""
    # g . (a x b) = (g x a) . b
    turned = {
        first: np.cross(gravity, axes[first], axisb=0, axisc=0) for first in {a for a, _ in pairs}
    }
    return {
        moment_name(first, second): np.einsum("in,in->n", turned[first], axes[second])
        for first, second in pairs
    }


def directions(motors: FloatArray) -> FloatArray:
    """The sign of each joint's last motion, from the order of the rows; 0 before it first moved."""
    signs = np.sign(np.diff(motors, axis=0, prepend=motors[:1]))
    last = np.where(signs != 0, np.arange(len(motors))[:, None], 0)
    return np.take_along_axis(signs, np.maximum.accumulate(last, axis=0), axis=0)
