"""Measurements as the options of ``identify`` say: tables, pictures, or long data in pieces."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from theodolite.cli.long_data import open_pieces
from theodolite.cli.mapping_options import mapping_from
from theodolite.cli.options import data_from, method_from
from theodolite.cli.pictures import seen_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from theodolite.calibration.data import Dataset
    from theodolite.calibration.long_data import Pieces
    from theodolite.calibration.method import Method
    from theodolite.estimation.merging import Each
    from theodolite.model.machine import Machine
    from theodolite.vision.pictures import Seen


@dataclass
class Reader:
    """Reads one source after the other, and keeps what else was seen on the way."""

    robot: Machine
    #: Options of methods, by the names of `method_from`.
    methods: Mapping[str, Any]
    #: Options of pictures, by the names of `seen_in`.
    pictures: Mapping[str, Any]
    images: list[Path]
    board: list[str] | None
    several: bool
    each: Each
    columns: str | None = None
    ignore: str = ""
    ignore_limits: bool = False
    map_: str | None = None
    mapping: Path | None = None
    seen: list[Seen] = field(default_factory=list)
    #: All rows of long data, of which those that were read are an excerpt.
    pieces: Pieces | None = None

    def method(self, name: str, target: str | None = None) -> Method:
        """A method by its name; two targets are its own affair."""
        options = dict(self.methods)
        if target is not None and "," in target:
            options["between"] = target
        return method_from(name, one_of_several=self.several, **options)

    def read(self, paths: list[Path], method: Method) -> tuple[Dataset, Method]:
        """One source: its data, and its method with what pictures say of it."""
        refused = {
            "--data": self.several,
            "--columns": self.columns is not None,
            "--map": bool(self.map_),
            "--mapping": self.mapping is not None,
            "--images": bool(self.images),
        }
        limits: dict[str, Any] = {"ignore": self.ignore, "ignore_limits": self.ignore_limits}
        self.pieces = open_pieces(paths, self.robot, method, self.each, refused, **limits)
        if self.pieces is not None:
            return self.pieces.excerpt(), method
        pixels = "pixels" in method.needs
        # Of several sources, the pictures are those of the camera.
        pictured = bool(self.images) and (pixels or not self.several)
        recorded = data_from(
            paths,
            self.robot,
            needs=() if pictured else method.needs,
            columns=self.columns,
            mapping=mapping_from(self.map_, self.mapping),
            own=method.columns,
            **limits,
        )
        if not pictured:
            return recorded, method
        shown = seen_in(recorded, self.images, self.board, pixels=pixels, **self.pictures)
        self.seen.append(shown)
        return shown.data, shown.camera if pixels else method
