"""Which parameters a problem determines: base parameters by QR, rank by the gap in the SVD.

Appendix B of [Khalil1996] with two changes. The rank is not decided by a tolerance on the
diagonal of R (rounding the joints of a link recording to 1e-12 rad already defeats one), but
by the largest gap in the singular values of the column-scaled matrix. And a dependent column
is never admitted, instead of leaving the rounding noise it consists of in the basis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from theodolite import edges
from theodolite.arrays import BoolArray, FloatArray, IntArray
from theodolite.errors import listed
from theodolite.estimation.scaling import unit_columns
from theodolite.model.parameters import Parameter

#: A parameter whose tolerance moves the residual by this part of the largest has no effect.
NO_EFFECT = 1e-9
#: Scaled singular values above this always count: no structural zero is computed so badly.
CERTAIN = 1e-6
#: Scaled singular values below this are rounding; gaps between them mean nothing.
ROUNDING = 1e-15
#: A unit column with less than this orthogonal to the chosen ones is nearly dependent on them.
STRONG = 0.02
#: A parameter whose part in every null vector is below this is in none of them.
SQRT_ROUNDING = 1e-7
#: A parameter never stands for another whose effect within its tolerance is so many times larger.
FAR_LARGER = 100.0
#: A gap smaller than this does not separate information from rounding clearly.
CLEAR_GAP = 1e3
#: Coefficients of a regrouping relation below this are rounding.
NEGLIGIBLE = 1e-8
#: Characters of names in a short description.
SHORT = 70


@dataclass(frozen=True, eq=False)
class Identifiability:
    """What is identifiable among some candidates, and how the rest combines with it."""

    parameters: tuple[Parameter, ...]
    priorities: tuple[int, ...]
    #: Indices of the base parameters, in the order in which they were chosen.
    base: IntArray
    #: Indices of the parameters that are regrouped into the base ones.
    regrouped: IntArray
    #: Indices of the parameters that change nothing.
    no_effect: IntArray
    #: The triangular factor that decided it, (p, p).
    R: FloatArray
    #: Singular values of the scaled columns that have an effect, descending.
    singular_values: FloatArray
    rows: int
    #: Indices of those among them that only the noise hides.
    hidden: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    #: Relations found otherwise than from the factor.
    given_relations: FloatArray | None = None

    @property
    def rank(self) -> int:
        return len(self.base)

    @cached_property
    def relations(self) -> FloatArray:
        """(base, regrouped): column of a regrouped parameter = base columns @ relations."""
        if self.given_relations is not None:
            return self.given_relations
        if not len(self.regrouped):
            return np.zeros((self.rank, 0))
        base, scale = unit_columns(self.R[:, self.base])
        others, size = unit_columns(self.R[:, self.regrouped])
        Q, R1 = np.linalg.qr(base)
        return np.linalg.solve(R1, Q.T @ others) * size / scale[:, None]

    @property
    def clear_rank(self) -> int:
        """The rank that the gap shows, of which unsupported parameters may have been left out."""
        return _rank_by_gap(self.singular_values)

    @cached_property
    def _base_svd(self) -> tuple[FloatArray, FloatArray]:
        """Singular values and right singular vectors of the base columns, scaled."""
        base = self.R[:, self.base]
        _, values, directions = np.linalg.svd(base / np.linalg.norm(base, axis=0))
        return values[: self.rank], directions

    @property
    def base_singular_values(self) -> FloatArray:
        """Singular values of the base columns, scaled to unit length, descending."""
        return self._base_svd[0]

    @property
    def weakest_direction(self) -> FloatArray:
        """The least well determined combination of base parameters, of unit columns, (base,)."""
        return self._base_svd[1][-1]

    @property
    def gap(self) -> float:
        """Ratio between the last singular value that counts and the first that does not."""
        rank = self.clear_rank
        if rank == 0 or rank == len(self.singular_values):
            return float("inf")
        return float(self.singular_values[rank - 1] / max(self.singular_values[rank], ROUNDING))

    @property
    def clear(self) -> bool:
        """Is the rank beyond doubt?"""
        return self.gap >= CLEAR_GAP

    @property
    def condition_number(self) -> float:
        """Of the scaled base columns."""
        if not self.rank:
            return float("inf")
        return float(self.base_singular_values[0] / self.base_singular_values[-1])

    def observability(self) -> dict[str, float]:
        """Observability indices of the base columns [Sun & Hollerbach 2008: O1 to O4]."""
        s = self.base_singular_values
        if not self.rank or not self.rows:
            return {"O1": 0.0, "O2": 0.0, "O3": 0.0, "O4": 0.0}
        volume = float(np.exp(np.mean(np.log(s))) / np.sqrt(self.rows))
        return {
            "O1": volume,
            "O2": float(s[-1] / s[0]),
            "O3": float(s[-1]),
            "O4": float(s[-1] ** 2 / s[0]),
        }

    def without(self, dropped: IntArray) -> Identifiability:
        """The same with some base parameters no longer moved, hidden by noise."""
        if not len(dropped):
            return self
        return replace(
            self,
            base=self.base[~np.isin(self.base, dropped)],
            regrouped=np.append(self.regrouped, dropped),
            hidden=np.append(self.hidden, dropped),
        )

    def names(self, indices: IntArray) -> list[str]:
        return [self.parameters[index].name for index in indices]

    @property
    def identifiable(self) -> list[str]:
        """Names of the base parameters, in the order of choice."""
        return self.names(self.base)

    def regrouping(self) -> dict[str, dict[str, float]]:
        """For each regrouped parameter, the base parameters it adds to and by how much."""
        base = self.identifiable
        return {
            self.parameters[index].name: {
                name: float(value)
                for name, value in zip(base, self.relations[:, column], strict=True)
                if abs(value) > NEGLIGIBLE
            }
            for column, index in enumerate(self.regrouped)
        }

    def sentences(self) -> list[str]:
        """The regrouping relations as one writes them: ``r3* = r3 + r2``."""
        lines = []
        others = self.names(self.regrouped)
        for row, name in enumerate(self.identifiable):
            parts = [
                summand(value, other, digits=6)
                for value, other in zip(self.relations[row].tolist(), others, strict=True)
                if abs(value) > NEGLIGIBLE
            ]
            if parts:
                lines.append(f"{name}* = {name} {' '.join(parts)}")
        return lines

    def __repr__(self) -> str:
        return (
            f"Identifiability: {self.rank} of {len(self.parameters)} parameters, "
            f"condition number {self.condition_number:.3g}\n"
            f"  identifiable: {listed(self.identifiable, SHORT)}"
        )

    def summary(self) -> str:
        """Base parameters, regrouping relations and how clear they are, as text."""
        return edges.summary(self)

    def to_dict(self) -> dict[str, Any]:
        """What ``theodolite identifiable --json`` prints of the parameters."""
        return edges.identifiability_dict(self)

    def to_frame(self) -> Any:
        """The parameters and what becomes of each, as a pandas DataFrame."""
        return edges.frame(self.roles())

    def roles(self) -> list[dict[str, Any]]:
        """Each parameter with what becomes of it: identifiable, regrouped or no effect."""
        role = dict.fromkeys(self.base.tolist(), "identifiable")
        role |= dict.fromkeys(self.regrouped.tolist(), "regrouped")
        into = self.regrouping()
        return [
            {
                "name": parameter.name,
                "role": role.get(index, "no effect"),
                "regrouped_into": " ".join(into.get(parameter.name, ())),
                "unit": parameter.unit.value,
            }
            for index, parameter in enumerate(self.parameters)
        ]

    def _repr_html_(self) -> str:
        return edges.html(self)


def analyse(
    R: FloatArray,
    parameters: Sequence[Parameter],
    priorities: Sequence[int],
    rows: int,
    *,
    before: Identifiability | None = None,
) -> Identifiability:
    """Base parameters of a matrix given by its triangular factor (p, p).

    The base set of ``before`` comes first whatever its priorities, so that it stays what it was
    while the parameters move, and only grows or shrinks.
    """
    first = {} if before is None else {index: place for place, index in enumerate(before.base)}
    norms = np.linalg.norm(R, axis=0)
    effects = norms * _tolerances(parameters)
    known = np.isfinite([parameter.tolerance for parameter in parameters])
    order = _by_priority(_effective(effects), parameters, priorities, first)
    scaled = R[:, order] / norms[order]
    values = np.linalg.svd(scaled, compute_uv=False) if len(order) else np.empty(0)
    values = np.append(values, np.zeros(len(order) - len(values)))
    rank = _rank_by_gap(values)
    kept = np.arange(len(order))
    if rank < len(order):
        kept = _exchanged(scaled, _choose(scaled, rank), effects[order], known[order])
    index = np.array(order, dtype=np.intp)
    return Identifiability(
        tuple(parameters),
        tuple(priorities),
        index[kept],
        np.delete(index, kept),
        np.delete(np.arange(len(parameters)), index),
        R,
        values,
        rows,
    )


def _tolerances(parameters: Sequence[Parameter]) -> FloatArray:
    """Tolerances, one where none is known."""
    tolerances = np.array([parameter.tolerance for parameter in parameters])
    return np.where(np.isfinite(tolerances), tolerances, 1.0)


def _effective(effects: FloatArray) -> list[int]:
    """Which columns have an effect, compared by what their tolerances do to the residual."""
    # In units of the noise: what moves no residual by NO_EFFECT of a standard deviation is nothing.
    found: list[int] = np.flatnonzero(effects > NO_EFFECT * effects.max(initial=1.0)).tolist()
    return found


def analyse_by_svd(
    R: FloatArray, parameters: Sequence[Parameter], priorities: Sequence[int], rows: int
) -> Identifiability:
    """The same by Gautier's second road: the null space V2 of the SVD [Gautier1991, eqs. 22-28].

    The last parameters that make V22 regular are regrouped, by beta = -V21 V22^-1.
    """
    norms = np.linalg.norm(R, axis=0)
    effective = _effective(norms * _tolerances(parameters))
    order = _by_priority(effective, parameters, priorities)
    scaled = R[:, order] / norms[order]
    _, values, rows_of_v = np.linalg.svd(scaled)
    values = np.append(values, np.zeros(len(order) - len(values)))
    rank = _rank_by_gap(values)
    index = np.array(order, dtype=np.intp)
    # Of unit columns, so that no unit decides which combination is large.
    kept, dropped, relations = _regrouped(rows_of_v[rank:].T)
    relations = relations * norms[index[dropped]] / norms[index[kept]][:, None]
    return Identifiability(
        tuple(parameters),
        tuple(priorities),
        index[kept],
        index[dropped],
        np.delete(np.arange(len(parameters)), index),
        R,
        values,
        rows,
        given_relations=relations,
    )


def analyse_null_space(
    null: FloatArray, parameters: Sequence[Parameter], priorities: Sequence[int]
) -> Identifiability:
    """The same from combinations of parameters that are known to change nothing, (p, d)."""
    size = len(parameters)
    basis = np.linalg.qr(null)[0] if null.shape[1] else null
    # What is left of a parameter outside of these combinations is its effect.
    alone = np.linalg.norm(np.eye(size) - basis @ basis.T, axis=0) < NO_EFFECT
    rest = basis.copy()
    rest[alone] = 0.0
    U = np.linalg.svd(rest, full_matrices=False)[0]
    rest = U[:, : null.shape[1] - int(alone.sum())]
    order = _by_priority(np.flatnonzero(~alone).tolist(), parameters, priorities)
    index = np.array(order, dtype=np.intp)
    kept, dropped, relations = _regrouped(rest[index])
    # Any matrix with these dependencies will do: the base parameters themselves are seen.
    R = np.zeros((size, size))
    R[: len(kept), index[kept]] = np.eye(len(kept))
    R[: len(kept), index[dropped]] = relations
    return Identifiability(
        tuple(parameters),
        tuple(priorities),
        index[kept],
        index[dropped],
        np.flatnonzero(alone),
        R,
        np.append(np.ones(len(kept)), np.zeros(len(dropped))),
        0,
        given_relations=relations,
    )


def _regrouped(null: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Kept and dropped parameters, and relations, of combinations that change nothing (p, d).

    The last parameters that make V22 regular are dropped: beta = -V21 V22^-1 [Gautier1991, eq. 27].
    """
    sizes = np.linalg.norm(null, axis=1)
    involved = np.flatnonzero(sizes > SQRT_ROUNDING * sizes.max(initial=0.0))[::-1]
    unit = null[involved] / sizes[involved, None]
    dropped = np.sort(involved[_choose(unit.T, null.shape[1])])
    kept = np.delete(np.arange(len(null)), dropped)
    if not len(dropped):
        return kept, dropped, np.zeros((len(kept), 0))
    return kept, dropped, -null[kept] @ np.linalg.inv(null[dropped])


