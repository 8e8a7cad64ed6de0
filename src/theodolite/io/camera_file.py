"""Cameras as files: lenses with their covariance, and where camera and target stand.

Our own are TOML. Lenses are also read and written as YAML, as OpenCV and ROS do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from theodolite.calibration.camera import found_lenses
from theodolite.calibration.hand_eye_alone import hand_eye_poses
from theodolite.calibration.lens import BROWN, FISHEYE, MODELS, Lens
from theodolite.calibration.result import Result
from theodolite.calibration.scene import MOUNTS, KnownLens
from theodolite.errors import InputError
from theodolite.io.reading import read_text
from theodolite.io.toml import parse_toml
from theodolite.io.writing import write_text

FORMAT = "theodolite camera 1"
YAML = (".yaml", ".yml")
#: ROS's names of the models that it knows.
_ROS = {BROWN: "plumb_bob", "rational": "rational_polynomial", FISHEYE: "equidistant"}
#: How many coefficients each model has in OpenCV; shorter ones end with zeros.
_COUNTS = {4: BROWN, 5: BROWN, 8: "rational", 12: "thin-prism", 14: "thin-prism"}
#: A board that is larger or smaller by more than this part is another one.
LARGEST_SCALE = 0.9
_REMEDY = "Give a file that 'theodolite lens' wrote, or YAML of OpenCV or ROS"


@dataclass(frozen=True, eq=False)
class CameraFile:
    """What a file says of one or several cameras."""

    lenses: tuple[KnownLens, ...]
    #: Of the pictures, where it is known.
    size: tuple[int, int] | None = None
    #: What was found of the scene, as a result says it; None where only lenses are known.
    found: Mapping[str, Any] | None = None
    #: Poses for people: camera and target on the robot.
    poses: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    note: str = ""


def camera_path(robot: Path) -> Path:
    """The file beside a calibrated robot that says what its camera is."""
    return robot.with_name(f"{robot.stem}.camera.toml") if robot.name else robot


def camera_of(result: Result, size: tuple[int, int] | None = None) -> CameraFile:
    """Lens, camera and target as the result of a calibration from pictures has them."""
    return CameraFile(
        found_lenses(result.extras, result.order, result.statistics.covariance),
        size,
        result.extras,
        hand_eye_poses(result.robot, result.nominal, str(result.extras["mount"])),
        "Identified together with the robot beside which this file lies.",
    )


def read_camera(path: Path | str) -> CameraFile:
    """Lenses, and the scene where the file says it."""
    path = Path(path)
    text = read_text(path)
    if path.suffix.lower() in YAML:
        return _from_yaml(text, str(path))
    content = parse_toml(text, str(path), kind="camera", remedy=_REMEDY)
    if content.get("format") != FORMAT:
        raise InputError(
            f"the format is {content.get('format')!r}",
            where=str(path),
            allowed=repr(FORMAT),
            remedy=_REMEDY,
        )
    try:
        tables = content["lens"]
        tables = tables if isinstance(tables, list) else [tables]
        size = tuple(int(number) for number in content["size"]) if "size" in content else None
        found = content.get("found")
        if found is not None:
            found = _scene_read(found, tables)
    except KeyError as error:
        raise InputError(f"{error} is missing", where=str(path), remedy=_REMEDY) from error
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(
            "is not a camera file: a value has the wrong type",
            where=str(path),
            remedy=_REMEDY,
        ) from error
    lenses = tuple(_lens_read(table, str(path)) for table in tables)
    if not lenses or (size is not None and len(size) != 2):
        raise InputError("has no lens, or a size of other than two numbers", where=str(path))
    return CameraFile(lenses, size, found)


def _lens_read(table: Any, where: str) -> KnownLens:
    try:
        model = str(table.get("model", BROWN))
        names = MODELS[model]
        values = np.array([float(table[name]) for name in names])
        reach = table.get("field_deg")
        spread = table.get("covariance")
        covariance = None if spread is None else np.array(spread, dtype=np.float64)
        fixed = bool(table.get("fixed", False))
        lens = Lens.of(values, model, None if reach is None else float(np.radians(float(reach))))
        return KnownLens(lens, covariance, fixed)
    except InputError as error:
        raise InputError(str(error), where=where, remedy=_REMEDY) from error
    except KeyError as error:
        raise InputError(
            f"a lens is not complete: {error} is missing, or no model",
            where=where,
            allowed=[f"{name}: {' '.join(names)}" for name, names in MODELS.items()],
        ) from error
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(
            "a lens is not complete: something is not a number",
            where=where,
            allowed="model, its numbers such as fx fy cx cy k1 ..., field_deg, covariance",
        ) from error


def _scene_read(found: Mapping[str, Any], tables: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What was found, with labels as numbers, as a result has them."""
    mount = found["mount"]
    if mount not in MOUNTS:
        raise ValueError(f"mount {mount!r}")
    lenses = [
        {name: float(table[name]) for name in MODELS[str(table.get("model", BROWN))]}
        | {"model": str(table.get("model", BROWN)), "field_deg": table.get("field_deg")}
        for table in tables
    ]
    scene: dict[str, Any] = {"mount": mount, "lens": lenses[0]}
    if len(lenses) > 1:
        labels = [int(label) for label in found["labels"]]
        scene["lenses"] = dict(zip(labels, lenses, strict=True))
    for name in ("cameras", "boards"):
        if name in found:
            scene[name] = {
                int(label): {key: [float(v) for v in pose[key]] for key in _POSE}
                for label, pose in found[name].items()
            }
            for pose in scene[name].values():
                if any(len(pose[key]) != 3 or not np.isfinite(pose[key]).all() for key in _POSE):
                    raise ValueError("a pose of other than three numbers each")
    scene["board_scale"] = float(found.get("board_scale", 0.0))
    if not abs(scene["board_scale"]) < LARGEST_SCALE:
        raise ValueError("a board of no size")
    return scene


