"""Playing policies: many episodes, or the exact distribution of the cost."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from . import _native
from ._checks import (
    HIGHEST_SEED,
    MOST_RUNS,
    MOST_STATES,
    MOST_THREADS,
    Floats,
    count,
    number,
    optional_count,
    trials_of,
)
from ._policies import policy_of
from .planning import Agent
from .problem import Problem, native_of
from .risks import RiskLike, spec_of
from .solving import Solution

__all__ = ["Distribution", "Samples", "TrialsMean", "compare", "evaluate", "exact_distribution"]

STEP = np.dtype([("state", np.uint32), ("action", np.uint32)])

# What the trajectories of one experiment may take.
MOST_BYTES = 2**34


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

    def summary(self, risk: RiskLike | None = None) -> dict[str, Any]:
        """Mean, quartiles, extremes, tails, and the risk (``value``) with its 95 % interval (``low``, ``high``).

        The interval allows for costs within the bounds of the objective that were not met; ``caution`` is a sentence where they
        matter, or where there are no bounds, else None. ``effective_runs`` of equal weight would say as much of the risk.
        The exact distribution, where it is known, is that of :func:`exact_distribution`.

        Parameters
        ----------
        risk : Risk, float or str, optional
            Another measure than the one the episodes were played with.
        """
        return _native.summary(self.problem._native, self.costs, self.risk if risk is None else spec_of(risk), self.seed)

    def measures(self) -> dict[str, tuple[float, float, float]]:
        """What ``gumdp evaluate`` lists of sampled costs: each by its name, with both ends of its 95 % interval."""
        found = _native.measures(self.costs, np.ones(len(self.costs)), (self.problem._native, self.seed))
        return {title: (value, low, high) for title, value, low, high in found}

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
        # Costs that differ by rounding only are one.
        spread = float(np.ptp(self.costs))
        alike = spread <= 1e-9 * max(1e-300, float(np.abs(self.costs).max()))
        axes.hist(self.costs.mean(keepdims=True).repeat(len(self)) if alike else self.costs, bins=1 if alike else "auto", color="0.75", edgecolor="white")
        axes.axvline(summary["mean"], color="black", linestyle=":", label=f"mean {summary['mean']:.4g}")
        if self.risk != "mean":
            axes.axvline(summary["value"], color="black", label=f"{self.risk} {summary['value']:.4g}")
            axes.axvspan(summary["low"], summary["high"], color="black", alpha=0.08, label="its 95 % interval")
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


@dataclass(frozen=True, repr=False, eq=False)
class Distribution:
    """An exact distribution: finitely many costs, ascending, with their probabilities."""

    values: Floats
    probabilities: Floats

    @property
    def mean(self) -> float:
        """The expected cost."""
        return self.risk(0.0)

    def risk(self, risk: RiskLike) -> float:
        """Any risk measure of the cost."""
        return _native.risk_of(spec_of(risk), self.values, self.probabilities)

    def measures(self) -> dict[str, float]:
        """What ``gumdp evaluate`` lists of a distribution: mean, standard deviation, quantiles, tails, each by its name.

        >>> toss = Distribution(np.array([0.0, 1.0]), np.array([0.5, 0.5]))
        >>> toss.measures()["standard deviation"], toss.measures()["CVaR 0.95"]
        (0.5, 1.0)
        """
        return {title: value for title, value, _, _ in _native.measures(self.values, self.probabilities, None)}

    def cdf(self, cost: float) -> float:
        """The probability of a cost of at most `cost`."""
        return float(min(1.0, self.probabilities[self.values <= number("cost", cost)].sum()))

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"Distribution({len(self)} costs from {self.values[0]:.6g} to {self.values[-1]:.6g}, mean {self.mean:.6g})"


@dataclass(frozen=True)
class TrialsMean:
    """The mean of f over the average occupancy of several episodes."""

    trials: float
    """How many episodes' occupancies are averaged before f is taken; inf is f of the expected occupancy."""
    value: float
    low: float
    """The 95 % interval is [low, high]; both are the mean if it is exact."""
    high: float
    episodes: int | None
    """Those that were played; None if it is exact."""
    sampled_because: str | None

    @property
    def exact(self) -> bool:
        """Whether it is exact but for rounding, and not sampled."""
        return self.episodes is None


