"""The motion of links, carried outwards from the world for all samples at once, and their torques.

With the velocity w, acceleration w', and acceleration a of the origin (less gravity), all in the
link's frame, a link's force and moment are linear in its ten parameters [Gautier1991, eq. 3],

    f = (w'^ + w^ w^) MS + a M,      n = J w' + w x J w + MS x a

and the torque of joint i is the product with the screw of that joint in the link's frame. The
sample axis is last, so that NumPy runs along it.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.inertia import PLACES

#: Entries of a rotation this close to 0 or 1 differ from it by rounding only.
EXACT = 1e-15


@dataclass(frozen=True)
class Link:
    """From the parent's frame to the joint, the joint, and on to the link's own frame."""

    #: Number of the parent link; -1 for the world.
    parent: int
    rotation: FloatArray
    position: FloatArray
    #: Which joint moves it.
    joint: int
    revolute: bool
    axis: int
    offset: float
    sign: float
    after_rotation: FloatArray
    after_position: FloatArray
    #: Suffix of its parameters' names; None where it has no mass, as between two joints of a body.
    name: str | None


#: Places of vectors: w (before w') and a, which every motion has; v and the world's axes, which
#: energies and poses need besides.
W, A, V, AXES = 0, 2, 3, slice(4, 7)
FEW, MANY = 3, 7


class LinkMotion:
    """A link's motion, and the screws of the joints that move it, as vectors in its own frame.

    All of them, (vectors, 3, n), share one array, because all turn alike from link to link.
    """

    def __init__(
        self, joints: int, n: int, acceleration: FloatArray, *, poses: bool = False
    ) -> None:
        """At rest, with room for some joints; with ``poses``, also v, frame and origin."""
        self._head = MANY if poses else FEW
        self._vectors = np.zeros((self._head + 2 * joints, 3, n))
        self._vectors[A] = acceleration[:, None]
        self._joints = 0
        self._origin = np.zeros((3, n))
        if poses:
            self._vectors[AXES] = np.eye(3)[:, :, None]
        # Rows of moments by nine parameters and of forces by four, used anew for every link.
        self._moments = np.zeros((3, 9, n))
        self._forces = np.empty((3, 4, n))
        self._product = np.empty((9, n))

    def copy(self) -> LinkMotion:
        """The same for another branch."""
        other = copy(self)
        other._vectors, other._origin = self._vectors.copy(), self._origin.copy()
        return other

    @property
    def origin(self) -> FloatArray:
        """Of the frame in the world, (3, n)."""
        return self._origin

    @property
    def frame(self) -> FloatArray:
        """Orientation in the world, (3, 3, n)."""
        return self._vectors[AXES]

    def advance(self, link: Link, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> None:
        """On to the next link, whose joint is at q."""
        self._shift(link.position)
        self._turn_by(link.rotation)
        amount, rate, change = link.offset + link.sign * q, link.sign * qd, link.sign * qdd
        i, j, k = link.axis, (link.axis + 1) % 3, (link.axis + 2) % 3
        w, wd, a = self._vectors[:FEW]
        axis = self._vectors[self._head + 2 * self._joints]
        moment = self._vectors[self._head + 2 * self._joints + 1]
        if link.revolute:
            self._turn(i, np.cos(amount), np.sin(amount))
            # w' gains q'' z + w x q' z.
            wd[j] += w[k] * rate
            wd[k] -= w[j] * rate
            wd[i] += change
            w[i] += rate
            axis[:], moment[:] = 0.0, 0.0
            axis[i] = link.sign
        else:
            self._shift_along(i, amount)
            # a gains q'' z + 2 w x q' z.
            a[j] += 2 * w[k] * rate
            a[k] -= 2 * w[j] * rate
            a[i] += change
            if self._head == MANY:
                self._vectors[V, i] += rate
            axis[:], moment[:] = 0.0, 0.0
            moment[i] = link.sign
        self._joints += 1
        self._shift(link.after_position)
        self._turn_by(link.after_rotation)

    @property
    def vectors(self) -> FloatArray:
        """What there is of them so far, (vectors, 3, n)."""
        return self._vectors[: self._head + 2 * self._joints]

    def _screws(self) -> tuple[FloatArray, FloatArray]:
        """Axis of each joint up to here, and the velocity it gives the origin, (joints, 3, n)."""
        return self.vectors[self._head :: 2], self.vectors[self._head + 1 :: 2]

    def _shift(self, position: FloatArray) -> None:
        """Move the origin by a constant vector of the present frame."""
        for axis in range(3):
            if position[axis]:
                self._shift_along(axis, position[axis])

    def _shift_along(self, k: int, p: FloatArray | float) -> None:
        """Move the origin along an axis of the present frame."""
        i, j = (k + 1) % 3, (k + 2) % 3
        axes, moments = self._screws()
        # x x p e_k has the components p x_j and -p x_i.
        moments[:, i] += axes[:, j] * p
        moments[:, j] -= axes[:, i] * p
        w, wd, a = self._vectors[:FEW]
        a[i] += p * (wd[j] + w[k] * w[i])
        a[j] += p * (w[k] * w[j] - wd[i])
        a[k] -= p * (w[i] ** 2 + w[j] ** 2)
        if self._head == MANY:
            self._vectors[V, i] += p * w[j]
            self._vectors[V, j] -= p * w[i]
            self._origin += p * self.frame[:, k]

    def _turn_by(self, rotation: FloatArray) -> None:
        """Express everything in a frame turned by a constant rotation."""
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            beside = abs(rotation[i, j]) + abs(rotation[i, k])
            if beside < EXACT and rotation[i, i] > 0:
                cos, sin = float(rotation[j, j]), float(rotation[k, j])
                if abs(cos) < EXACT:
                    # A quarter turn, as most are.
                    before = self.vectors[:, j].copy()
                    np.multiply(self.vectors[:, k], sin, out=self.vectors[:, j])
                    np.multiply(before, -sin, out=self.vectors[:, k])
                elif abs(sin) > EXACT or cos < 0:
                    self._turn(i, cos, sin)
                return
        self.vectors[:] = np.matmul(rotation.T, self.vectors)

    def _turn(self, i: int, cos: FloatArray | float, sin: FloatArray | float) -> None:
        """The same for a turn about an axis, perhaps another one for each sample."""
        j, k = (i + 1) % 3, (i + 2) % 3
        y, z = self.vectors[:, j], self.vectors[:, k]
        turned = cos * y
        turned += sin * z
        z *= cos
        z -= sin * y
        y[:] = turned

    def torques(self, part: FloatArray) -> None:
        """Torques of the joints up to here for the link's ten parameters, (10, joints, n)."""
        (x, y, z), (dx, dy, dz), a = self._vectors[:FEW]
        xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
        # J w' + w x J w by each inertia, and MS x a by each moment.
        N, F = self._moments, self._forces
        N[0, 0], N[1, 0], N[2, 0] = dx, xz, -xy
        N[0, 1], N[1, 1], N[2, 1] = dy - xz, dx + yz, xx - yy
        N[0, 2], N[1, 2], N[2, 2] = dz + xy, zz - xx, dx - yz
        N[0, 3], N[1, 3], N[2, 3] = -yz, dy, xy
        N[0, 4], N[1, 4], N[2, 4] = yy - zz, dz - xy, dy + xz
        N[0, 5], N[1, 5], N[2, 5] = yz, -xz, dz
        N[1, 6], N[2, 6] = -a[2], a[1]
        N[0, 7], N[2, 7] = a[2], -a[0]
        N[0, 8], N[1, 8] = -a[1], a[0]
        # (w'^ + w^ w^) MS and a M.
        F[0, 0], F[0, 1], F[0, 2] = -yy - zz, xy - dz, xz + dy
        F[1, 0], F[1, 1], F[1, 2] = xy + dz, -xx - zz, yz - dx
        F[2, 0], F[2, 1], F[2, 2] = xz - dy, yz + dx, -xx - yy
        F[:, 3] = a
        few = self._product[:4]
        for joint, (axis, moment) in enumerate(zip(*self._screws(), strict=True)):
            turning, pushing = part[:9, joint], part[6:, joint]
            np.multiply(N[0], axis[0], out=turning)
            part[9, joint] = 0.0
            for row in (1, 2):
                turning += np.multiply(N[row], axis[row], out=self._product)
            for row in range(3):
                pushing += np.multiply(F[row], moment[row], out=few)

    def energy(self, gravity: FloatArray, rows: FloatArray) -> None:
        """The row h of the link's energy for its ten parameters, (10, n)."""
        w, v = self._vectors[W], self._vectors[V]
        for row, (i, j) in enumerate(PLACES):
            rows[row] = w[i] * w[j] * (0.5 if i == j else 1.0)
        for i, (j, k) in enumerate(((1, 2), (2, 0), (0, 1))):
            rows[6 + i] = v[j] * w[k] - v[k] * w[j]
        rows[6:9] -= np.einsum("ijn,i->jn", self.frame, gravity)
        rows[9] = 0.5 * (v**2).sum(axis=0) - np.einsum("in,i->n", self._origin, gravity)
