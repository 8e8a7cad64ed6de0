"""Speed of a calibration, as ratios measured in one run.

The same 1000 simulated positions of a 6R arm, the same identifiable parameters, the same start:

- theodolite: exact derivatives, QR, identifiability found anew in every iteration;
- scipy.optimize.least_squares with finite differences on Theodolite's own batched model;
- pybotics 3.1.2, which minimises distances with finite differences and a loop over poses.

pybotics knows only KK tables without beta and without a base, so it gets the parameters it has;
fewer than the other two. Its cost is dominated by the poses, not by the parameters.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from scipy.optimize import least_squares

import theodolite as th
from theodolite.identification.solver import solve
from theodolite.measure.simulate import simulate

POSITIONS = 1000
NOISE = th.Noise(position=5e-5)


def best(function: Callable[[], object], repeats: int) -> tuple[float, object]:
    """Shortest of some runs, in seconds, and what the last returned."""
    shortest, result = float("inf"), None
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest, result


def main() -> None:
    rng = np.random.default_rng(0)
    robot, method = th.robots.puma560(), th.Position()
    true = th.perturbed(robot, th.ParameterErrors(3e-3, 6e-3, 2e-3), rng)
    data = simulate(true, method, points=POSITIONS, rng=rng, noise=NOISE)
    fresh = simulate(true, method, points=200, rng=rng)

    ours, solution = best(
        lambda: solve(method.problem(robot, data, noise=NOISE, gains=True)), repeats=20
    )
    problem = method.problem(robot, data, noise=NOISE, gains=True)
    calibrated = problem.calibrated(solution.values)
    report("theodolite", ours, ours, error(calibrated, fresh), solution.iterations)

    names = [parameter.name for parameter in robot.parameters]
    base = [names.index(name) for name in solution.identifiability.identifiable]
    chain, basis = robot.chains[0], robot.basis(data.motors)

    def residual(x: np.ndarray) -> np.ndarray:
        values = robot.values.copy()
        values[base] = x
        return ((chain.motion(values, basis).position - data.positions[:, 0]) / 5e-5).ravel()

    theirs, found = best(lambda: least_squares(residual, robot.values[base]), repeats=5)
    values = robot.values.copy()
    values[base] = found.x
    report("scipy least_squares", theirs, ours, error(robot.with_values(values), fresh), found.njev)

    slow, score = best(lambda: pybotics_calibration(data), repeats=1)
    report("pybotics 3.1.2", slow, ours, score, None)

    known, _ = best(lambda: th.identifiable(robot, th.Frame(), gains=True), repeats=50)
    print(f"\nidentifiability of PUMA frame measure with gains: {1e3 * known:.2f} ms")
    many(robot, true, method, rng)


def many(robot: th.Robot, true: th.Robot, method: th.Position, rng: np.random.Generator) -> None:
    """100 000 positions: time, and the largest block that is ever held."""
    import tracemalloc

    data = simulate(true, method, points=100_000, rng=rng, noise=NOISE)
    problem = method.problem(robot, data, noise=NOISE, gains=True)
    seconds, solution = best(lambda: solve(problem), repeats=1)
    tracemalloc.start()
    solve(problem, max_iterations=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    whole = 3 * len(data) * len(problem.parameters) * 8
    print(
        f"100 000 positions: {seconds:.2f} s, {solution.iterations} iterations; peak "
        f"{peak / 1e6:.0f} MB while W alone would be {whole / 1e6:.0f} MB"
    )


def error(robot: th.Robot, fresh: th.Dataset) -> float:
    return float(th.deviations(robot, fresh, th.Position())["position"].mean())


def report(name: str, seconds: float, ours: float, score: float, iterations: int | None) -> None:
    steps = "" if iterations is None else f"{iterations} Jacobians"
    print(
        f"{name:22} {1e3 * seconds:10.1f} ms  {seconds / ours:8.1f} x  "
        f"{1e3 * score:.4f} mm on fresh positions  {steps}"
    )


def pybotics_calibration(data: th.Dataset) -> float:
    """The joints' four parameters by pybotics, from the same arm; its mean error in metres."""
    from pybotics.optimization import OptimizationHandler, optimize_accuracy
    from pybotics.robot import Robot

    arm = th.robots.puma560()
    table = np.array(
        [
            [row.amount("alpha"), row.amount("d"), row.amount("theta"), row.amount("r")]
            for row in arm.frames[1:-1]
        ]
    )
    robot = Robot.from_parameters(table)
    # Base and tool are given to it; what it is timed for is the arm.
    true = th.perturbed(arm, th.ParameterErrors(), np.random.default_rng(0))
    robot.tool.matrix = _pose(true, arm.frames[-1:])
    robot.world_frame = _pose(true, arm.frames[:1])
    handler = OptimizationHandler(robot)
    handler.kinematic_chain_mask = np.ones(table.size, dtype=bool)
    handler.kinematic_chain_mask[[0, 1, 9 + 2]] = False
    least_squares(
        fun=optimize_accuracy,
        x0=handler.generate_optimization_vector(),
        args=(handler, data.motors, data.positions[:, 0]),
    )
    predicted = np.array([handler.robot.fk(q)[:3, 3] for q in data.motors])
    return float(np.linalg.norm(predicted - data.positions[:, 0], axis=1).mean())


def _pose(robot: th.Robot, rows: tuple[th.Row, ...]) -> np.ndarray:
    """The constant transform of some fixed rows."""
    joint = th.Row(th.Convention.KK, th.Joint.REVOLUTE)
    rotation, position = th.Robot.of("frame", [*rows, joint]).poses(np.zeros(1))
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = rotation[0], position[0]
    return T


if __name__ == "__main__":
    main()
