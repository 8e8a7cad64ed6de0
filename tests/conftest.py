"""What the tests share: seeds, recordings of real robots, random robots."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "theodolite",
    deadline=None,
    derandomize=True,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("theodolite")

#: Recordings of real robots, beside the project where they are present.
RECORDINGS = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20240229)


@pytest.fixture(scope="session")
def recordings() -> Path:
    if not RECORDINGS.is_dir():
        pytest.skip("the recordings of real robots are not beside the project")
    return RECORDINGS
