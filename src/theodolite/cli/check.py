"""``theodolite check``: say what files hold, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from theodolite.cli.mapping_options import MapOption, MappingOption, mapping_from
from theodolite.cli.options import ForceOption, JsonOption, console, print_json, robot_named, wrote

if TYPE_CHECKING:
    from rich.console import Console

    from theodolite.calibration.data import Dataset
    from theodolite.errors import InputError
    from theodolite.io.mapping import Mapping
    from theodolite.io.proposal import Proposal
    from theodolite.model.machine import Machine

NAME = "check"


def command(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Robots, each followed by measurements of it."),
    ],
    robot: Annotated[
        str | None, typer.Option(metavar="ROBOT", help="The robot of the measurements.")
    ] = None,
    map_: MapOption = None,
    mapping: MappingOption = None,
    save_mapping: Annotated[
        Path | None, typer.Option(metavar="F", help="Write the proposed mapping to a file.")
    ] = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Check what a file holds and what is wrong with it; propose what its columns are."""
    from theodolite.errors import InputError
    from theodolite.io.mapping_file import write_mapping
    from theodolite.io.writing import check_writable
    from theodolite.report.text import show_robot

    if save_mapping is not None:
        check_writable(save_mapping, force=force)
    given = mapping_from(map_, mapping)
    screen = console(json=json)
    machine = None if robot is None else robot_named(robot)
    found: list[dict[str, Any]] = []
    mappings: list[Mapping] = [] if given is None else [given]
    for file in files:
        if not _holds_measurements(Path(file)):
            machine = robot_named(file)
            show_robot(screen, machine)
            found.append(_robot_data(file, machine))
            continue
        if machine is None:
            raise InputError(
                "measurements are checked against their robot",
                where=file,
                remedy="Name the robot first: theodolite check ROBOT DATA",
            )
        checked = _Checked(Path(file), machine, given)
        checked.show(screen)
        found.append(checked.json())
        if checked.proposal is not None and checked.proposal.usable:
            mappings.append(checked.proposal.mapping)
    if save_mapping is not None:
        if not mappings:
            raise InputError("there is no mapping to write", where=str(save_mapping))
        write_mapping(mappings[-1], save_mapping, force=force)
        wrote(screen, save_mapping)
    if json:
        print_json({"files": found})
    if any(item.get("doubtful") for item in found):
        raise typer.Exit(1)


def _holds_measurements(path: Path) -> bool:
    """Is a file, or a folder, a table of measurements? All others are robots."""
    from theodolite.io.machines import holds_robot
    from theodolite.io.sheets import TABLES
    from theodolite.io.writing import exists

    return path.suffix.lower() in TABLES or (exists(path) and not holds_robot(path))


def _robot_data(file: str, robot: Machine) -> dict[str, Any]:
    return {
        "file": file,
        "kind": "robot",
        "name": robot.name,
        "joints": robot.joints,
        "parameters": [parameter.name for parameter in robot.parameters],
        "chain": robot.describe(),
    }


