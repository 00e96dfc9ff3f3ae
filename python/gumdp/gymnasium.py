"""Gymnasium environments of problems: any RL library can train on risk-aware general-utility tasks.

Importing this module registers ``gumdp/<task>-v0`` for every built-in task; Gymnasium does that itself if the name says so.

>>> import gymnasium, gumdp
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
from ._checks import HIGHEST_SEED, Floats, count
from ._rewards import Reward
from .evaluation import evaluate
from .problem import Problem, native_of, tasks
from .risks import RiskLike

__all__ = ["OccupancyEnv", "OccupancyVectorEnv"]

# How Gymnasium from 1.1 on is told when episodes begin again.
AUTORESET = getattr(getattr(gymnasium.vector, "AutoresetMode", None), "NEXT_STEP", None)
# Episodes of random play that fix the outer variable of a measure, unless it is given.
EPISODES = 1000


class OccupancyEnv(gymnasium.Env[dict[str, Any], Any]):
    """The occupancy MDP of a problem.

    An observation has the model's state, the features of the occupancy so far and the time. The reward is 0 until the
    episode ends at the horizon, and then −f(d). An action that the state does not allow does what its first allowed action
    does; ``info["action_mask"]`` says which are allowed.

    With ``risk`` the last reward is one whose expectation is minus the measure: −λ − (exp(β(f − λ)) − 1)/β for ``Erm(β)``,
    −λ − max(f − λ, 0)/(1 − level) for ``Cvar(level)``. At any fixed λ it is at most that, and equal at the best λ, so an agent that
    learns from expected rewards learns what has a low risk. :meth:`fit` moves λ to what is best for the costs that the agent has now:
    doing so now and then while it learns keeps rewards close to a straight line where its costs are, which is easier to learn from.

    Parameters
    ----------
    problem : Problem or str
        A problem or the name of a built-in task.
    render_mode : None
        Nothing is drawn.
    risk : Risk, float or str, optional
        The measure that the expected reward is of; the mean by default.
    outer : float or tuple of float, optional
        Its outer variable: λ, or (β, λ) for ``Evar``. By default that of random play.

    Examples
    --------
    >>> env = OccupancyEnv("rooms", risk=gumdp.Cvar(0.9), outer=0.5)
    >>> env.outer
    (0.5,)
    >>> env.fit([0.1, 0.2, 0.3, 0.4])
    >>> env.outer
    (0.4,)
    """

    metadata = {"render_modes": []}

    def __init__(
        self,
        problem: Problem | str,
        render_mode: str | None = None,
        *,
        risk: RiskLike | None = None,
        outer: Any = None,
    ) -> None:
        if render_mode is not None:
            raise ValueError(f"render_mode is {render_mode!r}; it must be None, because the environment draws nothing")
        self.problem = tasks[problem] if isinstance(problem, str) else problem
        self.render_mode = None
        self._reward = Reward(risk, outer, lambda: costs_of_random_play(self.problem))
        model = self.problem.model
        self._first, self._successors, self._probabilities = model._native.rows()
        self._mask = np.zeros((len(model.states), len(model.actions)), dtype=np.int8)
        self._mask[model.pair_states, model.pair_actions] = 1
        self._pair = np.full(self._mask.shape, -1, dtype=np.int64)
        self._pair[model.pair_states, model.pair_actions] = np.arange(model.pair_count)
        self._initial = model.initial
        self._walk: _native.Walk | None = None
        self.action_space = spaces.Discrete(len(model.actions))
        self.observation_space = observations_of(self.problem)

    @property
    def outer(self) -> tuple[float, ...]:
        """The outer variable of the measure; empty if it has none."""
        return self._reward.outer

    def fit(self, costs: Any) -> None:
        """Takes the outer variable that is best for these costs, such as those of the agent's last episodes."""
        self._reward.outer = self._reward.fitted(costs)

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
        return observation, float(self._reward.of(walk.cost())) if over else 0.0, over, False, info

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


class OccupancyVectorEnv(gymnasium.vector.VectorEnv[dict[str, Any], Any, Any]):
    """Many episodes of :class:`OccupancyEnv` at once, stepped in Rust.

    Where an episode is over the next step begins another one there, whatever the action (Gymnasium's autoreset mode "next step").
    ``info["cost"]`` has the costs of episodes that have just ended, NaN elsewhere.

    Parameters
    ----------
    problem : Problem or str
    num_envs : int
        How many episodes are played at the same time.
    risk, outer
        As for :class:`OccupancyEnv`.

    Examples
    --------
    >>> envs = OccupancyVectorEnv("rooms", 64, risk=gumdp.Erm(5))
    >>> observations, info = envs.reset(seed=0)
    >>> observations["state"].shape
    (64,)
    >>> observations, rewards, over, cut, info = envs.step(envs.action_space.sample())
    >>> rewards.shape
    (64,)
    """

    metadata = {"render_modes": [], "autoreset_mode": AUTORESET}

    def __init__(
        self, problem: Problem | str, num_envs: int, *, risk: RiskLike | None = None, outer: Any = None
    ) -> None:
        self.problem = tasks[problem] if isinstance(problem, str) else problem
        self.num_envs = count("num_envs", num_envs, 1, 1_000_000)
        self._reward = Reward(risk, outer, lambda: costs_of_random_play(self.problem))
        self.single_action_space = spaces.Discrete(len(self.problem.model.actions))
        self.single_observation_space = observations_of(self.problem)
        self.action_space = gymnasium.vector.utils.batch_space(self.single_action_space, self.num_envs)
        self.observation_space = gymnasium.vector.utils.batch_space(self.single_observation_space, self.num_envs)
        self._walks = _native.Walks(self.problem._native, self.num_envs, 0)
        self._begun = False

    outer = OccupancyEnv.outer
    fit = OccupancyEnv.fit

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begins an episode in each place; with a seed the same ones as with that seed before."""
        if isinstance(seed, (list, tuple)):
            raise TypeError(f"seed is {seed!r}; one seed is for all episodes, which draw from streams of their own")
        if seed is None and not self._begun:
            seed = int(np.random.default_rng().integers(HIGHEST_SEED))
        self._walks.reset(None if seed is None else count("seed", seed, 0, HIGHEST_SEED))
        self._begun = True
        return self._observe(), {"cost": np.full(self.num_envs, np.nan)}

    def step(self, actions: Any) -> tuple[dict[str, Any], Floats, Any, Any, dict[str, Any]]:
        """Takes an action in each place."""
        if not self._begun:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        costs = self._walks.step(np.ascontiguousarray(actions, dtype=np.int64))
        over = ~np.isnan(costs)
        rewards = np.zeros(self.num_envs)
        if over.any():
            rewards[over] = self._reward.of(costs[over])
        return self._observe(), rewards, over, np.zeros(self.num_envs, dtype=bool), {"cost": costs}

    def _observe(self) -> dict[str, Any]:
        states, features, times = self._walks.places()
        return {"state": states, "features": features.reshape(self.num_envs, -1), "time": times}


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


def costs_of_random_play(problem: Problem) -> Floats:
    """What random play costs, to begin with."""
    return evaluate(problem, "uniform", runs=EPISODES).costs


for _name in tasks:
    gymnasium.register(
        id=f"gumdp/{_name}-v0", entry_point="gumdp.gymnasium:OccupancyEnv", kwargs={"problem": _name}
    )
