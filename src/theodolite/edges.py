"""What robots, data and results can do for people: save, draw, print and tabulate themselves.

The core computes and knows neither files nor reports. Its objects still have the methods that
people look for, and these end here. Everything is imported when it is called, so that the core
stays as light as it is: `pyproject.toml` lets this one file through the contracts of imports, and
`tests/test_api.py` checks that loading the core loads no edge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from theodolite.errors import InputError, shown

if TYPE_CHECKING:
    from theodolite.arrays import FloatArray
    from theodolite.calibration.data import Dataset
    from theodolite.calibration.lens import Lens
    from theodolite.calibration.result import Result
    from theodolite.estimation.identifiability import Identifiability
    from theodolite.model.machine import Machine

    #: Points on a board, (m, 3), and the pixels in which they were seen, (m, 2).
    Marks = tuple[FloatArray, FloatArray]


def save_robot(robot: Machine, path: Path | str, *, force: bool) -> None:
    """A robot as a robot file."""
    from theodolite.io.robot_file import write_robot

    write_robot(robot, _path(path, (".toml",)), force=force)


def save_result(result: Result, path: Path | str, *, force: bool) -> None:
    """The calibrated robot as .toml, its camera beside it if it has one; or everything as .json."""
    from theodolite.io.camera_file import camera_of, camera_path, write_camera
    from theodolite.io.result_file import write_result
    from theodolite.io.robot_file import write_robot

    path = _path(path, (".toml", ".json"))
    if path.suffix.lower() == ".toml":
        write_robot(result.signed_robot(), path, force=force)
        if result.method == "camera":
            write_camera(camera_of(result), camera_path(path), force=force)
        return
    write_result(result, path, force=force)


def file_path(path: Path | str) -> Path:
    """What names a file, checked."""
    if not isinstance(path, str | Path):
        raise InputError(f"{shown(path)} is not a file name", allowed="text or a Path")
    return Path(path)


def _path(path: Path | str, suffixes: Sequence[str]) -> Path:
    path = file_path(path)
    if path.suffix.lower() not in suffixes:
        raise InputError(
            f"cannot be written as '{path.suffix}'", where=str(path), allowed=tuple(suffixes)
        )
    return path


def robot_dict(robot: Machine) -> dict[str, Any]:
    """A robot as plain data, SI."""
    from theodolite.report.notebook import robot_data

    return robot_data(robot)


def result_dict(result: Result) -> dict[str, Any]:
    """What ``theodolite identify --json`` prints."""
    from theodolite.report.data import result_data

    return {**result_data(result), "located": result.placed}


def identifiability_dict(known: Identifiability) -> dict[str, Any]:
    """What ``theodolite identifiable --json`` prints of the parameters."""
    from theodolite.report.data import identifiability_data

    return identifiability_data(known, None, [])


def summary(subject: Result | Identifiability) -> str:
    """What the command line prints, as text."""
    from theodolite.report.notebook import summary_text

    return summary_text(subject)


def html(subject: Machine | Dataset | Identifiability | Result) -> str:
    """What a notebook shows."""
    from theodolite.report import notebook

    return notebook.html(subject)


def plot_robot(robot: Machine, q: Any) -> Any:
    """A matplotlib figure of a robot."""
    from theodolite.report.plots import robot_figure

    return robot_figure(robot, q)


def plot_result(result: Result) -> Any:
    """A matplotlib figure of what is left, before and after."""
    from theodolite.report.plots import result_figure

    return result_figure(result)


def lens_of(marks: Sequence[Marks], model: str) -> Lens:
    """The lens that several pictures of flat boards show, each as points and pixels."""
    from theodolite.vision.poses import calibrate_lens, check_determined

    found = calibrate_lens(marks, model=model)
    check_determined(found)
    return found.lens


def poses_of(marks: Sequence[Marks], lens: Lens) -> list[tuple[FloatArray, FloatArray]]:
    """Rotation and position of the board in each picture."""
    from theodolite.vision.poses import seen_pose

    poses = [seen_pose(*one, lens) for one in marks]
    return [(pose.rotation, pose.position) for pose in poses]


def frame(columns: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> Any:
    """A pandas DataFrame from columns or from records."""
    try:
        import pandas
    except ImportError as error:
        raise InputError(
            "a DataFrame needs pandas, which is not installed",
            remedy="Type: pip install pandas; or use to_dict()",
        ) from error
    return pandas.DataFrame(columns)


def data_frame(data: Dataset, robot: Machine | None) -> Any:
    """A pandas DataFrame of measurements, a column per number; with a robot, as in its files."""
    from theodolite.io.tables import named_columns
    from theodolite.report.notebook import data_columns

    return frame(data_columns(data) if robot is None else named_columns(data, robot))
