"""A calibrated robot in the formats of controllers and simulators."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from theodolite.errors import InputError
from theodolite.export.links import reads_joints
from theodolite.export.nearest import Loss, carried
from theodolite.io.link_tables import frames_json, table_csv, table_markdown
from theodolite.io.mjcf_patch import patched_mjcf
from theodolite.io.ur_kinematics import patched_ur
from theodolite.io.urdf_patch import Visuals, patched_urdf
from theodolite.io.writing import write_bytes
from theodolite.model.conventions import Convention
from theodolite.model.robot import Robot


class Format(Enum):
    """What a robot can be written as."""

    URDF = "urdf"
    MJCF = "mjcf"
    UR = "ur"
    KK = "kk"
    DH = "dh"
    HAYATI = "hayati"
    JSON = "json"

    @property
    def patched(self) -> bool:
        """Is it a file of somebody else's that is changed in place?"""
        return self in (Format.URDF, Format.MJCF, Format.UR)

    @property
    def suffixes(self) -> tuple[str, ...]:
        return {
            Format.URDF: (".urdf", ".xml"),
            Format.MJCF: (".xml",),
            Format.UR: (".yaml", ".yml"),
            Format.JSON: (".json",),
        }.get(self, (".csv", ".md"))


@dataclass(frozen=True)
class Export:
    """What is to be written, and what it lacks."""

    content: bytes
    loss: Loss
    #: In words, what is worth knowing.
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Options:
    """How a file of somebody else's is changed."""

    into: Path | None = None
    tip: str | None = None
    #: Are base and tool the robot's, or the file's?
    base: bool = False
    tool: bool = True
    visuals: Visuals = Visuals.MOVE


def check_export(kind: Format, out: Path | None, options: Options) -> None:
    """Refuse, before any work is done, what cannot be written."""
    if kind.patched and options.into is None:
        raise InputError(
            f"the format '{kind.value}' changes a file of the nominal robot",
            remedy=f"Say which {kind.suffixes[0]} file it is to be put into",
        )
    if not kind.patched and options.into is not None:
        raise InputError(
            f"the format '{kind.value}' is written as a whole",
            remedy="Leave out the file to be changed",
        )
    given = {
        "a tip": options.tip is not None and (not kind.patched or kind is Format.UR),
        "the world": options.base and not kind.patched,
        "keeping the tool": not options.tool and not kind.patched,
        "visuals": options.visuals is not Visuals.MOVE and kind is not Format.URDF,
    }
    for name, wrong in given.items():
        if wrong:
            raise InputError(f"{name} is not applicable to the format '{kind.value}'")
    if out is not None and out.suffix.lower() not in kind.suffixes:
        raise InputError(
            f"'{kind.value}' cannot be written as '{out.suffix}'",
            where=str(out),
            allowed=kind.suffixes,
        )


def export_robot(
    robot: Robot, kind: Format, *, suffix: str = "", options: Options | None = None
) -> Export:
    """The robot in a format; what the format has no place for is fitted by what it has."""
    options = options or Options()
    check_export(kind, None, options)
    convention = None if kind.patched or kind is Format.JSON else Convention(kind.value)
    plain, loss = carried(robot, gains=not kind.patched, convention=convention)
    notes = []
    if robot.targets:
        notes.append("targets are not written: the tip is that of the tool")
    if not reads_joints(robot):
        notes.append("the file's joints are the arm's, which several motors move together")
    if kind is Format.JSON:
        text = frames_json(plain).encode()
    elif convention is not None:
        write = table_markdown if suffix.lower() == ".md" else table_csv
        text = write(plain, convention).encode()
    else:
        text, more = _into_file(plain, kind, options)
        notes += more
    return Export(text, loss, tuple(notes))


def _into_file(robot: Robot, kind: Format, options: Options) -> tuple[bytes, list[str]]:
    assert options.into is not None
    kept = []
    if not options.base:
        kept.append("base")
    if not options.tool or kind is Format.UR:
        kept.append("tool")
    verb, them = ("stays", "it") if len(kept) == 1 else ("stay", "them")
    notes = [f"the {' and the '.join(kept)} {verb} as the file has {them}"] if kept else []
    if kind is Format.UR:
        return patched_ur(options.into, robot, base=options.base), notes
    if kind is Format.MJCF:
        return (
            patched_mjcf(
                options.into, robot, tip=options.tip, base=options.base, tool=options.tool
            ),
            notes,
        )
    return (
        patched_urdf(
            options.into,
            robot,
            tip=options.tip,
            base=options.base,
            tool=options.tool,
            visuals=options.visuals,
        ),
        notes,
    )


def write_export(found: Export, path: Path, *, force: bool = False) -> None:
    """Write it, whole or not at all."""
    write_bytes(path, found.content, force=force)
