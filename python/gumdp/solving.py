"""Exact optima."""

from __future__ import annotations

from typing import Any

from . import _native
from ._checks import MOST_STATES, MOST_THREADS, optional_count
from .planning import Agent
from .problem import Problem, native_of
from .risks import RiskLike, spec_of

__all__ = ["Solution", "solve"]


class Solution:
    """The exact optimum of a problem, as :func:`solve` found it. It is also a policy for :func:`evaluate`.

    Its numbers can be pickled; the policy, which may be large, is found once more where it is needed.
    """

    def __init__(self, native: _native.Solution, problem: Problem, risk: str, max_states: int | None) -> None:
        self._solved: _native.Solution | None = native
        self._max_states = max_states
        self.problem = problem
        self.risk = risk
        self.low, self.high = native.interval()
        """No policy has a lower risk than `low`; this one has `high`. They are equal for Erm."""
        self.mean = native.mean()
        """The expected cost of the policy."""
        self.states, self.solves = native.work()
        self.outer = native.outer()
        """The threshold of CVaR or the β of EVaR at its best; None for Erm."""

    @property
    def value(self) -> float:
        """The risk of the optimal policy."""
        return self.high

    def policy(self, seed: int = 0) -> Agent:
        """The optimal policy as an agent that acts step by step, as a :class:`Planner` does.

        >>> import gumdp
        >>> agent = gumdp.solve(gumdp.tasks["rooms"], gumdp.Erm(50)).policy()
        >>> agent.act("s1").action_name
        'left'
        >>> agent.observe("left", "s0")
        >>> agent.reset()
        """
        return self._agent(seed, 0)

    def _agent(self, seed: int, episode: int) -> Agent:
        policy = _native.Policy.exact(self.problem._native, self._optimum)
        return Agent(self.problem, policy, self.risk, seed, episode=episode, solution=self)

    @property
    def _optimum(self) -> _native.Solution:
        if self._solved is None:
            self._solved = _native.solve(self.problem._native, self.risk, self._max_states, None)
        return self._solved

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_solved": None}

    def __repr__(self) -> str:
        return f"Solution({self.risk}: {self.value:.6g}, mean {self.mean:.6g}, {self.states} states)"


def solve(
    problem: Problem, risk: RiskLike = 0.0, *, max_states: int | None = None, threads: int | None = None
) -> Solution:
    """The lowest possible risk of a problem over all policies, and a policy that has it.

    Raises
    ------
    TooLarge
        If more than `max_states` occupancy states (50 million by default) or 4 GiB are needed.

    Examples
    --------
    >>> import gumdp
    >>> solution = gumdp.solve(gumdp.tasks["rooms"], gumdp.Cvar(0.95))
    >>> solution.high - solution.low <= 1e-6
    True
    >>> gumdp.solve(gumdp.tasks["grid-msee"], max_states=1000)
    Traceback (most recent call last):
    ...
    gumdp.TooLarge: the occupancy MDP is too large: ...
    """
    native = native_of(problem)
    measure = spec_of(risk)
    limit = optional_count("max_states", max_states, 1, MOST_STATES)
    workers = optional_count("threads", threads, 1, MOST_THREADS)
    return Solution(_native.solve(native, measure, limit, workers), problem, measure, limit)
