"""Identification of inertial and drive parameters from recordings: what a user asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from theodolite.arrays import FloatArray
from theodolite.dynamics.consistent import fit_consistent
from theodolite.dynamics.drives import Drives
from theodolite.dynamics.energy_fit import fit_energy
from theodolite.dynamics.estimators import Estimator, Model
from theodolite.dynamics.filtering import Cutoff
from theodolite.dynamics.friction_choice import USUAL_FRICTION, choose_friction, friction_drives
from theodolite.dynamics.least_squares import check_length, fit_least_squares, keep_essential
from theodolite.dynamics.parameters import DynamicParameters
from theodolite.dynamics.preparation import Recorded, prepare_runs
from theodolite.dynamics.result import IdentifiedDynamics as IdentifiedDynamics
from theodolite.dynamics.ridge import fit_ridge
from theodolite.dynamics.torque import TorqueProblem
from theodolite.dynamics.tree import Tree
from theodolite.errors import InputError


def identify_dynamics(
    dynamics: Tree,
    recordings: Recorded,
    *,
    estimator: Estimator | None = None,
    model: Model = Model.TORQUE,
    drives: Drives | None = None,
    rotors: bool = True,
    prior: DynamicParameters | None = None,
    prior_weight: float | None = None,
    payload: bool = False,
    only: Sequence[str] | None = None,
    prefer: Sequence[str] = (),
    cutoff: float | Cutoff | None = None,
    trim: bool = True,
) -> IdentifiedDynamics:
    """Identify inertial and drive parameters from one or several recordings.

    ``estimator`` is by default that of physically consistent bodies, ordinary least squares for
    energy and power. ``drives`` are by default chosen by cross-validation, with or without
    ``rotors``; see `choose_friction`. ``payload`` adds ten parameters that act in loaded runs;
    ``only`` limits the model to some columns, and of dependent ones those in ``prefer`` are kept;
    ``cutoff`` and ``trim`` are those of `prepare_runs`.
    `judge_identification` says how good the result is.
    """
    estimator = check_estimator(estimator, model, prior, whole=only is None)
    if prior is not None:
        prior.check_frames(dynamics)
    runs = prepare_runs(recordings, cutoff=cutoff, trim=trim, dynamics=dynamics)
    choice = None
    usual = friction_drives(USUAL_FRICTION, rotors=rotors)
    if drives is None and model is Model.TORQUE and only is None:
        check_length(TorqueProblem(dynamics, runs, drives=usual), dynamics.motors)
        # What a payload adds is not friction.
        own = [run for run in runs if not (payload and run.loaded)] or runs
        chosen = choose_friction(dynamics, own, prior, rotors=rotors)
        dynamics, drives, choice = chosen.dynamics, chosen.drives, chosen.choice
    elif drives is None:
        drives = usual
    if model is not Model.TORQUE:
        return fit_energy(dynamics, runs, model, drives=drives, only=only, prefer=prefer)
    problem = TorqueProblem(
        dynamics, runs, drives=drives, payload=payload, only=only, prefer=prefer
    )
    result = replace(fit_least_squares(problem, estimator), friction=choice)
    values: FloatArray | None = None if prior is None else prior.vector(problem.names)
    if estimator is Estimator.ESSENTIAL:
        return keep_essential(result)
    if estimator is Estimator.CONSISTENT:
        return fit_consistent(result, values, prior_weight)
    if estimator is Estimator.RIDGE and values is not None:
        return fit_ridge(result, values)
    return result


def check_estimator(
    estimator: Estimator | None,
    model: Model,
    prior: DynamicParameters | None,
    *,
    whole: bool = True,
) -> Estimator:
    """The estimator, or the model's default; refuses what the model or the prior does not allow.

    Bodies need ``whole`` links; where only some columns are identified, the default is weighted
    least squares.
    """
    if estimator is None:
        estimator = model.estimators[0]
        if estimator is Estimator.CONSISTENT and not whole:
            return Estimator.WEIGHTED
    if estimator not in model.estimators:
        raise InputError(
            f"the {model.value} model has no {estimator.value} estimator",
            allowed=[each.value for each in model.estimators],
        )
    if estimator is Estimator.CONSISTENT and not whole:
        raise InputError(
            "bodies need all parameters of their links, and only some are to be identified",
            remedy="Identify all of them, or use another estimator",
        )
    if estimator is Estimator.RIDGE and (prior is None or not any(prior.values.values())):
        raise InputError(
            "the ridge estimator needs a prior",
            remedy="Give a URDF with inertias, or dynamics that were identified before",
        )
    if estimator is Estimator.CONSISTENT and prior is not None and not prior.standard:
        raise InputError(
            "holds no bodies, only base parameters",
            where=prior.source,
            remedy="Use a prior that was identified as consistent bodies, or a URDF",
        )
    return estimator
