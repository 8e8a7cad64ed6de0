"""Where the papers err: recomputed here from their equations, without the library's models."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from theodolite.calibration.analytic import Measured
from theodolite.reproduce import gautier, gautier_tables, meggiolaro, renaud, renaud_tables
from theodolite.reproduce.meggiolaro_errors import independent_errors, lost
from theodolite.reproduce.table1 import independent

#: Generalized errors 1 to 6 of Meggiolaro & Dubowsky: shifts x y z, turns about y, z, x.
ERRORS = ("x", "y", "z", "ry", "rz", "rx")


def turned(axis: int, angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.eye(4)
    matrix[[i, i, j, j], [i, j, i, j]] = c, -s, s, c
    return matrix


def shifted(axis: int, length: float) -> np.ndarray:
    matrix = np.eye(4)
    matrix[axis, 3] = length
    return matrix


def error_matrix(errors: dict[str, float]) -> np.ndarray:
    matrix = np.eye(4)
    for place, name in enumerate(("x", "y", "z")):
        matrix = matrix @ shifted(place, errors.get(name, 0.0))
    for axis, name in ((1, "ry"), (2, "rz"), (0, "rx")):
        matrix = matrix @ turned(axis, errors.get(name, 0.0))
    return matrix


def pose(table: list, q: np.ndarray, errors: dict[tuple[int, str], float]) -> np.ndarray:
    """E0 A1 E1 ... An En of eq. 17, with the DH matrices of eq. 16."""

    def of(link: int) -> np.ndarray:
        return error_matrix({name: v for (i, name), v in errors.items() if i == link})

    matrix = of(0)
    for link, ((sigma, d, a, alpha), joint) in enumerate(zip(table, q, strict=True), start=1):
        theta, slide = (0.0, joint) if sigma else (joint, 0.0)
        A = turned(2, theta) @ shifted(2, d + slide) @ shifted(0, a) @ turned(0, alpha)
        matrix = matrix @ A @ of(link)
    return matrix


def columns(
    table: list, seen: Callable[[np.ndarray], np.ndarray], chosen: list[tuple[int, str]]
) -> np.ndarray:
    """The identification Jacobian at random configurations, by central differences."""
    rng = np.random.default_rng(0)
    rows = []
    for q in rng.uniform(-2, 2, (25, len(table))):
        ahead, behind = (
            np.array([seen(pose(table, q, {error: side * 1e-5})) for error in chosen])
            for side in (1.0, -1.0)
        )
        rows.append((ahead - behind).T / 2e-5)
    return np.concatenate(rows)


def whole(matrix: np.ndarray) -> np.ndarray:
    return matrix[:3].ravel()


def position(matrix: np.ndarray) -> np.ndarray:
    return matrix[:3, 3]


def rank(J: np.ndarray) -> int:
    return int(np.linalg.matrix_rank(J, tol=1e-6))


def table_of(robot) -> list[tuple[int, float, float, float]]:
    return [
        (int(row.joint.value), row.amount("d"), row.amount("a"), row.amount("alpha"))
        for row in robot.frames
    ]


def every(table: list, *, base: bool) -> list[tuple[int, str]]:
    return [(link, name) for link in range(0 if base else 1, len(table) + 1) for name in ERRORS]


@pytest.mark.parametrize(
    ("robot", "seen", "base", "expected", "printed"),
    [
        (meggiolaro.puma(0.1, 0.05625), whole, True, 30, 30),
        (meggiolaro.puma(0.1, 0.05625), position, True, 27, 27),
        (meggiolaro.puma(0.0, 0.05625), position, True, 25, 25),
        (meggiolaro.puma(0.0, 0.0), position, True, 21, 21),
        (meggiolaro.puma(0.0, 0.0), position, False, 17, 17),
        (meggiolaro.scara(), whole, True, 20, 20),
        (meggiolaro.scara(), position, True, 15, 15),
        (meggiolaro.wrist(), position, False, 7, 5),
        (meggiolaro.coaxial(), position, True, 11, 13),
    ],
)
def test_table_1_is_right_but_for_two_kinds_of_robots(
    robot, seen: Callable[[np.ndarray], np.ndarray], base: bool, expected: int, printed: int
) -> None:
    """Table 1 with each wrist's own k gives 27, 25 and 21; a numerical rank says the same."""
    table = table_of(robot)
    assert rank(columns(table, seen, every(table, base=base))) == expected
    measured = Measured.POSE if seen is whole else Measured.POSITION
    assert independent(robot, measured, base=base) == printed
    assert meggiolaro.count(robot, measured, base=base) == str(expected)


