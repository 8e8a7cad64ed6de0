"""Which friction a robot has: terms are added while they predict torques that a fit has not seen.

Every model shares the columns of the links, which are computed once; friction is cheap to compute
again with another shape. About the bodies that fit best, the prior is a quadratic, so leaving out a
block of time is linear algebra on triangular factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.body_prior import BodyPrior, usual_sizes
from theodolite.dynamics.consistent import nearest_bodies
from theodolite.dynamics.drives import (
    FRICTION_NAMES,
    ROTORS,
    STRIBECK_SPEED,
    Drive,
    Drives,
    drive_torque,
)
from theodolite.dynamics.filtering import Run
from theodolite.dynamics.inertia import INERTIAL
from theodolite.dynamics.parameters import DynamicParameters
from theodolite.dynamics.time_blocks import SPLITS, BlockFactors, splits, time_blocks
from theodolite.dynamics.torque import TorqueProblem
from theodolite.dynamics.torque_noise import TorqueNoise, estimate_noise
from theodolite.dynamics.tree import Tree, loads_gears
from theodolite.estimation.choice import Choice, select_forward
from theodolite.estimation.scaling import unit_columns
from theodolite.estimation.threads import single_thread

#: What every drive has, and what it may have besides, in the order of trying.
USUAL_FRICTION = ("viscous", "coulomb", "offset")
FURTHER_FRICTION = ("load", "quadratic", "stribeck", "asymmetric", "ripple")
#: Speeds over which friction may reverse, as parts of the usual speed of the motor.
TRANSITIONS = np.geomspace(1e-3, 0.3, 12)
#: Presliding distances to try, as parts of how far the motor usually is from its mean position.
#: Shorter ones cannot be told from none; longer ones would be springs.
DISTANCES = np.geomspace(1e-4, 1e-2, 9)
#: Stribeck speeds to try, as multiples of the one that is usual.
STRIBECK_SPEEDS = (0.3, 1.0, 3.0, 10.0)
#: A term must predict better by this many standard errors: with ten to choose from, of which none
#: is right, the best one is that good by chance in 5 % of all cases (t with 19 blocks).
CLEARLY = 2.9
#: Rounds in which weights and bodies settle before friction is chosen.
ROUNDS = 3
#: Singular values below this part of the largest are dependent columns of one joint.
SINGULAR = 1e-9


class Reversal(Enum):
    """How friction changes its direction, in words; the later ones are more to try."""

    AT_ONCE = ""
    GRADUAL = "gradual reversal"
    MEMORY = "presliding"

    @property
    def further(self) -> tuple[Reversal, ...]:
        every = tuple(Reversal)
        return every[every.index(self) + 1 :]


@dataclass(frozen=True)
class FrictionModel:
    """Friction terms by name, and how they reverse."""

    terms: tuple[str, ...] = USUAL_FRICTION
    reversal: Reversal = Reversal.AT_ONCE
    stribeck_speed: float = STRIBECK_SPEED
    #: What may be added.
    further: tuple[str, ...] = FURTHER_FRICTION

    @property
    def name(self) -> str:
        shapes = {"stribeck": f"stribeck ({self.stribeck_speed:.2g} rad/s)"}
        parts = [shapes.get(term, term) for term in self.terms]
        return " + ".join(filter(None, [*parts, self.reversal.value]))

    def larger(self) -> list[FrictionModel]:
        """The same with one more term, in each of its shapes."""
        models = [replace(self, reversal=reversal) for reversal in self.reversal.further]
        for term in self.further:
            if term in self.terms:
                continue
            further = replace(self, terms=(*self.terms, term))
            if term == "stribeck":
                # A speed that was given is the one to try.
                given = self.stribeck_speed != STRIBECK_SPEED
                speeds = [self.stribeck_speed * f for f in ((1.0,) if given else STRIBECK_SPEEDS)]
                models += [replace(further, stribeck_speed=speed) for speed in speeds]
            else:
                models.append(further)
        return models


@dataclass(frozen=True, eq=False)
class ChosenFriction:
    """The terms that were chosen, the dynamics with their shapes, and all that was tried."""

    dynamics: Tree
    drives: tuple[Drive, ...]
    #: None where the recordings are too short to leave anything out.
    choice: Choice | None


def friction_drives(terms: Sequence[str], *, rotors: bool = True) -> tuple[Drive, ...]:
    """Rotors, and the drives of friction terms by name, in one order."""
    wanted = {drive for term in terms for drive in FRICTION_NAMES[term]}
    return tuple(d for d in Drive if d in wanted or (rotors and d is Drive.ROTOR))


def choose_friction(
    dynamics: Tree,
    runs: Sequence[Run],
    prior: DynamicParameters | None = None,
    *,
    rotors: bool = True,
    candidates: tuple[str, ...] = FURTHER_FRICTION,
) -> ChosenFriction:
    """Friction by cross-validation over blocks of time; ``candidates`` may be added.

    Bodies are drawn to those of a ``prior``, if there is one; see `body_prior`.
    """
    with single_thread():
        # Friction by temperature is in question only where it was recorded.
        warm = all(run.state.temperatures is not None for run in runs)
        further = (*candidates, "temperature") if warm else candidates
        tables = _Tables(dynamics, runs, prior, further, rotors=rotors)
        first = FrictionModel(
            reversal=_given_reversal(dynamics),
            stribeck_speed=dynamics.stribeck_speed,
            further=further,
        )
        if len(tables.blocks) < 2:
            # Nothing can be left out to choose by.
            return ChosenFriction(dynamics, friction_drives(first.terms, rotors=rotors), None)
        model, choice = select_forward(
            [first],
            lambda model: model.larger(),
            tables.scores,
            lambda model: model.name,
            clearly=CLEARLY,
        )
    shaped = tables.shaped(model.reversal, model.stribeck_speed)
    return ChosenFriction(shaped, friction_drives(model.terms, rotors=rotors), choice)


def _given_reversal(dynamics: Tree) -> Reversal:
    if dynamics.presliding_distances.any():
        return Reversal.MEMORY
    return Reversal.GRADUAL if dynamics.transition_speeds.any() else Reversal.AT_ONCE


def _known(dynamics: Tree, block: Run) -> FloatArray:
    """Torques that need no parameters, after the low-pass, (motors, rows)."""
    known = dynamics.known_torques(block.state)
    if known is None:
        return np.zeros((dynamics.motors, block.rows))
    return np.asarray(block.decimation.apply(known))


class _Tables:
    """Columns of the links in blocks of time, with any friction beside them."""

    def __init__(
        self,
        dynamics: Tree,
        runs: Sequence[Run],
        prior: DynamicParameters | None,
        further: Sequence[str],
        *,
        rotors: bool,
    ) -> None:
        self.dynamics = dynamics
        self.blocks = time_blocks(runs)
        every = friction_drives((*USUAL_FRICTION, *further), rotors=rotors)
        whole = TorqueProblem(dynamics, self.blocks, drives=every)
        self.symbols, self.names, self.usual = whole.symbols, whole.names, usual_sizes(whole)
        own: Drives = ROTORS if rotors else ()
        self.rigid = [self.names.index(name) for name in dynamics.names(own)]
        tables = [dynamics.regressor(block.state, own) for block in self.blocks]
        self.known = [_known(dynamics, block) for block in self.blocks]
        self.low = [
            block.decimation.apply(table) for block, table in zip(self.blocks, tables, strict=True)
        ]
        self._factors: dict[tuple[Reversal, float], BlockFactors] = {}
        self.loads: list[FloatArray] = [np.zeros_like(block.torques) for block in self.blocks]
        # Noise, bodies and loads with the usual friction, then what needs them.
        usual = TorqueProblem(
            dynamics, self.blocks, drives=friction_drives(USUAL_FRICTION, rotors=rotors)
        )
        bodies = BodyPrior.of(usual, None if prior is None else prior.vector(usual.names))
        places = [self.names.index(name) for name in usual.names]
        self.noise, values = self._settle(bodies, places)
        of_bodies = values[[usual.names.index(self.names[place]) for place in self.rigid]]
        # What the machine itself says of its shafts is in every model, but does not load gears.
        of_bodies[[not loads_gears(self.symbols[place][0]) for place in self.rigid]] = 0.0
        self.loads = [np.tensordot(of_bodies, table, axes=1).T for table in tables]
        self._propose_shapes()
        self._linearise(bodies, values, places)

    def scores(self, model: FrictionModel) -> FloatArray:
        """Mean held-out square of the whitened errors of each block, (blocks,)."""
        wanted = {drive.value for drive in friction_drives(model.terms)}
        places = [
            place
            for place, (symbol, _) in enumerate(self.symbols)
            if place in self.rigid or symbol in wanted
        ]
        factors = self._factors_of(model.reversal, model.stribeck_speed).columns(places)
        rows = self.prior_rows[:, places]
        found = np.zeros(len(self.blocks))
        for folds in splits(len(self.blocks)):
            for left_out in folds:
                rest = [block for block in range(len(self.blocks)) if block not in left_out]
                R, target = factors.together(rest)
                unit, lengths = unit_columns(np.concatenate([R, rows]))
                right = np.concatenate([target, self.prior_values])
                values = np.linalg.lstsq(unit, right, rcond=None)[0] / lengths
                for block in left_out:
                    found[block] += factors.squares(block, values) / SPLITS
        return found

    def _settle(self, bodies: BodyPrior, places: Sequence[int]) -> tuple[TorqueNoise, FloatArray]:
        """Noise of the torques, and bodies with the usual friction that fit them."""
        tables = [self._table(block, self.dynamics)[[*places, -1]] for block in self._numbers]
        measured = np.concatenate([block.measured() for block in self.blocks])
        sizes = np.sqrt((measured**2).mean(axis=0))
        whitening: FloatArray = np.diag(1.0 / np.where(sizes > 0, sizes, 1.0))
        values = None
        for _ in range(ROUNDS):
            R, target = BlockFactors.of(tables, whitening).together(self._numbers)
            values = nearest_bodies(R, target, bodies, start=values).values
            errors = [np.tensordot(values, table[:-1], axes=1) + table[-1] for table in tables]
            noise = estimate_noise(np.concatenate(errors, axis=1).T, measured)
            whitening = noise.whitening
        assert values is not None
        return noise, values

    def _linearise(self, bodies: BodyPrior, values: FloatArray, places: Sequence[int]) -> None:
        """The prior as least squares about these bodies; friction about zero."""
        root = bodies.curvature_root(values)
        pull = np.linalg.solve(root.T, bodies.slope(values))
        of_links = [place for place in places if self.symbols[place][0] in INERTIAL]
        inside = [index for index, place in enumerate(places) if place in of_links]
        drives = [place for place in range(len(self.names)) if place not in of_links]
        rows = np.zeros((len(self.names), len(self.names)))
        rows[: len(inside)][:, of_links] = root[np.ix_(inside, inside)]
        rows[len(inside) + np.arange(len(drives)), drives] = 1.0 / self.usual[drives]
        self.prior_rows = rows
        self.prior_values = np.concatenate([(root @ values - pull)[inside], np.zeros(len(drives))])

    def shaped(self, reversal: Reversal, stribeck_speed: float) -> Tree:
        """The dynamics with friction of one shape."""
        none = np.zeros(self.dynamics.motors)
        return self.dynamics.with_shape(
            none if reversal is Reversal.AT_ONCE else self.transitions,
            stribeck_speed,
            self.distances if reversal is Reversal.MEMORY else none,
        )

    def _factors_of(self, reversal: Reversal, stribeck_speed: float) -> BlockFactors:
        """All blocks with friction of one shape."""
        key = (reversal, stribeck_speed)
        if key not in self._factors:
            shaped = self.shaped(reversal, stribeck_speed)
            tables = [self._table(block, shaped) for block in self._numbers]
            self._factors[key] = BlockFactors.of(tables, self.noise.whitening)
        return self._factors[key]

    @property
    def _numbers(self) -> range:
        return range(len(self.blocks))

    def _table(self, number: int, shaped: Tree) -> FloatArray:
        """All columns and -torque of a block after the low-pass, (columns + 1, motors, rows)."""
        block = self.blocks[number]
        table = np.zeros((len(self.names) + 1, self.dynamics.motors, block.rows))
        table[self.rigid] = self.low[number]
        axes = [shaped.axis(block.state, block.state, motor) for motor in range(shaped.motors)]
        # All torques pass the filter at once: one call for each would take most of the time.
        places, motors, torques = [], [], []
        for place, (symbol, suffix) in enumerate(self.symbols):
            if place in self.rigid:
                continue
            motor = shaped.motor_names.index(suffix)
            load = self.loads[number][:, motor]
            places.append(place)
            motors.append(motor)
            torques.append(drive_torque(Drive(symbol), axes[motor], load))
        table[places, motors] = block.decimation.apply(np.array(torques))
        table[-1] = self.known[number] - block.measured().T
        return table

    def _propose_shapes(self) -> None:
        """Find the speeds and distances over which friction reverses, unless they are given."""
        states = [block.state for block in self.blocks]
        speeds = np.sqrt(np.mean(np.concatenate([state.qd for state in states]) ** 2, axis=0))
        ways = np.concatenate([state.q[:, : self.dynamics.motors] for state in states]).std(axis=0)
        given = self.dynamics.transition_speeds[: self.dynamics.motors]
        self.transitions = given if given.any() else self._fitting(TRANSITIONS, speeds)
        kept = self.dynamics.presliding_distances
        self.distances = kept if kept.any() else self._fitting(DISTANCES, ways, memory=True)

    def _fitting(self, parts: FloatArray, usual: FloatArray, *, memory: bool = False) -> FloatArray:
        """The speed, or the distance, by which each motor's own torque is fitted best.

        One of some ``parts`` of what is usual of the motor.
        """
        dynamics = self.dynamics
        wanted = {drive.value for drive in friction_drives((*USUAL_FRICTION, "load"))}
        errors = np.zeros((len(parts), dynamics.motors))
        usual = np.maximum(usual, np.finfo(float).tiny)
        for number, part in enumerate(parts):
            if memory:
                shaped = dynamics.with_shape(presliding_distances=part * usual)
            else:
                shaped = dynamics.without_memory().with_shape(part * usual)
            tables = [self._table(block, shaped) for block in self._numbers]
            for motor, name in enumerate(dynamics.motor_names):
                own = [
                    place
                    for place, (symbol, suffix) in enumerate(self.symbols)
                    if place in self.rigid or (symbol in wanted and suffix == name)
                ]
                rows = np.concatenate([table[[*own, -1], motor] for table in tables], axis=1).T
                unit, _ = unit_columns(rows[:, :-1])
                values = np.linalg.lstsq(unit, rows[:, -1], rcond=SINGULAR)[0]
                errors[number, motor] = np.linalg.norm(unit @ values - rows[:, -1])
        return np.asarray(parts[np.argmin(errors, axis=0)] * usual)
