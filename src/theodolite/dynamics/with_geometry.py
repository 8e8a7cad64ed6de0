"""Geometry from measured poses and dynamics from torques, with one uncertainty for both.

The torques' regressor is that of the calibrated robot, so an error of the geometry is an error of
every column. A calibration says how certain its geometry is: along each independent direction of
that, the robot is moved by one standard deviation and its dynamics are fitted again to the same
torques. The scatter of these fits is what the geometry adds, to parameters and to predictions. The
fit with the nominal robot says what a wrong geometry would have done.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.calibration.result import Result
from theodolite.dynamics.base_parameters import find_base_parameters
from theodolite.dynamics.drives import State
from theodolite.dynamics.estimators import Estimator
from theodolite.dynamics.filtering import Run
from theodolite.dynamics.friction_choice import choose_friction
from theodolite.dynamics.identify import identify_dynamics
from theodolite.dynamics.motion_torques import MotionTorques, predict_motion
from theodolite.dynamics.parameters import DynamicParameters
from theodolite.dynamics.preparation import Recorded, prepare_runs
from theodolite.dynamics.result import IdentifiedDynamics
from theodolite.dynamics.serial import Dynamics
from theodolite.dynamics.torque import TorqueProblem
from theodolite.errors import InputError
from theodolite.estimation.loss import Loss
from theodolite.estimation.reduction import reduce
from theodolite.estimation.scaling import unit_columns
from theodolite.estimation.statistics import NORMAL_95
from theodolite.estimation.threads import single_thread
from theodolite.model.robot import Robot

#: Directions whose share of the geometry's uncertainty is smaller than this do not count.
NEGLIGIBLE = 1e-6


@dataclass(frozen=True, eq=False)
class Variant:
    """A robot that is off by one standard deviation, and the values that fit it."""

    dynamics: Dynamics
    values: FloatArray


@dataclass(frozen=True, eq=False)
class GeometryAndDynamics:
    """A calibrated robot and its dynamics."""

    calibration: Result
    #: Its intervals hold those of the geometry as well.
    dynamics: IdentifiedDynamics
    #: What the same torques give with the geometry before the calibration.
    nominal: IdentifiedDynamics
    #: The parameters with intervals that take the geometry for exact.
    torques_alone: DynamicParameters
    #: Fits without and with each direction of the geometry's uncertainty.
    centre: Variant
    variants: tuple[Variant, ...]

    @property
    def geometry_errors(self) -> FloatArray:
        """What the geometry adds to the standard errors of the base parameters."""
        base = self.dynamics.identifiability.base
        return np.sqrt(np.diag(_scatter(self.centre, self.variants))[base])

    def predict(self, state: State) -> MotionTorques:
        """Torques along a motion; their intervals hold the uncertainty of the geometry."""
        plain = predict_motion(self.dynamics.dynamics, self.torques_alone, state)
        own = self._torques(self.centre, state)
        off = np.array([self._torques(each, state) - own for each in self.variants])
        added = (off**2).sum(axis=0) if len(off) else np.zeros_like(own)
        widths = np.sqrt(plain.half_widths**2 + NORMAL_95**2 * added)
        return replace(plain, half_widths=widths)

    def _torques(self, variant: Variant, state: State) -> FloatArray:
        problem = TorqueProblem(
            variant.dynamics,
            Run.of(state),
            drives=self.dynamics.problem.drives,
            only=self.dynamics.problem.names,
        ).under_load(self.dynamics.values)
        return problem.predict(variant.values)


def identify_with_geometry(
    calibration: Result,
    recordings: Recorded,
    *,
    gravity: FloatArray | None = None,
    cutoff: float | None = None,
    trim: bool = True,
) -> GeometryAndDynamics:
    """Dynamics of a calibrated robot, with what the errors of its calibration do to them."""
    robot, nominal = calibration.robot, calibration.nominal
    if not isinstance(robot, Robot) or not isinstance(nominal, Robot):
        raise InputError(
            f"'{robot.name}' is a mechanism; geometry and dynamics are identified together only "
            "for serial robots"
        )
    dynamics = Dynamics(robot, gravity=gravity)
    runs = prepare_runs(recordings, cutoff=cutoff, trim=trim, dynamics=dynamics)
    chosen = choose_friction(dynamics, runs)
    found, drives = chosen.dynamics, chosen.drives
    assert isinstance(found, Dynamics)
    # Axes that are parallel by design are not quite so once they are calibrated. What only that
    # would show is not known: the base parameters are those of the design.
    designed = _like(found, nominal)
    base = find_base_parameters(designed, drives=drives).identifiable

    def fit(machine: Dynamics) -> IdentifiedDynamics:
        return identify_dynamics(
            machine, runs, drives=drives, only=base, estimator=Estimator.WEIGHTED
        )

    result = replace(fit(found), friction=chosen.choice)
    centre = _fit(result, found)
    variants = tuple(_fit(result, _like(found, moved)) for moved in _directions(calibration, robot))
    spread, known = result.statistics, result.identifiability.base
    scatter = _scatter(centre, variants)[np.ix_(known, known)]
    wider = replace(spread, covariance=spread.covariance + scatter)
    return GeometryAndDynamics(
        calibration,
        replace(result, statistics=wider),
        fit(designed),
        result.parameters,
        centre,
        variants,
    )


def _like(dynamics: Dynamics, robot: Robot) -> Dynamics:
    """The dynamics of another geometry, with the same gravity and shapes of friction."""
    other = Dynamics(robot, gravity=dynamics.gravity, stribeck_speed=dynamics.stribeck_speed)
    return other.with_shape(
        dynamics.transition_speeds, presliding_distances=dynamics.presliding_distances
    )


def _directions(calibration: Result, robot: Robot) -> list[Robot]:
    """Robots that are off by one standard deviation in each independent direction."""
    known = {parameter.name: parameter for parameter in robot.parameters}
    names = calibration.identifiability.identifiable
    own = [place for place, name in enumerate(names) if name in known]
    if not own:
        return []
    covariance = calibration.statistics.covariance[np.ix_(own, own)]
    units = np.array([known[names[place]].tolerance for place in own])
    units = np.where(np.isfinite(units) & (units > 0), units, 1.0)
    sizes, vectors = np.linalg.eigh(covariance / np.outer(units, units))
    moved = []
    for size, vector in zip(sizes, vectors.T, strict=True):
        if size <= NEGLIGIBLE * sizes[-1]:
            continue
        step = np.sqrt(size) * vector * units
        values = {
            names[place]: known[names[place]].value + float(change)
            for place, change in zip(own, step, strict=True)
        }
        moved.append(robot.with_values(values))
    return moved


def _fit(result: IdentifiedDynamics, dynamics: Dynamics) -> Variant:
    """The values that fit the same torques with another geometry, at the same weights."""
    problem, known = result.problem, result.identifiability
    other = TorqueProblem(
        dynamics,
        problem.runs,
        drives=problem.drives,
        only=problem.names,
        whitening=problem.whitening,
    ).under_load(result.values)
    values = np.zeros(len(other.parameters))
    with single_thread():
        reduction = reduce(other, values, Loss())
        unit, lengths = unit_columns(reduction.R[:, known.base])
        values[known.base] = np.linalg.lstsq(unit, -reduction.z, rcond=None)[0] / lengths
    return Variant(dynamics, values)


def _scatter(centre: Variant, variants: tuple[Variant, ...]) -> FloatArray:
    """Covariance of the values by that of the geometry."""
    off = np.array([each.values - centre.values for each in variants])
    return off.T @ off if len(off) else np.zeros((len(centre.values),) * 2)