def _by_priority(
    indices: Sequence[int],
    parameters: Sequence[Parameter],
    priorities: Sequence[int],
    first: Mapping[int, int] | None = None,
) -> list[int]:
    """Those with a place first, then by priority, then in GECARO's order."""
    first = first or {}
    return sorted(
        indices,
        key=lambda i: (
            first.get(i, len(first)),
            -priorities[i],
            parameters[i].column,
            parameters[i].frame,
        ),
    )


def _rank_by_gap(values: FloatArray) -> int:
    """How many singular values stand before the largest gap."""
    if not len(values):
        return 0
    relative = np.maximum(values / values[0], ROUNDING)
    certain = int(np.count_nonzero(relative > CERTAIN))
    if certain == len(values):
        return certain
    ratios = relative[certain - 1 : -1] / relative[certain:]
    return certain + int(np.argmax(ratios))


def _choose(columns: FloatArray, rank: int) -> IntArray:
    """Indices of ``rank`` independent columns, the earlier ones preferred.

    Gram-Schmidt with every column left kept orthogonal to the chosen ones. Columns that are
    nearly dependent on better ones wait until all the others had their turn: the offset along
    a joint axis that is almost parallel to the next, for one, would otherwise take the place
    of the angle between the two and be determined to metres. Among equals the earlier one is
    taken, whatever rounding says.
    """
    diagonal = np.diag(np.asarray(np.linalg.qr(columns[:, :rank], mode="r")))
    if np.all(np.abs(diagonal) > STRONG):
        # As usual when a base set is looked at again: the first ones are independent.
        return np.arange(rank)
    rest = columns.T.copy()
    chosen: list[int] = []

    def choose(index: int, size: float) -> None:
        direction = rest[index] / size
        chosen.append(index)
        rest[:] -= (rest @ direction)[:, None] * direction
        rest[index] = 0.0

    for index in range(len(rest)):
        size = float(np.sqrt(rest[index] @ rest[index]))
        if size > STRONG and len(chosen) < rank:
            choose(index, size)
    while len(chosen) < rank:
        sizes = np.linalg.norm(rest, axis=1)
        best = int(np.argmax(sizes >= (1.0 - SQRT_ROUNDING) * sizes.max()))
        choose(best, float(sizes[best]))
    return np.array(chosen, dtype=np.intp)


