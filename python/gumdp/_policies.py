"""Policies as users name them."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import _native
from ._checks import MOST_SIMULATIONS, MOST_STATES, Floats, array, number, optional_count
from .problem import Problem
from .solving import Solution


def policy_of(
    problem: Problem,
    policy: Any,
    measure: str,
    simulations: Any,
    time_limit: Any,
    seed: int,
    max_states: Any,
    threads: int | None,
) -> _native.Policy:
    """The policy that a user means by a name, a solution, a table, a path or a list of actions."""
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
