"""How dynamics are identified: which estimator, on which model of the motors."""

from __future__ import annotations

from enum import Enum


class Estimator(Enum):
    """How torques are weighted against each other, and what is required of the parameters."""

    #: Least squares.
    ORDINARY = "ordinary"
    #: Each joint is weighted by its own residual.
    WEIGHTED = "weighted"
    #: Whole samples are made white, because residuals of different joints are correlated.
    CORRELATED = "correlated"
    #: The same with Huber's loss, so that outliers count less.
    ROBUST = "robust"
    #: Weighted, without the parameters that the data do not support.
    ESSENTIAL = "essential"
    #: Weighted, all standard parameters close to a prior.
    RIDGE = "ridge"
    #: Weighted, all standard parameters, physically consistent.
    CONSISTENT = "consistent"

    @property
    def weighs_joints(self) -> bool:
        return self is not Estimator.ORDINARY

    @property
    def correlates_joints(self) -> bool:
        return self in (Estimator.CORRELATED, Estimator.ROBUST)

    @property
    def uses_prior(self) -> bool:
        return self in (Estimator.RIDGE, Estimator.CONSISTENT)


class Model(Enum):
    """What is compared with the recording."""

    #: The torque of every motor.
    TORQUE = "torque"
    #: The work of all motors together: no accelerations, one equation per sample.
    ENERGY = "energy"
    #: The power of all motors together, likewise.
    POWER = "power"

    @property
    def estimators(self) -> tuple[Estimator, ...]:
        """The estimators that there are for it, the default one first."""
        if self is Model.TORQUE:
            first = Estimator.CONSISTENT
            return (first, *(each for each in Estimator if each is not first))
        return (Estimator.ORDINARY,)
