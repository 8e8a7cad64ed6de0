"""What pictures covered, and which of them fit worst."""

from __future__ import annotations

import numpy as np
from rich.console import Console

from theodolite.calibration.result import Result
from theodolite.vision.drawing import coverage
from theodolite.vision.pictures import Seen


def show_pictures(console: Console, seen: Seen, result: Result) -> None:
    """How much of the picture and of the workspace was seen, and the worst picture."""
    by_picture = result.by_picture
    if by_picture:
        worst = max(by_picture, key=lambda name: by_picture[name][1])
        usual = float(np.median([error for _, error in by_picture.values()]))
        console.print(
            f"{len(by_picture)} pictures, typically {usual:.2g} px rms per coordinate; the worst "
            f"is {worst} with {by_picture[worst][1]:.2g} px",
            markup=False,
        )
    pixels = np.concatenate([sight.marks.pixels for _, sight in seen.sights])
    part = coverage(pixels, seen.sights[0][1].marks.size)
    robot = result.nominal
    used = np.ptp(robot.readings(seen.data.motors), axis=0) / (robot.upper - robot.lower)
    joints = ", ".join(
        f"{name} {100 * amount:.0f} %" for name, amount in zip(robot.joint_names, used, strict=True)
    )
    console.print(
        f"marks in {100 * part:.0f} % of the picture's area; of their ranges the joints used "
        f"{joints}",
        markup=False,
    )
