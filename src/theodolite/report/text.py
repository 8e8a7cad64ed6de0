"""Results as tables on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape

from theodolite.calibration.analytic import Measured
from theodolite.calibration.completeness import Completeness
from theodolite.calibration.excitation import Excitation
from theodolite.calibration.result import Errors, Result
from theodolite.estimation.choice import Choice
from theodolite.estimation.identifiability import Identifiability, summand
from theodolite.io.units import shown_in
from theodolite.model.bodies import BodyElement
from theodolite.model.conventions import Joint, Row
from theodolite.model.machine import Machine
from theodolite.model.mechanism import Mechanism
from theodolite.model.parameters import Unit
from theodolite.report.data import noise_shown
from theodolite.report.terminal_table import Table

#: Terms of a relation that are printed before "and more".
TERMS = 6
#: Models that are shown of those tried; the result holds all.
SHOWN_MODELS = 8
#: Parameters that are named as determined by one of several sources.
SHOWN_NAMES = 10
#: Further terms that are shown of those identified.
SHOWN_TERMS = 4
#: Units a person reads: name, factor from SI, digits.
READABLE = {
    Unit.METRE: ("mm", 1e3, 4),
    Unit.RADIAN: ("deg", 57.29577951308232, 5),
    Unit.ONE: ("", 1.0, 6),
    Unit.PER_METRE: ("1/m", 1.0, 6),
    Unit.PIXEL: ("px", 1.0, 3),
}


def _large(value: float) -> str:
    """A number of any size: with one decimal where that can be read."""
    return f"{value:.1f}" if value < 1e4 else f"{value:.2g}"


def show_robot(console: Console, robot: Machine) -> None:
    """The robot's table of frames or bodies, in millimetres and degrees."""
    if isinstance(robot, Mechanism):
        show_mechanism(console, robot)
        return
    title = f"{escape(robot.name)}: {robot.joints} joints, {len(robot.parameters)} parameters"
    table = Table(
        title=title, caption=escape(robot.source), caption_justify="left", title_justify="left"
    )
    for heading in ("frame", "sigma", "row", "K", "limits"):
        table.add_column(heading, justify="left" if heading == "row" else "right")
    joint = 0
    for index, row in enumerate(robot.frames):
        gain = limits = ""
        if row.joint is not Joint.FIXED:
            unit, factor, _ = READABLE[Unit.RADIAN if row.joint is Joint.REVOLUTE else Unit.METRE]
            low, high = robot.lower[joint] * factor, robot.upper[joint] * factor
            gain = f"{robot.transmission.gains[joint]:g}"
            limits = f"{low:.6g} .. {high:.6g} {unit}"
            joint += 1
        values = _row_values(row)
        table.add_row(str(index + robot.first_number), str(int(row.joint)), values, gain, limits)
    console.print(table)
    for target in robot.targets:
        x, y, z = (1e3 * value for value in target.position)
        console.print(f"target {target.name}: {x:.4f} {y:.4f} {z:.4f} mm")


def show_mechanism(console: Console, mechanism: Mechanism) -> None:
    """Bodies, joints and closures."""
    title = (
        f"{escape(mechanism.name)}: {mechanism.joints} measured and {len(mechanism.passive)} "
        f"passive joints, {len(mechanism.parameters)} parameters"
    )
    table = Table(
        title=title, caption=escape(mechanism.source), caption_justify="left", title_justify="left"
    )
    for heading in ("body", "on", "elements"):
        table.add_column(heading)
    for body in mechanism.bodies:
        parts = []
        for element in body.elements:
            kind = f"{'R' if element.rotation else 'T'}{'xyz'[element.axis]}"
            parts.append(f"{kind}({_sum_text(element)})")
        table.add_row(escape(body.name), escape(body.parent), escape(" ".join(parts)))
    console.print(table)
    for joint in mechanism.active:
        unit, factor, _ = READABLE[Unit.RADIAN if joint.kind is Joint.REVOLUTE else Unit.METRE]
        low, high = joint.lower * factor, joint.upper * factor
        console.print(f"joint {joint.name}: {low:.6g} .. {high:.6g} {unit}", markup=False)
    for joint, at in zip(mechanism.passive, mechanism.home[1], strict=True):
        unit, factor, _ = READABLE[Unit.RADIAN if joint.kind is Joint.REVOLUTE else Unit.METRE]
        console.print(
            f"joint {joint.name}: passive, {round(at * factor, 6) + 0.0:.6g} {unit} at home",
            markup=False,
        )
    for closure in mechanism.closures:
        length = ""
        if closure.length is not None:
            length = f", length {_sum_text(closure.length)}"
        equations = len(closure.kind.rows)
        console.print(
            f"closure {closure.name}: {closure.kind.value} between {' and '.join(closure.ends)}, "
            f"{equations} equation{'s' if equations > 1 else ''}{length}",
            markup=False,
        )
    for line in _forces(mechanism):
        console.print(line, markup=False)


