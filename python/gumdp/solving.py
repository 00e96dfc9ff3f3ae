"""Exact optima."""

from __future__ import annotations

from . import _native
from ._checks import MOST_STATES, MOST_THREADS, optional_count
from .planning import Agent
from .problem import Problem
from .risks import RiskLike, spec_of

__all__ = ["Solution", "solve"]


class Solution:
    """The exact optimum of a problem, as :func:`solve` found it. It is also a policy for :func:`evaluate`."""

    def __init__(self, native: _native.Solution, problem: Problem, risk: str) -> None:
        self._native = native
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
        return Agent(self.problem, _native.Policy.exact(self.problem._native, self._native), seed)

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
    if not isinstance(problem, Problem):
        raise TypeError(f"problem is {problem!r}; it must be a gumdp.Problem")
    measure = spec_of(risk)
    limit = optional_count("max_states", max_states, 1, MOST_STATES)
    workers = optional_count("threads", threads, 1, MOST_THREADS)
    return Solution(_native.solve(problem._native, measure, limit, workers), problem, measure)
