"""What several tests need."""

from __future__ import annotations

import numpy as np
import pytest

import gumdp


@pytest.fixture
def rooms() -> gumdp.Problem:
    return gumdp.tasks["rooms"]


@pytest.fixture
def corridor() -> gumdp.Model:
    """Three states in a row; "on" may fail, "back" does not."""
    on = np.array([[0.2, 0.8, 0.0], [0.0, 0.2, 0.8], [0.0, 0.0, 1.0]])
    back = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    return gumdp.Model([on, back], states=["a", "b", "c"], actions=["on", "back"])
