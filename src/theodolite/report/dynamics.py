"""Results of dynamics as data for JSON, and as tables on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from theodolite.dynamics.excitation.optimise import Excitation
from theodolite.dynamics.identify import IdentifiedDynamics
from theodolite.dynamics.inertia import INERTIAL, PLACES, taken_apart
from theodolite.dynamics.payload import Payload
from theodolite.dynamics.prediction import Prediction


def prediction_data(found: Prediction) -> dict[str, Any]:
    """Errors of predicted torques."""
    return {
        "error": found.error,
        "error_joints": list(found.joint_errors),
        "rms_Nm": found.rms.tolist(),
        "rows": len(found.measured),
    }


def fit_data(fit: Prediction, judged: Prediction | None) -> dict[str, Any]:
    """Errors of the fit, and on another recording where there is one."""
    data = prediction_data(fit)
    data.pop("rows")
    return data | {
        "checked": None if judged is None else prediction_data(judged),
        "checked_error": None if judged is None else judged.error,
        "checked_error_joints": None if judged is None else list(judged.joint_errors),
    }


def dynamic_data(
    found: IdentifiedDynamics, robot: str, way: str, relations: Sequence[str]
) -> dict[str, Any]:
    """What was identified: enough to predict torques with it again."""
    known = found.identifiability
    runs = found.problem.runs
    errors, widths = {}, {}
    if not found.whole:
        deviations, halves = found.statistics.standard_errors, found.statistics.half_widths()
        errors = dict(zip(known.base.tolist(), deviations.tolist(), strict=True))
        widths = dict(zip(known.base.tolist(), halves.tolist(), strict=True))
    base = dict(zip(known.base.tolist(), found.base_values.tolist(), strict=True))
    return {
        "robot": robot,
        "frames": found.dynamics.frames,
        "way": way,
        "status": found.solution.status.name.lower(),
        "consistent": found.consistent,
        "drives": [drive.value for drive in found.problem.drives],
        "stribeck_speed": found.dynamics.stribeck_speed,
        "gravity": found.dynamics.gravity.tolist(),
        "rank": known.rank,
        "condition_number": known.condition_number,
        "rows": found.rows,
        "cutoff_hz": runs[0].cutoff,
        "cutoff_reason": runs[0].reason,
        "rate_hz": runs[0].rate,
        "decimation": runs[0].thinning.every,
        "sigma_Nm": found.noise.sigmas.tolist(),
        "correlation_factors": found.noise.factors.tolist(),
        "relations": list(relations),
        "parameters": [
            {
                "name": parameter.name,
                "value": float(value),
                "unit": parameter.unit.value,
                "base_value": base.get(index),
                "stderr": errors.get(index),
                "half_width_95": widths.get(index),
            }
            for index, (parameter, value) in enumerate(
                zip(known.parameters, found.values, strict=True)
            )
        ],
    }


def show_dynamic(screen: Console, found: IdentifiedDynamics, title: str) -> None:
    """Base parameters with their relative standard deviations."""
    known, runs = found.identifiability, found.problem.runs
    screen.print(
        f"{known.rank} base parameters from {found.rows} samples; condition number "
        f"{known.condition_number:.0f}"
    )
    for run in runs:
        if run.cutoff:
            screen.print(
                f"{run.name}: low-passed at {run.cutoff:.1f} Hz ({run.reason}), one of "
                f"{run.thinning.every} samples kept of {run.rate:.0f} Hz",
                markup=False,
            )
    table = Table(title=title, title_justify="left")
    for heading in ("name", "value", "+- 95 %", "std %", "unit"):
        if found.whole and "%" in heading:
            # Constraints and priors leave no interval that one could state.
            continue
        table.add_column(heading, justify="left" if heading in ("name", "unit") else "right")
    rows = zip(
        known.base,
        found.base_values,
        found.statistics.half_widths(),
        found.relative_deviations,
        strict=True,
    )
    for index, value, width, percent in rows:
        parameter = known.parameters[index]
        sure = [] if found.whole else [f"{width:.5f}", f"{percent:.1f}"]
        table.add_row(parameter.name, f"{value:.5f}", *sure, parameter.unit.value)
    screen.print(table)
    if found.consistent:
        _show_bodies(screen, found)


def _show_bodies(screen: Console, found: IdentifiedDynamics) -> None:
    """Masses and centres of whole bodies."""
    values = found.named()
    table = Table(title="Bodies", title_justify="left")
    # About the centre of mass, in axes of the link's frame, whose joint is about z.
    for heading in ("link", "mass kg", "centre m", "Ixx Iyy Izz about it, kg m2"):
        table.add_column(heading, justify="right")
    for link in found.dynamics.links:
        if link.name is None:
            continue
        body = np.array([values[f"{symbol}{link.name}"] for symbol in INERTIAL])
        mass, centre, inertia = taken_apart(body)
        table.add_row(
            link.name.removeprefix("_"),
            f"{mass:.3f}",
            " ".join(f"{value:.4f}" for value in centre),
            " ".join(f"{value:.4f}" for value in np.diag(inertia)),
        )
    screen.print(table)


def show_prediction(screen: Console, found: Prediction, what: str) -> None:
    """One line: errors in all and of each joint."""
    parts = ", ".join(
        f"joint {j + 1} {100 * error:.1f} % ({rms:.2g} N m)"
        for j, (error, rms) in enumerate(zip(found.joint_errors, found.rms, strict=True))
    )
    screen.print(f"torque error {what} {100 * found.error:.2f} %: {parts}", markup=False)


def payload_data(found: Payload) -> dict[str, Any]:
    """A payload in the flange's frame."""
    return {
        "seen": found.seen,
        "mass_kg": found.mass,
        "mass_stderr_kg": found.mass_error,
        "centre_m": found.centre.tolist(),
        "centre_stderr_m": found.centre_errors.tolist(),
        "inertia_kgm2": found.inertia.tolist(),
        "inertia_stderr_kgm2": found.inertia_errors.tolist(),
        "consistent": found.consistent,
    }


