"""What a robot's pictures depend on besides the robot: lenses, further cameras and boards.

A point p of a board b is seen by a camera c at

    C_c M(q) B_b (1 + s) p

where M(q) is the robot's tip in the world (a camera on the ground) or the world in its tip (a
camera on the hand). The first camera's frame and the first board's are the world's and the tip's,
so that C and B of these two are nothing, unless other measurements say where the world is.
Further cameras and boards stand where they stand: six unknowns each. s is the error of the boards'
scale: all are printed alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.calibration.lens import Lens, projected
from theodolite.errors import InputError, shown
from theodolite.matrices import is_covariance
from theodolite.model import rotations
from theodolite.model.parameters import Group, Parameter, Unit
from theodolite.model.poses import Poses
from theodolite.model.twists import skews

GROUND, HAND = MOUNTS = ("ground", "hand")
SCALE = "board_scale"
#: Distortion that is not known may be this large.
ANY_DISTORTION = 1.0
#: Nothing is known more exactly than this, px squared or without unit.
SMALLEST_VARIANCE = 1e-24


@dataclass(frozen=True, eq=False)
class KnownLens:
    """A lens and what is known of it: its covariance, or that it is right; else it is a start."""

    lens: Lens
    #: Of its numbers, (k, k).
    covariance: FloatArray | None = None
    fixed: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.lens, Lens):
            raise InputError(f"{shown(self.lens)} is not a lens", allowed="a Lens")
        spread = self.covariance
        if spread is None:
            return
        size = len(self.lens.names)
        if np.shape(spread) != (size, size) or not is_covariance(spread) or not _definite(spread):
            raise InputError(
                "the covariance of the lens is not one",
                allowed=f"{size} x {size} numbers, symmetric and positive",
            )


class View(NamedTuple):
    """Where points are seen."""

    #: (n, 2)
    pixels: FloatArray
    #: By twists of the tip, (n, 2, 6).
    by_twist: FloatArray
    #: By the scene's own numbers, (n, 2, k).
    by_own: FloatArray


@dataclass(frozen=True, eq=False)
class Scene:
    """Lenses, places and scale, as numbers that may be identified."""

    mount: str
    #: Of each camera.
    lenses: tuple[KnownLens, ...]
    #: Labels of cameras and boards, in their order.
    cameras: tuple[int, ...] = (0,)
    boards: tuple[int, ...] = (0,)
    #: Where cameras and boards stand, (n,) each: C and B.
    camera_places: Poses = field(default_factory=lambda: nowhere(1))
    board_places: Poses = field(default_factory=lambda: nowhere(1))
    #: Do the first camera and board stand anywhere, since others say where the world is?
    free: bool = False
    #: Standard deviation of the boards' scale; 0: it is right.
    board_tolerance: float = 0.0
    board_scale: float = 0.0

    def parameters(self, reach: float) -> tuple[Parameter, ...]:
        """Lens by lens, then places, then the scale."""
        several = len(self.cameras) > 1
        numbers: list[tuple[str, float, Unit, float]] = []
        for label, known in zip(self.cameras, self.lenses, strict=True):
            for name, value in zip(known.lens.names, known.lens.values.tolist(), strict=True):
                unit, far = Unit.ONE, ANY_DISTORTION
                if name[0] in "fc":
                    unit, far = Unit.PIXEL, abs(known.lens.fx)
                numbers.append((f"camera{label}_{name}" if several else name, value, unit, far))
        for kind, labels in (("camera", self.cameras), ("board", self.boards)):
            for label in labels[self._first :]:
                numbers += [(f"{kind}{label}_{name}", 0.0, Unit.METRE, reach) for name in "xyz"]
                numbers += [(f"{kind}{label}_r{name}", 0.0, Unit.RADIAN, np.pi) for name in "xyz"]
        numbers.append((SCALE, self.board_scale, Unit.ONE, self.board_tolerance or 1.0))
        return tuple(
            Parameter(name, value, unit, Group.SENSOR, 0, column, tolerance=far)
            for column, (name, value, unit, far) in enumerate(numbers)
        )

    @property
    def fixed(self) -> frozenset[str]:
        """Names of what is not to be identified."""
        names = [parameter.name for parameter in self.parameters(1.0)]
        held = [
            name
            for known, part in zip(self.lenses, self._lens_parts, strict=True)
            if known.fixed
            for name in names[part]
        ]
        return frozenset([*held, *([] if self.board_tolerance else [SCALE])])

    @property
    def _first(self) -> int:
        """The first place that is unknown."""
        return 0 if self.free else 1

    @property
    def _lens_parts(self) -> list[slice]:
        ends = np.cumsum([0, *(len(known.lens.names) for known in self.lenses)]).tolist()
        return [slice(first, last) for first, last in pairwise(ends)]

    def _places(self, own: FloatArray) -> tuple[Poses, Poses, FloatArray, FloatArray]:
        """Where cameras and boards stand, and the changes (k, 6) that put them there."""
        start = self._lens_parts[-1].stop
        split = start + 6 * (len(self.cameras) - self._first)
        changes = []
        for part, labels in ((own[start:split], self.cameras), (own[split:-1], self.boards)):
            change = np.zeros((len(labels), 6))
            change[self._first :] = part.reshape(-1, 6)
            changes.append(change)
        places = (self.camera_places, self.board_places)
        moved = [_moved(place, change) for place, change in zip(places, changes, strict=True)]
        return moved[0], moved[1], changes[0], changes[1]

    def view(
        self, own: FloatArray, tip: Poses, points: FloatArray, camera: IntArray, board: IntArray
    ) -> View:
        """Pixels of points (n, 3), each with the tip's pose (n,), its camera and its board."""
        cameras, boards, by_camera, by_board = self._places(own)
        shift = boards.position[board]
        arm = (1.0 + own[-1]) * np.einsum("nij,nj->ni", boards.rotation[board], points)
        there = arm + shift
        if self.mount == GROUND:
            turn = tip.rotation
            swung = np.einsum("nij,nj->ni", turn, there)
            near = swung + tip.position
            by_tip = np.concatenate([np.tile(np.eye(3), (len(near), 1, 1)), -skews(swung)], axis=2)
        else:
            turn = tip.rotation.transpose(0, 2, 1)
            far = there - tip.position
            near = np.einsum("nij,nj->ni", turn, far)
            by_tip = np.concatenate([-turn, turn @ skews(far)], axis=2)
        facing = cameras.rotation[camera]
        reached = np.einsum("nij,nj->ni", facing, near)
        pixels = np.empty((len(points), 2))
        by_points = np.empty((len(points), 2, 3))
        by_own = np.zeros((len(points), 2, len(own)))
        for number, (known, part) in enumerate(zip(self.lenses, self._lens_parts, strict=True)):
            here = np.flatnonzero(camera == number)
            if len(here):
                seen = (reached + cameras.position[camera])[here]
                found = projected(seen, own[part], known.lens.model)
                pixels[here], by_points[here] = found[:2]
                by_own[here, :, part] = found[2]
        by_near = by_points @ facing
        by_there = by_near @ turn
        start = self._lens_parts[-1].stop
        start = self._place_columns(by_own, start, camera, by_camera, by_points, reached)
        self._place_columns(by_own, start, board, by_board, by_there, arm)
        by_own[:, :, -1] = (by_there @ (arm / (1.0 + own[-1]))[:, :, None])[:, :, 0]
        return View(pixels, by_near @ by_tip, by_own)

    def _place_columns(
        self,
        by_own: FloatArray,
        start: int,
        which: IntArray,
        changes: FloatArray,
        slope: FloatArray,
        arm: FloatArray,
    ) -> int:
        """Derivatives by displacement and turn of cameras, or boards; where the next ones start."""
        for number in range(self._first, len(changes)):
            here = np.flatnonzero(which == number)
            # A change of the rotation vector turns the place by this.
            turn = np.linalg.inv(rotations.left_inverse(changes[number][None, 3:])[0])
            by_own[here, :, start : start + 3] = slope[here]
            by_own[here, :, start + 3 : start + 6] = slope[here] @ -skews(arm[here]) @ turn
            start += 6
        return start

    def known_rows(self, own: FloatArray) -> list[tuple[slice, FloatArray, FloatArray]]:
        """What is known of lenses: their numbers' places, and rows (k, k) and errors (k,)."""
        rows: list[tuple[slice, FloatArray, FloatArray]] = []
        for known, part in zip(self.lenses, self._lens_parts, strict=True):
            if known.covariance is not None and not known.fixed:
                white = np.linalg.inv(np.linalg.cholesky(_positive(known.covariance)))
                rows.append((part, white, white @ (own[part] - known.lens.values)))
        return rows

    def described(self, own: FloatArray) -> dict[str, Any]:
        """In words and SI: lenses, further cameras and boards, the boards' scale."""
        lenses = [
            {
                **dict(zip(known.lens.names, map(float, own[part]), strict=True)),
                "model": known.lens.model,
                "field_deg": None
                if known.lens.field is None
                else float(np.degrees(known.lens.field)),
            }
            for known, part in zip(self.lenses, self._lens_parts, strict=True)
        ]
        cameras, boards, _, _ = self._places(own)
        found: dict[str, Any] = {"mount": self.mount, "lens": lenses[0]}
        if len(self.cameras) > 1:
            found["lenses"] = dict(zip(self.cameras, lenses, strict=True))
        for name, labels, places in (
            ("cameras", self.cameras, cameras),
            ("boards", self.boards, boards),
        ):
            if self.free or len(labels) > 1:
                found[name] = {
                    label: {
                        "position_m": places.position[number].tolist(),
                        "rotation_vector_deg": np.degrees(
                            rotations.log(places.rotation[[number]])[0]
                        ).tolist(),
                    }
                    for number, label in enumerate(labels)
                }
        if self.board_tolerance:
            found[SCALE] = float(own[-1])
        return found

    def with_found(self, extras: Mapping[str, Any]) -> Scene:
        """The scene as it was described after an identification."""
        for what, key, labels in (
            ("camera", "lenses", self.cameras),
            ("camera", "cameras", self.cameras),
            ("board", "boards", self.boards),
        ):
            there = extras.get(key)
            lost = [] if there is None else [label for label in labels if label not in there]
            if lost or (there is None and len(labels) > 1):
                raise InputError(
                    f"nothing is known of {what} {(lost or labels)[-1]}",
                    allowed=[f"{what} {label}" for label in there or ()] or f"one {what}",
                )
        lenses = extras.get("lenses") or {self.cameras[0]: extras["lens"]}
        return replace(
            self,
            lenses=tuple(
                replace(known, lens=described_lens(lenses[label]), covariance=None)
                for label, known in zip(self.cameras, self.lenses, strict=True)
            ),
            board_scale=float(extras.get(SCALE, 0.0)),
            camera_places=_read_places(extras.get("cameras"), self.cameras, self.camera_places),
            board_places=_read_places(extras.get("boards"), self.boards, self.board_places),
        )


