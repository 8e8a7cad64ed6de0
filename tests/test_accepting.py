"""Public functions take names, files, lists and seeds, and refuse the rest with what is allowed."""

from __future__ import annotations

import numpy as np
import pytest

import theodolite as th

NOISE = th.Noise(position=5e-5, known=True)


def test_names_lists_and_seeds_are_taken() -> None:
    assert th.compare_robots("puma560", th.robots.puma560(), 1).distances.max() == 0.0
    dynamics = th.build_dynamics("puma560")
    assert dynamics.motors == 6
    joints = [[0.1, -0.5, 0.3, 0.1, 0.5, 0.2]]
    tip = th.robots.puma560().poses(joints)[1].tolist()
    reached = th.inverse_kinematics("puma560", tip, joints)
    np.testing.assert_allclose(reached.motors, joints, atol=1e-9)
    found = th.design_measurements(
        "scara", "position", 12, noise=NOISE, rng=1, pool=60, refine=False
    )
    assert len(found.data) == 12
    robot = th.robots.puma560()
    data = th.simulate(robot, "position", points=12, rng=1, noise=NOISE)
    verdict = th.diagnose(robot, {**_columns(data)}, "position", noise=NOISE, rng=1)
    assert not verdict.changed


def _columns(data: th.Dataset) -> dict[str, np.ndarray]:
    joints = {f"q{n}_rad": column for n, column in enumerate(data.motors.T, start=1)}
    return joints | dict(zip(("x_m", "y_m", "z_m"), data.positions[:, 0].T, strict=True))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: th.build_dynamics(3), "3 is not a robot"),
        (lambda: th.place(None, None, "position"), "is not a robot"),
        (lambda: th.locate("delta", None), "has loops"),
        (lambda: th.find_sensitivity("puma560", rng="x"), "rng is 'x'"),
        (lambda: th.inverse_kinematics("puma560", "x", [[0.0] * 6]), "an array of numbers"),
        (lambda: th.diagnose("puma560", 3, "position", noise=NOISE), "holds no measurements"),
        (lambda: th.design_measurements("puma560", 7, 12, noise=NOISE), "7 is not a method"),
        (lambda: th.compare_robots("puma560", 3), "3 is not a robot"),
    ],
)
def test_what_is_of_another_kind_is_refused_in_words(call, words: str) -> None:
    with pytest.raises(th.InputError) as caught:
        call()
    assert words in str(caught.value)
