"""Accelerations of the motors from those of the tool, where an accelerometer recorded these.

Positions that are differentiated twice are noisy; an accelerometer on the platform is not
[Renaud2006]. The motors' accelerations are corrected by the smallest change that gives the tool the
acceleration that was measured, ``J q'' + J' q' = a``.
"""

from __future__ import annotations

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.drives import State
from theodolite.dynamics.loop_dynamics import STEP, LoopDynamics
from theodolite.dynamics.serial import Dynamics
from theodolite.dynamics.tree import Tree
from theodolite.errors import InputError
from theodolite.matrices import pseudo_inverse


def use_tool_acceleration(dynamics: Tree | None, state: State, measured: FloatArray) -> State:
    """The same state with accelerations that fit those of the tool in the world, m/s2, (n, 3)."""
    if not isinstance(dynamics, Dynamics | LoopDynamics):
        raise InputError("accelerations of the tool need a robot with a tool")
    machine = dynamics.robot
    q = dynamics.assemble(state).q

    def jacobian(at: FloatArray) -> FloatArray:
        slopes = machine.motion(machine.values, at).position_basis_jacobian()
        return np.asarray(machine.to_motors(slopes))

    def moved(side: float) -> FloatArray:
        at = q.copy()
        at[:, : dynamics.motors] += side * STEP * state.qd
        return at

    J = jacobian(q)
    drift = (jacobian(moved(1.0)) - jacobian(moved(-1.0))) / (2 * STEP)
    own = np.einsum("nij,nj->ni", J, state.qdd) + np.einsum("nij,nj->ni", drift, state.qd)
    change = np.einsum("nij,nj->ni", pseudo_inverse(J), measured - own)
    return State(state.q, state.qd, state.qdd + change, state.temperatures)
