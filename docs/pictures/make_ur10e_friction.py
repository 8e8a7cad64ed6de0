"""Draw ``ur10e-friction.svg``: friction of a real UR10e over speed and load.

python make_ur10e_friction.py FOLDER      with the UR10e's URDF and its 30 s recording

Run it in an environment with ``theodolite[plots]``; it writes the picture beside itself.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import theodolite as th
from theodolite.dynamics.drives import Drive
from theodolite.dynamics.inertia import INERTIAL

GAINS = np.array([14.87, 13.26, 11.13, 10.62, 11.03, 11.47])


def main(folder: Path) -> None:
    table = np.loadtxt(folder / "ur-20_02_10-30sec_12harm.csv", delimiter=",")[635:3510]
    recording = th.Recording(
        table[:, 0], table[:, 1:7], table[:, 13:19] * GAINS, qd=table[:, 7:13], name="UR10e"
    )
    dynamics = th.Dynamics(th.read_urdf(folder / "ur10e.urdf", tip="tool0"))
    found = th.identify_dynamics(dynamics, recording)
    run = found.problem.runs[0]
    shaped, drives = found.dynamics, found.problem.drives
    columns = shaped.columns(drives)
    W = shaped.regressor(run.state, drives, values=found.values)
    rigid = [n for n, (s, _) in enumerate(columns) if s in INERTIAL or Drive(s).rigid]
    load = np.tensordot(found.values[rigid], W[rigid], axes=1).T
    rest = [n for n in range(len(columns)) if n not in rigid]
    model = np.tensordot(found.values[rest], W[rest], axes=1).T
    measured = run.smooth_torques() - load
    plt.rcParams.update({"font.size": 9, "svg.fonttype": "path", "svg.hashsalt": "theodolite"})
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for axis, joint in zip(axes, (1, 2), strict=True):
        each = slice(None, None, 6)
        shown = axis.scatter(
            run.state.qd[each, joint], measured[each, joint], c=np.abs(load[each, joint]), s=7
        )
        axis.plot(run.state.qd[each, joint], model[each, joint], ".", color="black", ms=1.5)
        axis.set_title(f"joint {joint + 1}", loc="left")
        axis.set_xlabel("speed, rad/s")
        axis.set_ylabel("torque less that of the bodies, N m")
        figure.colorbar(shown, ax=axis, label="load of the gear, N m")
    figure.savefig(Path(__file__).parent / "ur10e-friction.svg", metadata={"Date": None})


main(Path(sys.argv[1]))