def _forces(mechanism: Mechanism) -> Iterator[str]:
    """What acts inside besides the motors, a line each."""
    for shaft in mechanism.shafts:
        turns = "".join(_signed(name, factor) for name, factor in shaft.turns)
        yield f"shaft {shaft.name}: {turns.strip().removeprefix('+ ')}, {', '.join(shaft.friction)}"
    for spring in mechanism.springs:
        parts = [f"spring {spring.name}: {' to '.join(spring.ends)}"]
        if spring.free_length is not None:
            parts.append(f"{1e3 * spring.free_length:.6g} mm free")
        known = spring.stiffness is not None
        parts.append(f"{spring.stiffness:.6g} N/m" if known else "stiffness to be identified")
        yield ", ".join(parts)
    for curve in mechanism.curves:
        size = f"table of {len(curve.points)}" if curve.points else "polynomial"
        yield f"torque on {curve.on}: known, {size}"


def _signed(name: str, factor: float) -> str:
    """A summand: ``- 0.5 q2``."""
    size = "" if abs(factor) == 1 else f"{abs(factor):.6g} "
    return f" {'-' if factor < 0 else '+'} {size}{name}"


def _sum_text(element: BodyElement) -> str:
    """What is between the parentheses of an element, in readable units."""
    unit, factor, _ = READABLE[Unit.RADIAN if element.rotation else Unit.METRE]
    named = [(element.joint, element.sign)] if element.joint else []
    signs = [(name, sign) for name, sign in (*named, *element.constants)]
    text = "".join(_signed(name, sign) for name, sign in signs)
    if not element.free and (element.amount or not text):
        return f"{text.strip().removeprefix('+ ')} = {element.amount * factor:.6g} {unit}".strip()
    if element.amount or not text:
        text += f" {'-' if element.amount < 0 else '+'} {abs(element.amount) * factor:.6g} {unit}"
    return text.strip().removeprefix("+ ").replace("- ", "-", 1 if text.startswith(" -") else 0)


def _row_values(row: Row) -> str:
    parts = [row.convention.value]
    if any(row.nominal):
        # Adding zero turns -0 into 0.
        xyz = " ".join(f"{round(1e3 * value, 9) + 0.0:.6g}" for value in row.nominal[:3])
        turns = (round(57.29577951308232 * value, 9) + 0.0 for value in row.nominal[3:])
        rpy = " ".join(f"{value:.6g}" for value in turns)
        parts.append(f"xyz {xyz} mm, rpy {rpy} deg")
    for slot in row.slots:
        value = row.amount(slot.symbol)
        if value:
            unit, factor, _ = READABLE[slot.unit]
            parts.append(f"{slot.symbol} {value * factor:.6g} {unit}")
    return "  ".join(parts)


