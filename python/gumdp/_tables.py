"""Gymnasium's tables P: checked, written as the library reads them, and which states of the model observations are."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ._checks import FLOATS, Floats, are_many, array, count, digits, number, shown
from ._native import Problem as NativeProblem

__all__ = ["Observations", "Table"]

Outcome = tuple[float, int, float, bool]
OUTCOME = "(probability, next state, reward, terminated)"

# What a wrapper must not have of its own: the table would say something else than the environment does.
CHANGES = frozenset({"P", "action", "initial_state_distrib", "observation", "reset", "reward", "step"})

# Those of Gymnasium that have some of it and yet change no state, action or reward.
HARMLESS = frozenset(
    "Env HumanRendering OrderEnforcing PassiveEnvChecker RecordEpisodeStatistics RecordVideo RenderCollection TimeLimit Wrapper".split()
)

# Where the library found a mistake in the text of a table.
PLACE = re.compile(r"gymnasium\.\w+(?:, text)?:\d+:\d+: ")

# The name of a state in an imported model; with the reward that led to it if it is there several times.
NAME = re.compile(r"(terminated|s\d+)(?:\[(.*)\])?")


class Table:
    """The table of an environment: probability, next state, reward and end of each outcome, by state and action."""

    def __init__(self, env: Any, initial: Any) -> None:
        world = _unwrapped(env)
        table = getattr(world, "P", None)
        if not isinstance(table, (Mapping, Sequence)) or isinstance(table, (str, bytes)):
            raise TypeError(f"{shown(env)} has no table P of transitions")
        self.rows: dict[int, dict[int, list[Outcome]]] = {
            _whole("P has the state", state): {
                _whole(f"P[{state}] has the action", action): _outcomes(f"P[{state}][{action}]", outcomes)
                for action, outcomes in _items(f"P[{state}]", "actions", by_action)
            }
            for state, by_action in _items("P", "states", table)
        }
        self._check()
        named = "initial" if initial is not None else "initial_state_distrib"
        initial = getattr(world, "initial_state_distrib", None) if initial is None else initial
        self.initial = None if initial is None else _probabilities(named, initial, len(self.rows))

    def _check(self) -> None:
        """Numbers of states and actions stay what they are only if there are no gaps."""
        if not self.rows:
            raise ValueError("P is empty; it must have a state")
        _no_gaps("state", self.rows)
        _no_gaps("action", {action for by_action in self.rows.values() for action in by_action})
        reached, used = set(), set()
        for state, by_action in self.rows.items():
            for action, outcomes in by_action.items():
                for _, to, _, _ in outcomes:
                    if to not in self.rows:
                        raise ValueError(f"P[{state}][{action}] leads to state {to}, which P does not have")
                    reached |= {state, to}
                    used.add(action)
        for state, by_action in self.rows.items():
            if state not in reached:
                raise ValueError(f"P[{state}] has no outcomes, and no outcome of another state leads there")
            for action in by_action:
                if action not in used:
                    raise ValueError(f"P[{state}][{action}] is empty, as that of every state; action {action} must lead somewhere")

    def read(self, file: str, text: str) -> NativeProblem:
        """The problem in a text that has this table. Places in that text say nothing to those who did not write it."""
        try:
            return NativeProblem.parse(file, text)
        except ValueError as error:
            raise ValueError(PLACE.sub("", str(error))) from None

    @property
    def text(self) -> str:
        """The table as a file of the library's would have it."""
        content: dict[str, Any] = {"P": self.rows}
        if self.initial is not None:
            content["initial"] = self.initial.tolist()
        return json.dumps(content)

    def observations(self, states: list[str]) -> Observations:
        """Which states of the model, by name, the environment's observations are."""
        possible = (
            (state, to, reward)
            for state, by_action in self.rows.items()
            for outcomes in by_action.values()
            for p, to, reward, _ in outcomes
            if p > 0
        )
        return Observations(states, frozenset(state for state, to, reward in possible if to != state or reward != 0))


class Observations:
    """Which states of a model the observations of an environment are."""

    def __init__(self, states: list[str], active: frozenset[int]) -> None:
        # States that do not stay where they are at no cost: a transition that terminates there is one to "terminated".
        self._active = active
        self._numbers: dict[tuple[str, float | None], int] = {}
        for place, name in enumerate(states):
            match = NAME.fullmatch(name)
            if match is not None:
                self._numbers[match[1], None if match[2] is None else float(match[2])] = place

    def state(self, observation: Any, reward: Any, terminated: Any) -> int:
        """The number of the state that was reached."""
        seen = count("observation", observation, 0, 2**31)
        name = "terminated" if terminated and seen in self._active else f"s{seen}"
        paid = number("reward", reward)
        found = self._numbers.get((name, None), self._numbers.get((name, paid)))
        if found is None:
            known = any(other == name for other, _ in self._numbers)
            raise ValueError(f"state {seen} is never reached with reward {paid:g}" if known else f"there is no state {seen}")
        return found


