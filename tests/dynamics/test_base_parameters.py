"""Base inertial parameters: published figures, three roads to one answer, relations in words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import theodolite as th
from tests.dynamics.test_regressors import random_tree
from tests.random_robots import random_robots
from theodolite.dynamics.base_parameters import base_parameters, base_values
from theodolite.dynamics.constants import relations_in_words
from theodolite.dynamics.drives import FRICTION, Drive
from theodolite.dynamics.filtering import Run
from theodolite.dynamics.grouping import group_parameters
from theodolite.dynamics.loop_dynamics import LoopDynamics
from theodolite.dynamics.serial import Dynamics
from theodolite.dynamics.torque import TorqueProblem, random_state
from theodolite.errors import InputError
from theodolite.estimation.identifiability import analyse_by_svd
from theodolite.reproduce import gautier

COUNTS = {
    "puma560": (36, 40, 58),
    "ur10e": (36, 40, 58),
    "stanford": (33, 37, 55),
    "panda": (43, 48, None),
    "lwr4": (43, 48, None),
}


def test_gautiers_figures() -> None:
    figures = gautier.figures()
    assert len(figures) == 18
    for figure in figures:
        assert figure.agrees, figure


@pytest.mark.parametrize("name", COUNTS)
def test_counts_by_all_roads(name: str) -> None:
    dynamics = Dynamics(th.robots.load(name))
    state = random_state(dynamics, 250, np.random.default_rng(0))
    for drives, expected in zip(((), (Drive.ROTOR,), FRICTION), COUNTS[name], strict=True):
        if expected is None:
            continue
        known = base_parameters(TorqueProblem(dynamics, Run.of(state), drives=drives))
        svd = analyse_by_svd(known.R, known.parameters, known.priorities, known.rows)
        rules = group_parameters(dynamics, drives)
        assert known.rank == svd.rank == rules.rank == expected
        assert set(known.identifiable) == set(rules.identifiable)
        np.testing.assert_allclose(_ordered(rules, known), known.relations, atol=1e-12)


def _ordered(rules, known) -> np.ndarray:
    """Relations of one road in the order of the other."""
    rows = [rules.identifiable.index(name) for name in known.identifiable]
    names = rules.names(rules.regrouped)
    columns = [names.index(name) for name in known.names(known.regrouped)]
    return rules.relations[np.ix_(rows, columns)]


@settings(max_examples=25)
@given(robot=random_robots(), seed=st.integers(0, 1000))
def test_rules_and_samples_agree_on_random_robots(robot: th.Robot, seed: int) -> None:
    """Every combination that the rules call hidden is, and there are no others."""
    rng = np.random.default_rng(seed)
    gravity = rng.uniform(-9, 9, 3) if rng.random() < 0.5 else None
    # Axes that are parallel to 1e-9 are a matter of tolerance, not of rules.
    frames = tuple(
        replace(
            frame,
            values={key: round(value, 1) for key, value in frame.values.items()},
            nominal=tuple(round(value, 1) for value in frame.nominal),
        )
        for frame in robot.frames
    )
    direct = th.Transmission.of(robot.joints)
    robot = replace(robot, frames=frames, transmission=direct)
    assert_rules(Dynamics(robot, gravity=gravity), rng)


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), size=st.integers(1, 7))
def test_rules_and_samples_agree_on_random_trees(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    assert_rules(random_tree(rng, size)[0], rng)


def assert_rules(dynamics, rng: np.random.Generator) -> None:
    rules = group_parameters(dynamics)
    state = random_state(dynamics, 60 * dynamics.motors, rng)
    table = dynamics.regressor(state)
    W = table.reshape(len(table), -1).T
    scale = np.linalg.norm(W, axis=0)
    seen = scale > 1e-9 * scale.max()
    s = np.linalg.svd(W[:, seen] / scale[seen], compute_uv=False)
    assert int(np.count_nonzero(s > 1e-9 * s[0])) == rules.rank
    combined = W[:, rules.base] @ rules.relations
    off = np.abs(combined - W[:, rules.regrouped]).max(initial=0.0)
    assert off < 1e-8 * np.abs(W).max()
    assert np.abs(W[:, rules.no_effect]).max(initial=0.0) < 1e-10 * np.abs(W).max()


def test_rules_refuse_loops_and_coupled_drives() -> None:
    with pytest.raises(InputError, match="trees whose motors move one joint each"):
        group_parameters(LoopDynamics(th.robots.load("fivebar")))


def test_relations_name_the_lengths() -> None:
    """Table V as it is printed, with D3 R3 D4 R4 in place of numbers."""
    dynamics = Dynamics(gautier.puma())
    words = relations_in_words(dynamics, group_parameters(dynamics))
    assert words[0] == gautier.FIRST_RELATION
    assert "XX3* = XX3 - YY3 + YY4 + 2 R4 MZ4 + (R4^2 - D4^2) (M4 + M5 + M6)" in words
    assert "XY3* = XY3 - D4 MZ4 - D4 R4 (M4 + M5 + M6)" in words
    assert len(words) == 17
    # The same from samples: friction columns do not disturb it.
    state = random_state(dynamics, 250, np.random.default_rng(0))
    known = base_parameters(TorqueProblem(dynamics, Run.of(state), drives=FRICTION))
    assert relations_in_words(dynamics, known) == words


def test_base_values_predict_the_same_torques() -> None:
    """Standard parameters, and the base ones alone: the same torques at fresh samples."""
    dynamics = Dynamics(th.robots.puma560())
    rng = np.random.default_rng(1)
    known = base_parameters(TorqueProblem(dynamics, Run.of(random_state(dynamics, 200, rng))))
    standard = rng.uniform(-1, 1, len(known.parameters))
    regrouped = np.zeros(len(standard))
    regrouped[known.base] = base_values(known, standard)
    table = dynamics.regressor(random_state(dynamics, 30, rng))
    np.testing.assert_allclose(
        np.tensordot(regrouped, table, axes=1), np.tensordot(standard, table, axes=1), atol=1e-10
    )