def show_identifiability(
    console: Console,
    known: Identifiability,
    title: str,
    fixed: Sequence[str],
    relations: Sequence[str] | None = None,
) -> None:
    """Rank, base parameters, regrouping relations; ``relations`` says them in better words."""
    count = f"{known.rank} of {len(known.parameters)} parameters are identifiable"
    console.print(f"[bold]{escape(title)}[/bold]: {count}")
    console.print(f"identifiable   {' '.join(known.identifiable)}")
    if len(known.regrouped):
        console.print(f"regrouped      {' '.join(known.names(known.regrouped))}")
    if len(known.no_effect):
        console.print(f"no effect      {' '.join(known.names(known.no_effect))}")
    if fixed:
        console.print(f"fixed by you   {' '.join(fixed)}")
    for sentence in known.sentences() if relations is None else relations:
        console.print(f"  {sentence}", highlight=False, markup=False)
    if not known.rows:
        # Found by rules, not from samples: there is nothing to be doubtful about.
        return
    gap = "none needed: full rank" if known.gap == float("inf") else f"{known.gap:.1e}"
    console.print(f"condition number {_large(known.condition_number)}, gap {gap}")
    if not known.clear:
        console.print(
            "[yellow]The gap is narrow: the rank is a matter of judgement. Measure configurations "
            "that differ more.[/yellow]"
        )


def show_completeness(console: Console, report: Completeness) -> None:
    """What a model can and cannot express."""
    count = f"4 x {report.revolute} + 2 x {report.prismatic} + 6 = {report.formula}"
    seen = ""
    if report.exist != report.formula:
        shown = "positions" if report.measured is Measured.POSITION else "poses"
        known = "" if report.base else " where the base is known"
        seen = f"of which {shown} determine {report.exist}{known}"
    console.print(f"[bold]Parameters that exist[/bold]: {count} {seen}".rstrip())
    if report.complete and report.only_on_paper:
        console.print(
            "[yellow]The model is complete only on paper: axes are so nearly parallel that "
            "millimetres at the tool take metres in the parameters (condition number "
            f"{report.condition_number:.1e}). "
            "Use kk or pose rows there.[/yellow]"
        )
    elif report.complete:
        console.print("[green]The model is complete.[/green]")
    else:
        console.print(
            f"[yellow]The model is not complete: it expresses {report.expressed} of "
            f"{report.exist}.[/yellow]"
        )
    for sentence in report.missing:
        console.print(f"  {sentence}")
    if report.minimal:
        console.print("No parameter is redundant.")
    else:
        console.print(f"essential      {' '.join(report.essential)}")
        console.print(f"redundant      {' '.join(report.redundant)}")
    console.print("Of six errors per body, in frames with each joint about z:")
    for sentence in report.combinations:
        console.print(f"  {sentence}")
    console.print("A complete and minimal set, as errors before each joint and at the tool:")
    for form, names in report.suggested.items():
        console.print(f"  {form:13}  {' '.join(names)}")


def show_excitation(console: Console, excited: Excitation) -> None:
    """Whether a recording excites the parameters sufficiently, and which it does not."""
    console.print(
        f"condition number {_large(excited.condition_number)} against "
        f"{excited.random_condition_number:.1f} of random configurations; least well determined: "
        f"{' '.join(excited.weakest)}"
    )
    for sentence in excited.shortcomings:
        console.print(f"[yellow]{sentence}[/yellow]")
    colour = "green" if excited.sufficient else "yellow"
    console.print(f"[{colour}]{excited.verdict}[/{colour}]")


def show_errors(console: Console, title: str, columns: Mapping[str, Errors]) -> None:
    """Errors of several robots side by side."""
    table = Table(title=escape(title), title_justify="left")
    table.add_column("")
    for name in columns:
        table.add_column(escape(name), justify="right")
    quantities = next(iter(columns.values()))
    for quantity in quantities:
        unit, factor = shown_in(quantity)
        for label, attribute in (("mean", "mean"), ("rms", "rms"), ("max", "maximum")):
            cells = [
                f"{getattr(errors[quantity], attribute) * factor:.4g}"
                if quantity in errors
                else "-"
                for errors in columns.values()
            ]
            table.add_row(f"{quantity} {label} ({unit})", *cells)
    console.print(table)


