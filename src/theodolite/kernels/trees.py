"""Links of a tree as arrays, as compiled kernels read them."""

from __future__ import annotations

from typing import NamedTuple

from theodolite.arrays import BoolArray, FloatArray, IntArray


class Links(NamedTuple):
    """What `theodolite.dynamics.link_motion.Link` says, for all links, and their paths."""

    parent: IntArray
    joint: IntArray
    revolute: BoolArray
    offset: FloatArray
    sign: FloatArray
    #: The turn from the link's frame to the parent's is still + cos(q) by_cos + sin(q) by_sin, for
    #: a slide just still, (links, 3, 3).
    still: FloatArray
    by_cos: FloatArray
    by_sin: FloatArray
    #: From the parent's origin to the joint, in the parent's frame, (links, 3).
    position: FloatArray
    #: The joint's axis, and from the joint to the link's origin, in the link's frame, (links, 3).
    along: FloatArray
    after: FloatArray
    #: The joints that move each link, (links, depth), and how many they are.
    path: IntArray
    length: IntArray
    #: Does every joint of the path move one of its links only?
    simple: BoolArray
    all_simple: bool
    depth: int
    #: First column of each link; -1: it has none.
    place: IntArray
    #: Columns that are needed.
    wanted: BoolArray
    #: Acceleration of the world, less gravity.
    acceleration: FloatArray
