"""Why parameters of a robot seen from outside cannot be told apart [Renaud2006, 3.3].

Three losses of rank: kinematic parameters that the robot itself does not show, external ones (where
sensor and target are) that the poses do not show, and kinematic parameters that external ones can
imitate. Only the last matter for control: without the sensor, what they stand for is missing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from theodolite.arrays import BoolArray, IntArray
from theodolite.estimation.identifiability import Identifiability, analyse
from theodolite.model.parameters import Group


@dataclass(frozen=True)
class Coupling:
    """Parameters that are lost, by the reason."""

    kinematic: tuple[str, ...]
    external: tuple[str, ...]
    #: Lost because kinematic and external parameters together are dependent.
    coupled: tuple[str, ...]
    #: Each coupled relation in words: kinematic parameters against external ones.
    relations: tuple[str, ...]

    def sentences(self) -> list[str]:
        """What it means, for a person."""
        found = []
        if self.kinematic:
            found.append(f"non-identifiable kinematic: {' '.join(self.kinematic)}")
        if self.external:
            found.append(f"non-identifiable external: {' '.join(self.external)}")
        if self.coupled:
            found.append(f"coupled kinematic and external: {' '.join(self.coupled)}")
            found += [f"  {relation}" for relation in self.relations]
            found.append(
                "  For control this is an offset of the platform's zero or of the base frame: "
                "poses relative to a measured one are right, absolute ones need the sensor."
            )
        return found


def coupling(known: Identifiability) -> Coupling:
    """Sort what an identifiability analysis leaves out by the reason."""
    external = np.array([p.group in (Group.BASE, Group.TOOL) for p in known.parameters])
    kinematic = _lost(known, np.flatnonzero(~external))
    outside = _lost(known, np.flatnonzero(external))
    # What is lost alone is lost for good; what is left over is lost by the coupling.
    rest = np.array(
        [i for i, p in enumerate(known.parameters) if p.name not in {*kinematic, *outside}],
        dtype=np.intp,
    )
    coupled = _lost(known, rest)
    return Coupling(kinematic, outside, coupled, _relations(known, rest, external))


def _part(known: Identifiability, columns: IntArray) -> Identifiability:
    """The same question about some of the parameters."""
    return analyse(
        known.R[:, columns],
        tuple(known.parameters[index] for index in columns),
        tuple(known.priorities[index] for index in columns),
        known.rows,
    )


def _lost(known: Identifiability, columns: IntArray) -> tuple[str, ...]:
    """Which of some parameters are dependent among themselves."""
    if not len(columns):
        return ()
    part = _part(known, columns)
    return tuple(part.names(np.concatenate([part.regrouped, part.no_effect])))


def _listed(names: list[str], most: int = 6) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _relations(known: Identifiability, columns: IntArray, external: BoolArray) -> tuple[str, ...]:
    outside = {
        p.name for p, is_outside in zip(known.parameters, external, strict=True) if is_outside
    }
    sentences = []
    for name, parts in _part(known, columns).regrouping().items():
        other = [base for base in parts if (base in outside) != (name in outside)]
        kind = "kinematic" if name in outside else "external"
        more = [base for base in parts if base not in other]
        together = f" together with {_listed(more)}" if more else ""
        sentences.append(f"{name} has the same effect as the {kind} {_listed(other)}{together}")
    return tuple(sentences)
