"""The report of identified dynamics, from what ``dynamics identify --out`` keeps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from theodolite.dynamics.judge import Judgement
from theodolite.dynamics.prediction import Prediction
from theodolite.report import charts
from theodolite.report.calibration_page import origin
from theodolite.report.page import Block, Chart, Page, Table, Text, facts, section

#: Friction models that a report lists.
MOST_MODELS = 12


def dynamics_page(content: Mapping[str, Any], shown: Prediction | None) -> Page:
    """Verdict, errors by joint, parameters, torques over time."""
    doubts = tuple(map(str, content.get("doubts", ())))
    return Page(
        f"Dynamics of {content['robot']}",
        not doubts and content.get("status") != "solver_failed",
        (
            str(content.get("verdict", "")),
            *doubts,
            *map(str, content.get("notes", ())),
        ),
        (
            section("What was identified", _identity(content)),
            section("Torque errors", *_errors(content), _torques(content, shown)),
            section("Parameters", *_parameters(content)),
            section("Friction models tried", *_friction(content)),
            section("Parameters that act together", _relations(content)),
            section("Origin", *origin(content.get("provenance", {}))),
        ),
    )


def judgement_page(judgement: Judgement, robot: str) -> Page:
    """How well identified parameters predict other torques."""
    shown = judgement.decisive
    rows = [("all joints", _percent(shown.error))]
    rows += [(f"joint {n}", _percent(error)) for n, error in enumerate(shown.joint_errors, 1)]
    return Page(
        f"Dynamics of {robot} on another recording",
        judgement.good,
        (judgement.verdict, *judgement.warnings, *judgement.notes),
        (
            section("Torque errors", Table(("torque error (%)", "other recording"), tuple(rows))),
            section("Torques", torque_chart(shown, "Measured, predicted, and their difference.")),
        ),
    )


def _identity(content: Mapping[str, Any]) -> Block:
    bodies = "physically consistent" if content.get("consistent") else "not checked"
    return facts(
        [
            ("Robot", str(content["robot"])),
            ("Estimator", f"{content.get('estimator', '')}, {content.get('model', '')} model"),
            ("Samples", str(content.get("rows", ""))),
            ("Low-pass", f"{content.get('cutoff_hz') or 0:.3g} Hz"),
            ("Base parameters", str(content.get("rank", ""))),
            ("Condition number", f"{content.get('condition_number') or float('nan'):.0f}"),
            ("Bodies", bodies),
            ("Weight of the prior", str(content.get("prior_weight") or "")),
        ]
    )


def _errors(content: Mapping[str, Any]) -> Iterator[Block]:
    columns = {"fit": content}
    if content.get("checked"):
        columns["other recording"] = content["checked"]
    joints = len(content.get("error_unfiltered_joints", ()))
    rows = [("all joints", *(_percent(c.get("error_unfiltered")) for c in columns.values()))]
    for joint in range(joints):
        cells = (_percent(c["error_unfiltered_joints"][joint]) for c in columns.values())
        rows.append((f"joint {joint + 1}", *cells))
    yield Table(("torque error (%)", *columns), tuple(rows))
    yield Text(
        (
            "Errors relative to the torque, ||predicted - measured|| / ||measured||, with the "
            "model as it is; only the measured torques are low-passed.",
        )
    )


def _percent(value: Any) -> str:
    return "-" if value is None else f"{100 * float(value):.2f}"


def _torques(content: Mapping[str, Any], shown: Prediction | None) -> Block | None:
    if shown is None:
        return None
    what = "fitted" if not content.get("checked") else "not seen before"
    return torque_chart(shown, f"Torques {what}: measured, predicted, and their difference.")


def torque_chart(shown: Prediction, caption: str) -> Chart:
    """Measured and predicted torques over time, a pair of axes for each joint."""
    rows = []
    for motor in range(shown.measured.shape[1]):
        measured, predicted = shown.measured[:, motor], shown.predicted[:, motor]
        unit = "N" if shown.sliding[motor] else "N m"
        error = f"{100 * shown.joint_errors[motor]:.1f} %"
        named = {"measured": measured, "predicted": predicted, "difference": predicted - measured}
        rows.append((f"joint {motor + 1} ({unit}), {error}", named))
    return charts.curves(shown.times, rows, caption)


def _parameters(content: Mapping[str, Any]) -> Iterator[Block]:
    rows = []
    for one in content["parameters"]:
        if one.get("base_value") is None:
            continue
        width = one.get("half_width_95")
        deviation = one.get("stderr")
        percent = (
            f"{100 * deviation / abs(one['base_value']):.1f}"
            if deviation is not None and one["base_value"]
            else "-"
        )
        rows.append(
            (
                str(one["name"]),
                f"{one['base_value']:.5g}",
                "-" if width is None else f"{width:.2g}",
                percent,
                str(one.get("unit", "")),
            )
        )
    yield Text(("Base parameters: what the torques determine.",))
    yield Table(("name", "value", "95 % ±", "std %", "unit"), tuple(rows), words=(0, 4))


def _friction(content: Mapping[str, Any]) -> Iterator[Block]:
    choice = (content.get("choices") or {}).get("friction")
    if not choice:
        return
    best = sorted(choice["tried"], key=lambda one: one["error"])[:MOST_MODELS]
    yield Text((f"Chosen by torques that were left out: {choice['chosen']}.",))
    yield Table(
        ("model", "error (%)", "± (%)"),
        tuple(
            (str(one["model"]), f"{100 * one['error']:.1f}", f"{100 * one['scatter']:.1f}")
            for one in best
        ),
        marked=tuple(i for i, one in enumerate(best) if one["model"] == choice["chosen"]),
    )


def _relations(content: Mapping[str, Any]) -> Block | None:
    relations = content.get("relations") or ()
    return Text(tuple(map(str, relations)), listed=True) if relations else None
