"""One chain with other parameter values in each of many runs, all at once.

A `Chain` is fast because its links do not move, which is so for one set of values. Here every
element may differ from run to run, so all of them are passed, for all runs and samples together:
slower for one robot with many samples, and far faster for many robots with few.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.model.chain import Chain


class Tips(NamedTuple):
    """Where the tips are, and how they depend on some of the parameters."""

    #: (runs, n, 3) and (runs, n, 3, 3).
    positions: FloatArray
    rotations: FloatArray
    #: World-frame twists at the tip, (runs, n, 6, columns).
    jacobian: FloatArray


def tips(
    chain: Chain, values: FloatArray, basis: FloatArray, columns: IntArray | None = None
) -> Tips:
    """Tips for values (runs, p) and basis values (runs, n, b); derivatives by ``columns``."""
    runs, n, _ = basis.shape
    extended = np.concatenate([values, np.ones((runs, 1))], axis=1)
    basis = np.moveaxis(basis, 2, 0)
    place = {} if columns is None else {int(c): number for number, c in enumerate(columns)}
    frame = np.zeros((3, 3, runs, n))
    frame[0, 0] = frame[1, 1] = frame[2, 2] = 1.0
    origin = np.zeros((3, runs, n))
    #: Of every summand with a derivative: its column and factor, whether it turns, axis and origin.
    found = []
    for element in chain.elements:
        amount = np.zeros((runs, n))
        axis = frame[element.axis]
        for term in element.terms:
            parameter = chain.parameters if term.parameter is None else term.parameter
            factor = term.coefficient * basis[term.basis]
            amount += extended[:, parameter, None] * factor
            if term.parameter in place:
                found.append((place[term.parameter], factor, element.rotation, axis, origin))
        if not element.rotation:
            origin = origin + amount * axis
            continue
        i, j = (element.axis + 1) % 3, (element.axis + 2) % 3
        cos, sin = np.cos(amount), np.sin(amount)
        turned = frame.copy()
        turned[i] = cos * frame[i] + sin * frame[j]
        turned[j] = cos * frame[j] - sin * frame[i]
        frame = turned
    jacobian = np.zeros((len(place), 6, runs, n))
    for column, factor, rotation, axis, start in found:
        if rotation:
            jacobian[column, :3] += factor * np.cross(axis, origin - start, axis=0)
            jacobian[column, 3:] += factor * axis
        else:
            jacobian[column, :3] += factor * axis
    return Tips(
        origin.transpose(1, 2, 0), frame.transpose(2, 3, 1, 0), jacobian.transpose(2, 3, 1, 0)
    )