class _Checked:
    """One file of measurements: what it holds as it stands, and what it seems to be."""

    def __init__(self, path: Path, robot: Machine, mapping: Mapping | None) -> None:
        from theodolite.errors import InputError
        from theodolite.io.tables import read_measurements

        self.path, self.robot, self.notes = path, robot, list[str]()
        self.data: Dataset | None = None
        self.trouble: InputError | None = None
        try:
            self.data = read_measurements([path], robot, mapping=mapping, note=self.notes.append)
        except InputError as error:
            self.trouble = error
        self.proposal = None if mapping is not None else self._proposed()
        if self.trouble is not None and self.proposal is None:
            raise self.trouble

    def _proposed(self) -> Proposal | None:
        """What the columns seem to be, for arms whose positions were measured."""
        from theodolite.errors import InputError
        from theodolite.io.proposal import propose
        from theodolite.model.robot import Robot

        if not isinstance(self.robot, Robot):
            return None
        if self.data is not None and (self.data.positions is None or self.data.fixture is not None):
            return None
        try:
            return propose(self.path, self.robot)
        except InputError:
            # What kept the file from being read says more.
            return None

    @property
    def doubtful(self) -> bool:
        """Can the file not be used as it stands?"""
        proposal = self.proposal
        if self.trouble is not None:
            return True
        return proposal is not None and bool(proposal.findings or not proposal.usable)

    def show(self, screen: Console) -> None:
        """For people."""
        from theodolite.calibration.catalogue import TOUCHES
        from theodolite.errors import printable

        path = printable(str(self.path))
        if self.data is None:
            # With a mapping that helps, what is allowed without one need not be said.
            helped = self.proposal is not None and self.proposal.usable
            what = self.trouble.what if self.trouble is not None else ""
            text = f"{path}: {printable(what)}" if helped else printable(str(self.trouble))
            screen.print(text, style="yellow", markup=False)
        else:
            holds = ", ".join(self.data.holds) or "joints only"
            screen.print(
                f"{path}: {len(self.data)} configurations of {printable(self.robot.name)} with "
                f"{holds}; method {self._method() or ', '.join(TOUCHES)}",
                markup=False,
            )
            parts = ", ".join(f"q{n} {100 * part:.0f} %" for n, part in enumerate(self._moved(), 1))
            screen.print(f"  fraction of each joint's range used: {parts}", markup=False)
            if self._still():
                screen.print(f"  [yellow]never moved: {', '.join(self._still())}[/yellow]")
        for note in self.notes:
            screen.print(f"  {printable(note)}", style="yellow", markup=False)
        if self.proposal is not None:
            _show_proposal(screen, self.proposal, asked=self.doubtful)

    def _method(self) -> str | None:
        from theodolite.calibration.catalogue import told_method

        return None if self.data is None else told_method(self.data)

    def _moved(self) -> list[float]:
        """The fraction of each joint's range that is used."""
        from theodolite.calibration.excitation import range_used

        return [] if self.data is None else range_used(self.robot, self.data).tolist()

    def _still(self) -> list[str]:
        from theodolite.calibration.excitation import still_joints

        return [] if self.data is None else list(still_joints(self.robot, self.data))

    def json(self) -> dict[str, Any]:
        """For programs."""
        content: dict[str, Any] = {
            "file": str(self.path),
            "kind": "measurements",
            "doubtful": self.doubtful,
            "trouble": None if self.trouble is None else str(self.trouble),
            "notes": self.notes,
        }
        if self.data is not None:
            content |= {
                "rows": len(self.data),
                "holds": list(self.data.holds),
                "method": self._method(),
                "range_used": self._moved(),
                "never_moved": self._still(),
            }
        if self.proposal is not None:
            proposal = self.proposal
            content["proposal"] = {
                "map": str(proposal.mapping),
                "certainty": proposal.certainty.name.lower(),
                "findings": list(proposal.findings),
                "undecided": list(proposal.undecided),
                "rms_mm": None if proposal.rms is None else 1e3 * proposal.rms,
            }
        return content


def _show_proposal(screen: Console, proposal: Proposal, *, asked: bool) -> None:
    """What the columns seem to be; the mapping only where it is needed."""
    from theodolite.errors import printable

    for finding in proposal.findings:
        screen.print(f"  found: {printable(finding)}", style="yellow", markup=False)
    if proposal.rms is not None and proposal.usable:
        screen.print(
            f"  {1e3 * proposal.rms:.3g} mm rms from the nominal robot, with base and target fitted"
        )
    for sentence in proposal.undecided:
        screen.print(f"  not decided: {printable(sentence)}", markup=False)
    if asked:
        screen.print(f"  {proposal.certainty.value}", markup=False)
        if proposal.usable:
            text = printable(str(proposal.mapping)).replace('"', '\\"')
            screen.print(f'  proposed: --map "{text}"', markup=False)
