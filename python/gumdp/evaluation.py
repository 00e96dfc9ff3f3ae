"""Playing, solving and comparing policies."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native
from ._checks import (
    HIGHEST_SEED,
    MOST_RUNS,
    MOST_SIMULATIONS,
    MOST_THREADS,
    Floats,
    array,
    count,
    number,
    optional_count,
)
from .problem import Problem
from .risks import RiskLike, spec_of

__all__ = ["Distribution", "Samples", "Solution", "compare", "evaluate", "exact_distribution", "solve"]

STEP = np.dtype([("state", np.uint32), ("action", np.uint32)])
MOST_STATES = 2**64 - 1


class Samples:
    """What happened in the episodes of :func:`evaluate`."""

    def __init__(
        self,
        problem: Problem,
        risk: str,
        seed: int,
        policy: str,
        played: tuple[Floats, npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.uint64]],
    ) -> None:
        self.problem = problem
        self.risk = risk
        self.seed = seed
        self.policy = policy
        """Who played, in words."""
        self.costs, self._pairs, self.final_states, self.simulated_steps = played

    @property
    def trajectories(self) -> npt.NDArray[np.void]:
        """State and action at each time: a structured array of shape (runs, horizon)."""
        pairs = self._pairs.reshape(len(self.costs), self.problem.horizon)
        steps = np.empty(pairs.shape, dtype=STEP)
        steps["state"] = self.problem.model.pair_states[pairs]
        steps["action"] = self.problem.model.pair_actions[pairs]
        return steps

    def summary(self, risk: RiskLike | None = None) -> dict[str, float]:
        """Mean, quartiles, extremes, tails, and the risk with its 95 % bootstrap interval.

        Parameters
        ----------
        risk : Risk, float or str, optional
            Another measure than the one the episodes were played with.
        """
        return _native.summary(self.costs, self.risk if risk is None else spec_of(risk), self.seed)

    def to_pandas(self) -> Any:
        """A pandas DataFrame with one row for each episode."""
        import pandas

        return pandas.DataFrame(self._columns())

    def to_polars(self) -> Any:
        """A polars DataFrame with one row for each episode."""
        import polars

        return polars.DataFrame(self._columns())

    def plot(self, axes: Any = None) -> Any:
        """A histogram of the costs with their mean and risk, on matplotlib axes, which are returned."""
        if axes is None:
            from matplotlib import pyplot

            axes = pyplot.subplots()[1]
        summary = self.summary()
        axes.hist(self.costs, bins="auto", color="0.75", edgecolor="white")
        axes.axvline(summary["mean"], color="black", linestyle=":", label=f"mean {summary['mean']:.4g}")
        axes.axvline(summary["risk"], color="black", label=f"{self.risk} {summary['risk']:.4g}")
        axes.set_xlabel("cost f(d)")
        axes.set_ylabel("episodes")
        axes.set_title(f"{self.problem.name}: {len(self)} episodes, {self.policy}")
        axes.legend(frameon=False)
        return axes

    def _columns(self) -> dict[str, Any]:
        return {
            "run": np.arange(len(self.costs)),
            "cost": self.costs,
            "final_state": self.final_states,
            "simulated_steps": self.simulated_steps,
        }

    def __len__(self) -> int:
        return len(self.costs)

    def __repr__(self) -> str:
        mean = float(np.mean(self.costs))
        return f"Samples({len(self)} episodes of {self.problem.name!r}, mean {mean:.6g}, {self.policy})"


class Solution:
    """The exact optimum of a problem, as :func:`solve` found it. It is also a policy for :func:`evaluate`."""

    def __init__(self, native: _native.Solution, risk: str) -> None:
        self._native = native
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

    def __repr__(self) -> str:
        return f"Solution({self.risk}: {self.value:.6g}, mean {self.mean:.6g}, {self.states} states)"


@dataclass(frozen=True, repr=False, eq=False)
class Distribution:
    """An exact law: finitely many costs, ascending, with their probabilities."""

    values: Floats
    probabilities: Floats

    @property
    def mean(self) -> float:
        """The expected cost."""
        return self.risk(0.0)

    def risk(self, risk: RiskLike) -> float:
        """Any risk measure of the cost."""
        return _native.risk_of(spec_of(risk), self.values, self.probabilities)

    def cdf(self, cost: float) -> float:
        """The probability of a cost of at most `cost`."""
        return float(min(1.0, self.probabilities[self.values <= number("cost", cost)].sum()))

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"Distribution({len(self)} costs from {self.values[0]:.6g} to {self.values[-1]:.6g}, mean {self.mean:.6g})"


def evaluate(
    problem: Problem,
    policy: Any = "auto",
    risk: RiskLike = 0.0,
    *,
    runs: int | None = None,
    seed: int = 0,
    simulations: int | None = None,
    time_limit: float | None = None,
    max_states: int | None = None,
    threads: int | None = None,
) -> Samples:
    """Plays a policy for many episodes. The costs are those of the command line for the same seed, bit for bit.

    Parameters
    ----------
    problem : Problem
    policy : str, Solution, array_like, sequence or path
        "auto" (the exact optimum if it is soon found, else the planner), "planner", "paper" (the published planner),
        "exact", "uniform", the name of one of the problem's scripts; a :class:`Solution`; probabilities of shape (S, A) or
        (H, S, A); a list of actions, one for each time; the path of a table (.csv).
    risk : Risk, float or str
        What planners minimise, and what :meth:`Samples.summary` shows.
    runs : int, optional
        Number of episodes; the task's by default.
    seed : int
        Run k depends on (seed, k) only.
    simulations, time_limit
        As for :class:`Planner`.
    max_states : int, optional
        Limit for "exact".
    threads : int, optional
        As many as there are cores by default. The result does not depend on it.

    Examples
    --------
    >>> import gumdp
    >>> samples = gumdp.evaluate(gumdp.tasks["rooms"], "pi1", risk=50, runs=1000)
    >>> samples.trajectories.shape
    (1000, 20)
    >>> bool(np.isclose(samples.summary()["mean"], samples.costs.mean()))
    True
    """
    measure = spec_of(risk)
    chosen_seed = count("seed", seed, 0, HIGHEST_SEED)
    chosen_runs = problem.runs if runs is None else count("runs", runs, 1, MOST_RUNS)
    workers = optional_count("threads", threads, 1, MOST_THREADS)
    player = _policy(problem, policy, measure, simulations, time_limit, chosen_seed, max_states, workers)
    played = _native.evaluate(problem._native, player, chosen_runs, chosen_seed, workers)
    return Samples(problem, measure, chosen_seed, player.what, played)


def solve(
    problem: Problem, risk: RiskLike = 0.0, *, max_states: int | None = None, threads: int | None = None
) -> Solution:
    """The lowest possible risk of a problem over all policies, and a policy that has it.

    After Ctrl-C the computation goes on in the background until it ends or meets its limits.

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
    measure = spec_of(risk)
    limit = optional_count("max_states", max_states, 1, MOST_STATES)
    workers = optional_count("threads", threads, 1, MOST_THREADS)
    return Solution(_native.solve(problem._native, measure, limit, workers), measure)


