"""The residuals of the IRB 120 at each step of docs/explanation/whole-error.md.

    python docs/pictures/make_whole_error.py RECORDINGS

RECORDINGS is the folder that holds irb120-tracker/train.csv. A fifth of the rows is left out of
everything; what the model of each step misses there is drawn over the angle of joint 2.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np

import theodolite as th
from theodolite.calibration.cross_validation import nominal_placed

mpl.use("Agg")
import matplotlib.pyplot as plt

#: What each step adds, and how it is asked for.
STEPS = (
    ("geometry", {"gains": False, "terms": "none"}),
    ("geometry and gains", {"gains": True, "terms": "none"}),
    ("geometry and gravity", {"gains": False, "terms": ["gravity"]}),
    ("terms auto", {}),
    ("terms auto, rows as time", {"rows_as_time": True}),
)


def main() -> None:
    robot = th.robots.irb120()
    path = Path(sys.argv[1]) / "irb120-tracker" / "train.csv"
    data = th.read_measurements([path], robot)
    rows = np.random.default_rng(1).permutation(len(data))
    out, rest = np.sort(rows[: len(data) // 5]), np.sort(rows[len(data) // 5 :])
    problem = th.Position().problem(th.locate(robot, data), data, noise=th.Noise())
    found = [("nominal, placed", problem.errors(nominal_placed(problem)))]
    for name, options in STEPS:
        # The rows that are left out keep their place in time.
        weights = {"hold_out": 0.0, **options}
        result = th.identify(robot, data.take(rest), "position", **weights)
        judged = data if not options.get("rows_as_time") else with_rows(data, rest)
        found.append((name, th.residuals(result.robot, judged, "position")))
    draw(robot, data, out, found)


def with_rows(data: th.Dataset, rest: np.ndarray) -> th.Dataset:
    """Each row's number among those that were fitted, as its time."""
    from dataclasses import replace

    numbers = np.searchsorted(rest, np.arange(len(data))).astype(float)
    return replace(data, columns={**data.columns, "row": numbers})


def draw(robot: th.Robot, data: th.Dataset, out: np.ndarray, found: list) -> None:
    angle = np.degrees(robot.readings(data.motors)[:, 1])
    figure, axes = plt.subplots(2, 3, figsize=(9, 4.6), sharex=True, sharey=True)
    for axis, (name, errors) in zip(axes.flat, found, strict=True):
        sizes = 1e3 * errors["position"].reshape(-1, len(data))[:, out]
        axis.semilogy(np.tile(angle[out], len(sizes)), sizes.ravel(), ".", ms=3)
        axis.axhline(sizes.mean(), lw=1, color="0.3")
        axis.set_title(f"{name}: {sizes.mean():.3f} mm", fontsize=9)
        axis.grid(alpha=0.3)
    for axis in axes[1]:
        axis.set_xlabel("joint 2, deg")
    for axis in axes[:, 0]:
        axis.set_ylabel("error, mm")
    figure.tight_layout()
    figure.savefig(Path(__file__).with_name("whole-error.png"), dpi=110)


if __name__ == "__main__":
    main()
