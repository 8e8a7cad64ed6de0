"""Whole standard parameters: the nearest ones that bodies could have, or those near to a prior.

Base parameters say all that torques show, but a simulator wants every link's mass, centre and
inertia. Physically consistent ones fit the data best among those that bodies could have: each
link's pseudo-inertia P is positive definite, rotors and friction are not negative. What the data
leave open is drawn to a prior P0 by the distance between mass distributions

    tr(P P0^-1) - log det(P P0^-1) - 4        [Lee, Wensing & Park 2020]

which no choice of frames or units changes, and which keeps P inside: no link becomes a needle. It
is a semidefinite programme on the triangular factor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.drives import Drive
from theodolite.dynamics.identify import IdentifiedDynamics
from theodolite.dynamics.inertia import INERTIAL, pseudo_inertia
from theodolite.dynamics.torque import LOAD
from theodolite.dynamics.tree import Tree
from theodolite.errors import InputError
from theodolite.estimation.identifiability import NO_EFFECT

#: A prior without one: balls of this mass, kg, as large as half of their link, at least so, m.
BALL_MASS, SMALLEST = 2.0, 0.1
#: What a prior weighs against the data, in squares of standard deviations.
PRIOR_WEIGHT = 1.0
#: Pulls that generalized cross-validation chooses from, as parts of the largest eigenvalue.
PULLS = np.logspace(-12, 0, 49)


def starts(columns: Sequence[tuple[str, str]]) -> list[int]:
    """Where the ten columns of each body begin."""
    return [place for place, (symbol, _) in enumerate(columns) if symbol == INERTIAL[0]]


def consistent(found: IdentifiedDynamics, prior: FloatArray | None = None) -> IdentifiedDynamics:
    """Parameters that bodies could have, near to the data and, much less, to a prior.

    Bodies of the prior that could not exist, or have no mass, are replaced by balls.
    """
    cp = _cvxpy()
    columns = _columns(found)
    R = found.solution.reduction.R
    target = R @ found.solution.values - found.solution.reduction.z
    sizes = _sizes(found.dynamics)
    x = cp.Variable(R.shape[1])
    cost = cp.sum_squares(R @ x - target)
    for first in starts(columns):
        P = cp.bmat(pseudo_inertia([x[first + k] for k in range(10)]))
        P0 = None if prior is None else np.array(pseudo_inertia(prior[first : first + 10]))
        if P0 is None or np.linalg.eigvalsh(P0)[0] <= 0:
            P0 = _ball(sizes.get(columns[first][1], SMALLEST))
        cost += PRIOR_WEIGHT * (cp.trace(np.linalg.inv(P0) @ P) - cp.log_det(P))
    positive = {Drive.ROTOR.value, *(drive.value for drive in Drive if drive.dissipates)}
    signed = [x[place] >= 0 for place, (symbol, _) in enumerate(columns) if symbol in positive]
    programme = cp.Problem(cp.Minimize(cost), signed)
    programme.solve(solver=cp.CLARABEL)
    if x.value is None:
        raise InputError(
            f"no consistent parameters were found: the solver says '{programme.status}'",
            remedy="Look at the weighted ones for what is wrong",
        )
    values = np.asarray(x.value, dtype=np.float64)
    fit = replace(found, values=values, whole=True)
    return replace(fit, consistent=is_consistent(fit))


def _ball(radius: float) -> FloatArray:
    """The pseudo-inertia of a ball about the frame's origin."""
    return BALL_MASS * np.diag([radius**2 / 5] * 3 + [1.0])


def _sizes(dynamics: Tree) -> dict[str, float]:
    """Half of how far a link's frame is from those of the links on it, m, by its suffix."""
    found: dict[str, float] = {}
    for link in dynamics.links:
        if link.parent >= 0:
            name = str(dynamics.links[link.parent].name)
            away = np.linalg.norm(link.position) + np.linalg.norm(link.after_position)
            found[name] = max(found.get(name, SMALLEST), float(away) / 2)
    return found


def ridge(found: IdentifiedDynamics, prior: FloatArray) -> tuple[IdentifiedDynamics, float]:
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
    drawn = replace(found, values=values, whole=True)
    return replace(drawn, consistent=is_consistent(drawn)), float(pulls[best])


def is_consistent(found: IdentifiedDynamics) -> bool:
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


def _columns(found: IdentifiedDynamics) -> list[tuple[str, str]]:
    """Symbol and suffix of each column of the problem."""
    all_columns = found.dynamics.columns(found.problem.drives)
    if len(all_columns) == len(found.values):
        return all_columns
    if found.problem.payload:
        return [*all_columns, *((symbol, LOAD) for symbol in INERTIAL)]
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
