"""How well a robot predicts measurements it has not seen."""

from __future__ import annotations

from dataclasses import dataclass

from theodolite.calibration.cross_validation import is_exact, summarise
from theodolite.calibration.data import Dataset
from theodolite.calibration.method import Method
from theodolite.calibration.placement import place
from theodolite.calibration.result import Errors
from theodolite.errors import InputError
from theodolite.model.machine import Machine


@dataclass(frozen=True)
class Validation:
    """Errors of a robot on given measurements, and of a nominal one fitted to them."""

    errors: Errors
    nominal: Errors | None = None
    #: Is all that is left rounding?
    exact: bool = False

    @property
    def better(self) -> bool | None:
        """Is it better than the nominal robot in every quantity, or exact? None without one."""
        if self.nominal is None:
            return None
        return self.exact or all(
            self.errors[name].rms < self.nominal[name].rms for name in self.errors
        )


def validate(
    robot: Machine, data: Dataset, method: Method, *, nominal: Machine | None = None
) -> Validation:
    """The robot's errors, and those of ``nominal`` with base and tool fitted to the data."""
    errors = summarise(robot, data, method)
    if nominal is None:
        return Validation(errors)
    if nominal.joint_types != robot.joint_types:
        raise InputError(f"'{nominal.name}' has different joints from '{robot.name}'")
    before = summarise(place(nominal, data, method), data, method)
    return Validation(errors, before, exact=is_exact(errors, robot))
