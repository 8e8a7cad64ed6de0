"""The complete outcome of an identification, frozen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from theodolite import edges
from theodolite.arrays import FloatArray, IntArray
from theodolite.calibration.between_tools import Apart
from theodolite.calibration.hand_eye_alone import LinksFixed
from theodolite.calibration.method import LeftOut
from theodolite.calibration.moves import Move
from theodolite.calibration.other_starts import OtherStarts
from theodolite.calibration.quantities import Displacements, all_of, quantity
from theodolite.calibration.shortcomings import CHANCE, Shortcomings
from theodolite.calibration.term_groups import Decay
from theodolite.calibration.visits import Visits
from theodolite.calibration.weights import Share
from theodolite.errors import InputError
from theodolite.estimation.choice import Choice
from theodolite.estimation.descent import Iteration, Status
from theodolite.estimation.identifiability import Identifiability
from theodolite.estimation.outliers import FALSE_ALARMS, Outliers
from theodolite.estimation.residual_checks import ResidualChecks
from theodolite.estimation.statistics import Statistics
from theodolite.model.machine import Machine
from theodolite.model.parameters import Group, Unit, placing

#: A parameter whose standard error is above this part of its tolerance is hardly determined.
WEAK = 0.5
#: Residuals this many times the stated noise, or this part of the reach, are not noise.
ABOVE_KNOWN_NOISE = 1.5
ABOVE_ANY_NOISE = 2e-3
#: The same of orientations, rad, and of joints from picture to picture.
ABOVE_ANY_TURN, ABOVE_ANY_SHAKE = 1e-2, 2e-3
#: The part of the measurements that a robust loss is judged by.
MOST_OF_THEM = 0.8
#: An outlier of this many standard deviations is a wrong measurement; smaller ones may come from
#: errors that the model lacks. And how many are named.
GROSS = 10.0
#: Sources contradict each other where one fits so many times worse with the others than alone, at
#: this chance where they agree; below the first factor that is not worth a word.
DISAGREES, CONTRADICTS = 1.1, 1.5
#: A parameter this many tolerances from nominal contradicts its tolerance.
BEYOND_TOLERANCE = 5.0
NAMED = 8
#: More wrong pictures than this part of all are a doubt. And how many deviations, as the tolerances
#: give them, a common factor of all lengths of an arm may be away from one.
MANY_WRONG = 0.2
COMMON_SCALE = 3.0
#: A picture whose marks are off by less than so many times what is usual is not named.
PICTURE_WORSE = 5.0
#: Level of the test whether the nominal robot shows any error at all.
ACCURATE = 0.05
#: How much more the base parameters alone may leave: squares in units of the noise for each, and
#: the ratio of the residuals.
BEYOND_ALL = 4.0
BEYOND_RATIO = 1.02
#: A length that changes by more than this part of the reach, or an angle by more than this many
#: radians, means that the data are of another robot or of another kind than was said.
IMPLAUSIBLE_LENGTH = 0.1
IMPLAUSIBLE_ANGLE = 0.5
#: Of a gain that changes.
IMPLAUSIBLE_GAIN = 0.5


@dataclass(frozen=True)
class Estimate:
    """One parameter after the identification."""

    name: str
    nominal: float
    identified: float
    #: None where the parameter was kept at its nominal value.
    stderr: float | None
    #: Half-width of the 95 % interval.
    interval: float | None
    unit: Unit
    #: Standard deviation before the measurements, of all that it stands for.
    tolerance: float = np.inf
    #: Parameters that are regrouped into it, and by which factors.
    stands_for: Mapping[str, float] = field(default_factory=dict)
    #: Is it the coefficient of a further error term?
    term: bool = False

    @property
    def symbol(self) -> str:
        """The name, with a star where it stands for others as well."""
        return f"{self.name}*" if self.stands_for else self.name

    @property
    def weak(self) -> bool:
        """Do the data hardly determine it, so that its interval comes from its tolerance?"""
        return self.stderr is not None and self.stderr > WEAK * self.tolerance


@dataclass(frozen=True)
class ErrorSummary:
    """Size of some errors of one quantity, SI."""

    mean: float
    rms: float
    maximum: float
    count: int

    @staticmethod
    def of(errors: FloatArray) -> ErrorSummary:
        if not len(errors):
            return ErrorSummary(float("nan"), float("nan"), float("nan"), 0)
        return ErrorSummary(
            float(errors.mean()),
            float(np.sqrt(np.mean(errors**2))),
            float(errors.max()),
            len(errors),
        )


Errors = Mapping[str, ErrorSummary]


@dataclass(frozen=True)
class HeldOut:
    """Errors on measurements that the fit has not seen."""

    groups: int
    nominal: Errors
    calibrated: Errors

    #: Is all that the calibrated robot leaves rounding?
    exact: bool = False

    @property
    def better(self) -> bool:
        """Is the calibrated robot better than the nominal one there, or exact?"""
        return self.exact or all(
            self.calibrated[quantity].rms < self.nominal[quantity].rms for quantity in self.nominal
        )


@dataclass(frozen=True, eq=False)
class Result:
    """What was identified, how certain it is, and how well it predicts."""

    method: str
    status: Status
    robot: Machine
    nominal: Machine
    estimates: tuple[Estimate, ...]
    identifiability: Identifiability
    statistics: Statistics
    #: Names of the parameters in the order of the covariance.
    order: tuple[str, ...]
    trace: tuple[Iteration, ...]
    rows: int
    before: Errors
    after: Errors
    held_out: HeldOut | None
    #: Size of every observation's error after the fit, by quantity, SI.
    residuals: Mapping[str, FloatArray]
    #: The row of the data from which each of them comes.
    residual_rows: Mapping[str, IntArray]
    #: Rows that do not fit the rest.
    outliers: Outliers
    #: The line of each row in its file.
    lines: IntArray | None
    #: Which of several files it is in, and their names.
    file: IntArray | None
    files: tuple[str, ...]
    noise_known: bool
    #: Was a loss used that tolerates outliers?
    robust: bool
    #: Sum of whitened squares after the fit, with all parameters free, and with nominal links.
    cost: float
    cost_of_all: float | None
    cost_of_nominal: float
    #: Which way those errors point that are displacements.
    displacements: Mapping[str, Displacements] = field(default_factory=dict)
    #: The picture that each row is from, where there are any; and those that were left out.
    pictures: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    #: Where only camera and target were identified: what fixed links cost.
    links_fixed: LinksFixed | None = None
    #: Where other starts ended, if any were tried.
    other_starts: OtherStarts | None = None
    #: What each source contributes, where there are several.
    shares: tuple[Share, ...] = ()
    #: How many parameters the method determines, given any data it wants; None if unknown.
    expected_rank: int | None = None
    #: What the model cannot express.
    shortcomings: Shortcomings | None = None
    #: The two arms that are known least relative to each other.
    apart: Apart | None = None
    #: Joints that never moved.
    still: tuple[str, ...] = ()
    #: What the method identified besides the robot, such as the plane.
    extras: Mapping[str, Any] = field(default_factory=dict)
    #: Were base and targets fitted to the data before the identification?
    placed: bool = False
    #: How gains and further terms were chosen; None where nothing was left open.
    choice: Choice | None = None
    #: How fast a warm-up dies away, where one was found.
    decay: Decay | None = None
    #: Where the sensor was moved while it measured; rows in between are sessions of their own.
    moves: tuple[Move, ...] = ()
    #: Do the residuals look like noise? None where they are too few or rounding.
    checks: ResidualChecks | None = None
    visits: Visits | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def iterations(self) -> int:
        return len(self.trace) - 1

    @property
    def seen_rows(self) -> int:
        """Rows that were looked at one by one: of data larger than memory, an excerpt."""
        return self.rows if self.lines is None else len(self.lines)

    @property
    def rank(self) -> int:
        return self.identifiability.rank

    @property
    def good(self) -> bool:
        """Converged, well determined, plausible, and better than nominal on unseen data."""
        return self.status.good and not self.doubts()

    @property
    def already_accurate(self) -> bool:
        """Do the measurements show no error of the nominal robot, by an F test at 5 %?"""
        if self.robust or self._gross_outliers() or self._far_above_noise():
            # An outlier would hide any gain.
            return False
        from scipy.special import fdtrc

        degrees = self.statistics.degrees_of_freedom
        known = self.identifiability
        gained = len(known.base) - len(np.intersect1d(known.base, placing(known.parameters)))
        if degrees < 1 or gained < 1 or self.cost <= 0.0:
            return False
        noise = 1.0 if self.noise_known else self.cost / degrees
        ratio = max(self.cost_of_nominal - self.cost, 0.0) / gained / noise
        return bool(fdtrc(gained, degrees, ratio) > ACCURATE)

    @property
    def _links_identified(self) -> bool:
        """Was more than base, tool and sensor to be identified?"""
        return len(placing(self.identifiability.parameters)) < len(self.identifiability.parameters)

    def doubts(self) -> list[str]:
        """In words, every reason not to trust a result that has converged."""
        return [sentence for sentence in self._doubts() if sentence]

    def _doubts(self) -> Iterator[str]:
        seen = self.identifiability.clear_rank
        explained = 0 < len(self.still) < self.nominal.joints
        if self.expected_rank is not None and seen < self.expected_rank and not explained:
            yield (
                f"The data determine only {seen} of {self.expected_rank} parameters: the "
                "configurations are too alike. See which parameters these data make identifiable."
            )
        if self.other_starts is not None and self.other_starts.better:
            yield self.other_starts.sentence()
        if self.shortcomings is not None and self.shortcomings.needed:
            yield (
                f"{self._missing()} by this model, and a complete one would leave only "
                f"{100 * self.shortcomings.left:.0f} % of the error. Write the robot in kk, hayati "
                "or pose rows."
            )
        if self.statistics.degrees_of_freedom < 1:
            yield "There are no spare equations (0 degrees of freedom), so nothing checks the fit."
        changed = self._implausible()
        if changed:
            yield (
                f"{', '.join(changed)} changed by more than any real robot could be off: the data "
                "may be from another robot, or the plane or the sets may be wrong."
            )
        else:
            yield self._beyond_tolerance()
        yield self._slipped()
        yield self._far_above_noise()
        yield self._many_left_out()
        yield self._gross_outliers()
        yield self.common_scale()
        yield self.links_fixed.scale if self.links_fixed is not None else ""
        if self.apart is not None:
            left = [e.rms for name, e in self.after.items() if quantity(name) == "position"]
            yield self.apart.sentence(max(left, default=np.inf))
        yield from self._contradictions(CONTRADICTS, np.inf)
        yield self._not_what_all_reach()
        worse = self.held_out is not None and not self.held_out.better
        if worse and not self.already_accurate and self._links_identified:
            yield "The calibrated robot is not better than the nominal one on held-out data."

    def notes(self) -> list[str]:
        """In words, what is worth knowing about a result that can be trusted."""
        found = []
        if self.shortcomings is not None and not self.shortcomings.needed:
            found.append(f"{self._missing()} by this model, but these data do not need it.")
        if self.already_accurate:
            found.append(
                "The measurements show no error of the nominal robot: it is as accurate as they "
                "can tell."
            )
        if 0 < len(self.still) < self.nominal.joints:
            them = "it" if len(self.still) == 1 else "them"
            found.append(
                f"{', '.join(self.still)} never moved, so the parameters that depend on {them} "
                "keep their values."
            )
        # Of many terms that share a load, none may be determined alone.
        weak = [one.symbol for one in self.estimates if one.weak and not one.term]
        if weak:
            verb = "is" if len(weak) == 1 else "are"
            found.append(
                f"{', '.join(weak)} {verb} poorly determined: the intervals reflect the assumed "
                "tolerances, not the data."
            )
        if self.links_fixed is not None:
            found.append(self.links_fixed.sentence())
        if self.decay is not None:
            found.append(self.decay.sentence())
        if any(not move.slipped for move in self.moves):
            found.append(self._moved())
        if self.other_starts is not None and not self.other_starts.better:
            found.append(self.other_starts.sentence())
        if self.left_out and not self._many_left_out():
            found.append(self._wrong_pictures())
        # Pictures are not all equally sharp: what is a little worse than the others is no outlier.
        worth = PICTURE_WORSE if self.pictures else 0.0
        if self.outliers.sizes.max(initial=0.0) > worth and not self._gross_outliers():
            found.append(self._mild_outliers())
        found += self._contradictions(DISAGREES, CONTRADICTS)
        found += [
            f"'{share.name}' has no equations to spare, so its noise is assumed, not estimated."
            for share in self.shares
            if share.degrees_of_freedom < 1.0 and not share.noise.known
        ]
        return found

    def _missing(self) -> str:
        assert self.shortcomings is not None
        text = "; ".join(self.shortcomings.missing)
        return text[:1].upper() + text[1:]

    def _wrong_pictures(self) -> str:
        """Pictures that were left out, by name."""
        named = ", ".join(
            f"{one.name} ({one.error:.3g} px)" for one in self.left_out[: NAMED + NAMED]
        )
        more = len(self.left_out) - NAMED - NAMED
        one = len(self.left_out) == 1
        return (
            f"{named}{f' and {more} more' if more > 0 else ''} {'does' if one else 'do'} not fit "
            f"the other pictures, which leave {self.left_out[0].usual:.2g} px, and "
            f"{'was' if one else 'were'} left out. Was the order of the pictures changed, or the "
            "board turned or moved?"
        )

    def _many_left_out(self) -> str:
        pictures = len(set(self.pictures)) + len(self.left_out)
        return self._wrong_pictures() if len(self.left_out) > MANY_WRONG * pictures else ""

    @property
    def by_picture(self) -> dict[str, tuple[int, float]]:
        """Marks of each picture, and the rms of their coordinates' errors after the fit, px."""
        errors = all_of(self.residuals, "pixel")
        rows = [row for name, row in self.residual_rows.items() if quantity(name) == "pixel"]
        found: dict[str, list[float]] = {}
        if self.pictures and rows:
            for row, error in zip(np.concatenate(rows).tolist(), errors.tolist(), strict=True):
                found.setdefault(self.pictures[row], []).append(error)
        return {
            name: (len(sizes), float(np.sqrt(np.mean(np.square(sizes)) / 2)))
            for name, sizes in found.items()
        }

    def common_scale(self) -> str:
        """Do all lengths of the arm change by one factor, as when the sensor's unit is wrong?

        The factor that the lengths' changes have in common, weighed by their tolerances, is normal
        before any measurement, with a deviation that follows from the tolerances.
        """
        arm = {
            p.name: p.tolerance
            for p in self.nominal.parameters
            if p.group is Group.ARM and p.unit is Unit.METRE and not p.term
        }
        placed = {p.name for p in self.nominal.parameters if p.external}
        lengths = [
            (one.nominal, one.identified - one.nominal, arm[one.name])
            for one in self.estimates
            if one.name in arm
            and one.stderr is not None
            and np.isfinite(arm[one.name])
            # What stands for base and tool too may change by any amount.
            and not placed & set(one.stands_for)
        ]
        if len(lengths) < 2:
            return ""
        nominal, change, tolerance = np.array(lengths).T
        weight = nominal / tolerance**2
        if not weight @ nominal:
            return ""
        factor = float(weight @ change / (weight @ nominal))
        size = abs(factor) * float(np.sqrt(weight @ nominal))
        if size < COMMON_SCALE:
            return ""
        return (
            f"All lengths of the arm change together, by {100 * factor:+.2f} %: more likely the "
            f"lengths given to the sensor are wrong by {-100 * factor / (1 + factor):+.2f} %, such "
            "as the size of the board's squares or a unit."
        )

    def _far_above_noise(self) -> str:
        """Residuals that no noise explains."""
        if self._shaken() > ABOVE_ANY_SHAKE and self._links_identified:
            return (
                f"The joints seem to be off by {1e3 * self._shaken():.2g} mrad from picture to "
                "picture, far above the noise of working encoders: the model lacks something, or "
                "the data are wrong."
            )
        if self.noise_known:
            if self.statistics.sigma > ABOVE_KNOWN_NOISE and self._beyond_chance():
                return (
                    f"The residuals are {self.statistics.sigma:.1f} times the stated noise: the "
                    "model lacks something, or the noise is larger than stated."
                )
            return ""
        reach = self.nominal.reach()
        left = self._usual_rms("position")
        if reach and left > ABOVE_ANY_NOISE * reach:
            return self._not_noise(f"{1e3 * left:.3g} mm")
        turned = self._usual_rms("orientation")
        return self._not_noise(f"{1e3 * turned:.3g} mrad") if turned > ABOVE_ANY_TURN else ""

    def _not_noise(self, size: str) -> str:
        return (
            f"An error of {size} rms remains, far above the noise of a working sensor: the model "
            "lacks something, or the data are wrong."
        )

    def _usual_rms(self, wanted: str) -> float:
        """Of the errors of one quantity, without those that a robust loss weighs down."""
        errors = all_of(self.residuals, wanted)
        if self.robust and len(errors):
            # They are named elsewhere.
            errors = errors[errors <= np.quantile(errors, MOST_OF_THEM)]
        return float(np.sqrt(np.mean(errors**2))) if len(errors) else 0.0

    def _beyond_chance(self) -> bool:
        """Are the residuals larger than the stated noise makes them, but by chance?"""
        from scipy.special import chdtrc

        degrees = self.statistics.degrees_of_freedom
        return bool(chdtrc(max(degrees, 1), degrees * self.statistics.sigma**2) < CHANCE)

    def _contradictions(self, least: float, most: float) -> list[str]:
        """Sources that fit worse together than alone, by a factor within limits."""
        return [
            f"'{share.name}' fits {share.worse_together:.1f} times worse with the other sources "
            "than alone: they contradict each other, or the model lacks something that each of "
            "them hides in its own way."
            for share in self.shares
            if share.chance < CHANCE and least < share.worse_together <= most
        ]

    def _mild_outliers(self) -> str:
        one = len(self.outliers.rows) == 1
        if self.robust:
            end = "was down-weighted as an outlier" if one else "were down-weighted as outliers"
        else:
            end = "is a mild outlier" if one else "are mild outliers"
        return f"{self._named_outliers()} {end}."

    def _gross_outliers(self) -> str:
        if self.robust or self.outliers.sizes.max(initial=0.0) < GROSS:
            return ""
        verb, them = ("does", "it") if len(self.outliers.rows) == 1 else ("do", "them")
        return (
            f"{self._named_outliers()} {verb} not fit the rest (leave-one-out test, "
            f"{100 * FALSE_ALARMS:.0f} % false alarms). Check {them}, leave {them} out, or use a "
            "robust loss: huber or cauchy."
        )

    @property
    def outlier_lines(self) -> IntArray:
        """Lines of the outliers in their file."""
        rows = self.outliers.rows
        return rows + 1 if self.lines is None else self.lines[rows]

    @property
    def outlier_files(self) -> list[str | None]:
        """The file of each outlier, if there are several files."""
        if self.file is None:
            return [None] * len(self.outliers.rows)
        return [self.files[number] for number in self.file[self.outliers.rows]]

    def _shaken(self) -> float:
        """Noise of the joints that pictures show, radians; 0 where they are not asked."""
        noise = self.extras.get("noise")
        return 0.0 if noise is None or self.noise_known else 1e-3 * float(noise["joint_mrad"])

    def _named_outliers(self) -> str:
        rows, lines = self.outliers.rows, self.outlier_lines
        if self.pictures:
            rows = rows[self.outliers.sizes > PICTURE_WORSE]
            named = [self.pictures[row] for row in rows]
            worst = ", ".join(
                f"{name} ({size:.1f} sigma)"
                for name, size in zip(named[:NAMED], self.outliers.sizes, strict=False)
            )
            return f"{worst}{f' and {len(rows) - NAMED} more' if len(rows) > NAMED else ''}"
        worst = ", ".join(
            f"{line}{'' if name is None else f' of {name}'} ({size:.0f} sigma)"
            for line, name, size in zip(
                lines[:NAMED], self.outlier_files, self.outliers.sizes, strict=False
            )
        )
        more = f" and {len(rows) - NAMED} more" if len(rows) > NAMED else ""
        return f"Line{'s' if len(rows) > 1 else ''} {worst}{more}"

    def _not_what_all_reach(self) -> str:
        """Base parameters alone reach less than all would: the relations are not exact."""
        # Robust costs have scales of their own and cannot be compared.
        if self.robust or self.cost_of_all is None or self.statistics.degrees_of_freedom < 1:
            return ""
        noise = 1.0 if self.noise_known else self.cost_of_all / self.statistics.degrees_of_freedom
        if self.cost - self.cost_of_all <= BEYOND_ALL * noise * self.rank or self.cost <= 0:
            return ""
        ratio = np.sqrt(self.cost / max(self.cost_of_all, np.finfo(float).tiny))
        if ratio < BEYOND_RATIO:
            return ""
        return (
            f"With the base parameters alone the residuals stay {ratio:.2g} times as large as with "
            "all parameters changed: let all of them change."
        )

    def _beyond_tolerance(self) -> str:
        """Links, and whatever has a tolerance of the user's, that the data want far outside it."""
        given = self.nominal.tolerances
        checked = {p.name for p in self.nominal.parameters if p.group is Group.ARM and not p.term}
        checked |= {p.name for p in self.nominal.parameters if p.name in given and not p.term}
        sizes = {
            estimate.symbol: abs(estimate.identified - estimate.nominal) / estimate.tolerance
            for estimate in self.estimates
            if estimate.name in checked and estimate.stderr is not None
        }
        far = {name: size for name, size in sizes.items() if size > BEYOND_TOLERANCE}
        if not far:
            return ""
        named = ", ".join(f"{name} ({size:.0f})" for name, size in far.items())
        return (
            f"The data put these more than {BEYOND_TOLERANCE:.0f} tolerances from nominal: {named}"
            ". Widen their tolerances, or check the data."
        )

    def _slipped(self) -> str:
        lines = ", ".join(
            f"{move.line} ({1e3 * move.size:.2g} mm)" for move in self.moves if move.slipped
        )
        return lines and (
            f"The target slipped on the tool before line {lines}. Calibrate with the rows between "
            "two slips, or give the target another name after each."
        )

    def _moved(self) -> str:
        lines = ", ".join(
            f"{move.line} ({1e3 * move.size:.2g} mm)" for move in self.moves if not move.slipped
        )
        return (
            f"The sensor, or the base of the robot, was moved before line {lines}: the "
            "rows on either side were treated as separate sessions."
        )

    def _implausible(self) -> list[str]:
        limits = {
            Unit.METRE: IMPLAUSIBLE_LENGTH * self.nominal.reach(),
            Unit.RADIAN: IMPLAUSIBLE_ANGLE,
        }
        # Base and tool may well be elsewhere; links are not.
        links = {p.name for p in self.nominal.parameters if p.group is Group.ARM}
        return [
            estimate.name
            for estimate in self.estimates
            if estimate.name in links
            and abs(estimate.identified - estimate.nominal)
            > limits.get(estimate.unit, IMPLAUSIBLE_GAIN * abs(estimate.nominal) or np.inf)
        ]

    def signed_robot(self) -> Machine:
        """The calibrated robot, with a note of its calibration in ``source``."""
        files = ", ".join(self.provenance.get("files", ()))
        history = f"Calibrated by theodolite, {self.method}{': ' if files else ''}{files}."
        return replace(self.robot, source=f"{self.robot.source} {history}".strip())

    def estimate(self, name: str) -> Estimate:
        """One parameter by its name."""
        found = {estimate.name: estimate for estimate in self.estimates}
        if name not in found:
            raise InputError(f"there is no parameter {name!r} in the result", allowed=found)
        return found[name]

    def __repr__(self) -> str:
        errors = ", ".join(
            f"{name} {self.before[name].rms:.3g} -> {after.rms:.3g}"
            for name, after in self.after.items()
        )
        return (
            f"Result of {self.method} on '{self.robot.name}': {self.status.name.lower()}, "
            f"{self.rank} parameters from {self.rows} rows\n"
            f"  rms before -> after, SI: {errors}\n"
            f"  {'good' if self.good else 'not to be trusted as it is: see summary()'}"
        )

    def summary(self) -> str:
        """What ``theodolite identify`` prints, as text."""
        return edges.summary(self)

    def to_dict(self) -> dict[str, Any]:
        """What ``theodolite identify --json`` prints: plain data, never rounded."""
        return edges.result_dict(self)

    def to_frame(self) -> Any:
        """The parameters with nominal and identified values, SI, as a pandas DataFrame."""
        return edges.frame(self.to_dict()["parameters"])

    def save(self, path: Path | str, *, force: bool = False) -> None:
        """Write the calibrated robot (.toml), or the whole result (.json)."""
        edges.save_result(self, path, force=force)

    def plot(self) -> Any:
        """A matplotlib figure: what is left of each error, and errors before and after."""
        return edges.plot_result(self)

    def _repr_html_(self) -> str:
        return edges.html(self)

    def strongest_correlations(self, count: int = 5) -> list[tuple[str, str, float]]:
        """Pairs of base parameters that are hardest to tell apart."""
        names = self.order
        matrix = self.statistics.correlations
        rows, columns = np.triu_indices(len(names), 1)
        order = np.argsort(-np.abs(matrix[rows, columns]))[:count]
        return [
            (names[rows[i]], names[columns[i]], float(matrix[rows[i], columns[i]])) for i in order
        ]
