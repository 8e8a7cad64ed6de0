"""The report of a calibration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from theodolite.calibration.result import Errors, Estimate, Result
from theodolite.estimation.identifiability import summand
from theodolite.io.units import shown_in
from theodolite.model.conventions import Joint
from theodolite.report import charts
from theodolite.report.page import Block, Page, Table, Text, facts, section
from theodolite.report.residual_charts import noise, residuals
from theodolite.report.text import READABLE

#: Outliers, correlations, iterations and models that a report lists; a saved result holds all.
MOST_OUTLIERS, MOST_CORRELATIONS, MOST_ITERATIONS, MOST_MODELS = 20, 10, 25, 12
#: Further terms that are listed, the most significant first.
MOST_TERMS = 20
#: Significant: zero is outside of the interval at this many half-widths.
SIGNIFICANT = 1.0


def calibration_page(result: Result) -> Page:
    """All that there is to say about a calibration, the verdict first."""
    return Page(
        f"Calibration of {result.robot.name}",
        result.good,
        tuple(_verdict(result)),
        (
            section("What was calibrated", _identity(result)),
            section("Errors before and after", *_errors(result)),
            section("Parameters", *_parameters(result)),
            section("Further error terms", *_terms(result)),
            section("What is left", *residuals(result, result.robot)),
            section("Is it noise?", *noise(result.checks)),
            section("Rows that do not fit", *_outliers(result)),
            section("What could not be identified", *_not_identified(result)),
            section("Choice of the model", _choice(result)),
            section("Sources", _sources(result)),
            section("Parameters that are hard to tell apart", *_correlations(result)),
            section("Convergence", *_convergence(result)),
            section("Origin", *origin(result.provenance)),
        ),
    )


def _verdict(result: Result) -> Iterator[str]:
    if result.good:
        tested = result.held_out is not None
        yield f"This calibration {'can be trusted' if tested else 'fits its own measurements'}."
    elif not result.status.good:
        yield "This calibration has failed."
    else:
        yield "This calibration is not to be trusted as it is."
    yield result.status.value
    held = result.held_out
    for name, after in result.after.items():
        unit, factor = shown_in(name)
        words = f"The {name} error falls from {factor * result.before[name].rms:.3g} to "
        words += f"{factor * after.rms:.3g} {unit} rms"
        if held is not None and name in held.calibrated:
            words += (
                f", and on {held.groups} measurements that the fit had not seen from "
                f"{factor * held.nominal[name].rms:.3g} to "
                f"{factor * held.calibrated[name].rms:.3g} {unit}"
            )
        yield f"{words}."
    if held is None:
        yield "Nothing was held out: the error on new measurements is unknown."
    yield from result.doubts()
    yield from result.notes()


def _identity(result: Result) -> Table:
    kinds = "".join("R" if kind is Joint.REVOLUTE else "P" for kind in result.robot.joint_types)
    sigma = result.statistics.sigma
    noise = f"as stated; the residuals are {sigma:.2f} times that" if result.noise_known else ""
    files = ", ".join(result.files or result.provenance.get("files", ()))
    degrees = result.statistics.degrees_of_freedom
    return facts(
        [
            ("Robot", f"{result.robot.name}, {result.robot.joints} joints ({kinds})"),
            ("Nominal robot from", result.nominal.source),
            ("Method", result.method),
            ("Measurements", f"{result.rows} rows{f' of {files}' if files else ''}"),
            ("Noise", noise or "estimated from the residuals"),
            ("Identified", f"{result.rank} parameters with {degrees} degrees of freedom"),
            ("Condition number", f"{result.identifiability.condition_number:.3g}"),
            ("Date", str(result.provenance.get("date", ""))),
        ]
    )


def _errors(result: Result) -> Iterator[Block]:
    columns: dict[str, Errors] = {"nominal": result.before, "calibrated": result.after}
    if result.held_out is not None:
        columns["nominal, held out"] = result.held_out.nominal
        columns["calibrated, held out"] = result.held_out.calibrated
    yield errors_table(columns)
    for name in result.after:
        unit, factor = shown_in(name)
        there = {title: errors[name] for title, errors in columns.items() if name in errors}
        yield charts.before_and_after(
            list(there),
            [factor * errors.rms for errors in there.values()],
            f"{name}, rms ({unit})",
            f"Root mean square of the {name} error.",
        )


def errors_table(columns: Mapping[str, Errors]) -> Table:
    """Errors of several robots side by side."""
    rows = []
    for name in dict.fromkeys(name for errors in columns.values() for name in errors):
        unit, factor = shown_in(name)
        for label, attribute in (("mean", "mean"), ("rms", "rms"), ("largest", "maximum")):
            cells = [
                f"{factor * getattr(errors[name], attribute):.4g}" if name in errors else "-"
                for errors in columns.values()
            ]
            rows.append((f"{name}, {label} ({unit})", *cells))
    return Table(("", *columns), tuple(rows))


def _parameters(result: Result) -> Iterator[Block]:
    found = [one for one in result.estimates if one.stderr is not None and not one.term]
    changed = sum(_significance(one) > SIGNIFICANT for one in found)
    yield Text(
        (
            f"{changed} of {len(found)} parameters differ significantly from nominal: their 95 % "
            "interval does not hold the nominal value. Those are marked.",
        )
    )
    yield _estimates(found)
    if any(one.weak for one in found):
        yield Text(("† hardly determined by the data: its interval comes from its tolerance.",))
    starred = [one for one in found if one.stands_for]
    if starred:
        yield Text(("* stands for several parameters that act as one:",))
        yield Text(tuple(_meaning(one) for one in starred), listed=True)


def _terms(result: Result) -> Iterator[Block]:
    found = [one for one in result.estimates if one.stderr is not None and one.term]
    if not found:
        return
    changed = [one for one in found if _significance(one) > SIGNIFICANT]
    largest = sorted(found, key=_significance, reverse=True)[:MOST_TERMS]
    yield Text(
        (
            f"{len(found)} terms were identified besides geometry, {len(changed)} of them "
            f"significantly. The {len(largest)} most significant ones:",
        )
    )
    yield _estimates(largest)


def _estimates(found: Sequence[Estimate]) -> Table:
    return Table(
        ("name", "nominal", "identified", "change", "95 % ±", "change / interval", "unit"),
        tuple(_row(one) for one in found),
        words=(0, 6),
        marked=tuple(i for i, one in enumerate(found) if _significance(one) > SIGNIFICANT),
    )


def _row(one: Estimate) -> tuple[str, ...]:
    unit, factor, digits = READABLE[one.unit]
    assert one.interval is not None
    return (
        f"{one.symbol}{' †' if one.weak else ''}",
        f"{one.nominal * factor:.{digits}f}",
        f"{one.identified * factor:.{digits}f}",
        f"{(one.identified - one.nominal) * factor:+.{digits}f}",
        f"{one.interval * factor:.2g}",
        f"{_significance(one):.1f}",
        unit,
    )


def _significance(one: Estimate) -> float:
    """The change in half-widths of its interval."""
    if not one.interval:
        return 0.0
    return abs(one.identified - one.nominal) / one.interval


def _meaning(one: Estimate) -> str:
    parts = " ".join(summand(value, name, digits=4) for name, value in one.stands_for.items())
    return f"{one.symbol} = {one.name} {parts}"


def _outliers(result: Result) -> Iterator[Block]:
    rows = []
    for line, file, size, chance in zip(
        result.outlier_lines.tolist(),
        result.outlier_files,
        result.outliers.sizes.tolist(),
        result.outliers.chances.tolist(),
        strict=True,
    ):
        rows.append((str(line), file or ", ".join(result.files), f"{size:.1f}", f"{chance:.1g}"))
    if rows:
        yield Table(("line", "file", "sigma", "chance"), tuple(rows[:MOST_OUTLIERS]), words=(1,))
    else:
        yield Text(("None: a leave-one-out test rejects no row.",))
    if result.left_out:
        yield Table(
            ("picture left out", "error (px)", "others (px)"),
            tuple((one.name, f"{one.error:.3g}", f"{one.usual:.2g}") for one in result.left_out),
        )


def _not_identified(result: Result) -> Iterator[Block]:
    known = result.identifiability
    if len(known.regrouped):
        names = " ".join(known.names(known.regrouped))
        yield Text(
            (f"These act only together with others, which stand for them: {names}.",),
        )
        yield Text(tuple(known.sentences()), listed=True)
    if len(known.no_effect):
        names = " ".join(known.names(known.no_effect))
        yield Text((f"These change nothing that was measured: {names}.",))
    fixed = [p.name for p in result.nominal.parameters if result.nominal.priority(p) == 0]
    if fixed:
        yield Text((f"These were not to be identified: {' '.join(fixed)}.",))
    if result.still:
        yield Text((f"These joints never moved: {', '.join(result.still)}.",))


def _choice(result: Result) -> Block | None:
    if result.choice is None:
        return None
    best = sorted(result.choice.tried, key=lambda tried: tried.error)[:MOST_MODELS]
    return Table(
        ("model", "cross-validation error (%)", "± (%)"),
        tuple((one.name, f"{100 * one.error:.1f}", f"{100 * one.scatter:.1f}") for one in best),
        marked=tuple(i for i, one in enumerate(best) if one.name == result.choice.chosen),
    )


def _sources(result: Result) -> Block | None:
    if not result.shares:
        return None
    return Table(
        ("source", "method", "rows", "fits worse together than alone by"),
        tuple(
            (one.name, one.method, str(one.rows), f"{one.worse_together:.2f}")
            for one in result.shares
        ),
        words=(0, 1),
    )


def _correlations(result: Result) -> Iterator[Block]:
    pairs = result.strongest_correlations(MOST_CORRELATIONS)
    if not pairs:
        return
    yield Table(
        ("parameter", "parameter", "correlation"),
        tuple((one, other, f"{value:+.3f}") for one, other, value in pairs),
        words=(0, 1),
    )
    shown = charts.correlation_map(
        result.order, result.statistics.correlations, "Correlations of all parameters."
    )
    if shown is not None:
        yield shown


def _convergence(result: Result) -> Iterator[Block]:
    if len(result.trace) > 1:
        yield charts.trace(
            [step.cost for step in result.trace],
            f"Sum of squares over {result.iterations} iterations.",
        )
    yield Table(
        ("iteration", "sum of squares", "step", "damping"),
        tuple(
            (str(step.number), f"{step.cost:.6g}", f"{step.step:.2g}", f"{step.damping:.1g}")
            for step in result.trace[:MOST_ITERATIONS]
        ),
        words=(),
    )


def origin(provenance: Mapping[str, Any]) -> Iterator[Block]:
    """Versions, files with their hashes, options."""
    if not provenance:
        return
    names = ("date", "theodolite", "python", "numpy", "scipy")
    yield facts([(name, str(provenance[name])) for name in names if name in provenance])
    files = provenance.get("files", {})
    if files:
        yield Table(("file", "SHA-256"), tuple(files.items()), words=(0, 1))
    options = provenance.get("options", {})
    if options:
        yield facts([(name, str(value)) for name, value in options.items()])
