"""On which assembly branch a mechanism was measured, and rows of which that cannot be said."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.errors import InputError
from theodolite.model import closing
from theodolite.model.conventions import Joint
from theodolite.model.mechanism import Mechanism

#: Smallest singular value, relatively, where two assemblies count as one. A tenth of what random
#: configurations keep off, since the nominal robot is not the real one.
MEETING = closing.NEARLY_SINGULAR / 10
#: Rows that are looked at closely; where many are wrong, some of them tell why.
LOOKS = 8
#: Random guesses from which other assemblies of a configuration are looked for.
ATTEMPTS = 40
#: A guess further from every assembly near it than this says nothing (radians, reaches).
FAR = np.pi / 4
#: A position is suspicious if it is this many times further off than the usual one ...
SUSPICIOUS = 5.0
#: ... and more than this part of the reach; and another branch is meant if it is this part as far.
SUSPICIOUS_PART = 0.02
CLEARLY_NEARER = 0.2
#: A nominal mechanism may be this part of its reach from closing where the real one was measured.
ALMOST = 0.01
#: Rows named in an error before "and more".
NAMED = 8


def with_passive_joints(
    mechanism: Mechanism,
    active: FloatArray,
    guess: FloatArray | None,
    positions: FloatArray | None,
    *,
    lines: IntArray,
    where: str,
) -> FloatArray:
    """Configurations with their passive joints: near the guesses, or on the way from home."""
    if not mechanism.passive:
        return active
    if guess is None:
        configurations, gap = mechanism.assembled(active)
    else:
        passive, gap = mechanism.close(mechanism.values, active, guess)
        configurations = np.concatenate([active, passive], axis=1)
    # The real machine was there: gaps that small errors of its constants explain are let pass.
    closed = np.asarray(gap <= ALMOST)
    if not closed.all():
        given = guess is not None
        _refuse_open(mechanism, active[~closed], gap[~closed], lines[~closed], where, given=given)
    if guess is not None:
        _check_guesses(mechanism, guess, configurations[:, mechanism.joints :], lines, where)
    doubtful = mechanism.nearly_singular(configurations, MEETING) & (gap <= closing.CLOSED)
    if doubtful.any():
        raise InputError(
            f"{name_lines(lines[doubtful])}: two assemblies of '{mechanism.name}' meet there, so "
            "it is unclear which one was measured",
            where=where,
            remedy="Leave these configurations out",
        )
    if positions is not None:
        _check_positions(mechanism, configurations, positions, lines, where)
    return configurations


def _refuse_open(
    mechanism: Mechanism,
    active: FloatArray,
    gap: FloatArray,
    lines: IntArray,
    where: str,
    *,
    given: bool,
) -> None:
    possible = [len(_other_assemblies(mechanism, row)) > 0 for row in active[:LOOKS]]
    if all(possible) and given:
        raise InputError(
            f"{name_lines(lines)}: from the guesses given there the loops of '{mechanism.name}' do "
            "not close, although assemblies exist",
            where=where,
            remedy="Correct the columns of the passive joints, or leave them out",
        )
    if all(possible):
        columns = " ".join(_column(mechanism, index) for index in range(len(mechanism.passive)))
        raise InputError(
            f"{name_lines(lines)}: the loops of '{mechanism.name}' close, but not along the path "
            "from its home assembly, so the branch is ambiguous",
            where=where,
            remedy=f"Add columns {columns} that say about where the passive joints are",
        )
    beyond = np.ones(len(lines), dtype=bool)
    beyond[: len(possible)] = ~np.array(possible)
    raise InputError(
        f"{name_lines(lines[beyond])}: the loops of '{mechanism.name}' cannot close there; the "
        f"first stays open by {1e3 * gap[beyond][0] * (mechanism.reach() or 1.0):.3g} mm",
        where=where,
        remedy="Check the readings, their unit and the robot's lengths, or leave the rows out",
    )


def _other_assemblies(mechanism: Mechanism, active: FloatArray) -> FloatArray:
    """Passive joints of every assembly that random guesses find for one configuration."""
    rng = np.random.default_rng(0)
    reach = np.array(
        [np.pi if j.kind is Joint.REVOLUTE else mechanism.reach() for j in mechanism.passive]
    )
    guess = rng.uniform(-reach, reach, (ATTEMPTS, len(reach)))
    rows = np.tile(active, (ATTEMPTS, 1))
    passive, gap = mechanism.close(mechanism.values, rows, guess)
    return passive[gap <= closing.CLOSED]


def _check_guesses(
    mechanism: Mechanism, guess: FloatArray, passive: FloatArray, lines: IntArray, where: str
) -> None:
    turning = np.array([joint.kind is Joint.REVOLUTE for joint in mechanism.passive])
    off = passive - guess
    off = np.where(turning, np.remainder(off + np.pi, 2 * np.pi) - np.pi, off)
    far = np.abs(off) > FAR * mechanism.joint_units[1]
    # Joints that the loops do not move, such as a rod's spin, may be anywhere.
    if not far.any():
        return
    row, joint = (int(index) for index in np.argwhere(far)[0])
    unit, factor = ("deg", 180 / np.pi) if turning[joint] else ("mm", 1e3)
    raise InputError(
        f"{name_lines(lines[far.any(axis=1)])}: column {_column(mechanism, joint)} says "
        f"{guess[row, joint] * factor:.4g} {unit}, but the assembly found from there has it at "
        f"{passive[row, joint] * factor:.4g} {unit}",
        where=where,
        remedy="Correct the guesses, which choose the branch and must be roughly right, or the "
        "unit or order of the joints",
    )


def _check_positions(
    mechanism: Mechanism,
    configurations: FloatArray,
    positions: FloatArray,
    lines: IntArray,
    where: str,
) -> None:
    """Refuse rows whose measured position fits another assembly of the same readings."""
    closes = mechanism.can_close(configurations)
    configurations, positions, lines = configurations[closes], positions[closes], lines[closes]
    motion = mechanism.motion(mechanism.values, configurations)
    off = np.linalg.norm(motion.position - positions, axis=1)
    limit = max(SUSPICIOUS * float(np.median(off)), SUSPICIOUS_PART * mechanism.reach())
    suspicious = np.flatnonzero(off > limit)
    wrong = [
        row
        for row in suspicious[np.argsort(-off[suspicious])][: 2 * LOOKS]
        if _fits_other(mechanism, configurations[row], positions[row], off[row])
    ]
    if wrong:
        wrong.sort()
        raise InputError(
            f"{name_lines(lines[wrong])}: the position fits a different assembly branch of "
            f"'{mechanism.name}' from the one given",
            where=where,
            remedy="Give the guesses of the passive joints there, or correct them",
        )


def _fits_other(
    mechanism: Mechanism, configuration: FloatArray, position: FloatArray, off: float
) -> bool:
    active = configuration[: mechanism.joints]
    passive = _other_assemblies(mechanism, active)
    if not len(passive):
        return False
    rows = np.concatenate([np.tile(active, (len(passive), 1)), passive], axis=1)
    distances = np.linalg.norm(mechanism.motion(mechanism.values, rows).position - position, axis=1)
    return bool(distances.min() < CLEARLY_NEARER * off)


def _column(mechanism: Mechanism, index: int) -> str:
    joint = mechanism.passive[index]
    return f"{joint.name}_{'deg' if joint.kind is Joint.REVOLUTE else 'mm'}"


def name_lines(lines: IntArray | Sequence[int]) -> str:
    """Lines of a file in words, the first of many."""
    numbers = [str(int(line)) for line in lines]
    more = f" and {len(numbers) - NAMED} more" if len(numbers) > NAMED else ""
    return f"line{'s' if len(numbers) > 1 else ''} {', '.join(numbers[:NAMED])}{more}"
