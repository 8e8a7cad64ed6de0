"""Compiled kernels against NumPy and Pinocchio in one run, beside the machine's own limit.

python bench/kernels.py [--tiny]      needs numba; Pinocchio is measured where it is installed
"""

from __future__ import annotations

import os
import sys
import tracemalloc
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

import theodolite as th
from machine import seconds, slope, write_bandwidth
from table import note
from theodolite.dynamics.base_parameters import find_base_parameters
from theodolite.dynamics.excitation.criteria import Criterion, evaluate_criterion
from theodolite.dynamics.excitation.free_series import FreeSeries
from theodolite.dynamics.excitation.limits import Limits
from theodolite.dynamics.excitation.optimise import excite
from theodolite.dynamics.excitation.slopes import torque_slopes
from theodolite.dynamics.excitation.trajectory import FourierBasis
from theodolite.dynamics.filtering import Run
from theodolite.dynamics.serial import Dynamics
from theodolite.dynamics.torque import SAMPLES as BLOCK
from theodolite.dynamics.torque import TorqueProblem, random_state
from theodolite.estimation.loss import Loss
from theodolite.estimation.reduction import reduce
from theodolite.estimation.slicing import slices
from theodolite.estimation.solver import solve
from theodolite.estimation.threads import single_thread
from theodolite.kernels import switch

#: Samples per second of the motions that are planned.
RATE = 100


def wished(wish: str, work: Callable[[], object]) -> Callable[[], object]:
    """The same work by NumPy (0) or by kernels (1)."""

    def run() -> object:
        os.environ[switch.FAST] = wish
        return work()

    return run


def regressor(dynamics: Dynamics, samples: int) -> None:
    """The ten inertial columns of all links, stored whole."""
    state = random_state(dynamics, samples, np.random.default_rng(0))
    table = np.zeros((10 * dynamics.motors, dynamics.motors, samples))

    def by_blocks() -> None:
        for rows in slices(samples, BLOCK):
            dynamics.regressor(state[rows], (), out=table[:, :, rows])

    fast = wished("1", lambda: dynamics.regressor(state, (), out=table))
    # Compiled first.
    fast()
    taken, plain = seconds(fast), seconds(wished("0", by_blocks))
    motors = dynamics.motors
    written = 10 * motors * (motors + 1) // 2 * 8 * samples
    share = written / taken / write_bandwidth()
    print(f"regressor, {motors} axes, {samples} samples: {samples / taken / 1e3:.0f} thousand/s")
    figure = f"{samples / taken / 1e3:.0f} thousand samples/s"
    note(f"regressor, {motors} axes, compiled", figure, "NumPy", plain / taken)
    note(f"regressor, {motors} axes, compiled", f"{100 * share:.0f} % of write bandwidth")
    print(f"  {plain / taken:.1f} times NumPy; {100 * share:.0f} % of one thread's write bandwidth")
    if find_spec("pinocchio") is None:
        print("  Pinocchio is not installed here")
        return
    import pinocchio as pin

    from dynamics import figaroh_regressor, pinocchio_model

    model = pinocchio_model(dynamics)
    data = model.createData()
    count = min(samples, 5000)
    W = np.empty((count, model.nv, 10 * model.nv))

    def looped() -> None:
        for row in range(count):
            W[row] = pin.computeJointTorqueRegressor(
                model, data, state.q[row], state.qd[row], state.qdd[row]
            )

    theirs = seconds(looped) * samples / count
    note(f"regressor, {motors} axes, compiled", figure, "Pinocchio in a loop", theirs / taken)
    print(f"  {theirs / taken:.1f} times Pinocchio {pin.__version__} in a loop")
    figaroh = figaroh_regressor(dynamics)
    if figaroh is not None:
        few = state[:count]
        other = seconds(lambda: figaroh(few.q, few.qd, few.qdd)) * samples / count
        note(f"regressor, {motors} axes, compiled", figure, "figaroh 1.0.2", other / taken)
        print(f"  {other / taken:.1f} times figaroh 1.0.2")


