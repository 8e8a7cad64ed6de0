"""Results of dynamics as tables on a terminal, and as data for JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from rich.console import Console

from theodolite.arrays import BoolArray, FloatArray
from theodolite.dynamics.drive_gains import DriveGains
from theodolite.dynamics.excitation.optimise import Excitation
from theodolite.dynamics.inertia import INERTIAL, PLACES, mass_properties
from theodolite.dynamics.judge import Judgement
from theodolite.dynamics.motion_torques import MotionTorques
from theodolite.dynamics.payload import Payload
from theodolite.dynamics.prediction import Prediction, predict
from theodolite.dynamics.result import IdentifiedDynamics
from theodolite.dynamics.with_geometry import GeometryAndDynamics
from theodolite.estimation.identifiability import Identifiability
from theodolite.report.terminal_table import Table

#: How many of the friction models that were tried are shown; JSON has them all.
BEST_SHOWN = 5
#: Errors of a calibration, by quantity, in readable units.
SHOWN_IN = {"position": (1e3, "mm"), "orientation": (1e3, "mrad"), "pixel": (1.0, "px")}
#: How many parameters are shown that a wrong geometry affects.
MOST_AFFECTED = 8
#: Values below this part of the largest one of their unit are rounding.
ROUNDING = 1e-12


def show_identified(screen: Console, result: IdentifiedDynamics, title: str) -> None:
    """Base parameters with their relative standard deviations."""
    identifiability = result.identifiability
    screen.print(
        f"{identifiability.rank} base parameters from {result.rows} samples; condition number "
        f"{identifiability.condition_number:.0f}"
    )
    for run in result.problem.runs:
        if run.cutoff:
            screen.print(
                f"{run.name}: low-passed at {run.cutoff:.1f} Hz ({run.cutoff_reason}); "
                f"sampled at {run.rate:.0f} Hz, 1 in {run.decimation.factor} samples kept",
                markup=False,
            )
    table = Table(title=title, title_justify="left")
    for heading in ("name", "value", "+- 95 %", "std %", "unit"):
        table.add_column(heading, justify="left" if heading in ("name", "unit") else "right")
    rows = zip(
        identifiability.base,
        result.base_values,
        result.statistics.half_widths(),
        result.relative_deviations,
        strict=True,
    )
    for index, value, width, percent in rows:
        parameter = identifiability.parameters[index]
        table.add_row(
            parameter.name,
            f"{value:.5f}",
            f"{width:.5f}",
            f"{percent:.1f}",
            parameter.unit.value,
        )
    screen.print(table)
    if result.consistent:
        _show_bodies(screen, result)
    if result.friction is not None:
        _show_friction(screen, result)


def _show_friction(screen: Console, result: IdentifiedDynamics) -> None:
    """The friction that was chosen, and the models beside it."""
    choice = result.friction
    assert choice is not None
    table = Table(title="Friction models, by torques that were left out", title_justify="left")
    table.add_column("model (error relative to the first)")
    table.add_column("error", justify="right")
    usual, *others = choice.tried
    best = sorted(others, key=lambda each: each.error)[:BEST_SHOWN]
    for each in (usual, *best):
        style = "bold" if each.name == choice.chosen else None
        error = f"{100 * each.error:.1f} +- {100 * each.scatter:.1f} %"
        table.add_row(each.name, error, style=style)
    screen.print(table)
    screen.print(
        f"friction, of {len(choice.tried)} models: {choice.chosen}", markup=False, highlight=False
    )
    distances, speeds = result.dynamics.presliding_distances, result.dynamics.transition_speeds
    if distances.any():
        _show_reversal(screen, result, distances, ("m", "rad"), "wherever a joint stops, ")
    elif speeds.any():
        _show_reversal(screen, result, speeds, ("m/s", "rad/s"), "")


def _show_reversal(
    screen: Console,
    result: IdentifiedDynamics,
    over: FloatArray,
    units: tuple[str, str],
    where: str,
) -> None:
    """Over what the friction of each joint reverses: ``units`` of slides and of hinges."""
    slide, hinge = units
    parts = ", ".join(
        f"joint {name} {each:.2g} {slide if slides else hinge}"
        for name, each, slides in zip(
            result.dynamics.axes, over, result.dynamics.sliding_axes, strict=False
        )
        if each
    )
    screen.print(f"{where}friction reverses over {parts}", markup=False)


def _show_bodies(screen: Console, result: IdentifiedDynamics) -> None:
    """Masses and centres of whole bodies."""
    values = result.named()
    table = Table(title="Bodies", title_justify="left")
    # About the centre of mass, along the axes of the link's frame, whose joint is about z.
    for heading in ("link", "mass kg", "centre m", "Ixx Iyy Izz about it, kg m2"):
        table.add_column(heading, justify="right")
    for link in result.dynamics.links:
        if link.name is None:
            continue
        body = np.array([values[f"{symbol}{link.name}"] for symbol in INERTIAL])
        mass, centre, inertia = mass_properties(body)
        table.add_row(
            link.name.removeprefix("_"),
            f"{mass:.3f}",
            " ".join(f"{value:.4f}" for value in centre),
            " ".join(f"{value:.4f}" for value in np.diag(inertia)),
        )
    screen.print(table)


def show_judgement(screen: Console, judgement: Judgement) -> None:
    """Errors of the fit and of the check, and the verdict."""
    if judgement.fit is not None:
        _show_prediction(screen, judgement.fit, "of the fit")
    if judgement.check is not None:
        what = "on this recording" if judgement.fit is None else "on the other recording"
        _show_prediction(screen, judgement.check, what)
    screen.print(judgement.verdict, markup=False)


def _show_prediction(screen: Console, prediction: Prediction, what: str) -> None:
    """Errors of all joints together and of each joint, with the model as it is."""
    shown = prediction.judged
    parts = ", ".join(
        f"joint {j + 1} {100 * error:.1f} % ({rms:.2g} {'N' if slide else 'N m'})"
        for j, (error, rms, slide) in enumerate(
            zip(shown.joint_errors, shown.rms, shown.sliding, strict=True)
        )
    )
    below, both = "", ""
    if prediction.cutoff:
        below = f", torques below {prediction.cutoff:.3g} Hz"
        both = f" ({100 * prediction.error:.2f} % with the model low-passed as well)"
    screen.print(
        f"torque error {what}{below}: {100 * shown.error:.2f} %{both}; {parts}", markup=False
    )


#: Causes of torques along a motion, with what their columns begin with.
CAUSES = {
    "inertia": "tau_inertia",
    "coriolis": "tau_coriolis",
    "gravity": "tau_gravity",
    "springs": "tau_springs",
    "friction": "tau_friction",
}


def torque_columns(torques: MotionTorques) -> dict[str, FloatArray]:
    """Columns of a file: the total, each cause that there is, and half-widths if known."""
    columns = {"tau": torques.total}
    for cause, name in CAUSES.items():
        values = getattr(torques, cause)
        if values.any():
            columns[name] = values
    if np.isfinite(torques.half_widths).all():
        columns["tau_interval"] = torques.half_widths
    return columns


def motion_data(torques: MotionTorques, times: FloatArray) -> dict[str, Any]:
    """Root mean square and largest torque of each motor, by cause."""
    known = bool(np.isfinite(torques.half_widths).all())
    return {
        "rows": len(times),
        "duration_s": float(times[-1] - times[0]),
        "rms_Nm": _rms(torques.total).tolist(),
        "largest_Nm": np.abs(torques.total).max(axis=0).tolist(),
        "causes_rms_Nm": {cause: _rms(getattr(torques, cause)).tolist() for cause in CAUSES},
        "half_width_Nm": _rms(torques.half_widths).tolist() if known else None,
    }


def show_motion(screen: Console, torques: MotionTorques, slides: BoolArray, title: str) -> None:
    """The torques of each motor along a motion, by cause."""
    table = Table(title=f"{title}: root mean square torques", title_justify="left")
    causes = [cause for cause in CAUSES if getattr(torques, cause).any()]
    for heading in ("joint", "total", "largest", *causes, "+- 95 %", "unit"):
        table.add_column(heading, justify="left" if heading in ("joint", "unit") else "right")
    largest = np.abs(torques.total).max(axis=0)
    parts = [_rms(torques.total), largest, *(_rms(getattr(torques, cause)) for cause in causes)]
    for motor, slide in enumerate(slides):
        width = _rms(torques.half_widths)[motor]
        table.add_row(
            str(motor + 1),
            *(f"{part[motor]:.3g}" if part[motor] > 1e-6 else "0" for part in parts),
            f"{width:.3g}" if np.isfinite(width) else "unknown",
            "N" if slide else "N m",
        )
    screen.print(table)


def _rms(table: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt((table**2).mean(axis=0)))


def base_value_data(
    identifiability: Identifiability, values: FloatArray, relations: Sequence[str]
) -> dict[str, Any]:
    """Base parameters of known bodies."""
    return {
        "rank": identifiability.rank,
        "parameters": [
            {"name": identifiability.parameters[index].name, "value": value,
             "unit": identifiability.parameters[index].unit.value}
            for index, value in zip(identifiability.base.tolist(), values.tolist(), strict=True)
        ],
        "relations": list(relations),
    }  # fmt: skip


def show_base_values(
    screen: Console, identifiability: Identifiability, values: FloatArray, relations: Sequence[str]
) -> None:
    """One row for each base parameter; those that stand for others carry a star."""
    starred = {line.split("*", 1)[0] for line in relations if "*" in line}
    table = Table(title=f"{identifiability.rank} base parameters", title_justify="left")
    for heading in ("name", "value", "unit"):
        table.add_column(heading, justify="right" if heading == "value" else "left")
    largest: dict[str, float] = {}
    for index, value in zip(identifiability.base, values, strict=True):
        unit = identifiability.parameters[index].unit.value
        largest[unit] = max(largest.get(unit, 0.0), abs(float(value)))
    for index, value in zip(identifiability.base, values, strict=True):
        parameter = identifiability.parameters[index]
        star = "*" if parameter.name in starred else ""
        shown = value if abs(value) > ROUNDING * largest[parameter.unit.value] else 0.0
        table.add_row(parameter.name + star, f"{shown:.6g}", parameter.unit.value)
    screen.print(table)
    for line in relations:
        screen.print(f"  {line}", markup=False)


def geometry_data(both: GeometryAndDynamics) -> dict[str, Any]:
    """Calibration and dynamics in numbers, and what the nominal geometry would have done."""
    before, after = predict_own(both.nominal), predict_own(both.dynamics)
    return {
        "calibration": {
            "status": both.calibration.status.name.lower(),
            "before": {name: errors.rms for name, errors in both.calibration.before.items()},
            "after": {name: errors.rms for name, errors in both.calibration.after.items()},
        },
        "error": after.judged.error,
        "error_nominal_geometry": before.judged.error,
        "parameters": [
            {
                "name": both.dynamics.identifiability.parameters[index].name,
                "value": value,
                "stderr": error,
                "stderr_geometry": geometry,
                "nominal_geometry": nominal,
            }
            for index, value, error, geometry, nominal in _changes(both)
        ],
    }


def _changes(both: GeometryAndDynamics) -> list[tuple[int, float, float, float, float]]:
    """Base parameters: index, value, standard error, its part by geometry, nominal value."""
    known = both.dynamics.identifiability
    nominal = both.nominal.values[known.base]
    return list(
        zip(
            known.base.tolist(),
            both.dynamics.base_values.tolist(),
            both.dynamics.statistics.standard_errors.tolist(),
            both.geometry_errors.tolist(),
            nominal.tolist(),
            strict=True,
        )
    )


def show_geometry(screen: Console, both: GeometryAndDynamics) -> None:
    """What the calibration gains, and what a wrong geometry does to the parameters."""
    for name, errors in both.calibration.after.items():
        before = both.calibration.before[name]
        factor, unit = SHOWN_IN.get(name, (1.0, "in SI units"))
        screen.print(
            f"geometry, {name}: {factor * before.rms:.4g} before, {factor * errors.rms:.4g} "
            f"{unit} after calibration (rms)",
            markup=False,
        )
    rows = sorted(_changes(both), key=lambda row: -abs(row[4] - row[1]) / max(row[2], 1e-300))
    table = Table(
        title="What the nominal geometry would have done: the most affected base parameters",
        title_justify="left",
    )
    for heading in ("name", "value", "+- 95 %", "by geometry", "nominal geometry", "unit"):
        table.add_column(heading, justify="left" if heading in ("name", "unit") else "right")
    width = both.dynamics.statistics.quantile()
    for index, value, error, geometry, nominal in rows[:MOST_AFFECTED]:
        parameter = both.dynamics.identifiability.parameters[index]
        table.add_row(
            parameter.name,
            f"{value:.5f}",
            f"{width * error:.5f}",
            f"{width * geometry:.5f}",
            f"{nominal:.5f}",
            parameter.unit.value,
        )
    screen.print(table)
    wrong, right = predict_own(both.nominal), predict_own(both.dynamics)
    screen.print(
        f"torque error with the nominal geometry {100 * wrong.judged.error:.2f} %, with the "
        f"calibrated one {100 * right.judged.error:.2f} %",
        markup=False,
    )


def predict_own(result: IdentifiedDynamics) -> Prediction:
    """The torques of the recordings that a result was fitted to."""
    return predict(result, result.problem.runs)


def show_remarks(screen: Console, notes: Iterable[str], warnings: Iterable[str]) -> None:
    """Notes that are worth knowing, and warnings."""
    for note in notes:
        screen.print(f"note: {note}", markup=False)
    for warning in warnings:
        screen.print(warning, style="yellow", markup=False)


def payload_data(payload: Payload) -> dict[str, Any]:
    """A payload in the flange's frame."""
    return {
        "seen": payload.detected,
        "mass_kg": payload.mass,
        "mass_stderr_kg": payload.mass_error,
        "centre_m": payload.centre.tolist(),
        "centre_stderr_m": payload.centre_errors.tolist(),
        "inertia_kgm2": payload.inertia.tolist(),
        "inertia_stderr_kgm2": payload.inertia_errors.tolist(),
        "consistent": payload.consistent,
        "doubts": list(payload.warnings),
    }


