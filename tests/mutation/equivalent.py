# ruff: noqa: E501  (lines of the modules, as they read)
"""Mutants that no result can tell from the original, with the reason.

A comparison that differs only where a computed number equals a threshold to the last bit counts as
one of them: which side such a number falls on is nobody's claim.
"""

from __future__ import annotations

SIGN = "signs of a triangular factor, a root or a singular vector are free"
NAN = "not a number has no sign"
ANY = "the value stands where zero is divided or scaled: any positive one serves"
SHAPE = "NumPy reads any negative length as the one to find"
ROADS = "both formulas give the same number"
EDGE = "differs only where a computed number equals a threshold to the last bit"
MEET = "both branches give the same there"
ZERO = "minus zero is zero"
MAX = "the other bound is the tighter one"
ROWS = "a row of zeros more changes no factor"
UNUSED = "a default that no call relies on"
LENGTH = "both are of one length"
SAME = "what the result is taken from stays the same"
SIDE = "on the same side of every threshold that it is compared with"
ROUND = "changes how far rounding may go, and nothing beyond rounding"

#: Module, the reason, then how the mutants' lines read.
_BY_REASON: dict[str, dict[str, tuple[str, ...]]] = {
    "loss": {
        NAN: ("return -float('nan')",),
        EDGE: ("return np.where(u >= HUBER_THRESHOLD, -weights, 0.0)",),
        ZERO: ("return -np.zeros_like(u)",),
        MAX: ("return np.minimum(2.0, HUBER_THRESHOLD / np.maximum(u, HUBER_THRESHOLD))",),
        MEET: ("each = np.where(u < k, u ** 2, 2 * k * u - k ** 2)",),
    },
    "reduction": {
        SIGN: (
            "return -_square(factor)",
            "return -(np.concatenate([factor, np.zeros((missing, factor.shape[1]))]) if missing else factor)",
            "return -np.asarray(np.linalg.qr(np.concatenate([factor, matrix]), mode='r'))",
            "return -np.triu(factor)",
            "return -fold(factor, matrix)",
            "return -_folded(factor, columns.T)",
            "return -factor",
        ),
        # Which of two ways to the same factor is quicker, and where leading zeros end.
        MEET: (
            "fold = _fold_in_panels if matrix.size > LARGE else _fold_at_once",
            "if columns.size < LARGE and width == 1:",
            "if columns.size <= LARGE or width == 1:",
            "if columns.size >= LARGE or width == 1:",
            "if columns.size < LARGE or width != 1:",
            "if columns.size < LARGE or width == 2:",
            "last = len(columns) + 1",
            "last = len(columns) - 2",
            "if any(first):",
        ),
        LENGTH: (
            "size = len(parts[1].z)",
            "for part, accumulators in zip(parts, folds, strict=False):",
        ),
        ROWS: ("self.factor: FloatArray = np.zeros((1, size + 1))",),
        # The last row of the matrix would be the first row of a triangle, which is full.
        SAME: ("factor, *_ = dtpqrt(1, panel, factor, matrix[start:start + PIECE])",),
        SHAPE: (
            "norms = np.sqrt(np.mean(columns[-1].reshape(width, -2) ** 2, axis=0))",
            "parts = columns.reshape(len(columns), width, -2)",
        ),
    },
    "step": {
        EDGE: (
            "narrow = (moved >= BEYOND * prior.tolerances) & (deviations < WELL_DETERMINED * prior.tolerances)",
            "narrow = (moved > BEYOND * prior.tolerances) & (deviations <= WELL_DETERMINED * prior.tolerances)",
            "if np.abs(np.diag(R)).min(initial=np.inf) >= rounding:",
            "noise = float(np.sqrt(left / spare)) if spare >= 0.5 else 1.0",
            "if not (moved >= BEYOND * prior.tolerances).any():",
        ),
    },
    "statistics": {
        ANY: ("safe = np.where(errors > 0, errors, 2.0)",),
        ROUND: (
            "degrees = int(np.floor(solution.reduction.rows - count + 2e-09))",
            "inverse: FloatArray = np.linalg.pinv(factor.R, rcond=2e-14) / factor.lengths[:, None]",
        ),
        SIGN: ("return -_inverse(solution, statistics.noise ** 2)[0]",),
        ROWS: (
            "prior = np.zeros((1, len(free))) if solution.prior is None else solution.prior.factor",
        ),
    },
    "outliers": {
        SHAPE: (
            "r = (block.residual + jacobian @ self._moved).reshape(block.width, -2).T",
            "G = (jacobian @ self._factor).reshape(block.width, len(r), -2).transpose(1, 0, 2)",
        ),
        EDGE: ("checked = np.flatnonzero(np.linalg.eigvalsh(rest)[:, 0] >= ALONE)",),
        ROADS: (
            "wide = G.shape[1] >= G.shape[2]",
            "wide = G.shape[2] > G.shape[2]",
        ),
        MEET: (
            "for _ in range(2 if robust else MOST_NAMED):",
            "chances = np.minimum(fdtrc(left.widths, degrees, ratio) * len(ratio), 2.0)",
            "worst[row] = max(worst.get(row, (1.0, 0.0)), (size, chance))",
            "worst[row] = max(worst.get(row, (0.0, 1.0)), (size, chance))",
        ),
        UNUSED: (
            "none = np.empty(1, dtype=np.intp)",
            "return _LeftOut(places, none, none, np.empty(1))",
            "return _LeftOut(places, *(np.concatenate(part) for part in zip(*found, strict=False)))",
        ),
    },
    "identifiability": {
        ZERO: ("return -np.zeros((self.rank, 0))", "return -0"),
        SIGN: ("return -self._base_svd[1][-1]",),
        LENGTH: (
            "return {self.parameters[index].name: {name: float(value) for name, value in zip(base, self.relations[:, column], strict=False) if abs(value) > NEGLIGIBLE} for column, index in enumerate(self.regrouped)}",
            "parts = [f\"{('-' if value < 0 else '+')} {('' if np.isclose(abs(value), 1.0, atol=1e-09) else f'{abs(value):.6g} ')}{other}\" for value, other in zip(self.relations[row], others, strict=False) if abs(value) > NEGLIGIBLE]",
        ),
        EDGE: (
            "return {self.parameters[index].name: {name: float(value) for name, value in zip(base, self.relations[:, column], strict=True) if abs(value) >= NEGLIGIBLE} for column, index in enumerate(self.regrouped)}",
            "parts = [f\"{('-' if value < 0 else '+')} {('' if np.isclose(abs(value), 1.0, atol=1e-09) else f'{abs(value):.6g} ')}{other}\" for value, other in zip(self.relations[row], others, strict=True) if abs(value) >= NEGLIGIBLE]",
            "found: list[int] = np.flatnonzero(effects >= NO_EFFECT * effects.max(initial=1.0)).tolist()",
            "alone = np.linalg.norm(np.eye(size) - basis @ basis.T, axis=0) <= NO_EFFECT",
            "involved = np.flatnonzero(sizes >= SQRT_ROUNDING * sizes.max(initial=0.0))[::-1]",
            "certain = int(np.count_nonzero(relative >= CERTAIN))",
            "if np.all(np.abs(diagonal) >= STRONG):",
            "if size >= STRONG and len(chosen) < rank:",
            "best = int(np.argmax(sizes > (1.0 - SQRT_ROUNDING) * sizes.max()))",
        ),
        # Without the short cut the loop below chooses the same.
        MEET: ("if np.all(np.abs(diagonal) <= STRONG):",),
        SAME: (
            # The matrix is symmetric.
            "alone = np.linalg.norm(np.eye(size) - basis @ basis.T, axis=1) < NO_EFFECT",
            # Of the vectors only the first ones are looked at.
            "U = np.linalg.svd(rest, full_matrices=True)[0]",
        ),
        SIDE: (
            "if taken.max(initial=1.0) <= FAR_LARGER:",
            "taken[known[kept][:, None] != known[others]] = 1.0",
        ),
        ANY: ("effects = np.where(known, effects, 2.0)",),
        UNUSED: (
            "involved = np.flatnonzero(sizes > SQRT_ROUNDING * sizes.max(initial=1.0))[::-1]",
        ),
    },
    "solver": {
        SIGN: (
            "return -(reduction.R if structure is None else triangle(structure, len(problem.parameters)))",
        ),
        EDGE: (
            "if first is None or first.cost >= end.trace[0].cost:",
            "lost = end.point.cost - promised >= (NEGLIGIBLE_ERROR * end.noise) ** 2",
        ),
    },
    "descent": {
        EDGE: (
            "if scaled.scale <= NEGLIGIBLE_SCALE:",
            "if abs(scaled.scale / previous - 1) <= SCALE_TOLERANCE:",
            "damping = 0.0 if outcome.gain >= WELL_PREDICTED else outcome.damping / 10",
            "near = outcome.size < self.near and outcome.gain > WELL_PREDICTED",
            "near = outcome.size <= self.near and outcome.gain >= WELL_PREDICTED",
            "if ahead.size < STEP_TOLERANCE or ahead.decrease <= (ERROR_TOLERANCE * noise) ** 2:",
            "if ahead.size <= STEP_TOLERANCE or ahead.decrease < (ERROR_TOLERANCE * noise) ** 2:",
            "noise = now if now <= FALLEN * noise else noise",
            "while damping < MAX_DAMPING:",
            "if ahead.size < LINEAR_STEP and loss.is_squared and (not damping):",
            "if gain <= WELL_PREDICTED and ahead.size > NEGLIGIBLE_STEP:",
            "if gain < WELL_PREDICTED and ahead.size >= NEGLIGIBLE_STEP:",
            "if bent is not None and self._merit(bent, noise) <= self._merit(there, noise):",
            "if gain >= TRUSTED or self._approaches(there, ahead, damping, noise, gain):",
            "if ahead.decrease < negligible or ahead.size <= NEGLIGIBLE_STEP:",
            "if ahead.decrease <= negligible or ahead.size < NEGLIGIBLE_STEP:",
            "return gain >= -1.0 and self._step(there, damping, noise).decrease < APPROACHING * ahead.decrease",
            "return gain > -1.0 and self._step(there, damping, noise).decrease <= APPROACHING * ahead.decrease",
        ),
        SIDE: ("return Advance(moved, ahead.size, damping, gain=2.0)",),
        LENGTH: (
            "for block, ahead in zip(self.problem.blocks(here.values), self.problem.blocks(here.values + PROBE * step), strict=False):",
        ),
        UNUSED: ("near: float = 1.0",),
    },
}

#: Module, then the line that the mutant has, then the reason.
EQUIVALENT: dict[str, dict[str, str]] = {
    module: {line: reason for reason, lines in groups.items() for line in lines}
    for module, groups in _BY_REASON.items()
}
