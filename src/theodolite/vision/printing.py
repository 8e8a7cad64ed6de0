"""Boards to print: vector graphics at true scale, with a ruler to check the print by."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from theodolite.errors import InputError
from theodolite.vision.board import CHARUCO, CHESSBOARD, CIRCLES, GRID, TAGS, Board
from theodolite.vision.opencv import opencv

#: ISO pages, mm.
PAGES = {"a4": (210, 297), "a3": (297, 420), "a2": (420, 594), "a1": (594, 841), "a0": (841, 1189)}
#: White around the board, and room for ruler and text below it, mm.
MARGIN, FOOT = 8.0, 12.0
#: Radii of circles, as parts of their distance in a row.
RADII = {CIRCLES: 0.2, GRID: 0.25}
#: The ruler is at most so long, mm.
RULER = 200.0
#: One millimetre in the points of a PDF, and how a quarter of a circle is drawn by a Bezier curve.
POINT, QUARTER = 72.0 / 25.4, 0.5522847498


class Shapes(NamedTuple):
    """What is black: rectangles x, y, width, height and circles x, y, radius; mm, y downwards."""

    rectangles: list[tuple[float, float, float, float]]
    circles: list[tuple[float, float, float]]
    width: float
    height: float


def board_shapes(board: Board) -> Shapes:
    """A board's black parts, from its upper left corner."""
    width, height = (1e3 * length for length in board.size)
    side = 1e3 * board.square
    rectangles: list[tuple[float, float, float, float]] = []
    circles: list[tuple[float, float, float]] = []
    if board.kind in RADII:
        circles = [
            (1e3 * x + side / 2, 1e3 * y + side / 2, RADII[board.kind] * side)
            for x, y, _ in board.points.tolist()
        ]
    elif board.kind == CHESSBOARD:
        rectangles = [
            (side * i, side * j, side, side)
            for j in range(board.rows + 1)
            for i in range(board.columns + 1)
            if (i + j) % 2 == 0
        ]
    elif board.kind == CHARUCO:
        corners = [1e3 * np.asarray(place)[0, :2] for place in board.charuco.getObjPoints()]
        white = {(int(x // side), int(y // side)) for x, y in corners}
        rectangles = [
            (side * i, side * j, side, side)
            for j in range(board.rows)
            for i in range(board.columns)
            if (i, j) not in white
        ]
        for number, (x, y) in enumerate(corners):
            rectangles += _marker(board, number, float(x), float(y), 1e3 * board.marker)
    elif board.kind == TAGS:
        for number in range(board.markers):
            x, y, _ = 1e3 * board.points[4 * number]
            rectangles += _marker(board, number, float(x), float(y), side)
    return Shapes(rectangles, circles, width, height)


def _marker(
    board: Board, number: int, x: float, y: float, side: float
) -> list[tuple[float, float, float, float]]:
    """The black runs of one marker."""
    cv2 = opencv()

    dictionary = board.marker_dictionary
    cells = dictionary.markerSize + 2
    bits = cv2.aruco.generateImageMarker(dictionary, board.first + number, cells, borderBits=1)
    step = side / cells
    found = []
    for row in range(cells):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], bits[row] == 0, [0]]).astype(int)))
        for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            found.append((x + step * start, y + step * row, step * (end - start), step))
    return found


def page_for(shapes: Shapes, page: str | None = None) -> tuple[float, float]:
    """Width and height of the smallest page, or of the given one, that the board fits on, mm."""
    wide, high = shapes.width + 2 * MARGIN, shapes.height + 2 * MARGIN + FOOT
    if page is not None and page.lower() not in PAGES:
        raise InputError(f"there is no page '{page}'", allowed=list(PAGES))
    chosen = PAGES if page is None else {page.lower(): PAGES[page.lower()]}
    for short, long in chosen.values():
        for width, height in ((short, long), (long, short)):
            if wide <= width and high <= height:
                return float(width), float(height)
    if page is not None:
        raise InputError(
            f"the board needs {wide:.0f} x {high:.0f} mm with its margins",
            allowed=f"a page larger than {page}",
        )
    return wide, high


