"""Dynamics in Python: plan a motion, record it on a simulated robot, identify, judge by another."""

from __future__ import annotations

import numpy as np

import theodolite as th
from theodolite.dynamics.drives import FRICTION
from theodolite.dynamics.excitation.limits import Limits
from theodolite.dynamics.inertia import INERTIAL


def true_values(rng: np.random.Generator) -> dict[str, float]:
    """A robot that nobody knows: bodies, rotors and friction."""
    truth: dict[str, float] = {}
    for joint in range(1, 7):
        mass = 10.0 / joint
        body = th.RigidBody(mass, rng.uniform(-0.1, 0.1, 3), mass * np.diag([0.02, 0.02, 0.015]))
        pairs = zip(INERTIAL, body.parameters, strict=True)
        truth |= {f"{name}{joint}": value for name, value in pairs}
        truth |= {f"Ia{joint}": 0.5, f"fv{joint}": 2.0, f"fc{joint}": 3.0, f"off{joint}": 0.1}
    return truth


def main() -> float:
    rng = np.random.default_rng(1)
    dynamics = th.Dynamics(th.robots.puma560())
    truth = true_values(rng)

    def recorded(seed: int) -> th.Recording:
        """Plan an exciting motion and record positions and noisy torques along it."""
        limits = Limits.of(dynamics, velocity=2.0, acceleration=6.0)
        plan = th.excite(
            dynamics, limits, drives=FRICTION, starts=1, iterations=40,
            rng=np.random.default_rng(seed),
        )  # fmt: skip
        print(f"motion {seed}: condition number {plan.condition_number:.1f}")
        times, state = plan.trajectory.sample(200.0)
        values = np.array([truth[name] for name in dynamics.names(FRICTION)])
        torques = np.tensordot(values, dynamics.regressor(state, FRICTION), axes=1).T
        return th.Recording(times, state.q, torques + rng.standard_normal(torques.shape))

    result = th.identify_dynamics(dynamics, recorded(1))
    print(f"{result.identifiability.rank} base parameters, for instance")
    for name in ("ZZ1", "MX2", "fc3"):
        place = result.identifiability.identifiable.index(name)
        width = result.statistics.half_widths()[place]
        print(f"  {name}* = {result.base_values[place]:.4f} +- {width:.4f}")
    judgement = th.judge_identification(result, recorded(2))
    print(judgement.verdict, *judgement.warnings, sep="\n")
    return judgement.decisive.error


if __name__ == "__main__":
    main()