def test_the_theta_line_of_equation_14_needs_a_to_be_zero() -> None:
    """A SCARA keeps theta1 and theta2; with a1 = 0 they would be one."""
    table = table_of(meggiolaro.scara())
    thetas = [(0, "rz"), (1, "rz")]
    assert rank(columns(table, whole, thetas)) == 2
    (sigma, d, _, alpha), *rest = table
    assert rank(columns([(sigma, d, 0.0, alpha), *rest], whole, thetas)) == 1
    assert meggiolaro.theta_lines() == ["no", "no", "yes"]


def test_dh_errors_of_the_scara_by_equation_14_are_not_the_papers_own_15() -> None:
    table = table_of(meggiolaro.scara())
    chosen = [(int(name[1]), name[2:]) for name in sorted(meggiolaro.dh_errors(hayati=False))]
    assert len(chosen) == 20
    assert rank(columns(table, whole, chosen)) == 15
    assert meggiolaro.by_equation_14() == 13
    # Without either theta there is one fewer: both exist.
    for theta in ((0, "rz"), (1, "rz")):
        assert rank(columns(table, whole, [one for one in chosen if one != theta])) == 14


def test_lost_errors_are_those_of_the_paper() -> None:
    table = table_of(meggiolaro.scara())
    errors = every(table, base=True)
    J = dict(
        zip([f"e{i}{name}" for i, name in errors], columns(table, whole, errors).T, strict=True)
    )
    for hayati, printed in ((False, "e1ry e2ry e3ry e4y e4ry"), (True, "e4y")):
        chosen = [J[name] for name in meggiolaro.dh_errors(hayati=hayati)]
        before = rank(np.array(chosen))
        missing = [n for n in independent_errors() if rank(np.array([*chosen, J[n]])) > before]
        assert lost(hayati=hayati) == " ".join(missing) == printed


def equation_2(pose: np.ndarray, p: dict[str, float]) -> np.ndarray:
    """Joints of the H4 [Renaud2006, eq. 2], with the signs e = (+, -, -, +) and eps = +1."""
    X, Y, Z, th = pose.T
    joints = []
    for leg, e in enumerate((1.0, -1.0, -1.0, 1.0), start=1):
        a = p[f"a{leg}"]
        x = X + e * p["h"] * (np.cos(th) - 1.0) - p["R"] * np.cos(a)
        y = Y + e * p["h"] * np.sin(th) - p["R"] * np.sin(a)
        M = -2.0 * p["l"] * (x * np.cos(a) + y * np.sin(a))
        N = 2.0 * p["l"] * Z
        G = p["L"] ** 2 - p["l"] ** 2 - (x**2 + y**2 + Z**2)
        half = np.arctan((N + np.sqrt(N**2 + M**2 - G**2)) / (G + M))
        joints.append(p[f"q{leg}0"] + 2.0 * half)
    return np.column_stack(joints)


def test_renauds_second_joint_is_a_misprint() -> None:
    """Means by eq. 2, and the RMS that follow from the printed means: 0.037 needs 0.035."""
    a_priori, found = renaud_tables.A_PRIORI, renaud.IDENTIFIED
    poses = renaud.grid()
    right = a_priori | {"a2": np.pi, "a3": 1.5 * np.pi, "a4": 1.5 * np.pi}
    off = equation_2(poses, right) - equation_2(poses, found)
    np.testing.assert_allclose(off.mean(axis=0), renaud_tables.BY_EQUATION_2, atol=5e-5)
    np.testing.assert_allclose(off, renaud_tables.cad_errors(), atol=1e-12)
    for second, expected in ((0.035, 0.037), (0.0035, 0.019)):
        means = np.array([0.090, second, 0.073, 0.083])
        shift = renaud_tables.camera_shift(means)
        moved = equation_2(poses + shift, right) - equation_2(poses, found)
        np.testing.assert_allclose(moved.mean(axis=0), means, atol=1e-9)
        assert renaud_tables.rms(moved)[1] == pytest.approx(expected, abs=1e-3)


def test_table_2_of_gautier_lies_in_the_null_space_only_with_the_lost_sign() -> None:
    table = gautier.relations()
    parts = table["ZZ1"]
    wanted = -sum(factor * gautier_tables.V2_N[name] for name, factor in parts.items())
    assert wanted == pytest.approx(-0.14128, abs=3e-5)
    # 23 of 40 rows are zero, not the 17 of the text.
    assert len(gautier.BASE) - len(table) == 23
    assert set(gautier_tables.V2_N) == set(table) | set(gautier.REGROUPED)