def _layout(board: Board, page: str | None) -> tuple[Shapes, tuple[float, float], str]:
    """The board in the middle of its page, ruler included; page size; the text."""
    shapes = board_shapes(board)
    width, height = page_for(shapes, page)
    left, top = (width - shapes.width) / 2, (height - FOOT - shapes.height) / 2
    rectangles = [(left + x, top + y, w, h) for x, y, w, h in shapes.rectangles]
    circles = [(left + x, top + y, r) for x, y, r in shapes.circles]
    length = min(RULER, 10.0 * int((width - 2 * MARGIN) / 10))
    below = height - MARGIN - 5.0
    rectangles.append((MARGIN, below, length, 0.2))
    for tick in range(int(length / 10) + 1):
        tall = 3.0 if tick % 5 == 0 else 2.0
        rectangles.append((MARGIN + 10 * tick - 0.1, below - tall, 0.2, tall))
    text = f"{board}   Print at 100 %: this ruler is {length:.0f} mm long. Measure it."
    return Shapes(rectangles, circles, width, height), (width, height), text


def board_svg(board: Board, page: str | None = None) -> str:
    """The page as SVG."""
    shapes, (width, height), text = _layout(board, page)
    parts = [f'<rect x="{x:.6g}" y="{y:.6g}" width="{w:.6g}" height="{h:.6g}"/>'
             for x, y, w, h in shapes.rectangles]  # fmt: skip
    parts += [f'<circle cx="{x:.6g}" cy="{y:.6g}" r="{r:.6g}"/>' for x, y, r in shapes.circles]
    parts.append(
        f'<text x="{MARGIN}" y="{height - MARGIN:.6g}" font-family="sans-serif" font-size="3.5">'
        f"{text}</text>"
    )
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}mm" height="{height:g}mm" '
        f'viewBox="0 0 {width:g} {height:g}">'
    )
    white = f'<rect width="{width:g}" height="{height:g}" fill="white"/>'
    return "\n".join([head, white, *parts, "</svg>"]) + "\n"


def board_pdf(board: Board, page: str | None = None) -> bytes:
    """The page as PDF."""
    shapes, (width, height), text = _layout(board, page)

    def place(x: float, y: float) -> str:
        return f"{POINT * x:.5f} {POINT * (height - y):.5f}"

    lines = ["0 g"]
    for x, y, w, h in shapes.rectangles:
        lines.append(f"{place(x, y + h)} {POINT * w:.5f} {POINT * h:.5f} re f")
    for x, y, r in shapes.circles:
        k = QUARTER * r
        lines.append(f"{place(x + r, y)} m")
        for (ax, ay), (bx, by), (cx, cy) in (
            ((r, k), (k, r), (0, r)),
            ((-k, r), (-r, k), (-r, 0)),
            ((-r, -k), (-k, -r), (0, -r)),
            ((k, -r), (r, -k), (r, 0)),
        ):
            lines.append(
                f"{place(x + ax, y + ay)} {place(x + bx, y + by)} {place(x + cx, y + cy)} c"
            )
        lines.append("f")
    escaped = text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    lines.append(f"BT /F1 9 Tf {place(MARGIN, height - MARGIN)} Td ({escaped}) Tj ET")
    stream = "\n".join(lines).encode("latin-1", "replace")
    box = f"[0 0 {POINT * width:.5f} {POINT * height:.5f}]"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R /ViewerPreferences << /PrintScaling /None >> >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox {box} /Contents 4 0 R "
        "/Resources << /Font << /F1 5 0 R >> >> >>".encode(),
        f"<< /Length {len(stream)} >>\nstream\n".encode() + stream + b"\nendstream",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    content = b"%PDF-1.6\n"
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(content))
        content += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    table = len(content)
    content += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    content += b"".join(f"{offset:010} 00000 n \n".encode() for offset in places)
    content += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\n".encode()
    return content + f"startxref\n{table}\n%%EOF\n".encode()
