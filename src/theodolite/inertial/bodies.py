"""Whole standard parameters: the nearest ones that bodies could have, or those near to a prior.

Base parameters say all that torques show, but a simulator wants every link's mass, centre and
inertia. Physically consistent ones are those nearest to the data for which each link's
pseudo-inertia is positive definite and rotors and friction are not negative: a semidefinite
programme on the triangular factor. What the data leave open is drawn towards a prior.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.errors import InputError
from theodolite.identification.identifiability import NO_EFFECT
from theodolite.inertial.identify import Dynamic
from theodolite.model.drives import Drive
from theodolite.model.inertia import INERTIAL, pseudo_inertia
from theodolite.model.tree import Tree

#: Smallest eigenvalue of a pseudo-inertia (kg, kg m, kg m2), so that simulators accept it.
POSITIVE = 1e-6
#: A link's mass lies within its frames and this much around them, m.
AROUND = 0.3
#: A prior without one: balls of one kilogram and about ten centimetres.
BALL_MASS, BALL_INERTIA = 1.0, 0.01
#: How sure a prior is, as part of a body's mass (and mass times extent, times extent squared); and
#: how sure balls are that stand for one.
SURE, UNSURE = 1.0, 30.0
#: Pulls that generalized cross-validation chooses from, as parts of the largest eigenvalue.
PULLS = np.logspace(-12, 0, 49)


def starts(columns: Sequence[tuple[str, str]]) -> list[int]:
    """Where the ten columns of each body begin."""
    return [place for place, (symbol, _) in enumerate(columns) if symbol == INERTIAL[0]]


def light_bodies(columns: Sequence[tuple[str, str]]) -> FloatArray:
    """A prior of small balls, and no drives."""
    prior = np.zeros(len(columns))
    for first in starts(columns):
        prior[[first, first + 3, first + 5]], prior[first + 9] = BALL_INERTIA, BALL_MASS
    return prior


def consistent(found: Dynamic, prior: FloatArray | None = None) -> Dynamic:
    """The nearest parameters that bodies could have, and of all such those nearest to a prior."""
    cp = _cvxpy()
    columns = _columns(found)
    R = found.solution.reduction.R
    target = R @ found.solution.values - found.solution.reduction.z
    extents = _extents(found.dynamics)
    doubt = UNSURE if prior is None else SURE
    prior = light_bodies(columns) if prior is None else prior
    x = cp.Variable(R.shape[1])
    cost = cp.sum_squares(R @ x - target)
    constraints = []
    for first in starts(columns):
        extent = extents.get(columns[first][1], AROUND)
        body = [x[first + k] for k in range(10)]
        constraints.append(cp.bmat(pseudo_inertia(body)) >> POSITIVE * np.eye(4))
        # All mass within a ball about the frame: the integral of extent^2 - r^2 is positive.
        constraints.append(2 * extent**2 * body[9] >= body[0] + body[3] + body[5])
        spread = doubt * max(prior[first + 9], BALL_MASS)
        scales = spread * np.array([extent**2] * 6 + [extent] * 3 + [1.0])
        rows = slice(first, first + 10)
        cost += cp.sum_squares(cp.multiply(1.0 / scales, x[rows] - prior[rows]))
    positive = {Drive.ROTOR.value, *(drive.value for drive in Drive if drive.dissipates)}
    for place, (symbol, _) in enumerate(columns):
        if symbol in positive:
            constraints.append(x[place] >= 0)
    cp.Problem(cp.Minimize(cost), constraints).solve(solver=cp.CLARABEL)
    if x.value is None:
        raise InputError(
            "no consistent parameters were found",
            remedy="Look at the weighted ones for what is wrong",
        )
    return replace(found, values=np.asarray(x.value, dtype=np.float64), consistent=True)


def _extents(dynamics: Tree) -> dict[str, float]:
    """How far from a link's frame its mass may be, m, by the link's suffix."""
    found = {str(link.name): AROUND for link in dynamics.links}
    for link in dynamics.links:
        own = float(np.linalg.norm(link.after_position))
        found[str(link.name)] = max(found[str(link.name)], AROUND + own)
        if link.parent >= 0:
            parent = str(dynamics.links[link.parent].name)
            away = float(np.linalg.norm(link.position)) + own
            found[parent] = max(found[parent], AROUND + away)
    return found


def ridge(found: Dynamic, prior: FloatArray) -> tuple[Dynamic, float]:
    """All standard parameters drawn to a prior, by as much as cross-validation says.

    Minimises ``|R (x - x0) + z0|^2 + pull |D (x - x0)|^2`` with the columns scaled by D to unit
    length; the pull minimises generalized cross-validation [Golub, Heath & Wahba 1979].
    """
    reduction = found.solution.reduction.moved(prior - found.solution.values)
    scale = np.linalg.norm(reduction.R, axis=0)
    seen = scale > NO_EFFECT * scale.max()
    scale = np.where(seen, scale, 1.0)
    U, s, Vt = np.linalg.svd(np.where(seen, reduction.R, 0.0) / scale)
    wanted = -U.T @ reduction.z
    outside = max(reduction.squares - float(reduction.z @ reduction.z), 0.0)
    pulls = PULLS * s[0] ** 2
    shrunk = s**2 / (s**2 + pulls[:, None])
    remaining = outside + (((1.0 - shrunk) * wanted) ** 2).sum(axis=1)
    scores = remaining / (reduction.rows - shrunk.sum(axis=1)) ** 2
    best = int(np.argmin(scores))
    change = Vt.T @ (s / (s**2 + pulls[best]) * wanted) / scale
    values = prior + change
    drawn = replace(found, values=values)
    return replace(drawn, consistent=is_consistent(drawn)), float(pulls[best])


def is_consistent(found: Dynamic) -> bool:
    """Could bodies have these parameters?"""
    return not inconsistent(found.values, _columns(found))


def inconsistent(values: FloatArray, columns: Sequence[tuple[str, str]]) -> list[str]:
    """Suffixes of the bodies that could not exist."""
    found = []
    for first in starts(columns):
        moments = np.array(pseudo_inertia(values[first : first + 10]))
        if np.linalg.eigvalsh(moments)[0] <= 0:
            found.append(columns[first][1])
    return found


def _columns(found: Dynamic) -> list[tuple[str, str]]:
    """Symbol and suffix of each column of the problem."""
    all_columns = found.dynamics.columns(found.problem.drives)
    if len(all_columns) == len(found.values):
        return all_columns
    if found.problem.payload:
        return [*all_columns, *((symbol, "L") for symbol in INERTIAL)]
    raise InputError("whole bodies need all their parameters in the model")


def _cvxpy() -> Any:
    try:
        import cvxpy
    except ImportError as error:
        raise InputError(
            "consistent parameters need cvxpy and clarabel",
            remedy="Install theodolite[consistent]",
        ) from error
    return cvxpy
