"""Exact optima."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from . import _native
from ._checks import MOST_STATES, MOST_THREADS, optional_count
from .planning import Agent
from .problem import Problem, native_of
from .risks import RiskLike, spec_of

__all__ = ["SavedPolicy", "Solution", "load_policy", "solve"]


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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the policy as a file that :func:`load_policy` and ``gumdp evaluate`` read: that of ``gumdp solve --save``."""
        Path(path).write_text(self._optimum.saved(self.problem._native, self.risk), encoding="utf-8")

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


class SavedPolicy:
    """A policy in a file, as :func:`load_policy` found it. It is also a policy for :func:`evaluate`."""

    def __init__(self, problem: Problem, path: str | os.PathLike[str]) -> None:
        self.problem = problem
        self.path = Path(path)
        self._policy, self.risk = _native.Policy.saved(native_of(problem), self.path)

    def policy(self, seed: int = 0) -> Agent:
        """The policy as an agent that acts step by step, as that of a :class:`Solution` does."""
        return self._agent(seed, 0)

    def _agent(self, seed: int, episode: int) -> Agent:
        return Agent(self.problem, self._policy, self.risk, seed, episode=episode, solution=self)

    def __reduce__(self) -> Any:
        return SavedPolicy, (self.problem, self.path)

    def __repr__(self) -> str:
        return f"SavedPolicy({str(self.path)!r}, {self.risk})"


def load_policy(path: str | os.PathLike[str], problem: Problem) -> SavedPolicy:
    """A policy that :meth:`Solution.save`, ``gumdp solve --save`` or ``gumdp plan --save`` wrote for this problem.

    Raises
    ------
    ValueError
        If the file is no saved policy, or one for another problem.

    Examples
    --------
    >>> import gumdp, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "careful.json"
    >>> rooms = gumdp.tasks["rooms"]
    >>> gumdp.solve(rooms, gumdp.Erm(50)).save(path)
    >>> gumdp.load_policy(path, rooms).policy().act("s1").action_name
    'left'
    """
    return SavedPolicy(problem, path)


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
