"""Several kinds of measurement, each with its price: what to buy for a given sum.

"10 tracker points or 40 touches?" All kinds see the same robot. So the candidates of all of them
stand side by side, over the union of their parameters by name, and the one that lowers the expected
error most for its price is taken next, until the sum is spent. Then each is exchanged for a better
one of its own kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from theodolite.arrays import BoolArray, FloatArray, IntArray
from theodolite.calibration.data import Dataset
from theodolite.calibration.method import Gauge, Method
from theodolite.calibration.noise import Noise
from theodolite.design.constraints import Constraints
from theodolite.design.designing import CANDIDATES, MOST, TASK, allowed_candidates
from theodolite.design.exchange import Search
from theodolite.design.information import Information, information, task_weights
from theodolite.errors import InputError
from theodolite.model.machine import Machine
from theodolite.model.parameters import Group, Parameter

#: Passes over the choice until nothing is exchanged any more.
PASSES = 4
#: An exchange must gain this part at least.
GAIN = 1e-9


@dataclass(frozen=True)
class Offer:
    """A kind of measurement that could be taken, and what one of it costs."""

    method: Method
    price: float
    noise: Noise


@dataclass(frozen=True, eq=False)
class Share:
    """What is to be measured of one kind."""

    offer: Offer
    count: int
    #: The measurements, or None where there are none.
    data: Dataset | None
    #: Expected error if all the money went into this kind, rms over the task, m.
    alone: float


@dataclass(frozen=True, eq=False)
class Mixture:
    """What to measure of each kind, and what it is worth."""

    shares: tuple[Share, ...]
    #: Expected error, rms over the task, m.
    expected: float
    spent: float


def mix(
    robot: Machine,
    offers: Sequence[Offer],
    budget: float,
    *,
    task: FloatArray | None = None,
    constraints: Constraints | None = None,
    pool: int = CANDIDATES,
    gains: bool = False,
    rng: np.random.Generator | None = None,
    tell: Callable[[str], object] | None = None,
) -> Mixture:
    """The measurements of several kinds that determine a robot best for a sum."""
    rng = rng or np.random.default_rng(0)
    say = tell or (lambda what: None)
    _check(offers, budget)
    known = []
    for offer in offers:
        say(f"drawing candidates of {offer.method.title}")
        data = allowed_candidates(robot, offer.method, constraints, pool, rng)
        known.append(information(robot, data, offer.method, offer.noise, gains=gains))
    at = robot.random_motors(TASK, rng) if task is None else task
    union = _Union.of(known)
    weights = union.task(robot, at, known, _most_telling([offer.method for offer in offers]))
    prices = np.concatenate([np.full(len(k), o.price) for k, o in zip(known, offers, strict=True)])
    kind = np.repeat(np.arange(len(known)), [len(k) for k in known])
    say("choosing")
    chosen, expected = _spend(union, weights, prices, kind, budget)
    alone = [
        _spend(union, weights, np.where(kind == number, prices, np.inf), kind, budget)[1]
        for number in range(len(offers))
    ]
    shares = []
    for number, (offer, own) in enumerate(zip(offers, known, strict=True)):
        mine = chosen[kind[chosen] == number] - int(np.flatnonzero(kind == number)[0])
        taken = own.take(mine) if len(mine) else None
        shares.append(Share(offer, len(mine), taken, alone[number]))
    return Mixture(tuple(shares), expected, float(prices[chosen].sum()))


def _check(offers: Sequence[Offer], budget: float) -> None:
    if not offers:
        raise InputError("no kinds of measurement were given")
    for offer in offers:
        if not 0.0 < offer.price < np.inf:
            raise InputError(f"a {offer.method.title} costs {offer.price:g}", allowed="above 0")
    least = min(offer.price for offer in offers)
    if not budget >= least:
        raise InputError(f"the budget {budget:g} buys nothing", allowed=f"{least:g} or more")
    if budget / least > MOST:
        raise InputError(
            f"the budget buys {budget / least:.0f} measurements", allowed=f"up to {MOST}"
        )


@dataclass(frozen=True, eq=False)
class _Union:
    """Candidates of all kinds over the union of their parameters."""

    names: dict[str, int]
    #: (candidates, rows, parameters), zero where one has fewer rows or knows nothing.
    J: FloatArray
    prior: FloatArray

    @staticmethod
    def of(known: Sequence[Information]) -> _Union:
        names: dict[str, int] = {}
        for number, one in enumerate(known):
            for parameter in one.parameters:
                names.setdefault(_name(parameter, number), len(names))
        rows = max(one.J.shape[1] for one in known)
        J = np.zeros((sum(map(len, known)), rows, len(names)))
        prior = np.zeros((len(names), len(names)))
        first = 0
        for number, one in enumerate(known):
            columns = _columns(one, number, names)
            J[first : first + len(one), : one.J.shape[1], columns] = one.J
            prior[columns, columns] = np.maximum(prior[columns, columns], one.tolerated)
            prior[np.ix_(columns, columns)] += one.told
            first += len(one)
        return _Union(names, J, prior)

    def task(
        self, robot: Machine, at: FloatArray, known: Sequence[Information], method: Method
    ) -> FloatArray:
        """Weights of the task over all parameters: those of the robot, which all kinds share.

        They are up to what ``method``, of all kinds the most telling one, never determines.
        """
        Q = np.zeros((len(self.names), len(self.names)))
        for number, one in enumerate(known):
            columns = _columns(one, number, self.names)
            block = task_weights(robot, at, one, method)
            seen = np.ix_(columns, columns)
            # Every kind says the same of the parameters that it shares with another.
            Q[seen] = np.where(block != 0.0, block, Q[seen])
        return Q


def _most_telling(methods: Sequence[Method]) -> Method:
    """The method that leaves least undetermined: one with a world of its own, if there is any."""
    order = (Gauge.NONE, Gauge.PLACE, Gauge.SIMILARITY, Gauge.SIMILARITY_AND_TOOL, Gauge.LENGTHS)
    return min(methods, key=lambda method: (not method.places, order.index(method.gauge)))


def _name(parameter: Parameter, number: int) -> str:
    """Unknowns of a sensor are its own."""
    own = parameter.group is Group.SENSOR
    return f"{parameter.name}@{number}" if own else parameter.name


def _columns(known: Information, number: int, names: dict[str, int]) -> IntArray:
    return np.array([names[_name(p, number)] for p in known.parameters], dtype=np.intp)


def _spend(
    union: _Union, weights: FloatArray, prices: FloatArray, kind: IntArray, budget: float
) -> tuple[IntArray, float]:
    """What lowers the error most for its price, until nothing can be bought any more."""
    search = Search(union.J, union.prior + np.diag(_SLIGHT * (np.diag(union.prior) == 0)), weights)
    left = budget
    while True:
        affordable: BoolArray = prices <= left + 1e-9 * budget
        worth = np.where(affordable, search.gains() / prices, -np.inf)
        best = int(np.argmax(worth))
        if not worth[best] > 0.0:
            break
        search.add(best)
        left -= float(prices[best])
    for _ in range(PASSES):
        if not _exchanged(search, kind):
            break
    error = float(np.sqrt(max(-search.value(), 0.0)))
    return np.array(search.chosen, dtype=np.intp), error


#: Prior, in what the data resolve, of parameters of which nothing is known: the first measurements
#: can then be compared.
_SLIGHT = 1e-6


def _exchanged(search: Search, kind: IntArray) -> bool:
    """Exchange each for the best of its kind; was anything gained?"""
    changed = False
    for candidate in list(search.chosen):
        before = search.value()
        search.remove(candidate)
        gains = np.where(kind == kind[candidate], search.gains(), -np.inf)
        best = int(np.argmax(gains))
        search.add(best)
        if best != candidate and search.value() - before > GAIN * abs(before):
            changed = True
        elif best != candidate:
            search.remove(best)
            search.add(candidate)
    return changed
