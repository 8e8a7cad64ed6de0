"""The platform of a parallel robot: which coordinates it has, and where a measured pose puts it."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.errors import InputError
from theodolite.model import closing
from theodolite.model.bodies import WORLD, Body, BodyElement
from theodolite.model.chain import Chain
from theodolite.model.machine import Machine
from theodolite.model.mechanism import Mechanism
from theodolite.model.rotations import left_inverse, log
from theodolite.model.twists import skews


class Seen(NamedTuple):
    """Gap between the platform and where the measured pose puts it, with derivatives."""

    gap: FloatArray
    by_values: FloatArray
    by_platform: FloatArray
    #: By a displacement and a turn of the measured target, in the world's axes.
    by_pose: FloatArray


class Platform:
    """Which coordinates a platform has, and where a measured pose puts it."""

    def __init__(self, mechanism: Mechanism) -> None:
        refusal = _refusal(mechanism)
        if refusal is not None:
            raise refusal
        self.mechanism = mechanism
        way = _coordinates(mechanism)
        #: The body that the coordinates move last, and the components it can move in.
        self.body = way[-1][0].name
        self.rows = tuple(sorted(3 * element.rotation + element.axis for _, element in way))

    @staticmethod
    def of(machine: Machine) -> Platform | None:
        """The platform of a parallel robot; None of other machines."""
        if not isinstance(machine, Mechanism) or _refusal(machine) is not None:
            return None
        return Platform(machine)

    @cached_property
    def _to_platform(self) -> Chain:
        return self.mechanism.chain(WORLD, self.body)

    @cached_property
    def _from_target(self) -> Chain:
        return self.mechanism.chain(self.mechanism.tool, self.body)

    def seen(
        self,
        values: FloatArray,
        joints: FloatArray,
        positions: FloatArray,
        rotations: FloatArray | None,
        *,
        columns: IntArray | None = None,
    ) -> Seen:
        """The gap at given joints and poses; without orientations, of the target's position.

        Derivatives by parameters and poses only if ``columns`` says by which parameters.
        """
        mechanism = self.mechanism
        basis = mechanism.basis(joints)
        derivatives = columns is not None
        columns = np.empty(0, dtype=np.intp) if columns is None else columns
        if rotations is None:
            tool = mechanism.tool_chain.motion(values, basis)
            by_pose = np.tile(-np.eye(3), (len(joints), 1, 1))
            return Seen(
                tool.position - positions,
                tool.position_jacobian(columns),
                tool.position_basis_jacobian()[:, :, 1 + mechanism.joints :],
                by_pose,
            )
        here = self._to_platform.motion(values, basis)
        offset = self._from_target.motion(values, basis)
        arm = np.einsum("nij,nj->ni", rotations, offset.position)
        apart = positions + arm - here.position
        back = here.rotation.transpose(0, 2, 1)
        turn = log(back @ rotations @ offset.rotation)
        bend = left_inverse(turn) @ back
        gap = np.concatenate([np.einsum("nij,nj->ni", back, apart), turn], axis=1)

        def relative(theirs: FloatArray, ours: FloatArray) -> FloatArray:
            """Twists of the seen platform less those of the modelled one, in its frame."""
            shift = theirs[:, :3] - ours[:, :3] + skews(apart) @ ours[:, 3:]
            return np.concatenate([back @ shift, bend @ (theirs[:, 3:] - ours[:, 3:])], axis=1)

        rows = list(self.rows)
        moving = here.twist_basis_jacobian()[:, :, 1 + mechanism.joints :]
        by_platform = relative(np.zeros_like(moving), moving)
        if not derivatives:
            none = np.zeros((len(joints), len(rows), 0))
            return Seen(gap[:, rows], none, by_platform[:, rows], none)
        twists = offset.twist_jacobian(columns)
        turned = np.concatenate([rotations @ twists[:, :3], rotations @ twists[:, 3:]], axis=1)
        by_values = relative(turned, here.twist_jacobian(columns))
        pose = np.tile(np.eye(6), (len(joints), 1, 1))
        pose[:, :3, 3:] = -skews(arm)
        by_pose = np.asarray(relative(pose, np.zeros_like(pose)))
        return Seen(gap[:, rows], by_values[:, rows], by_platform[:, rows], by_pose[:, rows])

    def placed(
        self,
        values: FloatArray,
        guess: FloatArray,
        positions: FloatArray,
        rotations: FloatArray | None,
    ) -> FloatArray:
        """The platform's coordinates that agree with measured poses, (n, coordinates)."""
        count = len(positions)
        turns = np.zeros((count, 0)) if rotations is None else rotations.reshape(count, 9)
        given = np.concatenate([positions, turns], axis=1)
        measured = np.zeros((count, self.mechanism.joints))

        def gap_at(rows: FloatArray) -> closing.Gap:
            width = given.shape[1]
            pose = rows[:, :width]
            joints = np.concatenate([measured[: len(rows)], rows[:, width:]], axis=1)
            turned = None if rotations is None else pose[:, 3:].reshape(-1, 3, 3)
            seen = self.seen(values, joints, pose[:, :3], turned)
            return closing.Gap(seen.gap, seen.by_values, seen.by_values, seen.by_platform)

        units = self.mechanism.joint_units[1]
        return closing.close(gap_at, given, guess, units)[0]


def _coordinates(mechanism: Mechanism) -> list[tuple[Body, BodyElement]]:
    """The passive elements on the way to the tool, each with its body."""
    names = {joint.name for joint in mechanism.passive}
    return [
        (body, element)
        for body in mechanism.path(WORLD, mechanism.tool)
        for element in body.elements
        if element.joint in names
    ]


def _refusal(mechanism: Mechanism) -> InputError | None:
    """Why a mechanism is no parallel robot with one closure per leg; None if it is one."""
    names = [joint.name for joint in mechanism.passive]
    if sorted(str(element.joint) for _, element in _coordinates(mechanism)) != sorted(names):
        return InputError(
            f"'{mechanism.name}' has passive joints that are not coordinates of its platform",
            remedy="Model the legs with rods and points, or use the methods frame and position",
        )
    if mechanism.equations != mechanism.joints or mechanism.joints != len(names):
        return InputError(
            f"'{mechanism.name}' has {mechanism.joints} measured joints, {len(names)} platform "
            f"coordinates and {mechanism.equations} closure equations",
            allowed="as many of each: one closure for each leg",
        )
    return None
