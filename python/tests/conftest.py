"""What several tests need."""

from __future__ import annotations

import faulthandler
import signal
from collections.abc import Iterator

import numpy as np
import pytest

import gumdp


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Ctrl-C is heard where the tests were started in the background, with SIGINT ignored; and no test hangs."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    faulthandler.dump_traceback_later(600, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def rooms() -> gumdp.Problem:
    return gumdp.tasks["rooms"]


@pytest.fixture
def corridor() -> gumdp.Model:
    """Three states in a row; "on" may fail, "back" does not."""
    on = np.array([[0.2, 0.8, 0.0], [0.0, 0.2, 0.8], [0.0, 0.0, 1.0]])
    back = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    return gumdp.Model([on, back], states=["a", "b", "c"], actions=["on", "back"])
