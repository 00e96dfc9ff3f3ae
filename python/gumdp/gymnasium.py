"""Gymnasium environments of problems: any RL library can train on risk-aware general-utility tasks.

Importing this module registers ``gumdp/<task>-v0`` for every built-in task; Gymnasium does that itself if the name says so.

>>> import gymnasium
>>> env = gymnasium.make("gumdp.gymnasium:gumdp/rooms-v0")
>>> observation, info = env.reset(seed=0)
>>> sorted(observation)
['features', 'state', 'time']
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from . import _native
from ._checks import Floats
from .problem import Problem, native_of, tasks

__all__ = ["OccupancyEnv"]


class OccupancyEnv(gymnasium.Env[dict[str, Any], Any]):
    """The occupancy MDP of a problem.

    An observation has the model's state, the features of the occupancy so far and the time. The reward is 0 until the
    episode ends at the horizon, and then −f(d). An action that the state does not allow does what its first allowed action
    does; ``info["action_mask"]`` says which are allowed.

    Parameters
    ----------
    problem : Problem or str
        A problem or the name of a built-in task.
    render_mode : None
        Nothing is drawn.
    """

    metadata = {"render_modes": []}

    def __init__(self, problem: Problem | str, render_mode: str | None = None) -> None:
        if render_mode is not None:
            raise ValueError(f"render_mode is {render_mode!r}; it must be None, because the environment draws nothing")
        self.problem = tasks[problem] if isinstance(problem, str) else problem
        self.render_mode = None
        low, high = native_of(self.problem).feature_bounds()
        model = self.problem.model
        self._first, self._successors, self._probabilities = model._native.rows()
        self._mask = np.zeros((len(model.states), len(model.actions)), dtype=np.int8)
        self._mask[model.pair_states, model.pair_actions] = 1
        self._pair = np.full(self._mask.shape, -1, dtype=np.int64)
        self._pair[model.pair_states, model.pair_actions] = np.arange(model.pair_count)
        self._initial = model.initial
        self._walk: _native.Walk | None = None
        # Sums are rounded.
        slack = 1e-9 * (1 + np.abs(low) + np.abs(high))
        self.action_space = spaces.Discrete(len(model.actions))
        self.observation_space = spaces.Dict(
            {
                "state": spaces.Discrete(len(model.states)),
                "features": spaces.Box(low - slack, high + slack, dtype=np.float64),
                "time": spaces.Discrete(self.problem.horizon + 1),
            }
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begins an episode in a state drawn from the initial ones."""
        super().reset(seed=seed, options=options)
        self._walk = _native.Walk(self.problem._native, self._draw(np.arange(self._initial.size), self._initial))
        return self._observe(self._walk)

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Takes an action."""
        walk = self._walk
        if walk is None:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        if not self.action_space.contains(action):
            raise ValueError(f"action is {action!r}; it must be a whole number in [0, {self._mask.shape[1] - 1}]")
        _, state = walk.place()
        chosen = int(action) if self._mask[state, int(action)] else int(np.argmax(self._mask[state]))
        row = slice(*self._first[self._pair[state, chosen] :][:2])
        walk.advance(chosen, self._draw(self._successors[row], self._probabilities[row]))
        observation, info = self._observe(walk)
        over = observation["time"] == self.problem.horizon
        return observation, -walk.cost() if over else 0.0, over, False, info

    def __getstate__(self) -> dict[str, Any]:
        walk = self._walk
        return {**self.__dict__, "_walk": None if walk is None else (*walk.place(), walk.features())}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= state
        if state["_walk"] is not None:
            time, place, features = state["_walk"]
            self._walk = _native.Walk(self.problem._native, place)
            self._walk.resume(time, place, features)

    def _draw(self, outcomes: Any, probabilities: Floats) -> int:
        cumulative = np.cumsum(probabilities)
        place = int(np.searchsorted(cumulative, self.np_random.random() * cumulative[-1], side="right"))
        return int(outcomes[min(place, len(outcomes) - 1)])

    def _observe(self, walk: _native.Walk) -> tuple[dict[str, Any], dict[str, Any]]:
        time, state = walk.place()
        observation = {"state": state, "features": walk.features(), "time": time}
        return observation, {"action_mask": self._mask[state].copy(), "cost": walk.cost()}


for _name in tasks:
    gymnasium.register(
        id=f"gumdp/{_name}-v0", entry_point="gumdp.gymnasium:OccupancyEnv", kwargs={"problem": _name}
    )
