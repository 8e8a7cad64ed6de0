"""Relations between inertial parameters with the robot's lengths in them: ``(D3^2 + R3^2) M3``.

Coefficients of the grouping rules are polynomials of degree two in the lengths of the robot. They
are found by interpolation: the rules are evaluated for robots of the same structure with other
lengths, which determines the polynomial, and some more robots confirm it. All of this is done with
the robot's own length as the unit, in which no coefficient is large or small because the robot is.
"""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.dynamics.drives import Drive, Drives, holds
from theodolite.dynamics.grouping import null_space, parameter_units
from theodolite.dynamics.serial import Dynamics
from theodolite.dynamics.tree import Tree
from theodolite.estimation.identifiability import NEGLIGIBLE, Identifiability
from theodolite.estimation.threads import single_thread
from theodolite.model.parameters import Group, Unit

#: With more lengths than these, nobody would read the polynomials.
MOST_LENGTHS = 8
#: A polynomial explains a coefficient if it is off by less, where the robot is 1 long.
EXACT = 1e-9
#: It is that of the relations at hand if it differs from them by less: of a robot of millimetres,
#: these carry the rounding of samples in which lengths hardly show.
SAMPLED = 1e-6
#: Further robots, beyond those that determine the polynomial, to confirm it.
CONFIRMATIONS = 3
#: Range of the factors by which lengths are changed.
FACTORS = (0.5, 1.5)


def describe_relations(
    dynamics: Tree, identifiability: Identifiability, drives: Drives
) -> list[str]:
    """The relations of any robot, with its lengths in them where it is a serial one."""
    if isinstance(dynamics, Dynamics) and not len(identifiability.hidden):
        return relations_in_words(dynamics, identifiability, with_rotors=holds(drives, Drive.ROTOR))
    return identifiability.sentences()


def relations_in_words(
    dynamics: Dynamics, identifiability: Identifiability, *, with_rotors: bool = True
) -> list[str]:
    """``ZZ1* = ZZ1 + Ia1 + YY2 + 2 R3 MZ3 + (D3^2 + R3^2) M3``, one line for each base parameter.

    A coefficient that is not a polynomial in the lengths is given as a number.
    """
    units = _relation_units(dynamics, identifiability)
    with single_thread():
        texts = _recognise(dynamics, identifiability, units, with_rotors=with_rotors)
    others = identifiability.names(identifiability.regrouped)
    lines = []
    for row, name in enumerate(identifiability.identifiable):
        groups: dict[str, list[str]] = {}
        for column, other in enumerate(others):
            if abs(identifiability.relations[row, column]) > NEGLIGIBLE * units[row, column]:
                text = texts.get((row, column), _number(identifiability.relations[row, column]))
                if text:
                    groups.setdefault(text, []).append(other)
        if groups:
            parts = [_times(text, names) for text, names in groups.items()]
            lines.append(" ".join([f"{name}* = {name}", *parts]))
    return lines


def _times(coefficient: str, names: list[str]) -> str:
    """A signed summand: ``- D3^2 (M3 + M4)``."""
    sign = "+"
    if " + " in coefficient or " - " in coefficient:
        coefficient = f"({coefficient})"
    elif coefficient.startswith("-"):
        sign, coefficient = "-", coefficient.removeprefix("-")
    if coefficient == "1":
        return " ".join(f"{sign} {name}" for name in names)
    whole = names[0] if len(names) == 1 else f"({' + '.join(names)})"
    return f"{sign} {coefficient} {whole}"


def _number(value: float) -> str:
    return f"{value:.6g}"


def _relation_units(dynamics: Dynamics, identifiability: Identifiability) -> FloatArray:
    """What each coefficient is measured in where the robot's length is the unit."""
    drives = tuple(Drive)
    by_name = dict(
        zip(dynamics.names(drives), parameter_units(dynamics, drives).tolist(), strict=True)
    )

    def units(indices: IntArray) -> FloatArray:
        return np.array([by_name.get(name, 1.0) for name in identifiability.names(indices)])

    return units(identifiability.base)[:, None] / units(identifiability.regrouped)


