"""What was reached of a simulator as the parts of a model, with rewards of transitions as costs or as states."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._checks import Floats, are_many, is_text, number, shown
from .environments import Environment, EnvironmentState, copied, plain, taken_off
from .tabulating import OVER, Estimate, Outcomes, Reached, merged, reach
from .snapshots import Snapshot

if TYPE_CHECKING:
    from .model import Model, Parts
    from .objectives import Objective

__all__ = ["Laid", "Whereabouts", "lay_out", "of_features", "reach_env", "reach_simulator"]

# A state of the model: one of the simulator's, or OVER, and the features with which it was reached, if that matters.
Copy = tuple[int, tuple[float, ...]]


class Laid:
    """A model in parts, its costs by name, and which state of it is which."""

    def __init__(self, parts: Parts, costs: dict[str, Floats], whereabouts: Whereabouts, is_paid_later: bool) -> None:
        self.parts, self.costs, self.whereabouts, self.is_paid_later = parts, costs, whereabouts, is_paid_later


class Whereabouts:
    """Which states of a model those of a simulator or an environment are."""

    def __init__(self, reached: Reached, copies: Mapping[Copy, int], is_split: bool, environment: Environment | None) -> None:
        self.estimate: Estimate | None = reached.estimate
        self._is_split = is_split
        self._copies: dict[int, dict[tuple[float, ...], int]] = {}
        for (state, features), place in copies.items():
            self._copies.setdefault(state, {})[features] = place
        self._features = len(reached.names)
        self._numbers = {_key(state): place for state, place in reached.numbers.items()}
        self._ignored = None if environment is None else (environment.ignored, environment.constant)
        self._has_key = environment is not None and environment.has_state_key
        self._seen: dict[Hashable, set[int]] = {}
        for met, number_of in reached.numbers.items():
            if isinstance(met, EnvironmentState):
                self._seen.setdefault(plain(met.observation), set()).add(number_of)

    def state(self, observation: Any, reward: Any, terminated: Any) -> int:
        """The number of the state that was reached."""
        reached = OVER if terminated else self._number(observation)
        copies = self._copies.get(reached)
        if copies is None:
            there = f"state {shown(observation)} is beyond the horizon"
            raise ValueError("no episode ends by itself" if terminated else there)
        if not self._is_split or len(copies) == 1:
            return next(iter(copies.values()))
        given = reward.values() if isinstance(reward, Mapping) else np.ravel(reward) if are_many(reward) else [reward]
        features = tuple(number("reward", part) + 0.0 for part in given)
        features = features * self._features if features == (0.0,) else features
        if features not in copies:
            raise ValueError(f"state {shown(observation)} is never reached with reward {shown(reward)}")
        return copies[features]

    def _number(self, given: Any) -> int:
        if self._ignored is not None and hasattr(given, "unwrapped"):
            return self._of_env(given)
        if isinstance(given, EnvironmentState) or self._ignored is None:
            found = self._numbers.get(_key(given)) if isinstance(given, Hashable) else None
            if found is None:
                raise ValueError(f"there is no state {shown(given)}")
            return found
        places = self._seen.get(plain(copied(given)), set())
        if len(places) != 1:
            hint = "give the environment itself instead of the observation" if places else "no state shows that"
            raise ValueError(f"the observation is {shown(given)}; {hint}")
        return next(iter(places))

    def _of_env(self, env: Any) -> int:
        if self._has_key:
            raise TypeError("states have a state_key; give the observation, or a state of the simulator")
        ignored, constant = self._ignored or (frozenset(), frozenset())
        fields = Snapshot(taken_off(env)[0], constant=constant).key(ignored)
        keys = ((key, place) for key, place in self._numbers.items() if isinstance(key, tuple) and key[0] == "fields")
        found = {place for key, place in keys if key[2] == fields}
        if len(found) != 1:
            raise ValueError(f"{shown(env)} is in no state of the model")
        return found.pop()


def _key(state: Any) -> Hashable:
    """What says which state it is, without the snapshot."""
    if not isinstance(state, EnvironmentState):
        return state  # type: ignore[no-any-return]
    key = state.key
    return ("fields", *key) if isinstance(key, tuple) and len(key) == 2 and key[0] != "key" else key


def reach_simulator(simulator: Any, steps: int | None, limits: Mapping[str, Any]) -> Reached:
    """All states of a simulator."""
    for method in ("initial", "actions", "step"):
        if not callable(getattr(simulator, method, None)):
            raise TypeError(f"simulator is {shown(simulator)}; it must have a method {method}")
    return reach(simulator, steps=steps, **limits)


def reach_env(environment: Environment, steps: int | None, limits: Mapping[str, Any]) -> Reached:
    """All states of an environment, which is left as it was found."""
    try:
        # The environment was rehearsed when it was taken over.
        reached = reach(environment, steps=steps, check=False, **limits)
    finally:
        environment.leave()
    if environment.has_state_key:
        return reached
    return merged(reached, [plain(state.observation) for state in reached.states])


def lay_out(reached: Reached, scale: float | None, environment: Environment | None) -> Laid:
    """A model of what was reached.

    Without a scale, features are averaged over outcomes. With it, states that are reached with different features are several, and
    pay for how they were reached, times the scale; unless no features depend on chance.
    """
    is_split = scale is not None and any(
        len({features for _, features in outcomes}) > 1 for row in reached.rows for _, outcomes in row
    )
    zero = (0.0,) * len(reached.names)
    copies: dict[Copy, int] = {}
    order: list[Copy] = []

    def place(state: int, features: tuple[float, ...]) -> int:
        copy = (state, features if is_split else zero)
        found = copies.setdefault(copy, len(order))
        if found == len(order):
            order.append(copy)
        return found

    start = {place(state, zero): float(probability) for state, probability in reached.initial.items()}
    pair_states: list[int] = []
    pair_actions: list[int] = []
    first = [0]
    successors: list[int] = []
    probabilities: list[float] = []
    costs: list[list[float]] = []
    at = 0
    while at < len(order):
        state, arrived = order[at]
        stays: list[tuple[int, Outcomes]] = [(0, {(state, zero): 1})]  # type: ignore[dict-item]
        row = stays if state == OVER else reached.rows[state] or stays
        for action, outcomes in row:
            leads: dict[int, float] = {}
            for (to, features), probability in outcomes.items():
                target = place(to, features)
                leads[target] = leads.get(target, 0.0) + float(probability)
            pair_states.append(at)
            pair_actions.append(action)
            successors += leads.keys()
            probabilities += leads.values()
            first.append(len(successors))
            if is_split and scale is not None:
                costs.append([scale * feature for feature in arrived])
            else:
                by_feature = zip(*(features for _, features in outcomes))
                costs.append([float(sum(p * part for p, part in zip(outcomes.values(), each))) for each in by_feature])
        at += 1
    initial = np.zeros(len(order))
    initial[list(start)] = list(start.values())
    parts = (
        _names(reached, order),
        [str(action) if not isinstance(action, np.ndarray) else str(action.tolist()) for action in reached.actions],
        initial,
        np.array(pair_states, dtype=np.int64),
        np.array(pair_actions, dtype=np.int64),
        np.array(first, dtype=np.int64),
        np.array(successors, dtype=np.int64),
        np.array(probabilities, dtype=np.float64),
    )
    by_name = {name: np.array(cost) for name, cost in zip(reached.names, zip(*costs))}
    return Laid(parts, by_name, Whereabouts(reached, copies, is_split, environment), is_split)


def _names(reached: Reached, order: Sequence[Copy]) -> list[str]:
    """Names of states by what they are, as far as that is short; with the features if a state is several."""
    many = _twice(order)
    named: dict[str, int] = {}
    names = []
    for state, features in order:
        name = "terminated" if state == OVER else _label(reached.states[state], state)
        if state in many:
            name += f"[{', '.join(f'{feature:g}' for feature in features)}]"
        times = named.get(name, 0)
        named[name] = times + 1
        names.append(name if not times else f"{name}#{times + 1}")
    return names


def _twice(order: Sequence[Copy]) -> set[int]:
    met: set[int] = set()
    twice: set[int] = set()
    for state, _ in order:
        (twice if state in met else met).add(state)
    return twice


def _label(state: Any, place: int) -> str:
    text = ", ".join(_words(state.shown if isinstance(state, EnvironmentState) else state))
    return text if 0 < len(text) <= 60 and is_text(text) and text.isprintable() else f"s{place}"


def _words(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [f"{name}={' '.join(_words(part))}" for name, part in value.items()]
    if isinstance(value, (list, tuple, np.ndarray)):
        return [word for part in list(value)[:60] for word in _words(part)]
    return [f"{value:g}" if isinstance(value, (float, np.floating)) else str(value)]


class OfFeatures:
    """A function of the sums of features, as one of the occupancy."""

    def __init__(self, f: Callable[[Floats], float], model: Model, names: Sequence[str]) -> None:
        self.f = f
        self.costs = np.array([_dense(model, model.costs[name]) for name in names])
        self.__name__ = getattr(f, "__name__", repr(f))

    def __call__(self, occupancy: Floats) -> float:
        return self.f(np.tensordot(self.costs, occupancy, 2))


def _dense(model: Model, cost: Floats) -> Floats:
    dense = np.zeros((len(model.states), len(model.actions)))
    dense[model.pair_states, model.pair_actions] = cost
    return dense


def of_features(objective: Any, model: Model, names: Sequence[str]) -> Objective:
    """An objective of features: a formula in their names, a weight for each, a function of their sums, or any objective."""
    from ._objective import Objective
    from .expressions import NAME, Expression
    from .functions import Function
    from .objectives import Linear

    if objective is None:
        if len(names) > 1:
            listed = ", ".join(names)
            raise ValueError(f"there are the features {listed}; say what is to be small: a formula, weights or a function")
        return Linear(-model.costs[names[0]])
    if isinstance(objective, Objective):
        return objective
    if isinstance(objective, str):
        wanted = set(NAME.findall(objective))
        for name in sorted(wanted - set(names)):
            raise ValueError(f"the objective {objective!r} names {name}; the features are {', '.join(names)}")
        return Expression(objective, **{name: Linear(model.costs[name]) for name in names if name in wanted})
    if isinstance(objective, Mapping):
        total = np.zeros(model.pair_count)
        for name, weight in objective.items():
            if name not in model.costs:
                raise ValueError(f"the objective names {shown(name)}; the features are {', '.join(names)}")
            total += number(f"objective[{name!r}]", weight) * model.costs[name]
        return Linear(total)
    if callable(objective) and not isinstance(objective, type):
        return Function(OfFeatures(objective, model, names))
    allowed = "a formula, weights by name, a function of the sums of features, or an objective"
    raise TypeError(f"objective is {shown(objective)}; it must be {allowed}")