def exact_distribution(
    problem: Problem, policy: Any, *, max_states: int | None = None, threads: int | None = None
) -> Distribution:
    """The exact law of the cost under a policy that knows the probabilities of its actions: any but a planner.

    Examples
    --------
    >>> import gumdp
    >>> rooms = gumdp.tasks["rooms"]
    >>> solution = gumdp.solve(rooms, gumdp.Erm(50))
    >>> law = gumdp.exact_distribution(rooms, solution)
    >>> abs(law.risk(gumdp.Erm(50)) - solution.value) < 1e-9
    True
    """
    limit = optional_count("max_states", max_states, 1, MOST_STATES)
    workers = optional_count("threads", threads, 1, MOST_THREADS)
    player = _policy(problem, policy, "mean", None, None, 0, limit, workers)
    return Distribution(*_native.distribution(problem._native, player, limit, workers))


def compare(
    problem: Problem,
    policies: Mapping[str, Any] | Sequence[str] = ("planner", "paper", "uniform"),
    risk: RiskLike = 0.0,
    **settings: Any,
) -> dict[str, Samples]:
    """Plays several policies with the same luck: run k of each meets the same random numbers of the environment.

    Parameters
    ----------
    problem : Problem
    policies : mapping of names to policies, or sequence of names
        Each as in :func:`evaluate`.
    risk : Risk, float or str
    **settings
        Those of :func:`evaluate`.

    Examples
    --------
    >>> import gumdp
    >>> results = gumdp.compare(gumdp.tasks["rooms"], ["pi1", "pi2"], risk=50, runs=500)
    >>> sorted(results)
    ['pi1', 'pi2']
    """
    named = dict(policies) if isinstance(policies, Mapping) else {name: name for name in policies}
    return {name: evaluate(problem, policy, risk, **settings) for name, policy in named.items()}


