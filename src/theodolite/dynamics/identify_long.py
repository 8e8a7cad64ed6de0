"""Identification from recordings larger than memory: what a user asks for.

All samples determine the parameters. What has to see the whole at once (the cut-off, the choice of
friction, the weight of a prior, the checks and the judgement) sees excerpts spread over it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from theodolite.dynamics.consistent import fit_consistent
from theodolite.dynamics.drives import Drive, Drives, holds
from theodolite.dynamics.estimators import Estimator, Model
from theodolite.dynamics.friction_choice import (
    FURTHER_FRICTION,
    USUAL_FRICTION,
    choose_friction,
    friction_drives,
)
from theodolite.dynamics.identify import check_estimator
from theodolite.dynamics.least_squares import check_length, keep_essential
from theodolite.dynamics.long_fit import fit_pieces
from theodolite.dynamics.long_recording import LongSource, find_stretches, read_excerpts
from theodolite.dynamics.parameters import DynamicParameters
from theodolite.dynamics.pieces import cut_pieces
from theodolite.dynamics.preparation import prepare_runs
from theodolite.dynamics.result import IdentifiedDynamics
from theodolite.dynamics.ridge import fit_ridge
from theodolite.dynamics.torque import TorqueProblem
from theodolite.dynamics.tree import Tree
from theodolite.errors import InputError
from theodolite.estimation.merging import Each, in_turn

#: Estimators that need residuals of whole samples, not factors of single motors.
SHORT_ONLY = (Estimator.CORRELATED, Estimator.ROBUST)


@dataclass(frozen=True, eq=False)
class LongIdentification:
    """A result whose problem holds the excerpts, and what is to be said about it."""

    result: IdentifiedDynamics
    notes: tuple[str, ...]


def identify_long(
    dynamics: Tree,
    source: LongSource,
    *,
    estimator: Estimator | None = None,
    drives: Drives | None = None,
    rotors: bool = True,
    prior: DynamicParameters | None = None,
    prior_weight: float | None = None,
    only: Sequence[str] | None = None,
    prefer: Sequence[str] = (),
    cutoff: float | None = None,
    each: Each = in_turn,
    passed: Callable[[int], object] | None = None,
) -> LongIdentification:
    """Identify parameters as `identify_dynamics` does, in memory that does not grow.

    The standstill before and after the movement is kept. ``each`` runs a function on many tasks,
    here or elsewhere; ``passed`` is called after each pass over the data.
    """
    estimator = check_estimator(estimator, Model.TORQUE, prior, whole=only is None)
    _check_possible(estimator, drives, source.name)
    if prior is not None:
        prior.check_frames(dynamics)
    stretches = find_stretches(source)
    excerpts = read_excerpts(source, stretches)
    runs = prepare_runs(excerpts, cutoff=cutoff, trim=False, dynamics=dynamics)
    choice = None
    if drives is None and only is None:
        usual = friction_drives(USUAL_FRICTION, rotors=rotors)
        check_length(TorqueProblem(dynamics, runs, drives=usual), dynamics.motors)
        candidates = tuple(term for term in FURTHER_FRICTION if term != "load")
        chosen = choose_friction(dynamics, runs, prior, rotors=rotors, candidates=candidates)
        dynamics, drives, choice = chosen.dynamics, chosen.drives, chosen.choice
    elif drives is None:
        drives = friction_drives(USUAL_FRICTION, rotors=rotors)
    problem = TorqueProblem(dynamics, runs, drives=drives, only=only, prefer=prefer)
    check_length(problem, dynamics.motors)
    pieces = [
        piece
        for stretch in stretches
        for piece in cut_pieces(source, stretch, dynamics, runs[0].cutoff)
    ]
    fitted = fit_pieces(problem, pieces, estimator, only=only, each=each, passed=passed)
    result = replace(fitted, friction=choice)
    values = None if prior is None else prior.vector(problem.names)
    if estimator is Estimator.ESSENTIAL:
        result = keep_essential(result)
    elif estimator is Estimator.CONSISTENT:
        result = fit_consistent(result, values, prior_weight)
    elif estimator is Estimator.RIDGE and values is not None:
        result = fit_ridge(result, values)
    seen = sum(len(excerpt.times) for excerpt in excerpts)
    notes = []
    if len(stretches) > 1:
        notes.append(f"{source.name}: {len(stretches)} stretches between interruptions are used")
    if seen < source.rows:
        notes.append(
            f"all {source.rows} rows determine the parameters; cut-off, friction terms, weight of "
            f"a prior, checks and errors come from {len(excerpts)} excerpts of {seen} rows together"
        )
    return LongIdentification(result, tuple(notes))


def _check_possible(estimator: Estimator, drives: Drives | None, name: str) -> None:
    if estimator in SHORT_ONLY:
        raise InputError(
            f"the {estimator.value} estimator needs a recording that fits in memory",
            where=name,
            allowed=[one.value for one in Estimator if one not in SHORT_ONLY],
        )
    if drives is not None and holds(drives, Drive.LOAD):
        raise InputError(
            "friction that grows with the load needs a recording that fits in memory",
            where=name,
            remedy="Leave the term out, or give a part of the recording",
        )