@overload
def evaluate(
    problem: Problem,
    policy: Any = ...,
    risk: RiskLike | None = ...,
    *,
    runs: int | None = ...,
    seed: int | None = ...,
    simulations: int | None = ...,
    time_limit: float | None = ...,
    max_states: int | None = ...,
    threads: int | None = ...,
    precision: float | None = ...,
    max_runs: int = ...,
    journal: str | os.PathLike[str] | None = ...,
    trials: None = ...,
) -> Samples: ...
@overload
def evaluate(
    problem: Problem,
    policy: Any = ...,
    risk: RiskLike | None = ...,
    *,
    runs: int | None = ...,
    seed: int | None = ...,
    simulations: int | None = ...,
    time_limit: float | None = ...,
    max_states: int | None = ...,
    threads: int | None = ...,
    trials: float,
) -> TrialsMean: ...
def evaluate(
    problem: Problem,
    policy: Any = "auto",
    risk: RiskLike | None = None,
    *,
    runs: int | None = None,
    seed: int | None = None,
    simulations: int | None = None,
    time_limit: float | None = None,
    max_states: int | None = None,
    threads: int | None = None,
    precision: float | None = None,
    max_runs: int = 1_000_000,
    journal: str | os.PathLike[str] | None = None,
    trials: float | None = None,
) -> Samples | TrialsMean:
    """Plays a policy for many episodes. The costs are those of the command line for the same seed, bit for bit.

    Parameters
    ----------
    problem : Problem
    policy : str, Planner, Agent, Solution, callable, array_like, sequence or path
        "auto" (the exact optimum if it is soon found, else the planner), "planner", "paper" (the published planner),
        "exact", "uniform", the name of one of the problem's scripts; a :class:`Planner` with its settings, which stays as it
        is; a :class:`Solution` or its agent; a function ``policy(state, time, features) -> action`` of a state's number, the
        time and the read-only features of the occupancy so far (slow: each action is a call of Python); an array with the
        probabilities of actions, of shape (S, A) or (H, S, A), or whole numbers of actions, of shape (S,) or (H, S); a list
        of actions, one for each time; the path of a table (.csv).
    risk : Risk, float or str, optional
        What planners minimise, and what :meth:`Samples.summary` shows. By default that of the planner, agent or solution, else
        the mean.
    runs : int, optional
        Number of episodes; the task's by default.
    seed : int, optional
        Run k depends on (seed, k) only. By default that of the planner or agent, else 0.
    simulations, time_limit
        As for :class:`Planner`, for policies that are named.
    max_states : int, optional
        Limit for "exact".
    threads : int, optional
        As many as there are cores by default. The result does not depend on it.
    precision : float, optional
        Half the width that the 95 % interval of the risk may have: more episodes are played, after the first `runs`, until it
        is as narrow and costs so rare that they were not met could not change the risk by more.
    max_runs : int, optional
        The most episodes that `precision` may take.
    journal : path, optional
        A file to which each episode is added as soon as it is finished. Those that it holds are not played again: the same
        call goes on where an earlier one was interrupted. It belongs to one problem, policy and seed; another's is refused.
    trials : int or inf, optional
        The mean of f over the average occupancy of so many episodes instead, as a :class:`TrialsMean`; inf is f of the expected
        occupancy. Exact where that fits `max_states`, else sampled from `runs` episodes. It goes with the mean only.

    Examples
    --------
    >>> import gumdp
    >>> samples = gumdp.evaluate(gumdp.tasks["rooms"], "pi1", risk=50, runs=1000)
    >>> samples.trajectories.shape
    (1000, 20)
    >>> bool(np.isclose(samples.summary()["mean"], samples.costs.mean()))
    True
    >>> gumdp.evaluate(gumdp.tasks["rooms"], lambda state, time, features: time % 2, runs=10)
    Samples(10 episodes of 'rooms', mean 0.666673, function <lambda>)
    >>> one, many = (gumdp.evaluate(gumdp.tasks["rooms"], "pi1", trials=k) for k in (1, float("inf")))
    >>> one.exact and many.exact and many.value < one.value
    True
    """
    native_of(problem)
    given = risk
    if risk is None:
        risk = policy.risk if isinstance(policy, (Agent, Solution)) else 0.0
    if seed is None:
        seed = policy._native.progress()[0] if isinstance(policy, Agent) else 0
    measure = spec_of(risk)
    chosen_seed = count("seed", seed, 0, HIGHEST_SEED)
    chosen_runs = problem.runs if runs is None else count("runs", runs, 1, MOST_RUNS)
    if chosen_runs > _most_runs(problem):
        raise MemoryError(f"{chosen_runs} runs of {problem.horizon} steps do not fit in memory; evaluate fewer at a time")
    workers = optional_count("threads", threads, 1, MOST_THREADS)
    player = policy_of(problem, policy, measure, simulations, time_limit, chosen_seed, max_states, workers)
    if trials is not None:
        if given is not None and spec_of(given) != "mean":
            raise ValueError(f"trials goes with the mean only; risk is {spec_of(given)}")
        if precision is not None or journal is not None:
            raise ValueError("trials does not go with precision or journal; give runs")
        limit = optional_count("max_states", max_states, 1, MOST_STATES)
        episodes = optional_count("runs", runs, 1, MOST_RUNS)
        mean = _native.evaluate_trials(problem._native, player, trials_of(trials), episodes, chosen_seed, limit, workers)
        return TrialsMean(trials, *mean)
    wanted = None
    if precision is not None:
        half_width = number("precision", precision)
        if not 0 < half_width < math.inf:
            raise ValueError(f"precision is {precision}; it must be positive and finite")
        wanted = (measure, half_width, min(count("max_runs", max_runs, 1, MOST_RUNS), _most_runs(problem)))
    path = None if journal is None else os.fspath(journal)
    played = _native.evaluate(problem._native, player, chosen_runs, chosen_seed, workers, wanted, path)
    return Samples(problem, measure, chosen_seed, player.what, played)


