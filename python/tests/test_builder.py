"""Models built by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gumdp import Model, ModelBuilder


def test_names_are_numbered_in_order() -> None:
    model = (
        Model.builder(["stay", "go"])
        .state("z", "y")
        .transition("y", "go", {"x": 0.25, "z": 0.75})
        .transition("z", "go", "y")
        .transition("x", "stay", "x")
        .transition("z", "stay", "z")
        .initial({"y": 0.5, "x": 0.5})
        .build()
    )
    assert model.states == ["z", "y", "x"] and model.actions == ["stay", "go"]
    assert model.pair_states.tolist() == [0, 0, 1, 2] and model.pair_actions.tolist() == [0, 1, 1, 0]
    assert model.initial.tolist() == [0.0, 0.5, 0.5]
    assert model.to_numpy()[1].tolist() == [[0, 1, 0], [0.75, 0, 0.25], [0, 0, 0]]


def test_the_first_state_is_the_initial_one() -> None:
    builder = Model.builder().transition("a", "x", "b").transition("b", "x", "a")
    assert builder.build().initial.tolist() == [1.0, 0.0]
    assert builder.initial("b").build().initial.tolist() == [0.0, 1.0]
    assert repr(builder) == "ModelBuilder(2 states, 1 actions, 2 transitions)"


def test_the_same_model_as_from_arrays(corridor: Model) -> None:
    builder = ModelBuilder(corridor.actions).state(*corridor.states)
    dense = corridor.to_numpy()
    for state, action in zip(corridor.pair_states, corridor.pair_actions):
        outcomes = {corridor.states[to]: float(dense[action, state, to]) for to in np.flatnonzero(dense[action, state])}
        builder.transition(corridor.states[state], corridor.actions[action], outcomes)
    assert np.array_equal(builder.build().to_numpy(), dense)


@pytest.mark.parametrize(
    ("calls", "error", "message"),
    [
        ([("transition", "a", "x", {"a": 0.5})], ValueError, 'state "a", action "x": the probabilities sum to 0.5'),
        ([("transition", "b", "x", "b"), ("transition", "a", "x", {"a": 2.0, "b": -1.0})], ValueError, 'state "a", action "x"'),
        ([("transition", "a", "x", {"a": float("nan")})], ValueError, 'state "a", action "x"'),
        ([("transition", "a", "x", {"a": "much"})], TypeError, "state 'a', action 'x': the probability of 'a' is 'much'"),
        ([("transition", "a", "x", 3)], TypeError, "state 'a', action 'x': the outcomes are 3"),
        ([("transition", "a", "x", "a"), ("transition", "a", "x", "a")], ValueError, "'a', action 'x': the transition is given twice"),
        ([("transition", 1, "x", "a")], TypeError, "the state is 1; it must be a name"),
        ([("transition", "a", "x", "b")], ValueError, 'state "b" has no action'),
        ([("transition", "a", "x", "a"), ("initial", "z")], ValueError, "initial names state 'z'"),
        ([("transition", "a", "x", "a"), ("initial", {"a": 0.5})], ValueError, "initial|sum"),
        ([("transition", "a", "x", "a"), ("initial", {})], ValueError, "the initial probabilities sum to 0; they must sum to 1"),
        ([("transition", "a", "x", {"a": 10**400})], ValueError, r"the probability of 'a' is 10+…; it must lie in \[0, 1\]"),
        ([("transition", "\ud800", "x", "a")], ValueError, r"the state is '\\ud800', which is no text"),
        ([], ValueError, "."),
    ],
)
def test_wrong_models(calls: list[Any], error: type[Exception], message: str) -> None:
    builder = Model.builder()
    with pytest.raises(error, match=message):
        for name, *arguments in calls:
            getattr(builder, name)(*arguments)
        builder.build()
