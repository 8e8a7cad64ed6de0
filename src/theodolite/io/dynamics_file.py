"""Identified dynamics as JSON: parameters by name, with the frames and drives they are of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from json import JSONDecodeError, dumps, loads
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.constants import describe_relations
from theodolite.dynamics.drives import Drive, Drives
from theodolite.dynamics.judge import Judgement
from theodolite.dynamics.parameters import DynamicParameters
from theodolite.dynamics.prediction import Prediction
from theodolite.dynamics.result import IdentifiedDynamics
from theodolite.errors import InputError
from theodolite.estimation.choice import Choice
from theodolite.io.provenance import provenance
from theodolite.io.reading import is_file, read_text
from theodolite.io.urdf_inertia import read_urdf_parameters
from theodolite.io.writing import write_text
from theodolite.matrices import is_covariance

FORMAT = "theodolite dynamics 1"
#: Robot descriptions that may serve as a prior.
URDF_SUFFIXES = (".urdf", ".xml")
#: Samples of torques that a file keeps, to be drawn later.
CURVES = 600


def write_dynamics(
    path: Path | str,
    result: IdentifiedDynamics,
    judgement: Judgement,
    *,
    inputs: Sequence[Path] = (),
    force: bool = False,
) -> None:
    """Write identified dynamics; ``inputs`` are further files that they came from."""
    content = kept_content(dynamics_content(result, judgement, inputs=inputs), judgement)
    write_content(path, content, force=force)


def kept_content(content: dict[str, Any], judgement: Judgement) -> dict[str, Any]:
    """What a file keeps: the content with some torques to be drawn later."""
    return {**content, "torques": curves_content(judgement.decisive)}


def write_content(path: Path | str, content: dict[str, Any], *, force: bool = False) -> None:
    """Write what `dynamics_content` gave, with null for what JSON cannot say."""
    finite = loads(dumps(content), parse_constant=lambda constant: None)
    text = dumps({"format": FORMAT, **finite}, indent=2, allow_nan=False)
    write_text(Path(path), text + "\n", force=force)


def dynamics_content(
    result: IdentifiedDynamics, judgement: Judgement, *, inputs: Sequence[Path] = ()
) -> dict[str, Any]:
    """Identified dynamics as data: enough to predict torques with them again."""
    identifiability, run = result.identifiability, result.problem.runs[0]
    parameters = result.parameters
    return {
        "robot": parameters.robot,
        "frames": parameters.frames,
        "estimator": result.estimator.value,
        # The earlier name of the same.
        "way": result.estimator.value,
        "model": result.model.value,
        "status": result.status.name.lower(),
        "standard": result.standard,
        "consistent": result.consistent,
        "drives": drives_content(parameters.drives),
        "stribeck_speed": parameters.stribeck_speed,
        "transition_speeds": list(parameters.transition_speeds),
        "presliding_distances": list(parameters.presliding_distances),
        "prior_weight": result.prior_weight,
        "choices": {
            "friction": choice_content(result.friction),
            "prior_weight": choice_content(result.weights),
        },
        "gravity": list(parameters.gravity or ()),
        "base": list(parameters.base),
        "covariance": result.statistics.covariance.tolist(),
        "rank": identifiability.rank,
        "condition_number": identifiability.condition_number,
        "rows": result.rows,
        "cutoff_hz": run.cutoff,
        "cutoff_reason": run.cutoff_reason,
        "rate_hz": run.rate,
        "decimation": run.decimation.factor,
        "sigma_Nm": result.noise.sigmas.tolist(),
        "correlation_factors": result.noise.factors.tolist(),
        "relations": describe_relations(result.dynamics, identifiability, result.problem.drives),
        "parameters": _parameter_rows(result),
        **_judgement_content(judgement),
        "provenance": _provenance(result, inputs),
    }


def _parameter_rows(result: IdentifiedDynamics) -> list[dict[str, Any]]:
    """One row for each column of the model; intervals are those of the base parameters."""
    base = result.identifiability.base.tolist()
    base_values = dict(zip(base, result.base_values.tolist(), strict=True))
    spread = result.statistics
    errors = dict(zip(base, spread.standard_errors.tolist(), strict=True))
    widths = dict(zip(base, spread.half_widths().tolist(), strict=True))
    left_out = [
        {"name": name, "value": 0.0}
        for name in result.dynamics.names(result.problem.drives)
        if name not in result.problem.names
    ]
    return left_out + [
        {
            "name": parameter.name,
            "value": float(value),
            "unit": parameter.unit.value,
            "base_value": base_values.get(index),
            "stderr": errors.get(index),
            "half_width_95": widths.get(index),
        }
        for index, (parameter, value) in enumerate(
            zip(result.problem.parameters, result.values, strict=True)
        )
    ]


def _judgement_content(judgement: Judgement) -> dict[str, Any]:
    assert judgement.fit is not None
    check = judgement.check
    fit = prediction_content(judgement.fit)
    fit.pop("rows")
    return {
        "doubts": list(judgement.warnings),
        "notes": list(judgement.notes),
        "verdict": judgement.verdict,
        **fit,
        "checked": None if check is None else prediction_content(check),
        "checked_error": None if check is None else check.error,
        "checked_error_joints": None if check is None else list(check.joint_errors),
    }


def prediction_content(prediction: Prediction) -> dict[str, Any]:
    """Errors of predicted torques."""
    return {
        "error": prediction.error,
        "error_joints": list(prediction.joint_errors),
        "rms_Nm": prediction.rms.tolist(),
        "rows": len(prediction.measured),
        "error_unfiltered": prediction.judged.error,
        "error_unfiltered_joints": list(prediction.judged.joint_errors),
    }


def curves_content(prediction: Prediction) -> dict[str, Any]:
    """Some samples of measured and predicted torques, enough to be drawn."""
    step = -(-len(prediction.times) // CURVES)
    return {
        "time_s": prediction.times[::step].tolist(),
        "measured": prediction.measured[::step].tolist(),
        "predicted": prediction.predicted[::step].tolist(),
        "slides": prediction.sliding.tolist(),
    }


def read_curves(content: dict[str, Any]) -> Prediction | None:
    """The samples that a file kept; None where it has none that can be drawn."""
    kept = content.get("torques")
    if not isinstance(kept, dict):
        return None
    try:
        times, measured, predicted = (
            np.array(kept[name], dtype=np.float64) for name in ("time_s", "measured", "predicted")
        )
        slides = np.array(kept["slides"], dtype=bool)
    except (KeyError, TypeError, ValueError):
        return None
    if measured.shape != predicted.shape or measured.shape != (len(times), len(slides)):
        return None
    return Prediction(times, measured, predicted, slides=slides)


def drives_content(drives: Drives) -> list[str] | dict[str, list[str]]:
    """Symbols of the terms of all motors, or of each joint by name."""
    if isinstance(drives, Mapping):
        return {name: [drive.value for drive in terms] for name, terms in drives.items()}
    return [drive.value for drive in drives]


def _read_drives(content: Any) -> Drives:
    if isinstance(content, dict):
        return {str(name): _terms(terms) for name, terms in content.items()}
    return _terms(content)


def _read_spread(
    content: dict[str, Any],
) -> tuple[tuple[str, ...], FloatArray | None, tuple[float, ...]]:
    """Base parameters, their covariance and what the fit left; older files have none of these."""
    base = tuple(map(str, content.get("base", ())))
    if "covariance" not in content:
        return (), None, ()
    names = {str(entry["name"]) for entry in content["parameters"]}
    covariance = np.array(content["covariance"], dtype=np.float64).reshape(len(base), len(base))
    deviations = tuple(float(each) for each in content["sigma_Nm"])
    if not set(base) <= names or not is_covariance(covariance) or not np.isfinite(deviations).all():
        raise ValueError("covariance")
    return base, covariance, deviations


def _terms(symbols: Any) -> tuple[Drive, ...]:
    terms = tuple(Drive(symbol) for symbol in symbols)
    if len(set(terms)) < len(terms):
        raise ValueError("drives")
    return terms


def choice_content(choice: Choice | None) -> dict[str, Any] | None:
    """What was tried, with errors on torques that were left out; None where nothing was."""
    if choice is None:
        return None
    return {
        "chosen": choice.chosen,
        "tried": [
            {"model": each.name, "error": each.error, "scatter": each.scatter}
            for each in choice.tried
        ],
    }


def _provenance(result: IdentifiedDynamics, inputs: Sequence[Path]) -> dict[str, Any]:
    """Versions, hashes of the recordings and other files, and the options of the identification."""
    recordings = [Path(run.name) for run in result.problem.runs]
    files = dict.fromkeys(path for path in (*inputs, *recordings) if is_file(path))
    return provenance(
        list(files),
        estimator=result.estimator.value,
        model=result.model.value,
        drives=drives_content(result.problem.drives),
        cutoff_hz=result.problem.runs[0].cutoff,
        gravity=result.dynamics.gravity.tolist(),
        stribeck_speed=result.dynamics.stribeck_speed,
    )


def read_dynamics(path: Path | str) -> DynamicParameters:
    """Read identified dynamics from a file."""
    path = Path(path)
    try:
        content = loads(read_text(path))
        if content["format"] != FORMAT:
            raise ValueError(content["format"])
        x, y, z = content["gravity"]
        parameters = DynamicParameters(
            {str(entry["name"]): float(entry["value"]) for entry in content["parameters"]},
            _read_drives(content["drives"]),
            str(content["robot"]),
            str(content["frames"]),
            float(content["stribeck_speed"]),
            (float(x), float(y), float(z)),
            float(content["cutoff_hz"]) or None,
            bool(content.get("standard", content.get("consistent", False))),
            str(path),
            tuple(float(speed) for speed in content.get("transition_speeds", ())),
            *_read_spread(content),
            presliding_distances=tuple(map(float, content.get("presliding_distances", ()))),
        )
    except (JSONDecodeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise InputError(
            "is not a file of identified dynamics",
            where=str(path),
            remedy="Write one by identifying the dynamics of the robot",
        ) from error
    wrong = [name for name, value in parameters.values.items() if not isfinite(value)]
    if wrong:
        raise InputError(f"{wrong[0]} is not a finite number", where=str(path))
    return parameters


def read_prior(path: Path | str, *, tip: str | None = None) -> DynamicParameters:
    """Parameters to start from: the bodies of a URDF, or dynamics that were identified before."""
    path = Path(path)
    if path.suffix.lower() in URDF_SUFFIXES:
        return read_urdf_parameters(path, tip=tip)
    return read_dynamics(path)
