"""Gymnasium's tables P: checked, written as the library reads them, and which states of the model observations are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ._checks import array, count, number

__all__ = ["Observations", "Table"]

Outcome = tuple[float, int, float, bool]

# The name of a state in an imported model; with the reward that led to it if it is there several times.
NAME = re.compile(r"(terminated|s\d+)(?:\[(.*)\])?")


class Table:
    """The table of an environment: probability, next state, reward and end of each outcome, by state and action."""

    def __init__(self, env: Any, initial: Any) -> None:
        world = getattr(env, "unwrapped", env)
        table = getattr(world, "P", None)
        if not isinstance(table, (Mapping, Sequence)):
            raise TypeError(f"{env!r} has no table P of transitions")
        self.rows: dict[int, dict[int, list[Outcome]]] = {
            int(state): {
                int(action): [(float(p), int(to), float(reward), bool(end)) for p, to, reward, end in outcomes]
                for action, outcomes in _items(by_action)
            }
            for state, by_action in _items(table)
        }
        self._check()
        named = "initial" if initial is not None else "initial_state_distrib"
        initial = getattr(world, "initial_state_distrib", None) if initial is None else initial
        self.initial = None if initial is None else array(named, initial)
        if self.initial is not None and self.initial.shape != (len(self.rows),):
            raise ValueError(f"{named} has shape {self.initial.shape}; it must be ({len(self.rows)},), as P has states")

    def _check(self) -> None:
        """Numbers of states and actions stay what they are only if there are no gaps."""
        _no_gaps("state", self.rows)
        _no_gaps("action", {action for by_action in self.rows.values() for action in by_action})
        for state, by_action in self.rows.items():
            for action, outcomes in by_action.items():
                for _, to, _, _ in outcomes:
                    if to not in self.rows:
                        raise ValueError(f"P[{state}][{action}] leads to state {to}, which P does not have")

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


def _items(table: Any) -> Iterable[tuple[Any, Any]]:
    return table.items() if isinstance(table, Mapping) else enumerate(table)


def _no_gaps(what: str, numbers: Iterable[int]) -> None:
    for expected, found in enumerate(sorted(numbers)):
        if found != expected:
            raise ValueError(f"P has {what} {found} but no {what} {expected}; they must be numbered from 0 without gaps")
