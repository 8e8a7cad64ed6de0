"""``theodolite reproduce``, paper by paper: everything agrees, and a wrong value is flagged."""

from __future__ import annotations

import json

import numpy as np
import pytest

from theodolite.cli import reproduce as verb
from theodolite.reproduce import (
    everett_fixture,
    everett_loops,
    everett_matrices,
    everett_models,
    gautier,
    gautier_tables,
    gecaro,
    meggiolaro,
    renaud_checks,
    renaud_dynamics,
    renaud_tables,
)

#: What each paper's figures have to hold at least: part of the name, and how many of them.
CONTENT = {
    "gecaro": {"puma560, ": 6, "rx90, ": 6, "stanford, ": 6, "scara, ": 6},
    "everett": {
        "figure 10": 3, "figure 11": 3, "figure 12": 3, "squared errors": 1, "objective": 4,
        "iterations": 3, "multiplier": 3, "eq. 84": 1, "eq. 88": 1, "eq. 90": 1,
        "input, mean": 3, "input, deviation": 3, "result, mean": 3, "result, deviation": 3,
        "least squares": 2,
    },
    "everett-models": {"figure 10": 3, "figure 11": 3, "figure 12": 3, "seven joints": 1},
    "meggiolaro": {"PUMA": 10, "lost": 2, "identified": 2, "theta line of eq. 14": 1},
    "renaud": {
        "identifiable": 3, "table 1, implicit-12": 12, "table 1, inverse-12": 12,
        "table 1, a priori": 1, "table 2, CAD model": 8, "table 2, implicit-12": 4,
        "table 2, inverse-12": 4, "table 3": 2, "square": 2, "nacelle": 2,
    },
    "renaud-dynamics": {"table 4": 28, "deviation (%)": 14, "new motion": 1},
    "gautier": {
        "by QR": 6 + 1, "by SVD": 6, "table II,": 4, "table III": 7 + 2, "table IV": 2, "* = ": 17,
        "S of random samples": 3, "unchanged, regrouped": 1, "zero rows of V2": 1,
    },
}  # fmt: skip


def reproduced(theodolite, paper: str) -> tuple[int, list[dict]]:
    code, out, errors = theodolite("reproduce", paper, "--json")
    assert "Traceback" not in errors
    return code, json.loads(out)[paper]


@pytest.mark.parametrize("paper", CONTENT)
def test_every_published_figure(theodolite, paper: str) -> None:
    code, figures = reproduced(theodolite, paper)
    assert [figure for figure in figures if figure["verdict"] == "differs"] == []
    assert code == 0
    names = [figure["what"] for figure in figures]
    assert len(set(names)) == len(names)
    for part, count in CONTENT[paper].items():
        assert sum(part in name for name in names) == count, part
    for figure in figures:
        compared = figure["verdict"] == "agrees"
        assert figure["verdict"] in ("agrees", "not comparable")
        assert figure["agrees"] is (True if compared else None)
        assert figure["ours"] not in ("", "-")
        assert (figure["expected"] == "-") is not compared
        printed = figure["paper"] not in ("-", figure["expected"])
        # Where the paper's figure is not what is expected, or nothing is, the reason is given.
        assert figure["why"] or (compared and not printed), figure


def test_all_papers_are_run_without_an_argument() -> None:
    assert set(CONTENT) == {*verb.PAPERS, "everett-models"}
    parts = [module for modules in verb.PARTS.values() for module in modules]
    assert tuple(parts) == verb.PAPERS["everett"]


def flagged(theodolite, paper: str) -> list[str]:
    """The figures that differ."""
    code, figures = reproduced(theodolite, paper)
    different = [figure["what"] for figure in figures if figure["agrees"] is False]
    assert code == (1 if different else 0)
    return different


def test_a_wrong_count_of_gecaro_is_flagged(theodolite, monkeypatch) -> None:
    ranks = gecaro.EXPECTED["scara"] | {"frame": (21, 24)}
    monkeypatch.setattr(gecaro, "EXPECTED", {"scara": ranks})
    assert flagged(theodolite, "gecaro") == ["scara, frame"]