def folding(dynamics: Dynamics, samples: int) -> None:
    """All samples into R."""
    sizes = [samples // 4, samples // 2, samples]
    times = []
    for size in sizes:
        state = random_state(dynamics, size, np.random.default_rng(0))
        problem = TorqueProblem(dynamics, Run.of(state))

        def work(problem: TorqueProblem = problem) -> object:
            return reduce(problem, np.zeros(len(problem.parameters)), Loss())

        wished("1", work)()
        times.append(seconds(wished("1", work)))
    plain = seconds(wished("0", work), repeats=1)
    tracemalloc.start()
    wished("1", work)()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    figure = f"{times[-1]:.2f} s, {peak / 1e6:.0f} MB"
    note(f"{samples} samples into R, compiled", figure, "NumPy", plain / times[-1])
    print(f"{samples} samples into R: {times[-1]:.2f} s, {plain / times[-1]:.1f} times NumPy")
    print(f"  peak {peak / 1e6:.0f} MB; grows as samples^{slope(sizes, times):.2f}, expected 1")


def calibration(method: th.Method, count: int, repeats: int) -> None:
    """A calibration of a 6R arm from so many positions or poses, by NumPy and by kernels."""
    rng = np.random.default_rng(0)
    robot, noise = th.robots.puma560(), th.Noise(position=5e-5, orientation=1e-4)
    true = th.perturb(robot, th.ParameterErrors(3e-3, 6e-3), rng)
    data = th.simulate(true, method, points=count, rng=rng, noise=noise)

    def work() -> object:
        return solve(method.problem(robot, data, noise=noise))

    # Compiled first.
    wished("1", work)()
    taken = seconds(wished("1", work), repeats)
    plain = seconds(wished("0", work), repeats)
    what = "poses" if "rotations" in method.needs else "positions"
    print(f"{count} {what}: {1e3 * taken:.1f} ms, {plain / taken:.1f} times NumPy")
    note(f"{count} {what}, compiled", f"{1e3 * taken:.1f} ms", "NumPy", plain / taken)


def exciting(starts: int) -> None:
    """The search for an exciting motion of a PUMA: 10 s, five harmonics."""
    dynamics = Dynamics(th.robots.load("puma560"))
    limits = Limits.of(dynamics, velocity=2.0, acceleration=6.0)

    def work() -> object:
        rng = np.random.default_rng(0)
        return excite(
            dynamics, limits, starts=starts, iterations=20 if starts == 1 else 150, rng=rng
        )

    wished("1", work)()
    taken = seconds(wished("1", work), 1)
    plain = seconds(wished("0", work), 1)
    print(f"exciting motion, {starts} starts: {taken:.1f} s, {plain / taken:.1f} times NumPy")
    note(f"exciting motion, {starts} starts, compiled", f"{taken:.1f} s", "NumPy", plain / taken)


def gradient() -> None:
    """Condition number and its gradient, 10 s at 100 Hz, five harmonics, against differences.

    figaroh has no gradient: its optimiser takes one value for each free number, and one more.
    """
    dynamics = Dynamics(th.robots.load("ur10e"))
    limits = Limits.of(dynamics, velocity=2.0, acceleration=6.0)
    rng = np.random.default_rng(0)
    basis = FourierBasis(10.0, 5)
    series = FreeSeries(basis, limits)
    # Our search gets along with fewer samples.
    series.samples = RATE * 10
    series.tables = basis.tables(np.arange(series.samples) / RATE)
    x = series.random(rng)
    state = series.state(x)
    base = np.sort(find_base_parameters(dynamics, drives=(), rng=rng).base)

    def value_and_slope() -> None:
        table = dynamics.regressor(state, ())
        W = table[base].reshape(len(base), -1).T
        _, by_W = evaluate_criterion(W, Criterion.CONDITION)
        weights = np.zeros_like(table)
        weights[base] = by_W.T.reshape(len(base), *table.shape[1:])
        series.chain_rule(x, torque_slopes(dynamics, state, weights, ()))

    fast = wished("1", value_and_slope)
    fast()
    taken = seconds(fast)
    figure = f"{1e3 * taken:.1f} ms"
    print(f"excitation, value and gradient, {len(state)} samples, {series.size} numbers: {figure}")
    from dynamics import figaroh_regressor

    figaroh = figaroh_regressor(dynamics)
    if figaroh is None:
        return

    def value() -> None:
        W = figaroh(state.q, state.qd, state.qdd)
        np.linalg.cond(W.reshape(len(W), -1)[:, base])

    other = seconds(value) * (series.size + 1)
    note("excitation, value and gradient", figure, "figaroh 1.0.2, differences", other / taken)
    print(f"  {other / taken:.0f} times figaroh 1.0.2 with finite differences")


def main() -> None:
    tiny = "--tiny" in sys.argv[1:]
    if not switch.installed():
        print("numba is not installed here")
        return
    dynamics = Dynamics(th.robots.load("ur10e"))
    with single_thread():
        regressor(dynamics, 2000 if tiny else 100_000)
        folding(dynamics, 4000 if tiny else 1_000_000)
    for method in (th.Position(), th.Frame()):
        calibration(method, 1000, 3 if tiny else 40)
        if not tiny:
            calibration(method, 100_000, 5)
    if not tiny:
        gradient()
    exciting(1 if tiny else 6)


if __name__ == "__main__":
    main()