_POSE = ("position_m", "rotation_vector_deg")


def write_camera(camera: CameraFile, path: Path | str, *, force: bool = False) -> None:
    """As TOML, or, one lens alone, as ROS's YAML."""
    path = Path(path)
    if path.suffix.lower() in YAML:
        write_text(path, ros_yaml(camera), force=force)
        return
    if not camera.lenses:
        raise InputError("there is no lens to write")
    lines = [f'format = "{FORMAT}"']
    lines += [f"# {line}" for line in camera.note.splitlines()]
    if camera.size is not None:
        lines.append(f"size = [{camera.size[0]}, {camera.size[1]}]  # px")
    if camera.found is not None:
        lines += ["", "[found]", f'mount = "{camera.found["mount"]}"']
        if "lenses" in camera.found:
            lines.append(f"labels = [{', '.join(str(label) for label in camera.found['lenses'])}]")
        if "board_scale" in camera.found:
            lines.append(f"board_scale = {camera.found['board_scale']!r}")
        for name in ("cameras", "boards"):
            for label, pose in camera.found.get(name, {}).items():
                lines += ["", f'[found.{name}."{label}"]']
                lines += [f"{key} = {_row(pose[key])}" for key in _POSE]
    for known in camera.lenses:
        lines += ["", *_lens_lines(known, several=len(camera.lenses) > 1)]
    for name, pose in camera.poses.items():
        lines += ["", f"[{name}]", *(f"{key} = {_value(value)}" for key, value in pose.items())]
    write_text(path, "\n".join(lines) + "\n", force=force)


def _lens_lines(known: KnownLens, *, several: bool) -> list[str]:
    lens = known.lens
    lines = ["[[lens]]" if several else "[lens]", f'model = "{lens.model}"']
    lines += [
        f"{name} = {float(value)!r}" for name, value in zip(lens.names, lens.values, strict=True)
    ]
    if lens.field is not None:
        lines.append(f"field_deg = {float(np.degrees(lens.field))!r}")
    if known.covariance is not None:
        rows = [f"  {_row(row)}," for row in known.covariance.tolist()]
        lines += ["covariance = [", *rows, "]"]
    return lines


def _value(value: Any) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, Sequence) and value and isinstance(value[0], Sequence):
        return f"[{', '.join(_row(row) for row in value)}]"
    return _row(value) if isinstance(value, Sequence) else repr(value)


def _row(values: Sequence[float]) -> str:
    return f"[{', '.join(repr(float(value)) for value in values)}]"


