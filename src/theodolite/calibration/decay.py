"""How fast a warm-up dies away: the time constant of a drift, with its interval.

The shape ``exp(-t/tau)`` is not linear in tau. But for every tau the model is linear about the
geometric solution, so the smallest sum of squares S(tau) is one step away. The best tau minimises
it, and its 95 % interval holds all tau with S(tau) - S(best) below 3.84 times the noise variance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from theodolite.calibration.data import Dataset
from theodolite.calibration.model_choice import Linearised, Model, Pose
from theodolite.calibration.term_groups import Decay, decays, drift_basis, time_unit
from theodolite.estimation.prior import Prior
from theodolite.estimation.reduction import reduce
from theodolite.estimation.step import linear_step, noise_left

#: The 95 % point of chi-square with one degree of freedom.
CHI_SQUARE = 3.841458820694124
#: The search goes on as far as this beyond the shapes that were compared, as a factor.
BEYOND = 3.0
#: How closely a time constant is found, as a part of itself.
CLOSELY = 1e-3


def refine_decay(model: Model, at: Linearised, pose: Pose) -> tuple[Model, Decay] | None:
    """The same model with the time constant that fits best; None where there is no drift in it."""
    from scipy.optimize import brentq, minimize_scalar

    compared = decays(at.data)
    start = next((tau for tau in compared if _uses(model, drift_basis(at.data, tau))), None)
    if start is None:
        return None

    noise: float | None = None

    def squares(logarithm: float) -> float:
        nonlocal noise
        left, here = _left(
            _with_decay(model, at.data, start, float(np.exp(logarithm))), at, pose, noise
        )
        noise = here if noise is None else noise
        return left

    first, last = np.log(min(compared) / BEYOND), np.log(max(compared) * BEYOND)
    near = np.log(start)
    lower, upper = max(first, near - np.log(BEYOND)), min(last, near + np.log(BEYOND))
    squares(near)
    found = minimize_scalar(
        squares, bounds=(lower, upper), method="bounded", options={"xatol": CLOSELY}
    )
    best = float(found.x)
    assert noise is not None
    limit = float(found.fun) + CHI_SQUARE * noise**2

    def end(bound: float) -> float | None:
        beyond: Callable[[float], float] = lambda x: squares(x) - limit  # noqa: E731
        if beyond(bound) <= 0.0:
            return None
        return float(np.exp(brentq(beyond, *sorted((best, bound)), xtol=CLOSELY)))

    value = float(f"{np.exp(best):.4g}")
    decay = Decay(value, end(first), end(last), time_unit(at.data))
    return _with_decay(model, at.data, start, value), decay


def _uses(model: Model, basis: str) -> bool:
    return any(t.basis == basis for t in model.robot.terms)


def _with_decay(model: Model, data: Dataset, before: float, tau: float) -> Model:
    """The same model with another time constant."""
    robot = model.robot
    old, new = drift_basis(data, before), drift_basis(data, tau)
    names = {t.name: replace(t, basis=new).name for t in robot.terms if t.basis == old}
    terms = [replace(t, basis=new) if t.basis == old else t for t in robot.terms]
    tolerances = {names.get(name, name): size for name, size in robot.tolerances.items()}
    return replace(model, robot=replace(robot, tolerances=tolerances).with_terms(terms))


def _left(model: Model, at: Linearised, pose: Pose, noise: float | None) -> tuple[float, float]:
    """The smallest sum of squares, prior included, and the noise that is left."""
    problem = pose(model, at.data)
    values = np.array([at.values.get(p.name, p.value) for p in problem.parameters])
    here, prior = reduce(problem, values, at.loss), Prior.of(problem.parameters)
    free = np.arange(len(values))
    noise = noise_left(here, prior, free) if noise is None else noise
    known = prior.residual(values)
    ahead = linear_step(here, values, prior, free, noise)
    return here.squares + noise**2 * float(known @ known) - ahead.decrease, noise
