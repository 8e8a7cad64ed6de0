"""10 000 poses of a Gough-Stewart platform, inverse method, against scipy with finite differences.

Both solve the same whitened least-squares problem on our own batched model, from the same start;
the costs of both are printed with the same weights. scipy is given the base parameters only, so
that its problem has full rank.
"""

from __future__ import annotations

import time

import numpy as np
from scipy.optimize import least_squares

import theodolite as th
from table import note
from theodolite.estimation.slicing import slices
from theodolite.estimation.solver import solve
from theodolite.estimation.threads import single_thread

POSES = 10_000


def main() -> None:
    robot = th.robots.load("gough")
    rng = np.random.default_rng(0)
    known = th.identifiable(robot, th.Inverse())
    true = th.perturb(robot, th.ParameterErrors(1e-3, 2e-3), rng, only=known.identifiable)
    noise = th.Noise(5e-5, 1e-4, slide=1e-5, known=True)
    data = th.simulate(true, th.Frame(), points=POSES, rng=rng, noise=noise)
    problem = th.Inverse().problem(robot, data, noise=noise)
    start = np.array([parameter.value for parameter in problem.parameters])

    with single_thread():
        began = time.perf_counter()
        ours = solve(problem)
        our_time = time.perf_counter() - began
    base = ours.identifiability.base

    # The weights are those of the start, for scipy once and for all.
    pieces = list(slices(POSES))
    white = [
        np.linalg.inv(np.linalg.cholesky(problem._rows(problem.full_values(start), rows)[2]))
        for rows in pieces
    ]

    def residual(x: np.ndarray) -> np.ndarray:
        """Nothing but the model: no derivative is computed here."""
        values = start.copy()
        values[base] = x
        full = problem.full_values(values)
        found = []
        for rows, weight in zip(pieces, white, strict=True):
            joints = problem.inverse(full, rows, problem.placed(full, rows))
            error = joints - data.motors[rows, : robot.joints]
            found.append(np.einsum("nij,nj->ni", weight, error).ravel())
        return np.concatenate(found)

    with single_thread():
        began = time.perf_counter()
        theirs = least_squares(residual, start[base], x_scale="jac", method="trf")
        their_time = time.perf_counter() - began
    # Ours are weighed anew in every iteration: to be compared, both are weighed alike.
    alike = float(np.sum(residual(ours.values[base]) ** 2))
    what = f"Gough-Stewart, inverse, {POSES} poses"
    note(what, f"{our_time:.2f} s", "SciPy, finite differences", their_time / our_time)
    print(
        f"Gough-Stewart, inverse method, {POSES} poses, {len(base)} parameters: theodolite "
        f"{our_time:.2f} s ({ours.iterations} iterations, cost {alike:.1f}), "
        f"scipy with finite differences {their_time:.1f} s ({theirs.njev} Jacobians, cost "
        f"{2 * theirs.cost:.1f}): {their_time / our_time:.0f} times as fast"
    )


if __name__ == "__main__":
    main()
