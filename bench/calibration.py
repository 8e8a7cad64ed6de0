"""Speed of a calibration, as ratios measured in one run.

The same 1000 simulated positions of a 6R arm, the same identifiable parameters, the same start:

- theodolite: exact derivatives, QR, identifiability found anew in every iteration;
- scipy.optimize.least_squares with finite differences on Theodolite's own batched model;
- pybotics 3.1.2, which minimises distances with finite differences and a loop over poses.

pybotics has tables without beta, so the arm's errors leave it one parameter short; it is stopped
after ten iterations, and what it has reached by then is printed beside its time.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from scipy.optimize import least_squares

import theodolite as th
from table import note
from theodolite.calibration.simulation import simulate
from theodolite.estimation.solver import solve

POSITIONS = 1000
#: pybotics is stopped here: it needs many more to converge, and each takes seconds.
PYBOTICS_ITERATIONS = 10
NOISE = th.Noise(position=5e-5)


def median(function: Callable[[], object], repeats: int) -> tuple[float, object]:
    """Median of some runs, in seconds, and what the last returned."""
    times, result = [], None
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - start)
    return float(np.median(times)), result


def main() -> None:
    rng = np.random.default_rng(0)
    robot, method = th.robots.puma560(), th.Position()
    true = th.perturb(robot, th.ParameterErrors(3e-3, 6e-3), rng)
    data = simulate(true, method, points=POSITIONS, rng=rng, noise=NOISE)
    fresh = simulate(true, method, points=200, rng=rng)

    ours, solution = median(lambda: solve(method.problem(robot, data, noise=NOISE)), repeats=40)
    problem = method.problem(robot, data, noise=NOISE)
    calibrated = problem.calibrated(solution.values)
    report("theodolite", ours, ours, error(calibrated, fresh), solution.iterations)

    names = [parameter.name for parameter in robot.parameters]
    base = [names.index(name) for name in solution.identifiability.identifiable]
    chain, basis = robot.chains[0], robot.basis(data.motors)

    def residual(x: np.ndarray) -> np.ndarray:
        values = robot.values.copy()
        values[base] = x
        return ((chain.motion(values, basis).position - data.positions[:, 0]) / 5e-5).ravel()

    theirs, found = median(lambda: least_squares(residual, robot.values[base]), repeats=15)
    values = robot.values.copy()
    values[base] = found.x
    report("scipy least_squares", theirs, ours, error(robot.with_values(values), fresh), found.njev)

    what = f"{POSITIONS} positions"
    note(what, f"{1e3 * ours:.1f} ms", "SciPy, finite differences", theirs / ours)
    slow, score = median(lambda: pybotics_calibration(data, fresh), repeats=1)
    report("pybotics 3.1.2", slow, ours, score, None)
    note(what, f"{1e3 * ours:.1f} ms", "pybotics 3.1.2", slow / ours)

    known, _ = median(lambda: th.identifiable(robot, th.Frame(), gains=True), repeats=50)
    print(f"\nidentifiability of PUMA frame measure with gains: {1e3 * known:.2f} ms")
    many(robot, true, method, rng)


def many(robot: th.Robot, true: th.Robot, method: th.Position, rng: np.random.Generator) -> None:
    """100 000 positions: time, and the largest block that is ever held."""
    import tracemalloc

    data = simulate(true, method, points=100_000, rng=rng, noise=NOISE)
    problem = method.problem(robot, data, noise=NOISE, gains=True)
    seconds, solution = median(lambda: solve(problem), repeats=1)
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
    return float(th.residuals(robot, fresh, th.Position())["position"].mean())


def report(name: str, seconds: float, ours: float, score: float, iterations: int | None) -> None:
    steps = "" if iterations is None else f"{iterations} Jacobians"
    print(
        f"{name:22} {1e3 * seconds:10.1f} ms  {seconds / ours:8.1f} x  "
        f"{1e3 * score:.4f} mm on fresh positions  {steps}"
    )


def pybotics_calibration(data: th.Dataset, fresh: th.Dataset) -> float:
    """The same arm by pybotics: links, world frame and tool point; its error on fresh positions."""
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
    robot.tool.matrix = _pose(arm.frames[-1:])
    robot.world_frame = _pose(arm.frames[:1])
    handler = OptimizationHandler(
        robot, kinematic_chain_mask=[True] * table.size, tool_mask=[True] * 3 + [False] * 3
    )
    handler.world_mask = [True] * 6
    least_squares(
        fun=optimize_accuracy,
        x0=handler.generate_optimization_vector(),
        args=(handler, data.motors, data.positions[:, 0]),
        max_nfev=PYBOTICS_ITERATIONS,
    )
    predicted = np.array([handler.robot.fk(q)[:3, 3] for q in fresh.motors])
    return float(np.linalg.norm(predicted - fresh.positions[:, 0], axis=1).mean())


def _pose(rows: tuple[th.Row, ...]) -> np.ndarray:
    """The constant transform of some fixed rows."""
    joint = th.Row(th.Convention.KK, th.Joint.REVOLUTE)
    rotation, position = th.Robot.of("frame", [*rows, joint]).poses(np.zeros(1))
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = rotation[0], position[0]
    return T


if __name__ == "__main__":
    main()
