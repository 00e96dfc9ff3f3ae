"""Tables of simulators: the states that can be reached, and where each action leads with which probability and features.

A step whose random draws can be listed has exact probabilities (`scripting`); others are estimated from samples, if that is asked for.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ._checks import Floats, are_many, count, number, shown
from .scripting import Unscriptable, outcomes

if TYPE_CHECKING:
    from .simulators import Simulator

__all__ = ["Estimate", "Reached", "reach"]

MOST_OUTCOMES = 100_000
# States and actions that are asked again, and how often.
REHEARSED, REPEATS = 64, 8
# Where the episode is over.
OVER = -1

Drawn = TypeVar("Drawn")
# What a step leads to (the number of a state, or OVER) with which features: its probability.
Outcomes = dict[tuple[int, tuple[float, ...]], Fraction]


@dataclass(frozen=True)
class Estimate:
    """How probabilities were estimated that could not be computed."""

    samples: int
    """Of each state and action that needed them, and of the beginning."""
    confidence: float
    """The probability that all bounds hold together."""
    pairs: int
    """The number of states and actions whose outcomes were sampled."""
    radius: float
    """The largest bound: how far an estimated row, taken as a whole, may be from the true one, as Σ |p̂ − p|."""
    why: str
    """Why there are no exact probabilities."""

    def __str__(self) -> str:
        return (
            f"the outcomes of {self.pairs} states and actions are estimated from {self.samples} samples each: with confidence "
            f"{self.confidence:g} every row is within {self.radius:.3g} of the true one (sum of differences); {self.why}"
        )


@dataclass
class Reached:
    """All states that can be reached, by number, and what their actions lead to."""

    states: list[Any]
    actions: list[Any]
    initial: dict[int, Fraction]
    rows: list[list[tuple[int, Outcomes]]]
    """For each state, each action by number with its outcomes; none where nothing was asked because episodes are over before."""
    names: list[str]
    """Of the features."""
    estimate: Estimate | None = None
    numbers: dict[Hashable, int] = field(default_factory=dict, repr=False)

    @property
    def ends(self) -> bool:
        """Whether an episode can end by itself."""
        return any(to == OVER for row in self.rows for _, outcomes in row for to, _ in outcomes)


class Sampler:
    """Draws what cannot be listed, and says how far the shares of outcomes may be from their probabilities."""

    def __init__(self, samples: int, confidence: float, seed: int) -> None:
        self.samples, self.confidence, self.seed = samples, confidence, seed
        self.rows, self.pairs, self.radius = 0, 0, 0.0
        self.why = ""

    def shares(self, draw: Callable[[np.random.Generator], Drawn], why: str) -> list[tuple[Fraction, Drawn]]:
        """Outcomes with their shares of the second half of all samples; the first half says which to expect."""
        self.rows, self.why = self.rows + 1, why
        rng = np.random.default_rng([self.seed, self.rows])
        half = self.samples // 2
        expected = {draw(rng) for _ in range(half)}
        counted: dict[Drawn, int] = {}
        for _ in range(self.samples - half):
            drawn = draw(rng)
            counted[drawn] = counted.get(drawn, 0) + 1
        total = self.samples - half
        surprises = sum(times for drawn, times in counted.items() if drawn not in expected)
        self.radius = max(self.radius, min(2.0, self._bound(len(expected) + 1, total) + 2 * surprises / total))
        return [(Fraction(times, total), drawn) for drawn, times in counted.items()]

    def _bound(self, kinds: int, samples: int) -> float:
        """Of Σ |p̂ − p| over that many kinds of outcomes: Weissman et al. (2003), or its mean and McDiarmid's inequality.

        All rows share what the confidence leaves: row k may fail with probability δ/(k (k + 1)), and these sum to δ.
        """
        failure = math.log(self.rows * (self.rows + 1) / (1 - self.confidence))
        weissman = math.sqrt(2 * (kinds * math.log(2) + failure) / samples)
        return min(weissman, math.sqrt((kinds - 1) / samples) + math.sqrt(2 * failure / samples))


def reach(
    simulator: Simulator,
    *,
    max_states: int,
    samples: int | None,
    confidence: float,
    seed: int,
    steps: int | None = None,
    check: bool = True,
) -> Reached:
    """Goes through all states of a simulator, in order of the steps it takes to get there.

    Raises
    ------
    ValueError
        If there are more states than `max_states`, draws cannot be listed and there are no `samples`, or, with `check`, the same draws do not
        lead to the same again.
    """
    most = count("max_states", max_states, 1, 100_000_000)
    level = number("confidence", confidence, "(0, 1)")
    if not 0 < level < 1:
        raise ValueError(f"confidence is {confidence}; it must lie in (0, 1)")
    first_seed = count("seed", seed, 0, 2**63)
    sampler = None if samples is None else Sampler(count("samples", samples, 2, 1_000_000_000), level, first_seed)

    rehearsals = REHEARSED if check else 0

    def possible(draw: Callable[[np.random.Generator], Drawn], where: str) -> list[tuple[Fraction, Drawn]]:
        nonlocal rehearsals
        try:
            found = list(outcomes(draw, MOST_OUTCOMES))
            rehearsals -= 1
            for _ in range(REPEATS if rehearsals >= 0 else 0):
                again = next(outcomes(draw, MOST_OUTCOMES))[1]
                if again != found[0][1]:
                    values = f"{shown(found[0][1])} once and {shown(again)} then"
                    raise ValueError(f"{where}: the same draws lead to {values}; something else is drawn from, or remembered")
            return found
        except Unscriptable as error:
            if sampler is None:
                raise ValueError(f"{where}: {error}; samples= estimates probabilities from as many samples of each") from None
            return sampler.shares(draw, str(error))

    numbers: dict[Hashable, int] = {}
    states: list[Any] = []
    kinds: dict[Hashable, int] = {}
    actions: list[Any] = []
    names: list[str] = []
    rows: list[list[tuple[int, Outcomes]]] = []

    def numbered(state: Any) -> int:
        found = numbers.setdefault(state, len(states))
        if found == len(states):
            if found >= most:
                raise ValueError(
                    f"there are more than {most} states (max_states), of which {len(rows)} were gone through; "
                    "fields that only count or remember can be left out of states, and a horizon ends the search"
                )
            states.append(state)
        return found

    initial: dict[int, Fraction] = {}
    for probability, state in possible(simulator.initial, "initial"):
        first = numbered(state)
        initial[first] = initial.get(first, Fraction(0)) + probability

    def stepped(state: Any, action: Any, rng: np.random.Generator) -> tuple[Any, tuple[float, ...]]:
        returned = simulator.step(state, action, rng)
        if not (isinstance(returned, tuple) and len(returned) == 3):
            raise TypeError(f"step returned {shown(returned)}; it must be a tuple (next_state, features, done)")
        to, features, done = returned
        return None if done else to, read(features, len(names))

    depth, border = 0, len(states)
    while len(rows) < len(states):
        if len(rows) == border:
            depth, border = depth + 1, len(states)
        if steps is not None and depth >= steps:
            rows.append([])
            continue
        state = states[len(rows)]
        row: list[tuple[int, Outcomes]] = []
        for action in simulator.actions(state):
            where = f"state {shown(state)}, action {shown(action)}"
            leads: Outcomes = {}
            for probability, (to, features) in possible(functools.partial(stepped, state, action), where):
                if not names:
                    names += names_of(simulator, len(features))
                outcome = (OVER if to is None else numbered(to), features)
                leads[outcome] = leads.get(outcome, Fraction(0)) + probability
            name = str(action) if not isinstance(action, np.ndarray) else str(action.tolist())
            kind = kinds.setdefault(name, len(actions))
            if kind == len(actions):
                actions.append(action)
            if any(known == kind for known, _ in row):
                raise ValueError(f"state {shown(state)} has the action {name} twice")
            row.append((kind, leads))
        if not row:
            raise ValueError(f"actions({shown(state)}) is empty; there must be an action")
        rows.append(row)
    estimate = None
    if sampler is not None and sampler.rows:
        estimate = Estimate(sampler.samples, sampler.confidence, sampler.rows, sampler.radius, sampler.why)
    return Reached(states, actions, initial, rows, names, estimate, numbers)


def read(features: Any, wanted: int) -> tuple[float, ...]:
    """The features of a step: as many finite numbers as there are features."""
    if not are_many(features):
        raise TypeError(f"step returned the features {shown(features)}; they must be a list or an array of numbers")
    # No number is -0, which looks like another one.
    found = tuple(number("a feature", part) + 0.0 for part in features)
    if not all(map(math.isfinite, found)) or not found or (wanted and len(found) != wanted):
        raise ValueError(f"the features of a step are {shown(features)}; they must be {wanted or 'some'} finite numbers")
    return found


def names_of(simulator: Any, features: int) -> list[str]:
    """What the simulator calls its features."""
    names = getattr(simulator, "names", None)
    if names is None:
        return ["feature"] if features == 1 else [f"feature{place}" for place in range(features)]
    if len(names) != features or not all(isinstance(name, str) for name in names) or len(set(names)) < features:
        raise ValueError(f"the names of the features are {shown(names)}; they must be {features} different names")
    return list(names)


def merged(reached: Reached, seen: Sequence[Hashable]) -> Reached:
    """The same without differences that nothing shows: states that look the same and lead to the same, now and later, are one."""
    groups = _numbered(list(seen))
    groups = _numbered([(group, not row) for group, row in zip(groups, reached.rows)])
    while True:
        finer = _numbered([(group, _signature(row, groups)) for group, row in zip(groups, reached.rows)])
        if max(finer) == max(groups):
            break
        groups = finer
    first: dict[int, int] = {}
    for state, group in enumerate(groups):
        first.setdefault(group, state)
    initial: dict[int, Fraction] = {}
    for state, probability in reached.initial.items():
        initial[groups[state]] = initial.get(groups[state], Fraction(0)) + probability
    rows = [[(action, _grouped(outcomes, groups)) for action, outcomes in reached.rows[state]] for state in first.values()]
    numbers = {state: groups[place] for state, place in reached.numbers.items()}
    states = [reached.states[state] for state in first.values()]
    return Reached(states, reached.actions, initial, rows, reached.names, reached.estimate, numbers)


def _numbered(keys: list[Any]) -> list[int]:
    known: dict[Any, int] = {}
    return [known.setdefault(key, len(known)) for key in keys]


def _grouped(outcomes: Outcomes, groups: list[int]) -> Outcomes:
    found: Outcomes = {}
    for (to, features), probability in outcomes.items():
        outcome = (to if to == OVER else groups[to], features)
        found[outcome] = found.get(outcome, Fraction(0)) + probability
    return found


def _signature(row: list[tuple[int, Outcomes]], groups: list[int]) -> Hashable:
    return frozenset((action, frozenset(_grouped(outcomes, groups).items())) for action, outcomes in row)
