"""Pictures to look at: what was found in each, and by how much the robot misses it."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.vision.detection import Rejected, read_grey
from theodolite.vision.opencv import opencv
from theodolite.vision.pictures import Seen

#: Drawings are at most so wide, and thumbnails, px.
WIDE, THUMBNAIL = 1600, 360
#: The typical arrow is so long in a drawing, px, and enlarged by one of these factors.
ARROW = 16.0
FACTORS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
#: Blue, green, red as OpenCV counts them.
MARK, MISS, TEXT = (0, 200, 0), (0, 60, 255), (255, 120, 0)
#: The picture is divided into so many cells each way, to see which parts were covered.
CELLS = 8


def coverage(pixels: FloatArray, size: tuple[int, int]) -> float:
    """The part of the picture's cells in which marks were seen."""
    cells = np.clip((pixels / np.array(size) * CELLS).astype(int), 0, CELLS - 1)
    return len(np.unique(cells[:, 0] * CELLS + cells[:, 1])) / CELLS**2


def draw_pictures(
    seen: Seen, predicted: FloatArray, left_out: Mapping[str, float], folder: Path
) -> list[Path]:
    """Each picture with its marks and enlarged errors, and a page of all of them.

    ``predicted`` are the pixels of all marks, in the order of the sights. ``left_out`` names
    pictures that do not fit the others.
    """
    cv2 = opencv()

    ends = np.cumsum([0, *(len(sight.marks.ids) for _, sight in seen.sights)])
    misses: list[FloatArray] = [
        predicted[first:last] - sight.marks.pixels
        for (_, sight), first, last in zip(seen.sights, ends[:-1], ends[1:], strict=True)
    ]
    typical = float(np.median(np.linalg.norm(np.concatenate(misses), axis=1)))
    factor = next((f for f in FACTORS if f * typical >= ARROW / 2), FACTORS[-1])
    by_file: dict[Path, list[tuple[Any, FloatArray]]] = {}
    for (path, sight), miss in zip(seen.sights, misses, strict=True):
        by_file.setdefault(path, []).append((sight, miss))
    parents = {path.parent for path in by_file}
    rows, written = [], []
    for number, (path, sights) in enumerate(by_file.items(), 1):
        grey = read_grey(path)
        if isinstance(grey, Rejected):
            continue
        scale = min(1.0, WIDE / grey.shape[1])
        picture = cv2.cvtColor(
            cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA),
            cv2.COLOR_GRAY2BGR,
        )
        for sight, miss in sights:
            _draw(picture, sight, miss, scale, factor)
        error = float(np.sqrt(np.mean(np.concatenate([miss for _, miss in sights]) ** 2)))
        title = f"{path.name}: {error:.3g} px rms, arrows x {factor}"
        for colour, thick in (((255, 255, 255), 4), ((0, 0, 0), 1)):
            cv2.putText(picture, title, (10, 28), cv2.FONT_HERSHEY_SIMPLEX, 0.8, colour, thick)
        # Numbered, since two folders may hold the same names; and no longer than files may be.
        name = f"{number:03}-{path.stem[:80]}.jpg"
        smaller = THUMBNAIL / picture.shape[1]
        small = cv2.resize(picture, None, fx=smaller, fy=smaller, interpolation=cv2.INTER_AREA)
        for target, drawn in ((name, picture), (f"small-{name}", small)):
            done, content = cv2.imencode(".jpg", drawn)
            if done:
                (folder / target).write_bytes(content.tobytes())
                written.append(folder / target)
        # Two cameras may have pictures of one name.
        label = f"{path.parent.name}/{path.name}" if len(parents) > 1 else path.name
        rows.append((name, label, sum(len(s.marks.ids) for s, _ in sights), error))
    page = folder / "index.html"
    page.write_text(_page(rows, seen, left_out, factor), encoding="utf-8")
    return [*written, page]


def _draw(picture: Any, sight: Any, miss: FloatArray, scale: float, factor: int) -> None:
    """Marks with their numbers, and where the robot puts them, enlarged."""
    cv2 = opencv()

    places = (sight.marks.pixels + 0.5) * scale - 0.5
    tips = places + factor * scale * np.clip(miss, -1e4, 1e4)
    limit = 10 * max(picture.shape[:2])
    for number, (place, tip) in enumerate(zip(places, tips, strict=True)):
        at = (round(float(place[0])), round(float(place[1])))
        to = tuple(int(np.clip(round(float(value)), -limit, limit)) for value in tip)
        cv2.circle(picture, at, 5, MARK, 1, cv2.LINE_AA)
        cv2.arrowedLine(picture, at, to, MISS, 2, cv2.LINE_AA, tipLength=0.2)
        if number % 5 == 0:
            label = str(int(sight.marks.ids[number]))
            spot = (at[0] + 6, at[1] - 6)
            cv2.putText(picture, label, spot, cv2.FONT_HERSHEY_SIMPLEX, 0.4, TEXT, 1, cv2.LINE_AA)


def _page(
    rows: list[tuple[str, str, int, float]],
    seen: Seen,
    left_out: Mapping[str, float],
    factor: int,
) -> str:
    """All pictures side by side, the worst first."""
    pixels = np.concatenate([sight.marks.pixels for _, sight in seen.sights])
    part = coverage(pixels, seen.sights[0][1].marks.size)
    figures = []
    for name, picture, marks, error in sorted(rows, key=lambda row: -row[3]):
        wrong = any(picture in other.split(" and ") for other in left_out)
        word = " <b>left out: does not fit the others</b>" if wrong else ""
        figures.append(
            f'<figure{" class=wrong" if wrong else ""}><a href="{quote(name)}">'
            f'<img src="small-{quote(name)}" alt=""></a><figcaption>'
            f"{escape(picture)}<br>{marks} marks, {error:.3g} px rms{word}</figcaption></figure>"
        )
    unused = "".join(f"<li>{escape(one.name)}: {escape(one.reason)}</li>" for one in seen.rejected)
    unused = f"<h2>Not used</h2><ul>{unused}</ul>" if unused else ""
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><title>Pictures</title><style>"
        "body{font:15px sans-serif;margin:2em}figure{display:inline-block;margin:.5em;"
        "vertical-align:top;width:360px}img{width:100%}.wrong{outline:3px solid #d33}"
        "</style><h1>Pictures</h1>"
        f"<p>{len(rows)} pictures, the worst first. Green circles: marks as found, some with their "
        f"numbers. Red arrows: to where the calibrated robot puts them, {factor} times as long. "
        f"Marks were seen in {100 * part:.0f} % of the picture's area.</p>"
        f"{''.join(figures)}{unused}</html>\n"
    )
