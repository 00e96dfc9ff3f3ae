"""Acting online: one decision at a time, with its reasons."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _native
from ._checks import HIGHEST_SEED, budget, choice, count
from ._native import Agent as NativeAgent
from ._native import Policy as NativePolicy
from .problem import Problem, native_of
from .risks import RiskLike, spec_of

if TYPE_CHECKING:
    from ._native import Columns
    from .solving import SavedPolicy, Solution

__all__ = ["Agent", "Decision", "Planner"]

REASON = np.dtype(
    [
        ("action", np.int64),
        ("visits", np.uint64),
        ("rank", np.uint64),
        ("value", np.float64),
        ("mean", np.float64),
        ("best", np.float64),
        ("worst", np.float64),
    ]
)


def reasons_of(columns: Columns) -> npt.NDArray[np.void]:
    """The columns of :data:`REASON` as one array."""
    actions, visits, estimates = columns
    reasons = np.empty(actions.size, dtype=REASON)
    for name, column in zip(REASON.names or (), (actions, visits, *estimates)):
        reasons[name] = column
    return reasons


@dataclass(frozen=True, repr=False, eq=False)
class Decision:
    """What :meth:`Agent.act` decided, and why."""

    action: int
    """The number of the action to take."""
    action_name: str
    """The name of the action to take."""
    estimate: float
    """The estimated risk of the whole episode; NaN if nothing was searched ("known" or "marginal").

    That of the preset "paper" is the value of the root of its tree, which includes the simulations that explored.
    """
    simulations: int
    """Simulations done for this decision."""
    seconds: float
    """How long the decision took."""
    stopped: str
    """Why the search ended: "simulations", "time limit", "solved"; "marginal", "lattice" or "known" if nothing was searched."""
    _columns: Columns

    @property
    def reasons(self) -> npt.NDArray[np.void]:
        """What is known of each action: a structured array with action, visits, rank, value, mean, best and worst.

        The default planner estimates the risk only; mean, best and worst cost are NaN then. Where nothing was searched
        (``stopped`` is "marginal") actions are ranked only (1 is the best), and value is NaN. The array is made when it is
        asked for. It is empty for an agent that does not plan.
        """
        return reasons_of(self._columns)

    def __repr__(self) -> str:
        if math.isnan(self.estimate):
            return f"Decision({self.action_name!r}, estimate=nan, stopped={self.stopped!r})"
        return f"Decision({self.action_name!r}, estimate={self.estimate:.6g}, simulations={self.simulations})"


class Playing:
    """Where an episode is, of anyone who plays it step by step."""

    __slots__ = ()

    _native: _native.Agent | _native.SimulatorAgent | _native.BatchAgent

    @property
    def time(self) -> int:
        """Number of steps of this episode so far; the horizon if it is over."""
        return self._native.time()

    @property
    def cost(self) -> float | None:
        """f of what has happened so far: the cost of the episode at its end; None before the first decision.

        Where every reward is one more state (:meth:`Problem.from_gymnasium`), all that was earned is counted.
        """
        return self._native.cost()


class Agent(Playing):
    """Acts in a world outside, such as a Gymnasium environment; see :meth:`Solution.policy` and :class:`Planner`.

    Episode k, counted from 0, draws the random numbers of run k of :func:`evaluate` and of the command line. Threads that share one
    wait for each other; a function that it asks, such as the objective, cannot use it (RuntimeError).
    """

    __slots__ = ("_native", "_policy", "_solution", "problem", "risk")

    _native: NativeAgent
    problem: Problem
    risk: str

    def __init__(
        self,
        problem: Problem,
        policy: NativePolicy,
        risk: str,
        seed: int,
        *,
        episode: int = 0,
        solution: Solution | SavedPolicy | None = None,
    ) -> None:
        self.problem = problem
        self.risk = risk
        self._policy = policy
        self._solution = solution
        self._native = _native.Agent(
            problem._native, policy, count("seed", seed, 0, HIGHEST_SEED), episode, problem._is_paid_later
        )

    def act(self, state: int | str) -> Decision:
        """Decides what to do in a state: where the episode begins, or where :meth:`observe` said it is."""
        try:
            return Decision(*self._native.act(state))
        except TypeError:
            self.problem.model._look_for(state=state)
            raise

    def observe(self, action: int | str, next_state: int | str) -> None:
        """Says which action was taken and where it led."""
        try:
            self._native.observe(action, next_state)
        except TypeError:
            self.problem.model._look_for(action=action, state=next_state)
            raise

    def reset(self) -> None:
        """Begins another episode. Nothing happens if the episode has no decision yet."""
        self._native.reset()

    def _seed_and_episode(self) -> tuple[int, int]:
        """What another one needs to go on from here, which is possible between episodes."""
        seed, episode, begun = self._native.progress()
        if begun:
            raise TypeError(f"a {type(self).__name__} in the middle of an episode cannot be copied or pickled; reset() it")
        return seed, episode

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.problem.name!r}, {self._policy.what}, time={self.time})"

    def __reduce__(self) -> Any:
        return _agent_again, (self._solution, *self._seed_and_episode())


def _agent_again(solution: Solution | SavedPolicy, seed: int, episode: int) -> Agent:
    """The agent that was pickled."""
    return solution._agent(seed, episode)


class Planner(Agent):
    """Plans its decisions.

    Parameters
    ----------
    problem : Problem
    risk : Risk, float or str
        A measure such as ``Cvar(0.95)``, a β, or text such as ``"cvar:0.95"``. With measures other than Erm the first decision
        begins with 24 to some 900 pilot episodes, which takes long if the objective is a function of Python.
    simulations : int, optional
        For each decision; the task's by default.
    time_limit : float, optional
        Seconds for each decision. Decisions then depend on the machine, not only on the seed.
    preset : {"default", "paper"}
        The guided planner, or the published ERM-MCTS.
    seed : int

    Examples
    --------
    >>> import gumdp
    >>> planner = gumdp.Planner(gumdp.tasks["rooms"], gumdp.Erm(50), simulations=200)
    >>> decision = planner.act("s1")
    >>> decision.action_name
    'left'
    >>> planner.observe(decision.action, "s0")
    >>> planner.time
    1
    """

    __slots__ = ("_settings",)

    def __init__(
        self,
        problem: Problem,
        risk: RiskLike,
        *,
        simulations: int | None = None,
        time_limit: float | None = None,
        preset: str = "default",
        seed: int = 0,
    ) -> None:
        self._settings = (*budget(simulations, time_limit), choice("preset", preset, ("default", "paper")))
        self._make(problem, spec_of(risk), count("seed", seed, 0, HIGHEST_SEED), 0)

    def _make(self, problem: Problem, risk: str, seed: int, episode: int) -> Planner:
        most, seconds, preset = self._settings
        policy = _native.Policy.planner(native_of(problem), risk, preset, most, seconds, seed, None, False)
        super().__init__(problem, policy, risk, seed, episode=episode)
        return self

    @property
    def outer(self) -> str | None:
        """The threshold or β that CVaR or EVaR is fixed at by pilot episodes, which are played if they were not; None for Erm."""
        return self._policy.outer

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the planner as a file that :func:`load_policy` and ``gumdp evaluate`` read: that of ``gumdp plan --save``.

        One with a time limit cannot be saved: its decisions depend on the machine.
        """
        most, seconds, preset = self._settings
        if seconds is not None:
            raise ValueError("a planner with a time limit cannot be saved; give simulations instead")
        seed, model = self._native.progress()[0], self.problem.model
        state = model.states[int(np.argmax(model.initial))]
        action = _planner_again(self.problem, self.risk, self._settings, seed, 0).act(state).action_name
        text = _native.saved_planner(self.problem._native, self.risk, preset, most, seed, (state, action))
        _native.write(path, text)

    def __repr__(self) -> str:
        return f"Planner({self.problem.name!r}, {self.risk!r}, time={self.time})"

    def __reduce__(self) -> Any:
        return _planner_again, (self.problem, self.risk, self._settings, *self._seed_and_episode())


def _planner_again(problem: Problem, risk: str, settings: Any, seed: int, episode: int) -> Planner:
    """The planner that was pickled."""
    planner = Planner.__new__(Planner)
    planner._settings = settings
    return planner._make(problem, risk, seed, episode)
