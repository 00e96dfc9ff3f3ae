"""Exact optima."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

import numpy as np

from . import _native
from ._checks import MOST_STATES, MOST_THREADS, Floats, optional_count, trials_of
from .planning import Agent
from .problem import Problem, native_of
from .risks import RiskLike, spec_of

__all__ = ["InfiniteTrials", "LowerBound", "SavedPolicy", "Solution", "bound", "load_policy", "solve"]


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
        _native.write(path, self._optimum.saved(self.problem._native, self.risk))

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


class InfiniteTrials:
    """The lowest f of an expected occupancy, as ``solve(problem, trials=inf)`` found it. It is also a policy for :func:`evaluate`."""

    def __init__(self, problem: Problem, found: tuple[float, float, Floats, Floats, int]) -> None:
        value, low, occupancy, probabilities, solves = found
        model = problem.model
        shape = (len(model.states), len(model.actions))
        self.problem = problem
        self.value = value
        """f of the expected occupancy of the policy."""
        self.low = low
        """No policy has less: a dual value."""
        self.solves = solves
        """Linear problems that were solved."""
        self.occupancy: Floats = np.zeros(shape)
        """The expected occupancy, of shape (S, A)."""
        self.occupancy[model.pair_states, model.pair_actions] = occupancy
        self.probabilities: Floats = np.zeros((problem.horizon, *shape))
        """The policy: the probability of each action at each time in each state, of shape (H, S, A)."""
        self.probabilities[:, model.pair_states, model.pair_actions] = probabilities.reshape(problem.horizon, -1)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the policy as a file that :func:`load_policy` and ``gumdp evaluate`` read: that of ``gumdp solve --trials inf --save``."""
        model = self.problem.model
        table = np.ascontiguousarray(self.probabilities[:, model.pair_states, model.pair_actions])
        _native.write(path, _native.saved_table(self.problem._native, table))

    def __repr__(self) -> str:
        return f"InfiniteTrials({self.value:.6g}, at least {self.low:.6g}, {self.solves} solves)"


@dataclass(frozen=True)
class LowerBound:
    """A number that no policy has a lower risk than."""

    value: float
    method: str
    """How it is proven: "exact" (the problem was solved), "visits", "tangent", "cells" or "range"; see ``docs/mathematics.md``."""
    risk: str


def bound(
    problem: Problem, risk: RiskLike = 0.0, *, max_states: int | None = None, threads: int | None = None
) -> LowerBound:
    """A proven lower bound on the lowest risk, where the optimum may be out of reach; the optimum if it is soon found.

    Parameters
    ----------
    problem : Problem
    risk : Risk, float or str, optional
    max_states : int, optional
        Solve problems with up to this many occupancy states instead of bounding them.
    threads : int, optional

    Examples
    --------
    >>> import gumdp
    >>> gumdp.bound(gumdp.tasks["rooms"], 50).method
    'exact'
    >>> patrol = gumdp.bound(gumdp.tasks["grid-il"], gumdp.Cvar(0.9), max_states=1000)
    >>> patrol.method, patrol.value > 0.0158
    ('visits', True)
    """
    measure = spec_of(risk)
    limit = optional_count("max_states", max_states, 1, MOST_STATES)
    workers = optional_count("threads", threads, 1, MOST_THREADS)
    return LowerBound(*_native.bound(native_of(problem), measure, limit, workers), measure)


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
    """A policy that :meth:`Solution.save`, :meth:`Planner.save`, ``gumdp solve --save`` or ``gumdp plan --save`` wrote for this problem.

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


@overload
def solve(
    problem: Problem, risk: RiskLike = ..., *, max_states: int | None = ..., threads: int | None = ..., trials: None = ...
) -> Solution: ...
@overload
def solve(
    problem: Problem, risk: RiskLike = ..., *, max_states: int | None = ..., threads: int | None = ..., trials: float
) -> InfiniteTrials: ...
def solve(
    problem: Problem,
    risk: RiskLike = 0.0,
    *,
    max_states: int | None = None,
    threads: int | None = None,
    trials: float | None = None,
) -> Solution | InfiniteTrials:
    """The lowest possible risk of a problem over all policies, and a policy that has it.

    Parameters
    ----------
    problem : Problem
    risk : Risk, float or str, optional
    max_states, threads : int, optional
    trials : inf, optional
        Minimise f of the expected occupancy instead, the classical problem of infinitely many trials: for convex objectives, and
        without risk.

    Raises
    ------
    TooLarge
        If more than `max_states` occupancy states (50 million by default) or 4 GiB are needed.
    ValueError
        With `trials`, if it is not inf, the risk is not the mean, or the objective is not known to be convex.

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
    >>> expected = gumdp.solve(gumdp.tasks["rooms"], trials=float("inf"))
    >>> expected.low <= expected.value < gumdp.solve(gumdp.tasks["rooms"]).value
    True
    """
    native = native_of(problem)
    measure = spec_of(risk)
    limit = optional_count("max_states", max_states, 1, MOST_STATES)
    workers = optional_count("threads", threads, 1, MOST_THREADS)
    if trials is not None:
        if trials_of(trials) is not None:
            raise ValueError(f"trials is {trials}; solve() knows inf only, evaluate() any number")
        if measure != "mean":
            raise ValueError(f"trials goes with the mean only; risk is {measure}")
        return InfiniteTrials(problem, _native.solve_trials(native, limit, workers))
    return Solution(_native.solve(native, measure, limit, workers), problem, measure, limit)