def _show_meaning(console: Console, result: Result) -> None:
    """What starred parameters stand for: they are not estimates of the plain ones."""
    starred = [one for one in result.estimates if one.stands_for and not one.term]
    if not starred:
        return
    console.print("* stands for several parameters that act as one:")
    for estimate in starred:
        parts = [summand(value, name, digits=4) for name, value in estimate.stands_for.items()]
        more = f" and {len(parts) - TERMS} more" if len(parts) > TERMS else ""
        terms = " ".join(parts[:TERMS])
        console.print(f"  {estimate.symbol} = {estimate.name} {terms}{more}", markup=False)


def _found(result: Result) -> dict[str, Mapping[str, Any]]:
    """What was identified besides the robot, by source; a single one needs no name."""
    if not result.shares:
        return {"": result.extras}
    names = [share.name for share in result.shares]
    return {name: result.extras[name] for name in names if name in result.extras}


def _show_found(console: Console, source: str, found: Mapping[str, Any]) -> None:
    def say(sentence: str) -> None:
        console.print(f"{source}{sentence}", markup=False)

    def triple(values: Sequence[float], factor: float = 1.0, digits: int = 4) -> str:
        return f"({', '.join(f'{factor * value:.{digits}f}' for value in values)})"

    if "plane" in found:
        plane = found["plane"]
        say(
            f"plane: normal {triple(plane['normal'], digits=6)}, "
            f"{1e3 * plane['distance_m']:.4f} mm from the origin"
        )
    if "sphere" in found:
        sphere = found["sphere"]
        say(
            f"sphere: centre {triple(sphere['centre_m'], 1e3)} mm, "
            f"radius {1e3 * sphere['radius_m']:.4f} mm"
        )
    if "line" in found:
        one, other = (triple(point, 1e3) for point in found["line"]["points_m"])
        say(f"line: through {one} and {other} mm")
    for label, pose in found.get("sessions", {}).items():
        say(
            f"session {label}: sensor at {triple(pose['position_m'], 1e3)} mm, turned by "
            f"{triple(pose['rotation_vector_deg'])} deg, in the frame of session "
            f"{found['first_session']}"
        )
    for kind in ("cameras", "boards"):
        for label, pose in found.get(kind, {}).items():
            say(
                f"{kind[:-1]} {label}: at {triple(pose['position_m'], 1e3)} mm, turned by "
                f"{triple(pose['rotation_vector_deg'])} deg"
            )
    if "fixture" in found:
        fixture = found["fixture"]
        say(
            f"pointer at {triple(found['pointer_m'], 1e3)} mm, fixture at "
            f"{triple(fixture['position_m'], 1e3)} mm in the sensor frame"
        )
        say(f"fixture turned by {triple(fixture['rotation_vector_deg'])} deg in the sensor frame")
        say(
            "the calibrated tool has the orientation that the fixture shows"
            if found["tool_turned_by_fixture"]
            else "the orientation of the tool stays unknown: give its orientation in the fixture"
        )


def _show_terms(console: Console, result: Result) -> None:
    """How many further terms there are, and the largest of them."""
    terms = [one for one in result.estimates if one.term and one.stderr is not None]
    if not terms:
        return
    largest = sorted(terms, key=lambda one: abs(one.identified) / one.tolerance, reverse=True)
    words = [
        f"{one.name} {one.identified * 1e3:+.3f} {'mrad' if one.unit is Unit.RADIAN else 'mm'}"
        for one in largest[:SHOWN_TERMS]
    ]
    console.print(
        f"{len(terms)} further error terms, the largest: {', '.join(words)}", markup=False
    )


def _show_choice(console: Console, choice: Choice) -> None:
    """The models that were tried, the best first; the chosen one is marked."""
    simplest, *others = choice.tried
    if choice.chosen == simplest.name:
        next_best = min(others, key=lambda tried: tried.error)
        console.print(
            f"Cross-validation of {len(choice.tried)} models: none is clearly better than "
            f"{choice.chosen} alone; next: {next_best.name}, {100 * next_best.error:.1f} +- "
            f"{100 * next_best.scatter:.1f} % of its error"
        )
        return
    title = f"Models tried: cross-validation error, % of that of {simplest.name}"
    table = Table(title=title, title_justify="left")
    table.add_column("model")
    table.add_column("error", justify="right")
    table.add_column("", justify="left")
    best = sorted(choice.tried, key=lambda tried: tried.error)[:SHOWN_MODELS]
    for tried in best if simplest in best else [*best, simplest]:
        mark = "chosen" if tried.name == choice.chosen else ""
        table.add_row(tried.name, f"{100 * tried.error:.1f} +- {100 * tried.scatter:.1f} %", mark)
    console.print(table)