def _most_runs(problem: Problem) -> int:
    """How many fit in memory."""
    return min(MOST_RUNS, MOST_BYTES // (8 * problem.horizon + 64))


def exact_distribution(
    problem: Problem, policy: Any, *, max_states: int | None = None, threads: int | None = None
) -> Distribution:
    """The exact distribution of the cost under a policy that knows the probabilities of its actions: any but planners and functions.

    Examples
    --------
    >>> import gumdp
    >>> rooms = gumdp.tasks["rooms"]
    >>> solution = gumdp.solve(rooms, gumdp.Erm(50))
    >>> distribution = gumdp.exact_distribution(rooms, solution)
    >>> abs(distribution.risk(gumdp.Erm(50)) - solution.value) < 1e-9
    True
    """
    limit = optional_count("max_states", max_states, 1, MOST_STATES)
    workers = optional_count("threads", threads, 1, MOST_THREADS)
    player = policy_of(problem, policy, "mean", None, None, 0, limit, workers)
    return Distribution(*_native.distribution(problem._native, player, limit, workers))


def compare(
    problem: Problem,
    policies: Mapping[str, Any] | Sequence[str] | str = ("planner", "paper", "uniform"),
    risk: RiskLike | None = None,
    **settings: Any,
) -> dict[str, Samples]:
    """Plays several policies with common random numbers: run k of each meets the same random numbers of the environment.

    Parameters
    ----------
    problem : Problem
    policies : mapping of names to policies, sequence of names, or one name
        Each as in :func:`evaluate`.
    risk : Risk, float or str, optional
    **settings
        Those of :func:`evaluate`.

    Examples
    --------
    >>> import gumdp
    >>> results = gumdp.compare(gumdp.tasks["rooms"], ["pi1", "pi2"], risk=50, runs=500)
    >>> sorted(results)
    ['pi1', 'pi2']
    """
    if "trials" in settings:
        raise TypeError("compare plays episodes one by one; evaluate(..., trials=K) averages them")
    named = dict(policies) if isinstance(policies, Mapping) else {name: name for name in _names(policies)}
    return {name: evaluate(problem, policy, risk, **settings) for name, policy in named.items()}


def _names(policies: Any) -> list[str]:
    """Names of policies, or the only one."""
    names = [policies] if isinstance(policies, str) else policies
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise TypeError(
            f"policies is {policies!r}; it must be a list of names, or a mapping such as {{'mine': planner}} of names to policies"
        )
    return list(names)