def _exchanged(
    columns: FloatArray, kept: IntArray, effects: FloatArray, known: BoolArray
) -> IntArray:
    """The chosen columns, exchanged where one stands for another of far larger effect.

    A base parameter takes over the error of those regrouped into it. If it would have to leave its
    own tolerance many times to make up for theirs, the two change places. Each exchange multiplies
    the volume of the chosen columns in units of their tolerances, so this ends. Where neither
    tolerance is ``known``, the effects count as equal, for 1 kg is neither more nor less than
    1 kg m2; where one of them is not, nothing is exchanged.
    """
    effects = np.where(known, effects, 1.0)
    kept = kept.copy()
    while True:
        others = np.delete(np.arange(columns.shape[1]), kept)
        Q, R = np.linalg.qr(columns[:, kept])
        relations = np.linalg.solve(R, Q.T @ columns[:, others])
        taken = np.abs(relations) * effects[others] / effects[kept][:, None]
        taken[known[kept][:, None] != known[others]] = 0.0
        if taken.max(initial=0.0) <= FAR_LARGER:
            return kept
        base, other = np.unravel_index(np.argmax(taken), taken.shape)
        kept[base] = others[other]


def summand(coefficient: float, name: str, *, digits: int) -> str:
    """A term of a sum as one writes it: ``+ r2``, ``- 0.5 r3``."""
    size = f"{abs(coefficient):.{digits}g}"
    return f"{'-' if coefficient < 0 else '+'} {'' if size == '1' else f'{size} '}{name}"
