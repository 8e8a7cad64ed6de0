"""Filling the torque regressor, against Pinocchio in a loop and figaroh; folding it.

python bench/dynamics.py          needs pin; figaroh 1.0.2 is measured where it is installed

All fill the ten inertial columns of the same six joints at the same samples, on one thread, into a
matrix that is stored whole.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

import theodolite as th
from table import note
from theodolite.dynamics.drives import FRICTION, State
from theodolite.dynamics.filtering import Run
from theodolite.dynamics.serial import Dynamics
from theodolite.dynamics.torque import SAMPLES as BLOCK
from theodolite.dynamics.torque import TorqueProblem, random_state
from theodolite.estimation.loss import Loss
from theodolite.estimation.reduction import reduce
from theodolite.estimation.slicing import slices
from theodolite.estimation.threads import single_thread

SAMPLES = 100_000
#: Samples of the peers that loop.
LOOPED = 20_000
FOLDED = 1_000_000
#: Rows of W that are stored at a time for the comparison: a million would need 3.2 GB.
STORED = 100_000
REPEATS = 3
#: Rows of the recordings of mechanisms.
ROWS = 6000


def pinocchio_model(dynamics: Dynamics) -> Any:
    """The same robot for Pinocchio; every body has some mass."""
    import pinocchio as pin

    model = pin.Model()
    for number, link in enumerate(dynamics.links):
        kind = getattr(pin, f"JointModel{'R' if link.revolute else 'P'}{'XYZ'[link.axis]}")
        place = pin.SE3(link.rotation, link.position)
        joint = model.addJoint(link.parent + 1, kind(), place, f"j{number}")
        model.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
    return model


def figaroh_regressor(dynamics: Dynamics) -> Callable[..., np.ndarray] | None:
    """figaroh's regressor of the same robot for q, q' and q''; None where it is not installed."""
    try:
        from figaroh.tools.regressor import RegressorBuilder
    except ImportError:
        return None
    model = pinocchio_model(dynamics)
    builder = RegressorBuilder(SimpleNamespace(model=model, data=model.createData()))
    config = {"act_idxv": list(range(model.nv))}
    return lambda q, v, a: builder.build_basic_regressor(q, v, a, config)


def best(work: Any, samples: int) -> float:
    """Thousand samples per second, the best of some repeats."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return samples / min(times) / 1e3


def filling(dynamics: Dynamics, state: State) -> None:
    import pinocchio as pin

    table = np.zeros((10 * dynamics.motors, dynamics.motors, SAMPLES))

    def ours() -> None:
        for rows in slices(SAMPLES, BLOCK):
            dynamics.regressor(state[rows], (), out=table[:, :, rows])

    model = pinocchio_model(dynamics)
    data = model.createData()
    q, v, a = (part[:LOOPED] for part in (state.q, state.qd, state.qdd))
    W = np.empty((LOOPED, model.nv, 10 * model.nv))

    def looped() -> None:
        for row in range(LOOPED):
            W[row] = pin.computeJointTorqueRegressor(model, data, q[row], v[row], a[row])

    mine, theirs = best(ours, SAMPLES), best(looped, LOOPED)
    print(f"theodolite {mine:.0f} thousand samples per second")
    figure = f"{mine:.0f} thousand samples/s"
    note(
        "regressor, 6 axes, NumPy", figure, f"Pinocchio {pin.__version__} in a loop", mine / theirs
    )
    print(
        f"Pinocchio {pin.__version__} in a loop {theirs:.0f}: "
        f"theodolite is {mine / theirs:.1f} times as fast"
    )
    figaroh = figaroh_regressor(dynamics)
    if figaroh is None:
        print("figaroh is not installed here: 'make bench' measures it")
        return
    other = best(lambda: figaroh(q, v, a), LOOPED)
    note("regressor, 6 axes, NumPy", figure, "figaroh 1.0.2", mine / other)
    print(f"figaroh 1.0.2 {other:.0f}: theodolite is {mine / other:.1f} times as fast")


def folding(dynamics: Dynamics, rng: np.random.Generator) -> None:
    million = random_state(dynamics, FOLDED, rng)
    start = time.perf_counter()
    problem = TorqueProblem(dynamics, Run.of(million))
    reduce(problem, np.zeros(len(problem.parameters)), Loss())
    folded = time.perf_counter() - start
    start = time.perf_counter()
    table = dynamics.regressor(million[slice(0, STORED)])
    stored = table.reshape(len(table), -1).T.copy()
    np.linalg.qr(stored, mode="r")
    whole = (time.perf_counter() - start) * FOLDED / STORED
    note(
        f"{FOLDED} samples into R, NumPy",
        f"{folded:.1f} s",
        "W stored, np.linalg.qr",
        whole / folded,
    )
    print(
        f"{FOLDED} samples folded into R in constant memory: {folded:.1f} s; storing W and "
        f"np.linalg.qr: {whole:.1f} s ({STORED} measured), {whole / folded:.1f} times as long"
    )


def loops() -> None:
    """Weighted identification of recordings of equal length: a serial arm, and mechanisms."""
    times = np.arange(ROWS) / 100.0
    rng = np.random.default_rng(1)
    seconds = {}
    for name in ("puma560", "palletizer", "delta", "h4", "gough"):
        dynamics = th.build_dynamics(th.robots.load(name))
        low, high = dynamics.position_range()
        w = 2 * np.pi * rng.uniform(0.1, 0.6, dynamics.motors)
        phase = w * times[:, None]
        q = (low + high) / 2 + 0.1 * (high - low) * np.sin(phase)
        qd, qdd = 0.1 * (high - low) * w * np.cos(phase), -0.1 * (high - low) * w**2 * np.sin(phase)
        table = dynamics.regressor(State(q, qd, qdd), FRICTION)
        torques = np.tensordot(rng.uniform(0.5, 1.0, len(table)), table, axes=1).T
        torques += 0.01 * np.abs(torques).max(axis=0) * rng.standard_normal(torques.shape)
        recording = th.Recording(times, q, torques, slides=dynamics.slides)

        def fit(dynamics: Any = dynamics, recording: th.Recording = recording) -> None:
            th.identify_dynamics(
                dynamics, recording, drives=FRICTION, estimator=th.Estimator.WEIGHTED
            )

        seconds[name] = ROWS / best(fit, ROWS) / 1e3
    serial = seconds.pop("puma560")
    print(f"weighted identification of {ROWS} rows: puma560 {serial:.2f} s")
    for name, taken in seconds.items():
        print(f"  {name} {taken:.2f} s, {taken / serial:.1f} times the serial arm")


def main() -> None:
    dynamics = Dynamics(th.robots.load("ur10e"))
    rng = np.random.default_rng(0)
    with single_thread():
        filling(dynamics, random_state(dynamics, SAMPLES, rng))
        folding(dynamics, rng)
    loops()


if __name__ == "__main__":
    main()