def show_payload(screen: Console, payload: Payload, robot: str) -> None:
    """Mass, centre and inertia with their intervals; ``robot`` says where its tip is."""
    width = payload.result.statistics.quantile()
    screen.print(f"mass {payload.mass:.3f} +- {width * payload.mass_error:.3f} kg")
    if not payload.detected:
        screen.print("no payload was detected: its mass is within the noise", style="yellow")
        return
    centre = ", ".join(
        f"{axis} {1e3 * value:.1f} +- {1e3 * width * error:.1f}"
        for axis, value, error in zip("xyz", payload.centre, payload.centre_errors, strict=True)
    )
    screen.print(f"centre of mass in the frame of the tip, mm: {centre}")
    parts = ", ".join(
        f"{name} {payload.inertia[place]:.4f} +- {width * payload.inertia_errors[place]:.4f}"
        for name, place in zip(INERTIAL, PLACES, strict=False)
    )
    screen.print(f"inertia about the centre, kg m2: {parts}")
    screen.print(f"robot: {robot}", markup=False)
    if not payload.consistent:
        screen.print(
            "the runs hardly determine the inertia: what fits best could not be that of a body, so "
            "the nearest that could is given",
            style="yellow",
        )


def gains_data(gains: DriveGains) -> dict[str, Any]:
    """Drive gains with their standard errors."""
    return {
        "gains_Nm_A": gains.gains.tolist(),
        "stderr_Nm_A": gains.errors.tolist(),
        "status": gains.status.name.lower(),
        "doubts": list(gains.warnings),
    }


