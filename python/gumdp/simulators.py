"""Planning in a simulator without tables: any states that can be hashed, features of each step."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from . import _native
from ._batches import Batches, has_batches
from ._checks import HIGHEST_SEED, MOST_RUNS, Floats, are_many, budget, choice, count, discount_of, number, shown
from .planning import Playing, reasons_of
from .risks import RiskLike, spec_of

# Marks the random numbers of the world outside.
WORLD = 1
# Simulations of the preset "batch" that make a step at once, at most.
MOST_ABREAST = 1024

__all__ = ["SimulatedDecision", "SimulatedProblem", "Simulator", "SimulatorPlanner"]


class Simulator(Protocol):
    """What a simulator must have. No base class is needed.

    Features must be a function of the state, the action and the next state. Where actions are continuous or very many, a method
    ``sample_action(state, rng)`` draws one that may be taken in any state; ``actions`` is not needed then.

    A simulator written in NumPy may have ``step_batch(states, actions, rng)``, which steps many at once: an array of states, one after the other, and
    one of their actions lead to an array of the next states, one of features with a row for each, and one that says which episodes are over. States
    are numbers of one shape and type then, and all have the same actions.
    """

    def initial(self, rng: np.random.Generator) -> Hashable:
        """Draws the state in which an episode begins."""

    def actions(self, state: Any) -> Sequence[Any]:
        """The actions of a state, at least one."""

    def step(self, state: Any, action: Any, rng: np.random.Generator) -> tuple[Hashable, Any, bool]:
        """Draws the next state; returns it, the features of the step, and whether the episode is over."""


class SimulatedProblem:
    """A simulator and an objective of the discounted sums of its features.

    Parameters
    ----------
    simulator : Simulator
        An object with ``initial(rng)``, ``actions(state)`` and ``step(state, action, rng) -> (next_state, features, done)``.
    objective : callable
        f of an array of the sums Σ_t m_t φ_t, where φ_t are the features of step t and m_t = γ^t/Σγ^t. To be small.
    discount : float
    horizon : int
        Steps of an episode, at most.
    features : int, optional
        How many there are. By default one step is tried.

    Examples
    --------
    A walk that is to be even on both sides of 0; every third step to the right is three long.

    >>> import gumdp
    >>> class Walk:
    ...     def initial(self, rng):
    ...         return 0
    ...     def actions(self, state):
    ...         return ["left", "right"]
    ...     def step(self, state, action, rng):
    ...         by = -1 if action == "left" else (3 if rng.random() < 1 / 3 else 1)
    ...         return state + by, [float(state <= 0), float(state > 0)], False
    >>> problem = gumdp.SimulatedProblem(Walk(), lambda time: abs(time[0] - time[1]), discount=1.0, horizon=10)
    >>> planner = gumdp.SimulatorPlanner(problem, gumdp.Erm(5), simulations=200)
    >>> bool(problem.play(planner, runs=2).max() < 0.5)
    True
    """

    __slots__ = ("discount", "features", "horizon", "objective", "simulator")

    def __init__(
        self,
        simulator: Simulator,
        objective: Callable[[Floats], float],
        *,
        discount: float,
        horizon: int,
        features: int | None = None,
    ) -> None:
        # One of the two that say what can be done is enough.
        draws = callable(getattr(simulator, "sample_action", None))
        for method in ("initial", "step") if draws else ("initial", "actions", "step"):
            if not callable(getattr(simulator, method, None)):
                raise TypeError(f"simulator is {simulator!r}; it must have a method {method}")
        if not callable(objective):
            raise TypeError(f"objective is {objective!r}; it must be a function of the sums of features")
        self.simulator = simulator
        self.objective = objective
        self.discount = discount_of(discount)
        self.horizon = count("horizon", horizon, 1, 1_000_000)
        self.features = _feature_count(simulator) if features is None else count("features", features, 1, 1_000_000)

    @classmethod
    def from_gymnasium(
        cls,
        env: Any,
        objective: Callable[[Floats], float],
        *,
        discount: float,
        horizon: int | None = None,
        **settings: Any,
    ) -> SimulatedProblem:
        """Any environment of Gymnasium, whose own steps are simulated from states that are saved and put back.

        Parameters
        ----------
        env : gymnasium.Env
            It belongs to the problem from then on. ``problem.simulator.here(observation)`` is the state that it is in.
        objective : callable
            f of the array of discounted sums of rewards, which may be vectors, or of other ``features``. To be small.
        discount : float
        horizon : int, optional
            By default the environment's time limit, which it must not exceed.
        **settings
            As for :class:`Environment`: ``features``, ``actions`` or ``bins``, ``state_key``, and others.
        """
        from .environments import Environment

        environment = Environment(env, **settings)
        return cls(environment, objective, discount=discount, horizon=environment.horizon(horizon, 1_000_000))

    def play(self, planner: SimulatorPlanner, runs: int = 1, seed: int = 0) -> Floats:
        """The costs of some episodes.

        Parameters
        ----------
        planner : SimulatorPlanner
            Begins a new episode for each run.
        runs : int
        seed : int
            Of the world outside; the planner has its own.
        """
        if not isinstance(planner, SimulatorPlanner):
            raise TypeError(f"planner is {planner!r}; it must be a gumdp.SimulatorPlanner")
        costs = np.empty(count("runs", runs, 1, MOST_RUNS))
        for run in range(costs.size):
            # Another stream than any planner's of the same seed, which would know what is to come.
            rng = np.random.default_rng([count("seed", seed, 0, HIGHEST_SEED), run, WORLD])
            planner.reset()
            state, done = self.simulator.initial(rng), False
            while not done:
                action = planner.act(state).action
                state, features, done = self.simulator.step(state, action, rng)
                planner.observe(state, features, done)
                done = done or planner.time >= self.horizon
            cost = planner.cost
            costs[run] = np.nan if cost is None else cost
        return costs

    def __repr__(self) -> str:
        return f"SimulatedProblem({self.simulator!r}, discount={self.discount:g}, horizon={self.horizon})"


def _feature_count(simulator: Simulator) -> int:
    rng = np.random.default_rng(0)
    state = simulator.initial(rng)
    draw = getattr(simulator, "sample_action", None)
    actions = list(simulator.actions(state)) if draw is None else [draw(state, rng)]
    if not actions:
        raise ValueError(f"actions({state!r}) is empty; there must be an action")
    returned = simulator.step(state, actions[0], rng)
    if not (isinstance(returned, tuple) and len(returned) == 3):
        raise TypeError(f"step returned {returned!r}; it must be a tuple (next_state, features, done)")
    features = returned[1]
    if not are_many(features) or np.ndim(features) != 1:
        raise TypeError(f"step returned the features {shown(features)}; they must be a list or an array of numbers")
    return count("the number of features", len(features), 1, 1_000_000)


@dataclass(frozen=True)
class SimulatedDecision:
    """What :meth:`SimulatorPlanner.act` decided, and why."""

    action: Any
    """The action to take, as the simulator gave it."""
    estimate: float
    """An estimate of the risk of the whole episode. That of the preset "paper" includes the simulations that explored; what is decided usually has a
    lower risk. Where a measure has an outer variable, it is that of what final costs count for."""
    unseen: float
    """By how much the risk may be higher because of something too rare to be seen: outcomes of the action were drawn c times, and one of probability 1/c may lead to
    the highest cost met. The more risk-averse, the more simulations it takes to make this small. Not a number with the preset "paper"."""
    simulations: int
    """Simulations done for this decision."""
    stopped: str
    """Why the search ended: "simulations" or "time limit"."""
    reasons: npt.NDArray[np.void] = field(repr=False)
    """What the tree knows of each action, in the simulator's order: a structured array as that of :class:`Decision`. Where actions are drawn, or more
    than 256, only those that were tried are in it."""


class SimulatorPlanner(Playing):
    """Plans in a simulator, by what can be learned from samples.

    It needs samples only; with the tables of a model :class:`Planner` is better and quicker. ``docs/simulators.md`` has the measurements.

    Parameters
    ----------
    problem : SimulatedProblem
    risk : Risk, float or str
        Any risk measure. The outer variable of CVaR and the like is fixed by pilot episodes before the first decision.
    simulations : int, optional
        For each decision; 500 by default, none if there is a time limit.
    time_limit : float, optional
        Seconds for each decision.
    exploration : float, optional
        The exploration constant of the tree, in units of the spread of costs of a few random episodes.
    preset : {"default", "paper", "batch"}, optional
        "paper" is the published ERM-MCTS with a new node for each state that is met, for entropic risk measures and listed actions only. "batch" is the published one with
        simulations side by side, all of which make a step at once: for simulators that have ``step_batch``, where it is what is taken for entropic measures unless
        told otherwise. What it does not know yet it tries more evenly.
    seed : int
    """

    __slots__ = ("_native", "_settings", "problem", "risk")

    _native: _native.SimulatorAgent | _native.BatchAgent

    def __init__(
        self,
        problem: SimulatedProblem,
        risk: RiskLike,
        *,
        simulations: int | None = None,
        time_limit: float | None = None,
        exploration: float | None = None,
        preset: str | None = None,
        seed: int = 0,
    ) -> None:
        if not isinstance(problem, SimulatedProblem):
            raise TypeError(f"problem is {problem!r}; it must be a gumdp.SimulatedProblem")
        most, limit = budget(simulations, time_limit)
        most = 500 if most is None and limit is None else most
        self.problem, self.risk = problem, spec_of(risk)
        explored = None if exploration is None else number("exploration", exploration)
        draws = callable(getattr(problem.simulator, "sample_action", None))
        entropic = self.risk in ("mean", "worst", "best") or self.risk.startswith("erm:")
        usual = "batch" if entropic and not draws and has_batches(problem.simulator) else "default"
        preset = choice("preset", usual if preset is None else preset, ("default", "paper", "batch"))
        if draws and preset == "paper":
            raise ValueError('the simulator draws its actions; the preset "paper" needs a list of them, "default" does not')
        self._settings = (most, limit, explored, preset, count("seed", seed, 0, HIGHEST_SEED))
        if preset == "batch":
            self._native = _of_batches(problem, self.risk, self._settings)
        else:
            parts = (problem.simulator, problem.objective, problem.features, problem.discount, problem.horizon)
            self._native = _native.SimulatorAgent(*parts, self.risk, *self._settings)
        self._begin(0)

    def _begin(self, episode: int) -> None:
        self._native.begin(np.random.default_rng([self._settings[-1], episode]), episode)

    def act(self, state: Hashable) -> SimulatedDecision:
        """Decides what to do in a state: where the episode begins, or where :meth:`observe` said it is."""
        action, estimate, simulations, stopped, columns = self._native.act(state)
        unseen = self._native.unseen() if isinstance(self._native, _native.SimulatorAgent) else math.nan
        return SimulatedDecision(action, estimate, unseen, simulations, stopped, reasons_of(columns))

    def observe(self, next_state: Hashable, features: Any, done: bool = False) -> None:
        """Says what the step led to: the next state, its features, and whether the episode is over."""
        self._native.observe(next_state, features, bool(done))

    def reset(self) -> None:
        """Begins another episode. Nothing happens if the episode has no decision yet."""
        _, episode, begun = self._native.progress()
        if begun:
            self._begin(episode + 1)

    def __repr__(self) -> str:
        return f"SimulatorPlanner({self.problem!r}, {self.risk!r}, time={self.time})"

    def __reduce__(self) -> Any:
        _, episode, begun = self._native.progress()
        if begun or episode > 0:
            raise TypeError("a SimulatorPlanner that has decided remembers what it saw and cannot be copied or pickled")
        return _planner_again, (self.problem, self.risk, *self._settings)


def _of_batches(problem: SimulatedProblem, risk: str, settings: tuple[int | None, float | None, float | None, str, int]) -> _native.BatchAgent:
    most, limit, explored, _, seed = settings
    if not has_batches(problem.simulator):
        raise ValueError('the preset "batch" needs a simulator with a method step_batch')
    rows = Batches(problem.simulator, problem.features)
    # Of so many as come back later nothing is known when the others are chosen.
    size = min(max((most or MOST_ABREAST) // 8, 1), MOST_ABREAST)
    parts = (rows, problem.objective, problem.features, len(rows.actions), problem.discount, problem.horizon)
    return _native.BatchAgent(*parts, risk, most, limit, explored, size, seed)


def _planner_again(
    problem: SimulatedProblem,
    risk: str,
    simulations: int | None,
    time_limit: float | None,
    exploration: float | None,
    preset: str,
    seed: int,
) -> SimulatorPlanner:
    """The planner that was pickled."""
    return SimulatorPlanner(
        problem,
        risk,
        simulations=simulations,
        time_limit=time_limit,
        exploration=exploration,
        preset=preset,
        seed=seed,
    )
