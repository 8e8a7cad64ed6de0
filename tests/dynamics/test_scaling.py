"""Unit columns and their factor: independent of units, and safe with columns of zeros."""

from __future__ import annotations

import numpy as np

from theodolite.estimation.scaling import scaled_factor, unit_columns


def test_the_factor_belongs_to_the_unit_columns() -> None:
    W = np.random.default_rng(0).standard_normal((30, 4)) * np.array([1e-6, 1.0, 1e6, 0.0])
    unit, lengths, R = scaled_factor(W)
    np.testing.assert_allclose(unit * lengths, W)
    np.testing.assert_allclose(np.linalg.norm(unit[:, :3], axis=0), 1.0)
    assert lengths[3] == 1.0
    assert not unit[:, 3].any()
    np.testing.assert_allclose(R.T @ R, unit.T @ unit, atol=1e-12)
    np.testing.assert_allclose(np.tril(R, -1), 0.0)


def test_units_do_not_matter() -> None:
    W = np.random.default_rng(0).standard_normal((30, 4))
    np.testing.assert_allclose(unit_columns(W * [1, 1e3, 1e-3, 7])[0], unit_columns(W)[0])
