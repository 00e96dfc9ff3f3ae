"""A rehearsal of an environment: from a snapshot, with the same random numbers, it must do the same twice."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from ._checks import Floats, shown
from .snapshots import Snapshot

if TYPE_CHECKING:
    from .environments import Environment, EnvironmentState

__all__ = ["rehearse"]

EPISODES = 3
ROUNDS = 8
STEPS = 4

Played = list[tuple["EnvironmentState", Floats, bool]]


def rehearse(environment: Environment) -> None:
    """Plays some steps twice, with others in between."""
    before = Snapshot(environment.env).fields() if environment.constant else {}
    chooser = np.random.default_rng(0)
    for episode in range(EPISODES):
        state = environment.initial(np.random.default_rng(episode))
        _compare(environment, "reset", state, environment.initial(np.random.default_rng(episode)))
        for turn in range(ROUNDS):
            actions = environment.actions(state)
            plan = [actions[int(chooser.integers(len(actions)))] for _ in range(STEPS)]
            first, second = (_play(environment, state, plan, turn) for _ in range(2))
            for one, other in zip(first, second):
                _compare(environment, "step", one[0], other[0])
                if not np.array_equal(one[1], other[1]) or one[2] != other[2]:
                    values = f"{shown(one[1].tolist())} once and {shown(other[1].tolist())} then"
                    raise ValueError(_message(f"the features are {values}", one[0]))
            state, _, done = first[-1]
            if done:
                break
    for name in environment.constant:
        field = re.compile(rf"(?:\.env)*\.{re.escape(name)}(?![^.\[])")
        now = Snapshot(environment.env).fields()
        changed = [way for way, value in now.items() if field.match(way) and before.get(way) != value]
        if changed:
            raise ValueError(f"constant names the field {name}, in which {min(changed)} changes")


def _play(environment: Environment, state: EnvironmentState, plan: list[Any], seed: int) -> Played:
    rng = np.random.default_rng([seed, 1])
    state.snapshot.restore(rng)
    lost = _different(environment, Snapshot(environment.env, constant=environment.constant), state.snapshot)
    if lost is not None:
        raise ValueError(f"the environment cannot be put back where it was: {lost} is not what it was")
    played: Played = []
    for action in plan:
        played.append(environment.step(state, action, rng))
        state = played[-1][0]
        if played[-1][2]:
            break
    return played


def _compare(environment: Environment, what: str, one: EnvironmentState, other: EnvironmentState) -> None:
    """The same step from the same state has led to these two."""
    field = _different(environment, one.snapshot, other.snapshot)
    if field is not None:
        mine, others = (state.snapshot.fields().get(field, "not there") for state in (one, other))
        values = f"{shown(mine)} once and {shown(others)} then"
        hint = "if it does not matter, ignored= can name it"
        raise ValueError(_message(f"after the same {what}, {field} is {values}; {hint}", one))
    observations = [Snapshot([state.observation]) for state in (one, other)]
    if observations[0].differs(observations[1]) is not None:
        raise ValueError(_message(f"after the same {what}, the observation is another one though all fields are the same", one))


def _different(environment: Environment, one: Snapshot, other: Snapshot) -> str | None:
    return one.differs(other, environment.ignored)


def _message(what: str, state: EnvironmentState) -> str:
    kinds = sorted({type(thing).__name__ for thing in state.snapshot.opaque})
    hidden = f" (what cannot be saved: {', '.join(kinds)})" if kinds else ""
    return f"the environment does not continue identically from a snapshot: {what}{hidden}"
