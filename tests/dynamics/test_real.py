"""Recordings of real robots: torques that were not used."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import theodolite as th
from tests.dynamics.simulated import DOWN, GAINS
from theodolite.dynamics.consistent import fit_consistent, is_consistent
from theodolite.dynamics.filtering import filter_recording
from theodolite.dynamics.identify import identify_dynamics
from theodolite.dynamics.prediction import predict
from theodolite.dynamics.recording import Recording
from theodolite.dynamics.serial import Dynamics
from theodolite.dynamics.torque_checks import check_runs


def ur10e(path: Path) -> Recording:
    table = np.loadtxt(path, delimiter=",")
    rows = slice(635, 3510) if "30sec" in path.name else slice(500, 4460)
    d = table[rows]
    return Recording(d[:, 0], d[:, 1:7], d[:, 13:19] * GAINS, qd=d[:, 7:13], name=path.name)


def test_the_ur10e(recordings: Path) -> None:
    """Fitted on 30 s, torques of another 40 s: 5.2 % weighted, 5.1 % consistent."""
    folder = recordings / "ur10e-dynamics"
    dynamics = Dynamics(th.read_urdf(folder / "ur10e.urdf", tip="tool0"), gravity=DOWN)
    fit = filter_recording(ur10e(folder / "ur-20_02_10-30sec_12harm.csv"), cutoff=10.0)
    unseen = filter_recording(ur10e(folder / "ur-20_02_12-40sec_12harm.csv"), cutoff=10.0)
    weighted = identify_dynamics(dynamics, fit)
    assert weighted.identifiability.rank == 58
    assert predict(weighted, unseen).error <= 0.052
    bodies = fit_consistent(weighted)
    assert is_consistent(bodies)
    assert predict(bodies, unseen).error <= 0.051
    assert not check_runs(dynamics, [fit]).warnings


def test_the_ur10e_with_another_filter(recordings: Path) -> None:
    """The same judged with a plain low-pass of the torques, not of the model."""
    from scipy.signal import butter, sosfiltfilt

    folder = recordings / "ur10e-dynamics"
    dynamics = Dynamics(th.read_urdf(folder / "ur10e.urdf", tip="tool0"), gravity=DOWN)
    fit = filter_recording(ur10e(folder / "ur-20_02_10-30sec_12harm.csv"), cutoff=10.0)
    found = identify_dynamics(dynamics, fit)
    unseen = filter_recording(ur10e(folder / "ur-20_02_12-40sec_12harm.csv"), cutoff=10.0)
    sections = butter(4, 10.0, fs=unseen.rate, output="sos")
    smooth = sosfiltfilt(sections, unseen.torques, axis=0)
    table = dynamics.regressor(unseen.state, found.problem.drives)
    predicted = np.tensordot(found.values, table, axes=1).T
    assert np.linalg.norm(predicted - smooth) / np.linalg.norm(smooth) <= 0.052


def test_the_lwr4(recordings: Path) -> None:
    """Half of the file predicts the other half below 2.5 %; bodies do so either way.

    The second half hardly moves joints 1, 5, 6 and 7, so plain weighted parameters are at 3.8 %.
    """
    folder = recordings / "lwr4-dynamics"
    dynamics = Dynamics(th.read_urdf(folder / "kuka_lwr4.urdf"), gravity=DOWN)
    table = np.load(folder / "measurements_1.npz")
    whole = Recording(
        table["times"], table["positions"], table["torques"], table["velocities"],
        table["accelerations"],
    )  # fmt: skip
    half = (whole.times[-1] - whole.times[0]) / 2
    fit, unseen = (
        filter_recording(whole.between(0, half)),
        filter_recording(whole.between(half, 2 * half)),
    )
    found, other = (identify_dynamics(dynamics, run) for run in (fit, unseen))
    assert predict(found, unseen).error < 0.025
    assert predict(fit_consistent(found), unseen).error < 0.025
    assert predict(fit_consistent(other), fit).error < 0.025
    run = filter_recording(whole)
    assert not check_runs(dynamics, [run]).warnings
    swapped = replace(run, torques=run.torques[:, [0, 3, 2, 1, 4, 5, 6]])
    (words,) = check_runs(dynamics, [swapped]).warnings
    assert "joints 2 and 4 seem exchanged" in words
