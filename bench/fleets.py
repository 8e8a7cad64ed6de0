"""A fleet of simulated robots through the command line: time, failures, and what a make is worth.

    python bench/fleets.py [--tiny]

500 PUMA robots of one make with 15 measurements of 0.1 mm each. Three of them are spoilt: a file
that is not a table, the data of another robot, and NaN in a row.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

import theodolite as th
from table import note
from theodolite.io.tables import write_measurements
from theodolite.model.parameters import placing

ROBOTS, POINTS = 500, 15
NOISE = th.Noise(position=1e-4)
#: How far robots of the make differ, and its mean from the nominal robot, in tolerances.
SPREAD, MEAN = 0.01, 0.5


def write(folder: Path, robots: int) -> dict[str, th.Robot]:
    """Data of all robots, three of them spoilt, and their list; the true robots of the others."""
    nominal, rng = th.robots.puma560(), np.random.default_rng(2)
    tolerances = np.array([p.tolerance for p in nominal.parameters])
    own = placing(nominal.parameters)
    arm = [n for n, p in enumerate(nominal.parameters) if n not in own and not p.gain]
    mean = np.zeros(len(tolerances))
    mean[arm] = MEAN * tolerances[arm] * rng.standard_normal(len(arm))
    truth = {}
    lines = ["name,nominal,data,method,hold_out"]
    for number in range(robots):
        values = nominal.values + mean
        values[arm] += SPREAD * tolerances[arm] * rng.standard_normal(len(arm))
        true = nominal.with_values(values)
        name = f"r{number:03}"
        data = th.simulate(true, "position", points=POINTS, rng=rng, noise=NOISE)
        write_measurements(data, nominal, folder / f"{name}.csv")
        truth[name] = true
        lines.append(f"{name},puma560,{name}.csv,position,0")
    bad, other, blank = list(truth)[1:4]
    (folder / f"{bad}.csv").write_text("not a table")
    stranger = th.robots.load("ur10e")
    data = th.simulate(stranger, "position", points=POINTS, rng=rng, noise=NOISE)
    write_measurements(data, stranger, folder / f"{other}.csv", force=True)
    text = (folder / f"{blank}.csv").read_text().splitlines()
    text[3] = "nan" + text[3][text[3].index(",") :]
    (folder / f"{blank}.csv").write_text("\n".join(text))
    (folder / "fleet.csv").write_text("\n".join(lines))
    for name in (bad, other, blank):
        del truth[name]
    return truth


def calibrate(folder: Path, out: str, *options: str) -> tuple[float, dict]:
    """Seconds of the whole verb, and what it says of every robot."""
    command = [sys.executable, "-m", "theodolite", "fleet", "calibrate", "fleet.csv", "--out", out]
    start = perf_counter()
    done = subprocess.run(
        [*command, "--json", *options], cwd=folder, capture_output=True, text=True
    )
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    return perf_counter() - start, json.loads(done.stdout)


def mean_error(folder: Path, truth: dict[str, th.Robot]) -> float:
    """Of all arms, wherever they stand, mm."""
    errors = [
        np.sqrt(np.mean(th.compare(th.read_robot(folder / f"{name}.toml"), true, rng=1) ** 2))
        for name, true in truth.items()
    ]
    return 1e3 * float(np.mean(errors))


def main() -> None:
    robots = 8 if "--tiny" in sys.argv[1:] else ROBOTS
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        truth = write(folder, robots)
        one, told = calibrate(folder, "alone")
        failed = [each for each in told["robots"] if each.get("message")]
        note(f"a fleet of {robots}", f"{one:.1f} s")
        print(f"{robots} robots, {POINTS} points each: {one:.1f} s in one process")
        for each in failed:
            print(f"  {each['name']}: {each['message'][:100]}")
        two, again = calibrate(folder, "both", "--workers", "2")
        print(f"two processes: {two:.1f} s, the same: {'yes' if told == again else 'NO'}")
        pooled, _ = calibrate(folder, "pooled", "--pool")
        before, after = (mean_error(folder / name, truth) for name in ("alone", "pooled"))
        print(f"with the make as a prior: {pooled:.1f} s")
        gain = 100 * (1 - after / before)
        print(f"mean error {before:.4f} mm alone, {after:.4f} mm with it: {gain:.0f} % less")


if __name__ == "__main__":
    main()
