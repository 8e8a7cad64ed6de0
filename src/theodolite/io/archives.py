"""Columns from NumPy archives (``.npz``) and MATLAB files (``.mat``, up to version 7).

A vector is a column under its own name. A matrix ``q_rad`` of six columns is ``q1_rad`` to
``q6_rad``; one with ``xyz`` in its name, as in ``p1_xyz_mm``, has one column for each letter.
"""

from __future__ import annotations

import math
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.errors import InputError
from theodolite.io.naming import with_unit
from theodolite.io.reading import LARGEST_FILE, read_bytes
from theodolite.io.sheets import MOST_COLUMNS


def read_npz(path: Path) -> dict[str, FloatArray]:
    """The columns of a NumPy archive."""
    return _columns(npz_arrays(path), path)


def npz_arrays(path: Path, *, kinds: str = "fiub") -> dict[str, Any]:
    """The arrays of a NumPy archive, of given kinds; objects and bombs are refused."""
    content = BytesIO(read_bytes(path))
    with undamaged("a valid NumPy archive of numbers", path):
        check_unpacked(content, path)
        with np.load(content, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files if _fits(archive, name, kinds)}


@contextmanager
def undamaged(kind: str, path: Path) -> Iterator[None]:
    """Whatever a library raises over a damaged file, it is not what it should be."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"is not {kind}", where=str(path)) from error


def check_unpacked(content: BytesIO, path: Path) -> None:
    """Refuse a zip file that unpacks to more than any measurement needs."""
    with zipfile.ZipFile(content) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
    if size > LARGEST_FILE:
        raise InputError(
            f"unpacks to {size >> 20} MB", where=str(path), allowed=f"up to {LARGEST_FILE >> 20} MB"
        )


def _fits(archive: Any, name: str, kinds: str) -> bool:
    """Does an array have the size that its file has? NumPy makes room before it reads."""
    with archive.zip.open(f"{name}.npy") as stream:
        version = np.lib.format.read_magic(stream)
        reader = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }.get(version)
        if reader is None:
            raise ValueError(version)
        shape, _, dtype = reader(stream)
        size = archive.zip.getinfo(f"{name}.npy").file_size
        if math.prod(shape) * max(1, dtype.itemsize) > size:
            raise ValueError(shape)
        # Text and objects are no columns of numbers.
        return dtype.kind in kinds


def read_mat(path: Path) -> dict[str, FloatArray]:
    """The columns of a MATLAB file: its matrices, not its structures and cells."""
    from scipy.io import loadmat, whosmat

    content = read_bytes(path)
    if content[:19] == b"MATLAB 7.3 MAT-file" or content[:4] == b"\x89HDF":
        raise InputError(
            "is a MATLAB file of version 7.3",
            where=str(path),
            remedy="Save it with save(..., '-v7') or writetable",
        )
    with undamaged("a valid MATLAB file", path):
        known = whosmat(BytesIO(content))
        wanted = [name for name, shape, kind in known if kind in _MATLAB_KINDS and len(shape) == 2]
        size = sum(8 * math.prod(shape) for name, shape, _ in known if name in wanted)
        if size > LARGEST_FILE:
            raise InputError(
                f"unpacks to {size >> 20} MB",
                where=str(path),
                allowed=f"up to {LARGEST_FILE >> 20} MB",
            )
        found = loadmat(BytesIO(content), variable_names=wanted) if wanted else {}
    return _columns({name: found[name] for name in wanted if name in found}, path)


_MATLAB_KINDS = (
    *("double", "single", "logical"),
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
)


def _columns(arrays: Mapping[str, Any], path: Path) -> dict[str, FloatArray]:
    """Vectors and the columns of matrices, all as numbers; single numbers are left out."""
    found: dict[str, FloatArray] = {}
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiub":
            continue
        for column, values in _named(name, array):
            found[column] = values.astype(np.float64)
            if len(found) > MOST_COLUMNS:
                raise InputError(
                    "has too many columns", where=str(path), allowed=f"up to {MOST_COLUMNS}"
                )
    if not found:
        raise InputError("has no columns of numbers", where=str(path))
    return found


def _named(name: str, array: Any) -> Iterator[tuple[str, Any]]:
    """The columns of one array, with their names."""
    if array.size <= 1 or array.ndim not in (1, 2):
        return
    if array.ndim == 1 or 1 in array.shape:
        yield name, array.reshape(-1)
        return
    stem, unit = with_unit(name)
    behind = f"_{unit}" if unit else ""
    if stem.endswith("xyz") and array.shape[1] == 3:
        for letter, values in zip("xyz", array.T, strict=True):
            yield f"{stem.removesuffix('xyz')}{letter}{behind}", values
        return
    for number, values in enumerate(array.T[: MOST_COLUMNS + 1], 1):
        yield f"{stem}{number}{behind}", values
