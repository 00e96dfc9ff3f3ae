"""What moves an :class:`~gumdp.gymnasium.OccupancyEnv`: a model, or a simulator without tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces

from . import _native
from ._checks import Floats, shown
from .environments import Environment
from .evaluation import evaluate
from .problem import Problem, native_of
from .simulators import SimulatedProblem

__all__ = ["SimulatedWorld", "TableWorld", "observations_of", "world_of"]

# Episodes of random play that fix the outer variable of a measure, unless it is given: of a model, and of a simulator.
EPISODES, SIMULATED_EPISODES = 1000, 100
# Episodes of a simulator that show how many actions there are.
EXPLORED = 16


def world_of(problem: Any, observe: Callable[[Any], Any] | None) -> TableWorld | SimulatedWorld:
    """The world of a problem."""
    if isinstance(problem, SimulatedProblem):
        return SimulatedWorld(problem, observe)
    if not isinstance(problem, Problem):
        raise TypeError(f"problem is {shown(problem)}; it must be a gumdp.Problem, a gumdp.SimulatedProblem or the name of a built-in task")
    if observe is not None:
        raise TypeError("observe is for simulated problems; of others the number of the state is observed")
    return TableWorld(problem)


class TableWorld:
    """Episodes of a problem with a model."""

    def __init__(self, problem: Problem) -> None:
        model, self.problem = problem.model, problem
        self._first, self._successors, self._probabilities = model._native.rows()
        self._mask = np.zeros((len(model.states), len(model.actions)), dtype=np.int8)
        self._mask[model.pair_states, model.pair_actions] = 1
        self._pair = np.full(self._mask.shape, -1, dtype=np.int64)
        self._pair[model.pair_states, model.pair_actions] = np.arange(model.pair_count)
        self._initial = model.initial
        self._walk: _native.Walk | None = None
        self.actions = len(model.actions)
        self.observations = observations_of(problem)

    def begin(self, rng: np.random.Generator) -> None:
        """Begins an episode."""
        self._walk = _native.Walk(self.problem._native, _drawn(rng, np.arange(self._initial.size), self._initial))

    def move(self, action: int, rng: np.random.Generator) -> bool:
        """Takes an action; returns whether the episode is over."""
        assert self._walk is not None
        _, state = self._walk.place()
        chosen = action if self._mask[state, action] else int(np.argmax(self._mask[state]))
        row = slice(*self._first[self._pair[state, chosen] :][:2])
        self._walk.advance(chosen, _drawn(rng, self._successors[row], self._probabilities[row]))
        return self._walk.place()[0] == self.problem.horizon

    def cost(self) -> float:
        """f of the occupancy so far."""
        assert self._walk is not None
        return self._walk.cost()

    def seen(self) -> tuple[dict[str, Any], Any]:
        """The observation, and which actions are allowed."""
        assert self._walk is not None
        time, state = self._walk.place()
        return {"state": state, "features": self._walk.features(), "time": time}, self._mask[state].copy()

    def random_costs(self) -> Floats:
        """What random play costs."""
        return evaluate(self.problem, "uniform", runs=EPISODES).costs

    def __getstate__(self) -> dict[str, Any]:
        walk = self._walk
        return {**self.__dict__, "_walk": None if walk is None else (*walk.place(), walk.features())}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= state
        if state["_walk"] is not None:
            time, place, features = state["_walk"]
            self._walk = _native.Walk(self.problem._native, place)
            self._walk.resume(time, place, features)


class SimulatedWorld:
    """Episodes of a simulator."""

    def __init__(self, problem: SimulatedProblem, observe: Callable[[Any], Any] | None) -> None:
        if not callable(getattr(problem.simulator, "actions", None)):
            raise TypeError("the simulator only draws actions; an environment needs a list of them: a method actions(state)")
        self.problem = problem
        self._observe = observe
        self._masses = problem.discount ** np.arange(problem.horizon, dtype=float)
        self._masses /= self._masses.sum()
        self._time, self._sums, self._done = 0, np.zeros(problem.features), False
        self._mask: Any = None
        self._shown: Any = None
        rng = np.random.default_rng(0)
        self._state: Any = problem.simulator.initial(rng)
        self.actions = self._most_actions()
        if isinstance(problem.simulator, Environment) and observe is None:
            state: Any = problem.simulator.env.observation_space
        else:
            state = spaces.Box(-np.inf, np.inf, self._state_seen().shape, dtype=np.float64)
        self.observations = spaces.Dict(
            {
                "state": state,
                "features": spaces.Box(-np.inf, np.inf, (problem.features,), dtype=np.float64),
                "time": spaces.Discrete(problem.horizon + 1),
            }
        )

    def _most_actions(self) -> int:
        """As many actions as the states of some random episodes have; those of an environment are the same in all states."""
        most = len(self.problem.simulator.actions(self._state))
        for episode in range(0 if isinstance(self.problem.simulator, Environment) else EXPLORED):
            rng, over = np.random.default_rng([1, episode]), False
            self.begin(rng)
            while not over:
                allowed = len(self.problem.simulator.actions(self._state))
                most = max(most, allowed)
                over = self.move(int(rng.integers(allowed)), rng)
        return most

    def begin(self, rng: np.random.Generator) -> None:
        """Begins an episode."""
        self._state = self.problem.simulator.initial(rng)
        self._time, self._sums, self._done = 0, np.zeros(self.problem.features), False

    def move(self, action: int, rng: np.random.Generator) -> bool:
        """Takes an action, the first one if there are not so many; returns whether the episode is over."""
        if self._done:
            raise ValueError("the episode is over; call reset() to begin another")
        allowed = self.problem.simulator.actions(self._state)
        chosen = allowed[action if action < len(allowed) else 0]
        self._state, features, done = self.problem.simulator.step(self._state, chosen, rng)
        self._sums = self._sums + self._masses[self._time] * np.asarray(features, dtype=float)
        self._time += 1
        self._done = bool(done) or self._time == self.problem.horizon
        return self._done

    def cost(self) -> float:
        """f of the sums so far; before the end it need not have a value."""
        try:
            return float(self.problem.objective(self._sums.copy()))
        except (ArithmeticError, ValueError):
            if self._done:
                raise
            return float("nan")

    def seen(self) -> tuple[dict[str, Any], Any]:
        """The observation, and which actions are allowed."""
        # A simulator need not have a state where an episode is over.
        if not self._done:
            self._mask = np.zeros(self.actions, dtype=np.int8)
            self._mask[: len(self.problem.simulator.actions(self._state))] = 1
        if not (self._done and self._state is None):
            self._shown = self._state_seen()
        return {"state": self._shown, "features": self._sums.copy(), "time": self._time}, self._mask.copy()

    def random_costs(self) -> Floats:
        """What random play costs."""
        costs = np.empty(SIMULATED_EPISODES)
        for episode in range(costs.size):
            rng = np.random.default_rng([0, episode])
            self.begin(rng)
            while not self.move(int(rng.integers(self.actions)), rng):
                pass
            costs[episode] = self.cost()
        return costs

    def _state_seen(self) -> Any:
        if self._observe is None and isinstance(self.problem.simulator, Environment):
            return self._state.observation
        seen = self._state if self._observe is None else self._observe(self._state)
        try:
            return np.atleast_1d(np.asarray(seen, dtype=np.float64))
        except (TypeError, ValueError):
            hint = "observe= says what of a state is observed, as numbers"
            raise TypeError(f"a state is {shown(seen)}, which is no array of numbers; {hint}") from None


def observations_of(problem: Problem) -> spaces.Dict:
    """The state, the features of the occupancy so far, and the time."""
    low, high = native_of(problem).feature_bounds()
    # Sums are rounded.
    slack = 1e-9 * (1 + np.abs(low) + np.abs(high))
    return spaces.Dict(
        {
            "state": spaces.Discrete(len(problem.model.states)),
            "features": spaces.Box(low - slack, high + slack, dtype=np.float64),
            "time": spaces.Discrete(problem.horizon + 1),
        }
    )


def _drawn(rng: np.random.Generator, outcomes: Any, probabilities: Floats) -> int:
    cumulative = np.cumsum(probabilities)
    place = int(np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right"))
    return int(outcomes[min(place, len(outcomes) - 1)])