def _definite(covariance: FloatArray) -> bool:
    """Is no number known exactly, nor beyond what numbers can say?"""
    return bool((np.diag(covariance) > SMALLEST_VARIANCE).all())


def nowhere(count: int) -> Poses:
    """Places that are the world's own."""
    return Poses(np.tile(np.eye(3), (count, 1, 1)), np.zeros((count, 3)))


def _moved(places: Poses, changes: FloatArray) -> Poses:
    return Poses(rotations.exp(changes[:, 3:]) @ places.rotation, places.position + changes[:, :3])


def described_lens(numbers: Mapping[str, Any]) -> Lens:
    """A lens from how a result describes it."""
    plain = {name: value for name, value in numbers.items() if name != "field_deg"}
    reach = numbers.get("field_deg")
    return Lens(**plain, field=None if reach is None else float(np.radians(reach)))


def _read_places(
    described: Mapping[int, Mapping[str, Any]] | None, labels: Sequence[int], otherwise: Poses
) -> Poses:
    if described is None:
        return otherwise
    poses = [described[label] for label in labels]
    turns = np.radians([pose["rotation_vector_deg"] for pose in poses])
    return Poses(rotations.exp(turns), np.array([pose["position_m"] for pose in poses]))


def _positive(covariance: FloatArray) -> FloatArray:
    """The covariance, kept positive despite rounding."""
    sizes = np.sqrt(np.diag(covariance))
    return covariance + np.diag(1e-14 * np.maximum(sizes, 1e-150) ** 2)
