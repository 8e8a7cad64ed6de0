"""Gautier 1991: tables II to V, entry by entry, and the scaling of the three models.

Table IV is lost in our copy; table V, which holds the same coefficients as formulas, regenerates
it. The samples of table II are random and not printed, so of its numbers only those can be checked
that do not depend on them: which are zero, and the column V2 N, which lies in the null space of W.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.base_parameters import base_values
from theodolite.dynamics.constants import relations_in_words
from theodolite.dynamics.energy import EnergyProblem
from theodolite.dynamics.filtering import Run
from theodolite.dynamics.grouping import grouped
from theodolite.dynamics.serial import Dynamics
from theodolite.dynamics.torque import random_state
from theodolite.estimation.identifiability import Identifiability
from theodolite.reproduce.figure import NOTHING, Figure, below, not_comparable
from theodolite.reproduce.gautier import (
    BASE,
    NO_EFFECT,
    REGROUPED,
    analysed,
    puma,
    relations,
    standard_values,
    typical,
)
from theodolite.reproduce.gautier_scaling import scale_samples, scaling_study

TITLE = "Tables II to V and the scaling of W (Gautier 1991)"

#: Table II, column V2 N, without the 23 zeros. Our copy lacks the minus sign of ZZ1.
V2_N = {
    "ZZ1": -0.14128, "Ia1": 1.2633, "XX2": -0.64517, "XZ2": -0.17779, "YY2": -0.52031,
    "ZZ2": 0.025507, "MX2": 0.24972, "Ia2": 0.099354, "XX3": -0.68264, "XY3": 0.0086334,
    "YY3": -0.35387, "ZZ3": -0.32732, "MX3": 0.036423, "MY3": -0.43167, "MZ3": -0.25570,
    "M3": 1.3217, "XX4": -0.35180, "YY4": -0.84556, "ZZ4": 0.49376, "MY4": 0.81228,
    "MZ4": 1.5243, "M4": -1.6854, "XX5": -1.0276, "YY5": -0.49376, "ZZ5": -0.53387,
    "MY5": 0.24349, "MZ5": 0.81228, "M5": 0.082822, "XX6": 0.53387, "YY6": 0.53387,
    "MZ6": -0.24349, "M6": -0.21858,
}  # fmt: skip
#: Table II: the first, the last that counts and the first that does not of T and of sigma.
T, SIGMA = (68.553, 0.25204, 1.6199e-15), (120.82, 0.28153, 1.3828e-15)
#: The tolerance in the text, and the precision of the computer that it belongs to.
TAU, PRECISION = 5.23e-14, 2.0**-56
#: Table III, column beta N, without the 23 zeros.
BETA_N = {
    "ZZ1": 2.1458, "XX2": -0.7925, "XZ2": -0.3449, "ZZ2": 0.6250, "MX2": 0.7113, "XX3": 0.1707,
    "XY3": -0.0157, "ZZ3": 0.8036, "MX3": 0.0101, "MY3": 0.7843, "XX4": 0.3711, "ZZ4": 0.4148,
    "MY4": -0.2806, "XX5": 0.3635, "ZZ5": 0.7783, "MY5": 0.2119, "XX6": -0.7783,
}  # fmt: skip
#: Rows of table IV that the text writes out.
TEXT = {
    "ZZ1": {"YY2": 1.0, "YY3": 1.0, "MZ3": 0.4, "M4": 0.2904, "M5": 0.2904, "M6": 0.2904}
    | {"M3": 0.29, "Ia1": 1.0},
    "XX2": {"YY2": -1.0, "M3": -0.25, "M4": -0.25, "M5": -0.25, "M6": -0.25},
    "XZ2": {"MZ3": -0.5, "M3": -0.1, "M4": -0.1, "M5": -0.1, "M6": -0.1},
}
#: Table II prints up to five digits of numbers up to 1.7, and a row joins up to eight of them.
FIVE_DIGITS = 1e-4
#: Table III prints four decimals.
HALF_A_DIGIT = 5.1e-5

ZERO_ROWS = "the text says 17, which is the number of the others: 40 - 17 = 23, as in table V"
SAMPLES = "the samples are random and not printed: only the side of tau = r |T11| eps is compared"
TOLERANCE = (
    "r |T11| eps with r = 55 gives the printed tau for eps = 2^-56, as on a VAX; for the 2^-52 of "
    "today's double precision it would be 8.4e-13"
)
NULL_SPACE = (
    "V2 N lies in the null space of W, so its 40 base entries are -beta times the other 15, to the "
    "five printed digits. Our copy lacks the minus sign of ZZ1"
)
RANGE = "N is random, but beta N must be a combination of beta's columns, to four printed decimals"
LOST = "missing in our copy; table V regenerates it, and the text prints three of its rows"
FOUR_DECIMALS = "coefficients as in table V to rounding, value as in table III to four decimals"
CHANCE = "S of d0 and of d hardly differ: which is smaller depends on samples that are not printed"
GAP = "T41 is nothing but rounding, which depends on the paper's samples and computer"


@dataclass(frozen=True, eq=False)
class Raw:
    """The matrix W of the energy model at as many random samples as parameters have an effect."""

    names: list[str]
    W: FloatArray

    @staticmethod
    def sampled(seed: int = 1991) -> Raw:
        dynamics = Dynamics(puma())
        state = random_state(dynamics, 55, np.random.default_rng(seed))
        names = [p.name for p in EnergyProblem(dynamics, Run.of(state)).parameters]
        used = [place for place, name in enumerate(names) if name not in NO_EFFECT]
        return Raw([names[place] for place in used], dynamics.energy(state)[used].T)

    def pivoted(self) -> FloatArray:
        """|T_ii| of the QR with column pivoting."""
        from scipy.linalg import qr

        return np.abs(np.diag(qr(self.W, mode="r", pivoting=True)[0]))

    def singular(self) -> tuple[FloatArray, FloatArray]:
        """Singular values, and V2, the null space."""
        _, values, rows = np.linalg.svd(self.W)
        return values, rows[40:].T


def figures() -> list[Figure]:
    known = analysed("h")
    return _counts(known) + _table_2(known) + _tables_3_to_5(known) + _scales()


def _counts(known: Identifiability) -> list[Figure]:
    joined = int((np.abs(known.relations) > 1e-9).any(axis=1).sum())
    null = Raw.sampled().singular()[1]
    zero = int((np.abs(null).max(axis=1) < 1e-9).sum())
    return [
        Figure("base parameters: unchanged, regrouped", "23, 17", "23, 17",
               f"{known.rank - joined}, {joined}"),
        Figure("zero rows of V2", "17", "23", str(zero), why=ZERO_ROWS),
    ]  # fmt: skip


def _table_2(known: Identifiability) -> list[Figure]:
    raw = Raw.sampled()
    values = raw.singular()[0]
    found = []
    for name, printed, ours in (("T", T, raw.pivoted()), ("sigma", SIGMA, values)):
        tau = len(raw.W) * ours[0] * np.finfo(float).eps
        found.append(
            Figure(
                f"table II, {name}: 40th, 41st",
                f"{printed[1]:.1e}, {printed[2]:.1e}",
                f"above, below {tau:.0e}",
                f"{ours[39]:.1e}, {ours[40]:.1e}",
                holds=bool(ours[39] > tau > ours[40]),
                why=SAMPLES,
            )
        )
    diagonal = np.abs(np.diag(np.linalg.qr(raw.W, mode="r")))
    small = [n for n, d in zip(raw.names, diagonal, strict=True) if d < 1e-9 * diagonal.max()]
    zeros = "the 15 of table V"
    bases, others = (
        np.array([V2_N.get(name, 0.0) for name in names])
        for names in (known.identifiable, known.names(known.regrouped))
    )
    off = float(np.abs(bases + known.relations @ others).max())
    return [
        *found,
        Figure(
            "table II, R: zeros", zeros, zeros, zeros if small == REGROUPED else " ".join(small)
        ),
        Figure(
            "tolerance tau, from T11 of table II", f"{TAU:.2e}", f"{TAU:.2e}",
            f"{55 * T[0] * PRECISION:.2e}", why=TOLERANCE,
        ),
        below("table II, V2 N: off the null space by", NOTHING, FIVE_DIGITS, off, why=NULL_SPACE),
    ]  # fmt: skip


def coefficients(known: Identifiability, table: dict[str, dict[str, float]]) -> dict[str, float]:
    """Largest difference from the coefficients of each relation of a table."""
    others = known.names(known.regrouped)
    return {
        base: max(
            abs(ours - table[base].get(name, 0.0)) for name, ours in zip(others, row, strict=True)
        )
        for base, row in zip(known.identifiable, known.relations, strict=True)
        if base in table
    }


def _tables_3_to_5(known: Identifiability) -> list[Figure]:
    table = relations()
    off = coefficients(known, table)
    values = dict(zip(known.identifiable, base_values(known, standard_values(known)), strict=True))
    right = {name: abs(values[name] - BASE[name]) < HALF_A_DIGIT for name in BASE}
    words = relations_in_words(Dynamics(puma()), grouped(Dynamics(puma())))
    found = []
    for text in words:
        base = text.partition("*")[0]
        printed, ours = f"{BASE[base]:.4f}", f"{values[base]:.4f}"
        good = bool(off[base] < 1e-12 and right[base])
        found.append(Figure(text, printed, printed, ours, holds=good, why=FOUR_DECIMALS))
    same = sum(right[name] for name in BASE if name not in table)
    beta = known.relations[[known.identifiable.index(base) for base in BETA_N]]
    printed_k = np.array(list(BETA_N.values()))
    rest = printed_k - beta @ np.linalg.lstsq(beta, printed_k, rcond=None)[0]
    written = max(coefficients(known, TEXT).values())
    return [
        *found,
        Figure("table III: unchanged values", "23", "23", str(same)),
        below(
            "table III, beta N: off the range of beta by", NOTHING, HALF_A_DIGIT,
            float(np.abs(rest).max()), why=RANGE,
        ),
        below(
            "table IV: 17 x 15 coefficients off table V by", "lost", 1e-12, max(off.values()),
            why=LOST,
        ),
        below("table IV: its rows in the text off by", NOTHING, 1e-12, written, why=LOST),
    ]  # fmt: skip


def _scales() -> list[Figure]:
    rng = np.random.default_rng(1991)
    dynamics = Dynamics(puma())
    samples = {model: scale_samples(dynamics, model, rng) for model in ("d", "d0")}
    better = 100 * float(np.mean(samples["d0"] < samples["d"]))
    study = scaling_study(dynamics, rng)
    clearer = study.chosen.gap / study.random.gap
    return [
        typical("S of random samples, d (torques)", 1e6, samples["d"]),
        typical("S of random samples, d0 (torques at rest)", 1e4, samples["d0"]),
        not_comparable(
            "S of d0 is smaller than that of d", "yes", f"{better:.0f} % yes", why=CHANCE
        ),
        not_comparable(
            "T40 / T41 is larger for chosen samples", "10 times", f"{clearer:.1f} times", why=GAP
        ),
    ]
