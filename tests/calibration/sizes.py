"""Robots and their measurements at another size: every length times one factor."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import theodolite as th
from theodolite.model.bodies import BodyElement, MechanismJoint
from theodolite.model.parameters import Unit


def grown(robot: th.Robot | th.Mechanism, factor: float) -> th.Robot | th.Mechanism:
    """The same robot with all its lengths multiplied."""
    if isinstance(robot, th.Mechanism):
        return _grown_mechanism(robot, factor)
    rows = []
    for row in robot.frames:
        turning = {slot.symbol: slot.rotation for slot in row.slots}
        values = {
            symbol: value if turning.get(symbol, True) else factor * value
            for symbol, value in row.values.items()
        }
        nominal = (*(factor * length for length in row.nominal[:3]), *row.nominal[3:])
        rows.append(replace(row, values=values, nominal=nominal))
    slides = joint_factors(robot, factor)
    return replace(
        robot,
        frames=tuple(rows),
        lower=robot.lower * slides,
        upper=robot.upper * slides,
        transmission=replace(robot.transmission, offset=robot.transmission.offset * slides),
        targets=tuple(
            th.Target(target.name, tuple(factor * x for x in target.position))
            for target in robot.targets
        ),
    )


def _grown_mechanism(robot: th.Mechanism, factor: float) -> th.Mechanism:
    units = {parameter.name: parameter.unit for parameter in robot.parameters}

    def element(one: BodyElement) -> BodyElement:
        return one if one.rotation else replace(one, amount=factor * one.amount)

    def joint(one: MechanismJoint) -> MechanismJoint:
        if one.kind is not th.Joint.PRISMATIC:
            return one
        home = None if one.home is None else factor * one.home
        return replace(one, home=home, lower=factor * one.lower, upper=factor * one.upper)

    return replace(
        robot,
        bodies=tuple(
            replace(body, elements=tuple(element(one) for one in body.elements))
            for body in robot.bodies
        ),
        closures=tuple(
            closure if closure.length is None else replace(closure, length=element(closure.length))
            for closure in robot.closures
        ),
        active=tuple(joint(one) for one in robot.active),
        passive=tuple(joint(one) for one in robot.passive),
        constants={
            name: factor * value if units[name] is Unit.METRE else value
            for name, value in robot.constants.items()
        },
    )


def joint_factors(robot: th.Robot, factor: float) -> np.ndarray:
    return np.array([factor if kind is th.Joint.PRISMATIC else 1.0 for kind in robot.joint_types])


def grown_data(data: th.Dataset, robot: th.Robot, factor: float) -> th.Dataset:
    """The same measurements of the grown robot."""

    def times(array: np.ndarray | None, by: object) -> np.ndarray | None:
        return None if array is None else array * by

    return replace(
        data,
        motors=data.motors * joint_factors(robot, factor),
        positions=times(data.positions, factor),
        planes=times(data.planes, np.array([1.0, 1.0, 1.0, factor])),
        fixture=times(data.fixture, factor),
        points=times(data.points, factor),
        columns={
            name: values * factor if name.endswith("_m") else values
            for name, values in data.columns.items()
        },
    )
