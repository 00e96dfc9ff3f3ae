"""Gymnasium environments of problems: any RL library can train on risk-aware general-utility tasks.

Importing this module registers ``gumdp/<task>-v0`` for every built-in task; Gymnasium does that itself if the name says so.

>>> import gymnasium, gumdp
>>> env = gymnasium.make("gumdp.gymnasium:gumdp/rooms-v0")
>>> observation, info = env.reset(seed=0)
>>> sorted(observation)
['features', 'state', 'time']
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from . import _native
from ._checks import HIGHEST_SEED, Floats, array, count, shown
from ._rewards import Reward
from ._worlds import TableWorld, observations_of, world_of
from .problem import Problem, tasks
from .risks import RiskLike
from .simulators import SimulatedProblem

__all__ = ["OccupancyEnv", "OccupancyVectorEnv"]

# How Gymnasium from 1.1 on is told when episodes begin again.
AUTORESET = getattr(getattr(gymnasium.vector, "AutoresetMode", None), "NEXT_STEP", None)


class _Rewarding:
    """Has rewards whose expectation is minus a measure."""

    _reward: Reward

    @property
    def outer(self) -> tuple[float, ...]:
        """The outer variable of the measure; empty if it has none."""
        return self._reward.outer

    def fit(self, costs: Any, risk: RiskLike | None = None) -> None:
        """Takes the outer variable that is best for these costs, such as those of the agent's last episodes.

        Parameters
        ----------
        costs : array_like
            Equally likely costs.
        risk : Risk, float or str, optional
            Another measure than the one so far, which rewards are of from now on: for an agent that begins with little aversion to risk.
        """
        reward = self._reward if risk is None else Reward(risk, None, lambda: array("costs", costs))
        reward.outer = reward.fitted(costs)
        self._reward = reward


class OccupancyEnv(_Rewarding, gymnasium.Env[dict[str, Any], Any]):
    """The occupancy MDP of a problem.

    An observation has the model's state, the features of the occupancy so far and the time. The reward is 0 until the
    episode ends at the horizon, and then −f(d). An action that the state does not allow does what its first allowed action
    does; ``info["action_mask"]`` says which are allowed.

    With ``risk`` the last reward is one whose expectation is minus the measure: −λ − (exp(β(f − λ)) − 1)/β for ``Erm(β)``,
    −λ − max(f − λ, 0)/(1 − level) for ``Cvar(level)``. At any fixed λ it is at most that, and equal at the best λ, so an agent that
    learns from expected rewards learns what has a low risk. (With β < 0 it is at least that.) :meth:`fit` moves λ to what is best for the costs that the agent has now:
    doing so now and then while it learns keeps rewards close to a straight line where its costs are, which is easier to learn from.

    Parameters
    ----------
    problem : Problem, SimulatedProblem or str
        A problem or the name of a built-in task. Of a simulated problem the state is observed as numbers, or as the environment shows
        it; an episode may end before the horizon.
    render_mode : None
        Nothing is drawn.
    risk : Risk, float or str, optional
        The measure that the expected reward is of; the mean by default.
    outer : float or tuple of float, optional
        Its outer variable: λ, or (β, λ) for ``Evar``. By default that of random play.
    observe : callable, optional
        What of a state of a simulator is observed, as numbers; by default all of it.

    Examples
    --------
    >>> import gumdp
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
        problem: Problem | SimulatedProblem | str,
        render_mode: str | None = None,
        *,
        risk: RiskLike | None = None,
        outer: Any = None,
        observe: Callable[[Any], Any] | None = None,
    ) -> None:
        if render_mode is not None:
            raise ValueError(f"render_mode is {render_mode!r}; it must be None, because the environment draws nothing")
        self.problem = tasks[problem] if isinstance(problem, str) else problem
        self.render_mode = None
        self._world = world_of(self.problem, observe)
        self._reward = Reward(risk, outer, self._world.random_costs)
        self._begun = False
        self.action_space = spaces.Discrete(self._world.actions)
        self.observation_space = self._world.observations

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begins an episode in a state drawn from the initial ones."""
        super().reset(seed=seed, options=options)
        self._world.begin(self.np_random)
        self._begun = True
        return self._observe()

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Takes an action."""
        if not self._begun:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        if not self.action_space.contains(action):
            raise ValueError(f"action is {action!r}; it must be a whole number in [0, {self._world.actions - 1}]")
        over = self._world.move(int(action), self.np_random)
        observation, info = self._observe()
        return observation, float(self._reward.of(info["cost"])) if over else 0.0, over, False, info

    def _observe(self) -> tuple[dict[str, Any], dict[str, Any]]:
        observation, mask = self._world.seen()
        return observation, {"action_mask": mask, "cost": self._world.cost()}


class OccupancyVectorEnv(_Rewarding, gymnasium.vector.VectorEnv[dict[str, Any], Any, Any]):
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
    >>> import gumdp
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
        if not isinstance(self.problem, Problem):
            raise TypeError(f"problem is {shown(problem)}; it must be a gumdp.Problem or the name of a built-in task")
        self.num_envs = count("num_envs", num_envs, 1, 1_000_000)
        self._reward = Reward(risk, outer, lambda: TableWorld(self.problem).random_costs())
        self.single_action_space = spaces.Discrete(len(self.problem.model.actions))
        self.single_observation_space = observations_of(self.problem)
        self.action_space = gymnasium.vector.utils.batch_space(self.single_action_space, self.num_envs)
        self.observation_space = gymnasium.vector.utils.batch_space(self.single_observation_space, self.num_envs)
        self._walks = _native.Walks(self.problem._native, self.num_envs, 0)
        self._begun = False

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begins an episode in each place; with a seed the same ones as with that seed before."""
        if isinstance(seed, (list, tuple)):
            raise TypeError(f"seed is {seed!r}; one seed is for all episodes, which draw from streams of their own")
        if seed is None and not self._begun:
            seed = int(np.random.default_rng().integers(2**63 - 1))
        self._walks.reset(None if seed is None else count("seed", seed, 0, HIGHEST_SEED))
        self._begun = True
        return self._observe(), {"cost": np.full(self.num_envs, np.nan)}

    def step(self, actions: Any) -> tuple[dict[str, Any], Floats, Any, Any, dict[str, Any]]:
        """Takes an action in each place."""
        if not self._begun:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        given = np.asarray(actions)
        if given.dtype.kind not in "iu":
            raise TypeError(f"actions is {shown(actions)}; it must be an array of whole numbers")
        costs = self._walks.step(np.ascontiguousarray(given, dtype=np.int64))
        observations = self._observe()
        over = observations["time"] == self.problem.horizon
        rewards = np.zeros(self.num_envs)
        if over.any():
            rewards[over] = self._reward.of(costs[over])
        return observations, rewards, over, np.zeros(self.num_envs, dtype=bool), {"cost": costs}

    def _observe(self) -> dict[str, Any]:
        states, features, times = self._walks.places()
        return {"state": states, "features": features.reshape(self.num_envs, -1), "time": times}


for _name in tasks:
    gymnasium.register(
        id=f"gumdp/{_name}-v0", entry_point="gumdp.gymnasium:OccupancyEnv", kwargs={"problem": _name}
    )
