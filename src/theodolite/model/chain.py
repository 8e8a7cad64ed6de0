"""A chain: a tape of elements, compiled for all samples at once, with exact derivatives.

The tape falls into bodies at the elements whose amount varies from sample to sample. Inside
a body nothing moves, so the screw of each element is constant in the body's frame, and with

    d   = tip - origin of the body          (per sample)
    X_b = [ R_b   R_b x d ]                 position rows
          [  0      R_b   ]                 rotation rows
    s_e = [ o x a ; a ] for a rotation about a through o,   [ a ; 0 ] for a translation along a

the derivative of the tip with respect to all parameters is one product, ``J = X S``, where
``S`` holds the screws and does not depend on the sample. Twists are ordered translation,
rotation, and are expressed in the world frame at the tip. Derivation:
docs/explanation/kinematics.md.

Inside this file the sample axis comes last, so that NumPy runs along contiguous memory and
``(p, rows n)`` is in memory what LAPACK calls a matrix of ``rows n`` by ``p``. What leaves the
file is a view with the samples first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.kernels.tapes import Tape
from theodolite.model.elements import ONE, Element


@dataclass(frozen=True)
class _Opener:
    """An element that opens a body: its place, its axis and the terms that vary."""

    index: int
    rotation: bool
    axis: int
    parameters: IntArray
    basis: IntArray
    coefficients: FloatArray

    @staticmethod
    def of(index: int, element: Element, parameters: int) -> _Opener:
        terms = [term for term in element.terms if term.basis != ONE]
        driven = [parameters if term.parameter is None else term.parameter for term in terms]
        return _Opener(
            index,
            element.rotation,
            element.axis,
            np.array(driven, dtype=np.intp),
            np.array([term.basis for term in terms], dtype=np.intp),
            np.array([term.coefficient for term in terms]),
        )


def _keep_memory() -> None:
    """Have the C library keep freed arrays instead of returning them to the system.

    Freeing one large block raises the size up to which glibc does so. Without it, half of the
    time of a Jacobian goes into faulting the same pages in again.
    """
    np.empty(2**22 - 2**12)


_keep_memory()


class _Constants(NamedTuple):
    """What the parameters of a chain determine, whatever the samples."""

    #: The parameters' values, and 1 for known constants.
    extended: FloatArray
    #: The constant part of every element's amount.
    amounts: FloatArray
    #: The constant transform that closes each body.
    links: list[tuple[FloatArray, FloatArray]]
    #: Every element's screw in the frame of its body, (elements, 6).
    screws: FloatArray


class Chain:
    """Elements from the world to a tip, as functions of parameters and basis values."""

    def __init__(self, elements: Sequence[Element], *, parameters: int, basis: int) -> None:
        self.elements = tuple(elements)
        self.parameters = parameters
        self.basis = basis
        self._known: _Constants | None = None
        # A varying element opens a new body; body 0 is the world.
        self._body = np.cumsum([e.varies for e in self.elements], dtype=np.intp)
        self.bodies = int(self._body[-1]) + 1 if self.elements else 1
        # Known constants are driven by one more parameter, whose value is always 1.
        constant = [
            (index, parameters if term.parameter is None else term.parameter, term.coefficient)
            for index, element in enumerate(self.elements)
            for term in element.terms
            if term.basis == ONE
        ]
        self._element = np.array([row[0] for row in constant], dtype=np.intp)
        self._driver = np.array([row[1] for row in constant], dtype=np.intp)
        self._coefficient = np.array([row[2] for row in constant], dtype=np.float64)
        self._openers = [
            _Opener.of(index, element, parameters)
            for index, element in enumerate(self.elements)
            if element.varies
        ]

    def skeleton(self, values: FloatArray) -> Skeleton:
        """What does not move: the links between the joints, and the parameters' screws in them."""
        at = self._at(values)
        return Skeleton(
            tuple(at.links),
            tuple((opener.rotation, opener.axis) for opener in self._openers),
            at.amounts[[opener.index for opener in self._openers]],
            self._body_screws(at.screws).T,
        )

    def tape(self, values: FloatArray, columns: IntArray) -> Tape:
        """The same for compiled kernels, with the screws of some parameters."""
        at = self._at(values)
        openers = self._openers
        terms = [
            (function, factor)
            for opener in openers
            for function, factor in zip(
                opener.basis, opener.coefficients * at.extended[opener.parameters], strict=True
            )
        ]
        screws = self._body_screws(at.screws)[columns].reshape(len(columns), self.bodies, 6)
        owners, bodies, components = np.nonzero(screws)
        place = {int(parameter): number for number, parameter in enumerate(columns)}
        scaled = [
            (place[parameter], joint, function, coefficient)
            for joint, opener in enumerate(openers)
            for parameter, function, coefficient in zip(
                opener.parameters.tolist(), opener.basis, opener.coefficients, strict=True
            )
            if parameter in place
        ]
        return Tape(
            rotations=np.array([rotation for rotation, _ in at.links]),
            positions=np.array([position for _, position in at.links]),
            turns=np.array([opener.rotation for opener in openers], dtype=bool),
            axes=np.array([opener.axis for opener in openers], dtype=np.intp),
            offsets=at.amounts[[opener.index for opener in openers]],
            first=np.cumsum([0, *(len(opener.basis) for opener in openers)], dtype=np.intp),
            functions=np.array([function for function, _ in terms], dtype=np.intp),
            factors=np.array([factor for _, factor in terms], dtype=np.float64),
            # The last column is the residual's.
            begin=np.searchsorted(owners, np.arange(len(columns) + 1)).astype(np.intp),
            bodies=bodies,
            components=components,
            values=screws[owners, bodies, components],
            scaled=np.array([row[:3] for row in scaled], dtype=np.intp).reshape(-1, 3),
            coefficients=np.array([row[3] for row in scaled], dtype=np.float64),
        )

    def levers(self, values: FloatArray) -> FloatArray:
        """How far each joint moves with each basis function, (joints, functions)."""
        extended = self._at(values).extended
        found = np.zeros((len(self._openers), self.basis))
        for row, opener in zip(found, self._openers, strict=True):
            np.add.at(row, opener.basis, opener.coefficients * extended[opener.parameters])
        return found

    def motion(self, values: FloatArray, basis: FloatArray) -> Motion:
        """The chain's frames for every row of ``basis`` (n, b), at the given parameter values."""
        at = self._at(values)
        basis = np.ascontiguousarray(basis.T)
        rotations, origins = self._frames(at, basis)
        return Motion(self, at, basis, rotations, origins)

    def _at(self, values: FloatArray) -> _Constants:
        """What the parameters alone determine; kept, as searches ask for the same many times."""
        known = self._known
        if known is not None and np.array_equal(known.extended[:-1], values):
            return known
        extended = np.append(values, 1.0)
        amounts = self._amounts(extended)
        self._known = _Constants(extended, amounts, *self._links(amounts))
        return self._known

    def _amounts(self, extended: FloatArray) -> FloatArray:
        """The constant part of every element's amount."""
        amounts = np.zeros(len(self.elements))
        np.add.at(amounts, self._element, self._coefficient * extended[self._driver])
        return amounts

    def _body_screws(self, screws: FloatArray) -> FloatArray:
        """S transposed, (p, 6 bodies), from the local screws of the elements."""
        table = np.zeros((self.parameters + 1, self.bodies, 6))
        columns = self._coefficient[:, None] * screws[self._element]
        np.add.at(table, (self._driver, self._body[self._element]), columns)
        return table[:-1].reshape(self.parameters, 6 * self.bodies)

    def _links(self, amounts: FloatArray) -> tuple[list[tuple[FloatArray, FloatArray]], FloatArray]:
        """The constant transform that closes each body, and every element's local screw."""
        cosines, sines = np.cos(amounts).tolist(), np.sin(amounts).tolist()
        shifts = amounts.tolist()
        opening = {opener.index for opener in self._openers}
        screws = []
        links = []
        # Plain floats: at this size they are several times faster than arrays.
        columns = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
        o = (0.0, 0.0, 0.0)
        for index, element in enumerate(self.elements):
            opens = index in opening
            if opens:
                links.append((np.array(columns).T, np.array(o)))
                columns = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
                o = (0.0, 0.0, 0.0)
            a = columns[element.axis]
            if not element.rotation:
                screws.append((*a, 0.0, 0.0, 0.0))
                if not opens:
                    t = shifts[index]
                    o = (o[0] + t * a[0], o[1] + t * a[1], o[2] + t * a[2])
                continue
            moment = (
                o[1] * a[2] - o[2] * a[1],
                o[2] * a[0] - o[0] * a[2],
                o[0] * a[1] - o[1] * a[0],
            )
            screws.append((*moment, *a))
            if not opens:
                i, j = (element.axis + 1) % 3, (element.axis + 2) % 3
                u, v, c, s = columns[i], columns[j], cosines[index], sines[index]
                columns[i] = (c * u[0] + s * v[0], c * u[1] + s * v[1], c * u[2] + s * v[2])
                columns[j] = (c * v[0] - s * u[0], c * v[1] - s * u[1], c * v[2] - s * u[2])
        links.append((np.array(columns).T, np.array(o)))
        return links, np.array(screws).reshape(-1, 6)

    def _frames(self, at: _Constants, basis: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Frames of the bodies and the tip: columns (bodies + 1, 3, 3, n), origins (.., 3, n).

        The first of the two 3s counts the frame's axes, the second their components.
        """
        n = basis.shape[1]
        frames = np.empty((self.bodies + 1, 3, 3, n))
        origins = np.empty((self.bodies + 1, 3, n))
        frames[0], origins[0] = np.eye(3)[:, :, None], 0.0
        amounts = self._opening_amounts(at, basis)
        cosines, sines = np.cos(amounts), np.sin(amounts)
        for body, (link_frame, link_origin) in enumerate(at.links):
            frame, origin = frames[body + 1], origins[body + 1]
            if body:
                flat = frames[body].reshape(3, 3 * n)
                np.matmul(link_frame.T, flat, out=frame.reshape(3, 3 * n))
                np.matmul(link_origin, flat, out=origin.reshape(3 * n))
                origin += origins[body]
            else:
                frame[:], origin[:] = link_frame.T[:, :, None], link_origin[:, None]
            if body < len(self._openers):
                opener = self._openers[body]
                if opener.rotation:
                    i, j = (opener.axis + 1) % 3, (opener.axis + 2) % 3
                    cos, sin = cosines[body], sines[body]
                    turned = frame[i] * cos
                    turned += frame[j] * sin
                    frame[j] *= cos
                    frame[j] -= frame[i] * sin
                    frame[i] = turned
                else:
                    origin += frame[opener.axis] * amounts[body]
        return frames, origins

    def _opening_amounts(self, at: _Constants, basis: FloatArray) -> FloatArray:
        """How far each moving element turns or slides, (openers, n)."""
        amounts = np.empty((len(self._openers), basis.shape[1]))
        for amount, opener in zip(amounts, self._openers, strict=True):
            factors = opener.coefficients * at.extended[opener.parameters]
            np.matmul(factors, basis[opener.basis], out=amount)
            amount += at.amounts[opener.index]
        return amounts


@dataclass(frozen=True, eq=False)
class Skeleton:
    """A chain without its samples: all that is constant about it."""

    #: For each body, the transform (R, p) from its frame to the next joint, at last to the tip.
    links: tuple[tuple[FloatArray, FloatArray], ...]
    #: For each joint, whether it turns, and about or along which axis of its frame.
    joints: tuple[tuple[bool, int], ...]
    #: The constant part of each joint's amount.
    offsets: FloatArray
    #: Screws of the parameters in the bodies' frames, (6 bodies, p).
    screws: FloatArray

    def in_units_of(self, length: float) -> Skeleton:
        """The same with lengths in another unit, so that shifts and turns are of one size."""
        shifts = np.tile([length] * 3 + [1.0] * 3, len(self.links))
        return Skeleton(
            tuple((rotation, position / length) for rotation, position in self.links),
            self.joints,
            self.offsets,
            self.screws / shifts[:, None],
        )


class Motion:
    """Where a chain's bodies and tip are, for each sample, and how they depend on everything."""

    def __init__(
        self,
        chain: Chain,
        at: _Constants,
        basis: FloatArray,
        frames: FloatArray,
        origins: FloatArray,
    ) -> None:
        self._chain, self._at, self._basis = chain, at, basis
        self._frames, self._origins = frames, origins

    @property
    def rotation(self) -> FloatArray:
        """Orientation of the tip in the world, (n, 3, 3)."""
        return self._frames[-1].transpose(2, 1, 0)

    @property
    def position(self) -> FloatArray:
        """Position of the tip in the world, (n, 3)."""
        return self._origins[-1].T

    def frame(self, body: int) -> FloatArray:
        """Axes of a body in the world, (3 axes, 3, n); body 0 is the world."""
        return self._frames[body]

    def bodies(self) -> tuple[FloatArray, FloatArray]:
        """Axes (bodies, 3 axes, 3, n) and origins (bodies, 3, n) of all bodies in the world."""
        return self._frames[:-1], self._origins[:-1]

    def position_jacobian(self, columns: IntArray | None = None) -> FloatArray:
        """Derivative of the tip's position by all or some parameters, (n, 3, p)."""
        return self._jacobian(self._position_axes, columns)

    def twist_jacobian(self, columns: IntArray | None = None) -> FloatArray:
        """Derivative of the tip's pose, as world-frame twists at the tip, (n, 6, p)."""
        return self._jacobian(self._twist_axes, columns)

    def position_basis_jacobian(self) -> FloatArray:
        """Derivative of the tip's position with respect to the basis values, (n, 3, b)."""
        return self._basis_jacobian(self._position_axes)

    def twist_basis_jacobian(self) -> FloatArray:
        """Derivative of the tip's pose with respect to the basis values, (n, 6, b)."""
        return self._basis_jacobian(self._twist_axes)

    @cached_property
    def _position_axes(self) -> FloatArray:
        """X, position rows: (bodies, 6, 3, n)."""
        axes = np.empty((self._chain.bodies, 6, 3, self._basis.shape[1]))
        self._fill_position_rows(axes)
        return axes

    @cached_property
    def _twist_axes(self) -> FloatArray:
        """X, position and rotation rows: (bodies, 6, 6, n)."""
        axes = np.empty((self._chain.bodies, 6, 6, self._basis.shape[1]))
        self._fill_position_rows(axes)
        axes[:, :3, 3:] = 0.0
        axes[:, 3:, 3:] = self._frames[:-1]
        return axes

    def _fill_position_rows(self, axes: FloatArray) -> None:
        frames = self._frames[:-1]
        axes[:, :3, :3] = frames
        d = (self._origins[-1] - self._origins[:-1])[:, None]
        product = np.empty_like(frames[:, :, 0])
        for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            moment = axes[:, 3:, i]
            np.multiply(frames[:, :, j], d[:, :, k], out=moment)
            moment -= np.multiply(frames[:, :, k], d[:, :, j], out=product)

    @cached_property
    def _local_screws(self) -> FloatArray:
        """S transposed: (p, 6 bodies)."""
        return self._chain._body_screws(self._at.screws)

    def _jacobian(self, axes: FloatArray, columns: IntArray | None) -> FloatArray:
        bodies, _, rows, n = axes.shape
        if columns is None:
            columns = np.arange(self._chain.parameters)
        if not len(columns):
            return np.zeros((n, rows, 0))
        jacobian = self._local_screws[columns] @ axes.reshape(6 * bodies, rows * n)
        jacobian = jacobian.reshape(len(columns), rows, n)
        place = {int(parameter): index for index, parameter in enumerate(columns)}
        for axis, opener in self._openers(axes):
            terms = zip(opener.parameters.tolist(), opener.basis, opener.coefficients, strict=True)
            for parameter, basis, coefficient in terms:
                if parameter in place:
                    jacobian[place[parameter]] += coefficient * self._basis[basis] * axis
        return jacobian.transpose(2, 1, 0)

    def _basis_jacobian(self, axes: FloatArray) -> FloatArray:
        jacobian = np.zeros((self._chain.basis, *axes.shape[2:]))
        for axis, opener in self._openers(axes):
            factors = opener.coefficients * self._at.extended[opener.parameters]
            for basis, factor in zip(opener.basis, factors, strict=True):
                jacobian[basis] += factor * axis
        return jacobian.transpose(2, 1, 0)

    def _openers(self, axes: FloatArray) -> Iterator[tuple[FloatArray, _Opener]]:
        """Each moving element with its own screw at the tip, (rows, n)."""
        for body, opener in enumerate(self._chain._openers, start=1):
            yield axes[body, 3 * opener.rotation + opener.axis], opener