def ros_yaml(camera: CameraFile) -> str:
    """The camera_info file of ROS's camera drivers."""
    lens = _single(camera)
    if lens.model not in _ROS:
        raise InputError(
            f"ROS has no lens model '{lens.model}'",
            allowed=list(_ROS),
            remedy="Write TOML or OpenCV's YAML, or calibrate another model",
        )
    width, height = _size(camera)
    projection = np.column_stack([lens.matrix, np.zeros(3)])
    parts = (
        ("camera_matrix", lens.matrix),
        ("distortion_coefficients", lens.distortion[None]),
        ("rectification_matrix", np.eye(3)),
        ("projection_matrix", projection),
    )
    lines = [f"image_width: {width}", f"image_height: {height}", "camera_name: camera"]
    for name, matrix in parts:
        if name == "distortion_coefficients":
            lines.append(f"distortion_model: {_ROS[lens.model]}")
        rows, columns = matrix.shape
        lines += [f"{name}:", f"  rows: {rows}", f"  cols: {columns}"]
        lines.append(f"  data: {_row(matrix.ravel().tolist())}")
    return "\n".join(lines) + "\n"


def opencv_yaml(camera: CameraFile) -> str:
    """The file that OpenCV's FileStorage writes."""
    lens = _single(camera)
    width, height = _size(camera)
    lines = ["%YAML:1.0", "---", f"image_width: {width}", f"image_height: {height}"]
    lines.append(f"fisheye_model: {int(lens.model == FISHEYE)}")
    for name, matrix in (
        ("camera_matrix", lens.matrix),
        ("distortion_coefficients", lens.distortion[:, None]),
    ):
        rows, columns = matrix.shape
        lines += [f"{name}: !!opencv-matrix", f"   rows: {rows}", f"   cols: {columns}"]
        lines += ["   dt: d", f"   data: {_row(matrix.ravel().tolist())}"]
    return "\n".join(lines) + "\n"


def _single(camera: CameraFile) -> Lens:
    if len(camera.lenses) != 1:
        raise InputError("YAML holds one camera", remedy="Write TOML")
    return camera.lenses[0].lens


def _size(camera: CameraFile) -> tuple[int, int]:
    if camera.size is None:
        raise InputError("the size of the pictures is not known, and YAML needs it")
    return camera.size


def _from_yaml(text: str, where: str) -> CameraFile:
    """A lens from what OpenCV or ROS wrote; of YAML only what they use."""
    values = _yaml_lists(text)
    words = dict(re.findall(r"(?m)^(\w+):[ \t]*([^\s#!][^\n#]*?)\s*$", text))
    try:
        matrix = next(
            values[name] for name in ("camera_matrix", "cameraMatrix", "K", "k") if name in values
        )
        distortion = next(
            values[name]
            for name in ("distortion_coefficients", "distCoeffs", "dist_coeffs", "D", "d")
            if name in values
        )
        name = words.get("distortion_model", "").strip("\"'")
        fisheye = name in ("equidistant", "fisheye") or words.get("fisheye_model") == "1"
        model = FISHEYE if fisheye else _COUNTS[len(distortion)]
        if len(matrix) != 9 or (fisheye and len(distortion) != 4):
            raise ValueError(f"{len(matrix)} and {len(distortion)} numbers")
        if len(distortion) == 14 and any(distortion[12:]):
            raise ValueError("a tilted sensor is not supported")
        wanted = len(MODELS[model]) - 4
        coefficients = np.pad(distortion[:wanted], (0, max(0, wanted - len(distortion))))
        pinhole = [matrix[0], matrix[4], matrix[2], matrix[5]]
        lens = Lens.of(np.array([*pinhole, *coefficients]), model)
        size = None
        for wide, high in (("image_width", "image_height"), ("width", "height")):
            if wide in words and high in words:
                size = (int(words[wide]), int(words[high]))
                break
    except (StopIteration, KeyError, ValueError, OverflowError, InputError) as error:
        raise InputError(
            f"is not a lens of OpenCV or ROS: {str(error) or 'a matrix is missing'}",
            where=where,
            allowed="camera_matrix and distortion_coefficients of 4, 5, 8, 12 or 14 numbers",
        ) from error
    return CameraFile((KnownLens(lens),), size)


def _yaml_lists(text: str) -> dict[str, list[float]]:
    """Lists of numbers by the names at the margin under which they stand."""
    found: dict[str, list[float]] = {}
    for name, body in re.findall(r"(?m)^(\w+):((?:[^\n]*\n)(?:[ \t-][^\n]*\n?)*)", text + "\n"):
        inside = re.search(r"data:\s*\[([^\]]*)\]", body) or re.search(r"^\s*\[([^\]]*)\]", body)
        words = re.split(r"[\s,]+", inside[1].strip()) if inside else re.findall(r"- *(\S+)", body)
        try:
            numbers = [float(word) for word in words if word]
        except ValueError:
            continue
        if numbers and np.isfinite(numbers).all():
            found[name] = numbers
    return found
