"""A calibrated lens, for people and for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape

from theodolite.estimation.statistics import NORMAL_95
from theodolite.report.terminal_table import Table
from theodolite.vision.detection import Detection, Rejected
from theodolite.vision.drawing import coverage
from theodolite.vision.poses import CalibratedLens

#: Pictures this many times worse than the typical one are suspicious.
SUSPICIOUS = 3.0
#: Less of the picture's area than this is covered poorly; more pixels than this are no noise.
POOR, NOISY = 0.5, 2.0
#: So many pictures are named.
NAMED = 5


def lens_data(
    found: CalibratedLens, seen: Sequence[Detection], rejected: Sequence[Rejected]
) -> dict[str, Any]:
    """What ``lens --json`` prints."""
    lens = found.lens
    part = coverage(np.concatenate([one.pixels for one in seen]), seen[0].size)
    widths = NORMAL_95 * np.sqrt(np.maximum(np.diag(found.covariance), 0.0))
    usual = float(np.median(found.by_picture))
    suspicious = [
        one.name
        for one, error in zip(seen, found.by_picture, strict=True)
        if error > SUSPICIOUS * usual
    ]
    doubts = []
    if part < POOR:
        doubts.append(
            f"Marks cover only {100 * part:.0f} % of the picture's area: what the lens does "
            "elsewhere is not known. Show the board in all corners."
        )
    if found.rms > NOISY:
        doubts.append(
            f"{found.rms:.2g} px are left, far above the noise of marks: the board may be bent or "
            "another one, or the lens need another model."
        )
    if suspicious:
        doubts.append(f"{', '.join(suspicious[:NAMED])} fit worse than the others. Leave them out.")
    return {
        "model": lens.model,
        "pictures": len(seen),
        "marks": sum(len(one.ids) for one in seen),
        "size_px": list(seen[0].size),
        "rms_px": found.rms,
        "coverage": part,
        "field_deg": None if lens.field is None else float(np.degrees(lens.field)),
        "parameters": [
            {"name": name, "value": float(value), "interval95": float(width)}
            for name, value, width in zip(lens.names, lens.values, widths, strict=True)
        ],
        "covariance": found.covariance.tolist(),
        "by_picture": [
            {"name": one.name, "marks": len(one.ids), "rms_px": error}
            for one, error in zip(seen, found.by_picture, strict=True)
        ],
        "left_out": [{"name": one.name, "reason": one.reason} for one in rejected],
        "doubts": doubts,
    }


def show_lens(console: Console, content: dict[str, Any]) -> None:
    """Its numbers with intervals, and what the pictures cover."""
    table = Table(title=f"Lens, model {content['model']}", title_justify="left")
    for heading in ("name", "value", "95 % +-", "unit"):
        table.add_column(heading, justify="left" if heading in ("name", "unit") else "right")
    for one in content["parameters"]:
        pixels = one["name"][0] in "fc"
        digits = 3 if pixels else 6
        table.add_row(
            one["name"],
            f"{one['value']:.{digits}f}",
            f"{one['interval95']:.2g}",
            "px" if pixels else "",
        )
    console.print(table)
    width, height = content["size_px"]
    console.print(
        f"{content['pictures']} pictures of {width} x {height} px with {content['marks']} marks, "
        f"{content['rms_px']:.3g} px rms per coordinate; marks in {100 * content['coverage']:.0f} "
        f"% of the picture's area, up to {content['field_deg']:.1f} deg from the axis"
    )
    for doubt in content["doubts"]:
        console.print(f"[yellow]{escape(doubt)}[/yellow]")
