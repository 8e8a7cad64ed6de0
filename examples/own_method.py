"""A method of one's own: a ball bar, with the services that built-in methods have.

One end of the bar is held at a fixed centre, nobody knows exactly where; the other is held by the
tool. The bar reads its length. So the tool's distance from the centre is known in each row:

    residual = |P(q) - c| - L
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import theodolite as th
from theodolite.arrays import FloatArray


@dataclass(frozen=True)
class BallBar(th.TipMethod):
    """The distance of the tool from a centre, which is identified along."""

    name: ClassVar[str] = "ball-bar"
    title: ClassVar[str] = "ball bar"
    gauge: ClassVar[th.Gauge] = th.Gauge.SIMILARITY
    columns: ClassVar[tuple[str, ...]] = ("length_m",)
    #: Where the centre is, if that is known already: metres.
    centre: tuple[float, ...] | None = None

    def unknowns(self, robot: th.Machine, data: th.Dataset) -> Mapping[str, float]:
        tips, lengths = robot.fk(data.motors).position, data.columns["length_m"]
        # |P|^2 - L^2 = 2 P . c - |c|^2 is linear in c and |c|^2.
        matrix = np.column_stack([2 * tips, -np.ones(len(tips))])
        nearest = np.linalg.lstsq(matrix, (tips**2).sum(axis=1) - lengths**2, rcond=None)[0]
        return dict(zip(("cx", "cy", "cz"), self.centre or nearest[:3], strict=True))

    def residual(self, tip: FloatArray, unknowns: FloatArray, data: th.Dataset) -> th.TipResidual:
        bar = tip - unknowns
        length = np.linalg.norm(bar, axis=1)
        along = (bar / length[:, None])[:, None]
        return th.TipResidual((length - data.columns["length_m"])[:, None], along, -along)

    def with_extras(self, extras: Mapping[str, Any]) -> BallBar:
        return BallBar(centre=(extras["cx"], extras["cy"], extras["cz"]))

    def observe(
        self, robot: th.Machine, points: int, rng: np.random.Generator, *, per_set: int = 1
    ) -> th.Dataset:
        motors = robot.random_motors(points, rng)
        centre = self.centre or (0.5 * robot.reach(), 0.0, 0.0)
        lengths = np.linalg.norm(robot.fk(motors).position - centre, axis=1)
        return th.Dataset(motors, columns={"length_m": lengths})


def main() -> float:
    robot, method = th.robots.puma560(), BallBar()
    print(th.identifiable(robot, method))

    true = th.perturb(robot, th.ParameterErrors(length=2e-3, angle=4e-3), 1)
    data = th.simulate(true, method, points=200, rng=2, noise=th.Noise(position=2e-5))
    result = th.identify(robot, data, method)
    print(result)
    print("centre:", {name: round(result.extras[name], 6) for name in ("cx", "cy", "cz")})

    fresh = th.simulate(true, method, points=200, rng=3)
    error = th.validate(result.robot, fresh, method, nominal=robot)
    assert error.nominal is not None
    before, after = (1e3 * errors["position"].rms for errors in (error.nominal, error.errors))
    print(f"lengths never measured: {before:.3f} mm -> {after:.3f} mm (rms)")
    return error.errors["position"].rms


if __name__ == "__main__":
    main()
