"""The dynamics of any machine: a serial robot's, or that of a mechanism with loops."""

from __future__ import annotations

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.drives import STRIBECK_SPEED
from theodolite.dynamics.loop_dynamics import LoopDynamics
from theodolite.dynamics.parameters import DynamicParameters
from theodolite.dynamics.serial import Dynamics
from theodolite.errors import InputError
from theodolite.model.machine import Machine
from theodolite.model.mechanism import Mechanism

MachineDynamics = Dynamics | LoopDynamics


def build_dynamics(
    machine: Machine,
    *,
    gravity: FloatArray | None = None,
    stribeck_speed: float | None = None,
    parameters: DynamicParameters | None = None,
) -> MachineDynamics:
    """The regressors of a robot or a mechanism; ``gravity`` in the world, m/s2.

    Gravity and the speeds of friction are by default those that ``parameters`` were identified
    with. Where these say nothing, gravity acts along -z of the world of a mechanism, and as
    `default_gravity` says on a serial robot.
    """
    if parameters is not None:
        if gravity is None and parameters.gravity is not None:
            gravity = np.array(parameters.gravity)
        stribeck_speed = parameters.stribeck_speed if stribeck_speed is None else stribeck_speed
    speed = STRIBECK_SPEED if stribeck_speed is None else stribeck_speed
    dynamics: MachineDynamics
    if isinstance(machine, Mechanism):
        dynamics = LoopDynamics(machine, gravity=gravity, stribeck_speed=speed)
    else:
        dynamics = Dynamics(machine, gravity=gravity, stribeck_speed=speed)
    if parameters is None:
        return dynamics
    speeds, distances = parameters.transition_speeds, parameters.presliding_distances
    return dynamics.with_shape(
        np.array(speeds) if speeds else None,
        presliding_distances=np.array(distances) if distances else None,
    )


def require_serial(dynamics: MachineDynamics, what: str) -> Dynamics:
    """The same dynamics if they are a serial robot's; ``what`` is what needs one."""
    if not isinstance(dynamics, Dynamics):
        raise InputError(f"'{dynamics.robot.name}' is a mechanism; {what}")
    return dynamics