def show_gains(screen: Console, gains: DriveGains) -> None:
    """One line for each joint, and how the identification ended."""
    for joint, (gain, width) in enumerate(zip(gains.gains, gains.half_widths, strict=True)):
        screen.print(f"joint {joint + 1}: {gain:.3f} +- {width:.3f} Nm/A")
    screen.print(gains.status.value)


def excitation_data(excitation: Excitation) -> dict[str, Any]:
    """What an exciting trajectory reaches."""
    return {
        "condition_number": excitation.condition_number,
        "log_det": excitation.log_det,
        "base_parameters": list(excitation.parameters),
        "duration_s": excitation.trajectory.duration,
        "use": excitation.use,
        "clearance_m": excitation.clearance,
        "within_limits": excitation.within_limits,
        "starts": list(excitation.starts),
    }


def show_excitation(screen: Console, excitation: Excitation) -> None:
    """Condition number, and how much of the limits is used."""
    screen.print(
        f"condition number {excitation.condition_number:.2f} of the {len(excitation.parameters)} "
        f"scaled base columns, log det {excitation.log_det:.1f}, "
        f"{excitation.trajectory.duration:.1f} s"
    )
    used = ", ".join(f"{name} {100 * part:.1f} %" for name, part in excitation.use.items())
    screen.print(f"fraction of each limit used: {used}")
    if excitation.clearance is not None:
        screen.print(f"smallest distance to floor and spheres {1e3 * excitation.clearance:.0f} mm")