def show_payload(screen: Console, found: Payload, robot: str) -> None:
    """Mass, centre and inertia with their intervals; ``robot`` says where its tip is."""
    width = found.found.statistics.quantile()
    screen.print(f"mass {found.mass:.3f} +- {width * found.mass_error:.3f} kg")
    if not found.seen:
        screen.print(
            "[yellow]no payload is seen: its mass is within what noise makes of none[/yellow]"
        )
        return
    centre = ", ".join(
        f"{axis} {1e3 * value:.1f} +- {1e3 * width * error:.1f}"
        for axis, value, error in zip("xyz", found.centre, found.centre_errors, strict=True)
    )
    screen.print(f"centre of mass in the frame of the tip, mm: {centre}")
    parts = ", ".join(
        f"{name} {found.inertia[place]:.4f} +- {width * found.inertia_errors[place]:.4f}"
        for name, place in zip(INERTIAL, PLACES, strict=False)
    )
    screen.print(f"inertia about the centre, kg m2: {parts}")
    screen.print(f"the robot: {robot}", markup=False)
    if not found.consistent:
        screen.print(
            "[yellow]no body has this inertia: the runs hardly show it. Mass and centre stand"
            "[/yellow]"
        )


def excitation_data(found: Excitation) -> dict[str, Any]:
    """What an exciting trajectory reaches."""
    return {
        "condition_number": found.condition_number,
        "log_det": found.log_det,
        "base_parameters": list(found.parameters),
        "duration_s": found.trajectory.duration,
        "use": found.use,
        "clearance_m": found.clearance,
        "within_limits": found.within_limits,
        "starts": list(found.starts),
    }


def show_excitation(screen: Console, found: Excitation) -> None:
    screen.print(
        f"condition number {found.condition_number:.2f} of the {len(found.parameters)} scaled base "
        f"columns, log det {found.log_det:.1f}, {found.trajectory.duration:.1f} s"
    )
    used = ", ".join(f"{name} {100 * part:.1f} %" for name, part in found.use.items())
    screen.print(f"used of the limits: {used}")
    if found.clearance is not None:
        screen.print(f"smallest distance to floor and spheres {1e3 * found.clearance:.0f} mm")