def _unwrapped(env: Any) -> Any:
    """The environment inside of wrappers that change nothing which the table says."""
    world = getattr(env, "unwrapped", env)
    while env is not world:
        for kind in type(env).__mro__:
            known = kind.__module__.partition(".")[0] == "gymnasium" and kind.__name__ in HARMLESS
            changed = () if known else sorted(CHANGES & (vars(kind).keys() | vars(env).keys()))
            if changed:
                raise ValueError(
                    f"the environment is wrapped in {type(env).__name__}, whose {changed[0]} may change what the table P says; "
                    "pass env.unwrapped, or an environment whose table has that change"
                )
        env = getattr(env, "env", world)
    return world


def _items(where: str, what: str, table: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(table, Mapping):
        return table.items()
    if isinstance(table, Sequence) and not isinstance(table, (str, bytes)):
        return enumerate(table)
    raise ValueError(f"{where} is {shown(table)}; it must be a mapping or a list of {what}")


def _outcomes(where: str, given: Any) -> list[Outcome]:
    """What an action leads to. Probabilities are summed within the tolerance of all models."""
    if isinstance(given, Mapping) or not are_many(given):
        raise ValueError(f"{where} is {shown(given)}; it must be a list of {OUTCOME}")
    outcomes = [_outcome(f"{where}[{place}]", outcome) for place, outcome in enumerate(given)]
    total = math.fsum(probability for probability, _, _, _ in outcomes)
    if outcomes and abs(total - 1) > 1e-9:
        raise ValueError(f"{where}: the probabilities sum to {total:.12g}; they must sum to 1 within 1e-9")
    return outcomes


def _outcome(where: str, given: Any) -> Outcome:
    parts = tuple(given) if are_many(given) and not isinstance(given, Mapping) else ()
    if len(parts) != 4:
        raise ValueError(f"{where} is {shown(given)}; it must be {OUTCOME}")
    probability = _real(f"{where}: the probability is", parts[0])
    reward = _real(f"{where}: the reward is", parts[2])
    end = _real(f"{where}: the end is", parts[3], "it must be True or False")
    if not 0 <= probability <= 1:
        raise ValueError(f"{where}: the probability is {digits(probability)}; it must lie in [0, 1]")
    if not math.isfinite(reward):
        raise ValueError(f"{where}: the reward is {reward}; it must be finite")
    if end not in (0, 1):
        raise ValueError(f"{where}: the end is {shown(parts[3])}; it must be True or False")
    return probability, _whole(f"{where}: the next state is", parts[1]), reward, bool(end)


def _probabilities(name: str, given: Any, states: int) -> Floats:
    """The probability of each state to be the first."""
    initial = array(name, given)
    if initial.shape != (states,):
        raise ValueError(f"{name} has shape {initial.shape}; it must be ({states},), as P has states")
    for state, probability in enumerate(initial.tolist()):
        if not 0 <= probability <= 1:
            raise ValueError(f"{name}[{state}] is {digits(probability)}; it must lie in [0, 1]")
    if abs(initial.sum() - 1) > 1e-9:
        raise ValueError(f"{name} sums to {initial.sum():.12g}; it must sum to 1 within 1e-9")
    return initial


def _real(what: str, given: Any, needed: str = "it must be a number") -> float:
    """A number of any type, NumPy's too; text is none."""
    try:
        if not isinstance(given, (float, int)) and (isinstance(given, (str, bytes)) or np.ndim(given)):
            raise TypeError
        return float(given)
    except (TypeError, ValueError):
        raise ValueError(f"{what} {shown(given)}; {needed}") from None
    except OverflowError:
        raise ValueError(f"{what} {shown(given)}; it must lie in {FLOATS}") from None


def _whole(what: str, given: Any) -> int:
    """The number of a state or an action; 1.0 is one, 1.9 is none."""
    needed = "it must be a whole number"
    if isinstance(given, int):
        return int(given)
    number = _real(what, given, needed)
    if not number.is_integer():
        raise ValueError(f"{what} {shown(given)}; {needed}")
    return int(number)


def _no_gaps(what: str, numbers: Iterable[int]) -> None:
    for expected, found in enumerate(sorted(numbers)):
        if found != expected:
            raise ValueError(f"P has {what} {found} but no {what} {expected}; they must be numbered from 0 without gaps")
