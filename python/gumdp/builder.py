"""Models built by name, transition by transition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ._checks import are_many, is_text, number
from .model import Model

__all__ = ["ModelBuilder"]


class ModelBuilder:
    """Builds a :class:`Model` by the names of its states and actions. Calls can be chained.

    States and actions exist once they are named; they are numbered in that order. A state allows the actions that it has
    transitions for.

    Parameters
    ----------
    actions : sequence of str, optional
        Names of actions, if their numbers should be these.

    Examples
    --------
    >>> import gumdp
    >>> model = (
    ...     gumdp.Model.builder()
    ...     .state("home")
    ...     .transition("home", "leave", {"away": 0.9, "home": 0.1})
    ...     .transition("away", "return", {"home": 1.0})
    ...     .build()
    ... )
    >>> model, model.states, model.actions
    (Model(2 states, 2 actions, 3 transitions), ['home', 'away'], ['leave', 'return'])
    >>> gumdp.Model.builder().transition("home", "leave", {"home": 0.5}).build()
    Traceback (most recent call last):
    ...
    ValueError: state "home", action "leave": the probabilities sum to 0.5; they must sum to 1 within 1e-9
    """

    def __init__(self, actions: Sequence[str] = ()) -> None:
        self._states: dict[str, int] = {}
        self._actions: dict[str, int] = {}
        self._rows: dict[tuple[int, int], dict[int, float]] = {}
        self._initial: dict[str, float] | None = None
        if not are_many(actions):
            raise TypeError(f"actions is {actions!r}; it must be a list of names")
        for action in actions:
            _number("action", self._actions, action)

    def state(self, *names: str) -> ModelBuilder:
        """Names states, so that their numbers are known."""
        for name in names:
            _number("state", self._states, name)
        return self

    def transition(self, state: str, action: str, outcomes: Mapping[str, float] | str) -> ModelBuilder:
        """Says where an action leads: next states with their probabilities, or one next state."""
        row = (_number("state", self._states, state), _number("action", self._actions, action))
        where = f"state {state!r}, action {action!r}"
        if row in self._rows:
            raise ValueError(f"{where}: the transition is given twice")
        if isinstance(outcomes, str):
            outcomes = {outcomes: 1.0}
        if not isinstance(outcomes, Mapping):
            raise TypeError(f"{where}: the outcomes are {outcomes!r}; they must be next states with their probabilities")
        self._rows[row] = {
            _number("state", self._states, to): number(f"{where}: the probability of {to!r}", probability, "[0, 1]")
            for to, probability in outcomes.items()
        }
        return self

    def initial(self, initial: Mapping[str, float] | str) -> ModelBuilder:
        """The first state, or states with the probability to be the first. By default it is the state named first."""
        given = {initial: 1.0} if isinstance(initial, str) else initial
        if not isinstance(given, Mapping):
            raise TypeError(f"initial is {initial!r}; it must be a state, or states with their probabilities")
        self._initial = {name: number(f"initial[{name!r}]", probability, "[0, 1]") for name, probability in given.items()}
        return self

    def build(self) -> Model:
        """The model.

        Raises
        ------
        ValueError
            If there are no states, a state has no transition, or probabilities do not sum to 1.
        """
        start = np.zeros(len(self._states))
        first = {name: 1.0 for name in list(self._states)[:1]}
        for name, probability in (first if self._initial is None else self._initial).items():
            if name not in self._states:
                raise ValueError(f"initial names state {name!r}, which does not exist")
            start[self._states[name]] = probability
        rows = sorted(self._rows)
        outcomes = [self._rows[row] for row in rows]
        parts = (
            list(self._states),
            list(self._actions),
            start,
            np.array([state for state, _ in rows], dtype=np.int64),
            np.array([action for _, action in rows], dtype=np.int64),
            np.cumsum([0, *map(len, outcomes)], dtype=np.int64),
            np.array([to for row in outcomes for to in row], dtype=np.int64),
            np.array([probability for row in outcomes for probability in row.values()], dtype=np.float64),
        )
        return Model.__new__(Model)._take(parts, {}, None)

    def __repr__(self) -> str:
        return f"ModelBuilder({len(self._states)} states, {len(self._actions)} actions, {len(self._rows)} transitions)"


def _number(what: str, known: dict[str, int], name: Any) -> int:
    if not isinstance(name, str):
        raise TypeError(f"the {what} is {name!r}; it must be a name")
    if not is_text(name):
        raise ValueError(f"the {what} is {name!r}, which is no text")
    return known.setdefault(name, len(known))
