"""Several trials, and lower bounds."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_playing import command, needs_command

import gumdp

ROOMS = gumdp.tasks["rooms"]


def test_infinitely_many_trials(tmp_path: Path) -> None:
    found = gumdp.solve(gumdp.tasks["msee"], trials=math.inf)
    assert found.low <= found.value <= found.low + 1e-4
    assert np.isclose(found.occupancy.sum(), 1)
    assert found.probabilities.shape == (found.problem.horizon, *found.occupancy.shape)
    again = gumdp.evaluate(found.problem, found, trials=math.inf)
    assert again.exact and np.isclose(again.value, found.value)
    found.save(tmp_path / "expected.json")
    saved = gumdp.load_policy(tmp_path / "expected.json", found.problem)
    assert np.isclose(gumdp.evaluate(found.problem, saved, trials=np.inf).value, found.value)
    copy = pickle.loads(pickle.dumps(found))
    assert copy.value == found.value and repr(copy) == repr(found)


@needs_command
def test_policies_for_infinitely_many_trials_are_the_same_everywhere(tmp_path: Path) -> None:
    found = gumdp.solve(gumdp.tasks["msee"], trials=math.inf)
    found.save(tmp_path / "python.json")
    command("solve", "msee", "--trials", "inf", "--save", str(tmp_path / "shell.json"))
    assert (tmp_path / "python.json").read_text() == (tmp_path / "shell.json").read_text()
    shell = gumdp.evaluate(found.problem, tmp_path / "shell.json", trials=math.inf)
    theirs = command("evaluate", "msee", "--policy", str(tmp_path / "python.json"), "--trials", "inf")
    assert theirs["means"][0]["value"] == shell.value


def test_more_trials_are_less_risk() -> None:
    values = [gumdp.evaluate(ROOMS, "uniform", trials=k).value for k in (1, 4, math.inf)]
    assert values[0] > values[1] > values[2]
    assert np.isclose(values[0], gumdp.exact_distribution(ROOMS, "uniform").mean)
    sampled = gumdp.evaluate(ROOMS, lambda state, time, features: 0, trials=2, runs=40, seed=1)
    assert not sampled.exact and sampled.episodes == 40 and sampled.low <= sampled.value <= sampled.high


@pytest.mark.parametrize("trials", [0, -1, 1.5, "abc", True, -math.inf, math.nan, 10**10])
def test_trials_out_of_range(trials: Any) -> None:
    message = "trials is .*; it must be a whole number in \\[1, 1000000000\\], or inf"
    with pytest.raises((TypeError, ValueError), match=message):
        gumdp.evaluate(ROOMS, "uniform", trials=trials)
    with pytest.raises((TypeError, ValueError), match=message):
        gumdp.solve(ROOMS, trials=trials)


def test_trials_have_no_risk() -> None:
    with pytest.raises(ValueError, match="trials goes with the mean only; risk is cvar:0.9"):
        gumdp.solve(ROOMS, gumdp.Cvar(0.9), trials=math.inf)
    with pytest.raises(ValueError, match="trials goes with the mean only; risk is erm:5"):
        gumdp.evaluate(ROOMS, "uniform", 5, trials=2)
    with pytest.raises(ValueError, match="does not go with precision or journal"):
        gumdp.evaluate(ROOMS, "uniform", trials=2, precision=0.1)
    with pytest.raises(ValueError, match="solve\\(\\) knows inf only"):
        gumdp.solve(ROOMS, trials=3)
    with pytest.raises(ValueError, match="not known to be convex"):
        gumdp.solve(gumdp.tasks["mo-min"], trials=math.inf)
    with pytest.raises(TypeError, match="averages them"):
        gumdp.compare(ROOMS, ["uniform"], trials=2)
    with pytest.raises(ValueError, match="at least 200 are needed"):
        gumdp.evaluate(ROOMS, "planner", trials=100, runs=150)


def test_bounds() -> None:
    exact = gumdp.bound(ROOMS, gumdp.Erm(50))
    assert (exact.method, exact.risk) == ("exact", "erm:50")
    assert np.isclose(exact.value, gumdp.solve(ROOMS, gumdp.Erm(50)).value)
    map_ = gumdp.bound(gumdp.tasks["grid-il"], "cvar:0.9", max_states=1000)
    assert map_.method == "visits" and 0.0158 < map_.value < 0.04
    with pytest.raises(ValueError, match="max_states"):
        gumdp.bound(ROOMS, max_states=0)