def _recognise(
    dynamics: Dynamics,
    identifiability: Identifiability,
    units: FloatArray,
    *,
    with_rotors: bool,
) -> dict[tuple[int, int], str]:
    """Coefficients (base, regrouped) that are polynomials in the lengths, as text; "" for zero."""
    robot = dynamics.robot
    lengths = [
        parameter
        for parameter in robot.parameters
        if parameter.unit is Unit.METRE and parameter.group is Group.ARM and parameter.value != 0
    ]
    nothing = not len(identifiability.regrouped) or not identifiability.rank
    if nothing or len(lengths) > MOST_LENGTHS or not dynamics.direct_drives:
        return {}
    rng = np.random.default_rng(0)
    monomials: list[tuple[int, ...]] = [(), *((i,) for i in range(len(lengths)))]
    monomials += list(combinations_with_replacement(range(len(lengths)), 2))
    size = dynamics.length
    nominal = np.array([parameter.value for parameter in lengths]) / size
    trials = nominal * rng.uniform(*FACTORS, (len(monomials) + CONFIRMATIONS, len(lengths)))
    relations_of = []
    for trial in trials:
        names = [parameter.name for parameter in lengths]
        changed = robot.with_values(dict(zip(names, trial.tolist(), strict=True)))
        other = Dynamics(changed, gravity=dynamics.gravity)
        relations = _relations(other, identifiability, with_rotors=with_rotors)
        if relations is None:
            return {}
        relations_of.append(relations)
    table = np.array([[np.prod(trial[list(m)]) for m in monomials] for trial in trials])
    at_nominal = np.array([np.prod(nominal[list(m)]) for m in monomials])
    values = np.array(relations_of).reshape(len(trials), -1)
    polynomials = np.linalg.lstsq(table, values, rcond=None)[0]
    off = np.abs(table @ polynomials - values).max(axis=0)
    here = np.abs(at_nominal @ polynomials - (identifiability.relations / units).ravel())
    shape = identifiability.relations.shape
    symbols = [parameter.name.upper() for parameter in lengths]
    by_monomial = size ** -np.array([float(len(monomial)) for monomial in monomials])
    return {
        (int(index) // shape[1], int(index) % shape[1]): _polynomial(
            polynomials[:, index], units.flat[index] * by_monomial, monomials, symbols
        )
        for index in np.flatnonzero((off < EXACT) & (here < SAMPLED))
    }


def _relations(
    dynamics: Dynamics, identifiability: Identifiability, *, with_rotors: bool
) -> FloatArray | None:
    """The same parameters regrouped into the same ones, for other lengths; None if they cannot."""
    null = null_space(dynamics, (Drive.ROTOR,) if with_rotors else ())
    names = dynamics.names((Drive.ROTOR,) if with_rotors else ())
    places = {name: place for place, name in enumerate(names)}
    nothing = np.zeros(null.shape[1])

    def rows(indices: IntArray) -> FloatArray:
        return np.array(
            [null[places[n]] if n in places else nothing for n in identifiability.names(indices)]
        ).reshape(-1, null.shape[1])

    # Parameters without effect may be in any combination; projection leaves them out.
    hidden = rows(identifiability.no_effect)
    _, s, Vt = np.linalg.svd(hidden, full_matrices=True)
    free = Vt[int(np.count_nonzero(s > EXACT)) :].T
    dropped, kept = rows(identifiability.regrouped) @ free, rows(identifiability.base) @ free
    if dropped.shape[0] != dropped.shape[1] or np.linalg.cond(dropped) > 1.0 / EXACT:
        return None
    return np.asarray(-kept @ np.linalg.inv(dropped))


def _polynomial(
    coefficients: FloatArray,
    units: FloatArray,
    monomials: list[tuple[int, ...]],
    symbols: list[str],
) -> str:
    """``D3^2 + R3^2``, squares first; ``units`` turn the coefficients into those of metres."""
    words = []
    for monomial, value, unit in zip(monomials, coefficients, units, strict=True):
        if abs(value) < EXACT:
            continue
        names = [symbols[i] for i in monomial]
        product = f"{names[0]}^2" if len(names) == 2 and names[0] == names[1] else " ".join(names)
        size = round(abs(value), 9) * unit
        factor = "" if product and abs(size - 1) < EXACT else f"{size:.6g}"
        words.append(("-" if value < 0 else "+", " ".join(filter(None, (factor, product)))))
    if not words:
        return ""
    words.sort(key=lambda word: word[0] == "-")
    first_sign, first = words[0]
    text = ("-" if first_sign == "-" else "") + first
    return " ".join([text, *(f"{sign} {word}" for sign, word in words[1:])])
