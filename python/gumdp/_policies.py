"""Policies as users name them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native
from ._checks import MOST_STATES, Floats, array, budget, optional_count
from .planning import Agent
from .problem import Problem, native_of
from .solving import InfiniteTrials, SavedPolicy, Solution

__all__ = ["policy_of"]


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
    """The policy that a user means by a name, a solution, an agent, a function, a table, a path or a list of actions."""
    native = native_of(problem)
    most, seconds = budget(simulations, time_limit)
    limit = optional_count("max_states", max_states, 1, MOST_STATES)
    if isinstance(policy, Agent):
        if most is not None or seconds is not None:
            raise ValueError(f"simulations and time_limit are settings of the {type(policy).__name__}; give them there")
        policy._policy.check(native)
        return policy._policy
    if isinstance(policy, Solution):
        return _native.Policy.exact(native, policy._optimum)
    if isinstance(policy, InfiniteTrials):
        policy = policy.probabilities
    if isinstance(policy, SavedPolicy):
        policy._policy.check(native)
        return policy._policy
    if isinstance(policy, os.PathLike):
        return _in_file(native, policy)
    if isinstance(policy, str):
        return _named(problem, policy, measure, most, seconds, seed, limit, threads)
    # A class such as Planner can be called, but an object is meant.
    if callable(policy) and not isinstance(policy, type):
        return _native.Policy.function(native, policy, f"function {getattr(policy, '__name__', type(policy).__name__)}")
    if isinstance(policy, (list, tuple)) and policy and all(isinstance(a, (int, str, np.integer)) for a in policy):
        for action in policy:
            problem.model._look_for(action=action)
        return _native.Policy.script(native, policy)
    if isinstance(policy, type) or not (isinstance(policy, Sequence) or hasattr(policy, "__array__")):
        raise TypeError(f"policy is {policy!r}; it must be a name, a planner, a solution, a function, an array or a list")
    return _native.Policy.markov(native, _by_pair(problem, policy))


def _in_file(problem: _native.Problem, path: str | os.PathLike[str]) -> _native.Policy:
    if str(path).endswith(".json"):
        return _native.Policy.saved(problem, path)[0]
    if not str(path).endswith(".csv"):
        raise ValueError(f"policy is the path {str(path)!r}; tables have the extension .csv, saved policies .json")
    return _native.Policy.table(problem, path)


def _named(
    problem: Problem,
    name: str,
    measure: str,
    simulations: int | None,
    time_limit: float | None,
    seed: int,
    max_states: int | None,
    threads: int | None,
) -> _native.Policy:
    native = problem._native
    if name in ("auto", "planner", "paper"):
        preset = "paper" if name == "paper" else "default"
        return _native.Policy.planner(native, measure, preset, simulations, time_limit, seed, threads, name == "auto")
    if name == "exact":
        return _native.Policy.exact(native, _native.solve(native, measure, max_states, threads))
    if name == "uniform":
        return _native.Policy.uniform(native)
    if name in problem.scripts:
        return _native.Policy.script(native, problem.scripts[name])
    if name.endswith((".csv", ".json")):
        return _in_file(native, name)
    names = ["auto", "planner", "paper", "exact", "uniform", *problem.scripts]
    raise ValueError(f"policy is {name!r}; it must be one of {', '.join(names)}, or the path of a table (.csv) or a saved policy (.json)")


def _by_pair(problem: Problem, policy: Any) -> Floats:
    """Probabilities by time and pair, of probabilities by state and action or of actions by state."""
    model = problem.model
    states, actions = shape = (len(model.states), len(model.actions))
    given = array("policy", policy)
    whole = np.asarray(policy).dtype.kind in "iu"
    if whole and given.shape != shape and given.shape in ((states,), (problem.horizon, states)):
        table = _chosen(np.asarray(policy), actions)
    else:
        table = given[np.newaxis] if given.ndim == 2 else given
    if table.ndim != 3 or table.shape[1:] != shape or table.shape[0] not in (1, problem.horizon):
        raise ValueError(
            f"policy has shape {given.shape} and type {np.asarray(policy).dtype}; it must be probabilities of shape {shape} "
            f"for states and actions or {(problem.horizon, *shape)} with times before, or whole numbers of actions of shape "
            f"{(states,)} for states or {(problem.horizon, states)}; a list has one action for each time"
        )
    allowed = np.zeros(shape, dtype=bool)
    allowed[model.pair_states, model.pair_actions] = True
    refused = np.argwhere((table != 0) & ~allowed)
    if refused.size:
        _, state, action = refused[0]
        raise ValueError(
            f'the policy takes action "{model.actions[action]}" in state "{model.states[state]}", which does not allow it'
        )
    return np.ascontiguousarray(table[:, model.pair_states, model.pair_actions])


def _chosen(choice: npt.NDArray[Any], actions: int) -> Floats:
    """Probabilities 0 and 1 of actions by state, or by time and state."""
    wrong = choice[(choice < 0) | (choice >= actions)]
    if wrong.size:
        raise ValueError(f"policy has action {wrong[0]}; actions are numbered 0 to {actions - 1}")
    table: Floats = np.eye(actions)[np.atleast_2d(choice)]
    return table
