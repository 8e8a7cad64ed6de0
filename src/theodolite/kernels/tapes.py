"""A chain's tape as arrays, as compiled kernels read it."""

from __future__ import annotations

from typing import NamedTuple

from theodolite.arrays import BoolArray, FloatArray, IntArray


class Tape(NamedTuple):
    """What `theodolite.model.chain.Chain` knows at given values, for all of its bodies."""

    #: For each body, the transform from its frame to the next joint, at last to the tip.
    rotations: FloatArray
    positions: FloatArray
    #: For each joint: does it turn, about or along which axis, and the constant part of its amount.
    turns: BoolArray
    axes: IntArray
    offsets: FloatArray
    #: Terms of the joints' amounts: joint ``o`` has those from ``first[o]`` to ``first[o + 1]``,
    #: each a basis function and its factor.
    first: IntArray
    functions: IntArray
    factors: FloatArray
    #: Screws of the columns: column ``c`` has the entries from ``begin[c]`` to ``begin[c + 1]``,
    #: each a body, one of six components in its frame, and a value.
    begin: IntArray
    bodies: IntArray
    components: IntArray
    values: FloatArray
    #: Parameters that multiply basis functions: column, joint, function and coefficient of each.
    scaled: IntArray
    coefficients: FloatArray