def _show_shares(console: Console, result: Result) -> None:
    """What each of several sources is worth, and which parameters it determines."""
    if not result.shares:
        return
    table = Table(title="Sources", title_justify="left")
    for heading in ("source", "method", "rows", "noise", "determines most of"):
        table.add_column(heading, justify="right" if heading == "rows" else "left")
    for share in result.shares:
        named = [
            name for name, part in zip(result.order, share.information, strict=True) if part > 0.5
        ]
        more = f" and {len(named) - SHOWN_NAMES} more" if len(named) > SHOWN_NAMES else ""
        most = " ".join(named[:SHOWN_NAMES]) + more
        noise = ", ".join(f"{size:.3g} {unit}" for unit, size in noise_shown(result, share))
        table.add_row(escape(share.name), share.method, str(share.rows), noise, escape(most) or "-")
    console.print(table)


def show_result(console: Console, result: Result) -> None:
    """Status, parameters with intervals, errors before and after."""
    colour = "green" if result.good else "yellow"
    iterations = f"{result.iterations} iteration{'' if result.iterations == 1 else 's'}"
    console.print(
        f"[{colour}]{result.status.value}[/{colour}] {iterations}, {result.rank} parameters, "
        f"condition number {_large(result.identifiability.condition_number)}, "
        f"{result.statistics.degrees_of_freedom} degrees of freedom"
    )
    table = Table(title="Parameters", title_justify="left")
    for heading in ("name", "nominal", "identified", "change", "95 % +-", "unit"):
        table.add_column(heading, justify="left" if heading in ("name", "unit") else "right")
    for estimate in result.estimates:
        if estimate.stderr is None or estimate.interval is None or estimate.term:
            continue
        unit, factor, digits = READABLE[estimate.unit]
        table.add_row(
            estimate.symbol,
            f"{estimate.nominal * factor:.{digits}f}",
            f"{estimate.identified * factor:.{digits}f}",
            f"{(estimate.identified - estimate.nominal) * factor:+.{digits}f}",
            f"{estimate.interval * factor:.2g}",
            unit,
        )
    console.print(table)
    _show_meaning(console, result)
    _show_terms(console, result)
    if result.choice is not None:
        _show_choice(console, result.choice)
    strong = [item for item in result.strongest_correlations(3) if abs(item[2]) > 0.9]
    for one, other, value in strong:
        console.print(f"  {one} and {other} are hard to tell apart: correlation {value:+.3f}")
    if "normalising_length_m" in result.extras:
        length = 1e3 * result.extras["normalising_length_m"]
        console.print(
            f"normalising length {length:.4g} mm: 1 mrad weighs as much as {length / 1e3:.4g} mm"
        )
    if "multipliers" in result.extras:
        held = result.extras["multipliers"]
        ended = "converged" if held["status"] == "converged" else "did not converge"
        console.print(
            f"with Lagrange multipliers: {ended} in {held['iterations']} iterations, "
            f"loops open by {held['largest_gap']:.0e} at most, largest multiplier "
            f"{held['largest']:.2g}"
        )
    for name, found in _found(result).items():
        _show_found(console, f"{name}: " if name else "", found)
    _show_shares(console, result)
    show_errors(console, "All measurements", {"nominal": result.before, "calibrated": result.after})
    held = result.held_out
    if held is None:
        console.print("Nothing was held out: the error on new measurements is unknown.")
    else:
        show_errors(
            console,
            f"Held out ({held.groups} not used in this fit)",
            {"nominal": held.nominal, "calibrated": held.calibrated},
        )
    for note in result.notes():
        console.print(note, markup=False)
    for doubt in result.doubts():
        console.print(f"[yellow]{escape(doubt)}[/yellow]")