def _policy(
    problem: Problem,
    policy: Any,
    measure: str,
    simulations: Any,
    time_limit: Any,
    seed: int,
    max_states: Any,
    threads: int | None,
) -> _native.Policy:
    if not isinstance(problem, Problem):
        raise TypeError(f"problem is {problem!r}; it must be a gumdp.Problem")
    native = problem._native
    budget = optional_count("simulations", simulations, 1, MOST_SIMULATIONS)
    seconds = None if time_limit is None else number("time_limit", time_limit)
    limit = optional_count("max_states", max_states, 1, MOST_STATES)
    if isinstance(policy, Solution):
        return _native.Policy.exact(native, policy._native)
    if isinstance(policy, os.PathLike):
        return _native.Policy.table(native, policy)
    if isinstance(policy, str):
        if policy in ("auto", "planner", "paper"):
            preset = "paper" if policy == "paper" else "default"
            auto = policy == "auto"
            return _native.Policy.planner(native, measure, preset, budget, seconds, seed, threads, auto)
        if policy == "exact":
            return _native.Policy.exact(native, _native.solve(native, measure, limit, threads))
        if policy == "uniform":
            return _native.Policy.uniform(native)
        if policy in problem.scripts:
            return _native.Policy.script(native, problem.scripts[policy])
        if policy.endswith(".csv"):
            return _native.Policy.table(native, policy)
        names = ["auto", "planner", "paper", "exact", "uniform", *problem.scripts]
        raise ValueError(f"policy is {policy!r}; it must be one of {', '.join(names)}, or the path of a table (.csv)")
    if isinstance(policy, (list, tuple)) and policy and all(isinstance(a, (int, str, np.integer)) for a in policy):
        return _native.Policy.script(native, policy)
    return _native.Policy.markov(native, _by_pair(problem, array("policy", policy)))


def _by_pair(problem: Problem, table: Floats) -> Floats:
    """Probabilities by time and pair, of a table by state and action."""
    model = problem.model
    shape = (len(model.states), len(model.actions))
    if table.ndim == 2:
        table = table[np.newaxis]
    if table.ndim != 3 or table.shape[1:] != shape or table.shape[0] not in (1, problem.horizon):
        raise ValueError(
            f"policy has shape {table.shape}; it must be {shape} for states and actions, or "
            f"{(problem.horizon, *shape)} with times before"
        )
    allowed = np.zeros(shape, dtype=bool)
    allowed[model.pair_states, model.pair_actions] = True
    if np.any(table[:, ~allowed] != 0):
        raise ValueError("the policy gives an action a probability in a state that does not allow it")
    return np.ascontiguousarray(table[:, model.pair_states, model.pair_actions])