def test_a_model_that_lacks_a_parameter_is_flagged(theodolite, monkeypatch) -> None:
    known = [row.replace("Ty(0.4)", "Ty(=0.4)") for row in everett_models.MODELS["figure 10"]]
    monkeypatch.setitem(everett_models.MODELS, "figure 10", known)
    different = flagged(theodolite, "everett-models")
    assert "figure 10: rank of 18 parameters" in different
    assert not [name for name in different if "figure 11: rank" in name]


def test_a_wrong_position_of_the_five_bar_is_flagged(theodolite, monkeypatch) -> None:
    rows = everett_loops.ROWS.copy()
    rows[4, 3] += 0.002
    monkeypatch.setattr(everett_loops, "ROWS", rows)
    different = flagged(theodolite, "everett-loops")
    assert different[0] == "positions of P right in their last digit"


def test_a_wrong_row_of_the_fixture_study_is_flagged(theodolite, monkeypatch) -> None:
    matrix = everett_matrices.EQUATION_84.copy()
    matrix[0, 1] += 1e-6
    monkeypatch.setattr(everett_matrices, "EQUATION_84", matrix)
    table = (10.0, 1000, (0.245, 0.105), (0.852, 0.391))
    monkeypatch.setitem(everett_fixture.TABLES, "table 2", table)
    assert flagged(theodolite, "everett-fixture") == [
        "eq. 84: off the print by",
        "table 2: result, mean",
    ]


def test_one_count_for_all_wrists_is_flagged(theodolite, monkeypatch) -> None:
    monkeypatch.setattr(meggiolaro, "count", lambda *_, **__: "27")
    different = flagged(theodolite, "meggiolaro")
    assert "PUMA and base, position, a6 = 0, d6 != 0" in different
    assert "PUMA and base, position, a6 = d6 = 0" in different
    assert "PUMA and base, position, a6 != 0" not in different


def test_wrong_entries_of_gautiers_tables_are_flagged(theodolite, monkeypatch) -> None:
    monkeypatch.setitem(verb.PAPERS, "gautier", ("gautier_tables",))
    monkeypatch.setitem(gautier.BASE, "XX2", -2.051)
    # As printed, without the sign that is lost.
    monkeypatch.setitem(gautier_tables.V2_N, "ZZ1", 0.14128)
    assert flagged(theodolite, "gautier") == [
        "table II, V2 N: off the null space by",
        "XX2* = XX2 - YY2 - D3^2 (M3 + M4 + M5 + M6)",
    ]


def test_renauds_misprint_is_flagged(theodolite, monkeypatch) -> None:
    """With 0.0035 as printed, the RMS of joint 2 is not that of table 2."""
    monkeypatch.setitem(verb.PAPERS, "renaud", ("renaud_tables",))
    monkeypatch.setattr(renaud_tables, "MEANS", np.array([0.090, 0.0035, 0.073, 0.083]))
    assert "table 2, CAD model, q2 (rad): RMS" in flagged(theodolite, "renaud")


def test_a_worse_robot_after_identification_is_flagged(theodolite, monkeypatch) -> None:
    monkeypatch.setitem(verb.PAPERS, "renaud", ("renaud_checks",))
    worse = [[0.4, 0.1, 0.1, 0.1], [0.2, 0.1, 0.3, 0.1]]
    monkeypatch.setattr(
        renaud_checks, "bends", lambda ends: worse[renaud_checks.RULERS.index(ends)]
    )
    assert flagged(theodolite, "renaud") == ["identification straightens the line"]


def test_a_wrong_mass_of_the_nacelle_is_flagged(theodolite, monkeypatch) -> None:
    renaud_dynamics.identified(2006)  # Of the right mass, and kept.
    monkeypatch.setitem(renaud_dynamics.TABLE_4, "M_platform", (0.96, 0.4666))
    assert flagged(theodolite, "renaud-dynamics") == [
        "table 4, M_platform",
        "torques of a new motion, off by (%)",
    ]
