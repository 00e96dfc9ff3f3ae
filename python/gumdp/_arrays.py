"""Arrays that describe a model: checked, and sorted as the library wants them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ._checks import Floats, Ints, are_many, array, is_text, number, shown

__all__ = ["hint_of", "initial_of", "names_of", "rows_of"]


def names_of(what: str, names: Sequence[str] | None, prefix: str, count: int) -> list[str]:
    if names is None:
        return [f"{prefix}{number}" for number in range(count)]
    given: list[Any] = list(names) if are_many(names) else [names]
    if not all(isinstance(name, str) for name in given):
        raise TypeError(f"{what} is {names!r}; it must be a list of names")
    if len(given) != count:
        raise ValueError(f"{len(given)} names are given for {count} {what}")
    for name in given:
        if not is_text(name):
            raise ValueError(f"{what} has the name {name!r}, which is no text")
    return given


def initial_of(initial: Any, states: list[str]) -> Floats:
    start = np.zeros(len(states))
    if not states:
        return start
    is_one = isinstance(initial, (str, int, np.integer)) and not isinstance(initial, bool)
    if not is_one and not are_many(initial):
        raise TypeError(f"initial is {initial!r}; it must be the number or name of a state, or the probability of each state")
    if is_one:
        initial = {initial: 1.0}
    if not isinstance(initial, Mapping):
        given = array("initial", initial)
        if given.shape != start.shape:
            raise ValueError(f"initial has shape {given.shape}; it must be {start.shape}, one number for each state")
        return given
    named: set[int] = set()
    for state, probability in initial.items():
        if isinstance(state, (bool, np.bool_)) or not isinstance(state, (str, int, np.integer)):
            raise TypeError(f"initial names state {state!r}; a state is a name or a number")
        place = (states.index(state) if state in states else -1) if isinstance(state, str) else int(state)
        if not 0 <= place < len(states):
            raise ValueError(f"initial names state {shown(state)}, which does not exist")
        if place in named:
            raise ValueError(f"initial names state {state!r} twice, by name and by number")
        named.add(place)
        start[place] = number(f"initial[{state!r}]", probability, "[0, 1]")
    return start


def rows_of(P: Any) -> tuple[tuple[Ints, Ints, Ints, Ints, Floats], tuple[int, int]]:
    """The transitions of all pairs, sorted by state and action, and the numbers of actions and states."""
    if hasattr(P, "tocoo"):
        raise TypeError("P is one sparse matrix; it must be a list with one for each action")
    if not isinstance(P, Sequence) and not hasattr(P, "__array__"):
        raise TypeError(
            f"P is {P!r}; it must be an array of shape (actions, states, states) or a list of sparse matrices"
        )
    sparse = [hasattr(matrix, "tocoo") for matrix in P] if isinstance(P, Sequence) else []
    if any(sparse):
        if not all(sparse):
            other = sparse.index(False)
            raise TypeError(f"P[{other}] is of type {type(P[other]).__name__}; all matrices must be sparse, or none")
        shapes = [matrix.shape for matrix in P]
        square = all(len(shape) == 2 and shape[0] == shape[1] == shapes[0][0] for shape in shapes)
        if not square:
            raise ValueError(f"the sparse matrices have shapes {shapes}; all must be (S, S)")
        parts = [matrix.tocoo() for matrix in P]
        state = np.concatenate([part.row for part in parts]).astype(np.int64)
        to = np.concatenate([part.col for part in parts]).astype(np.int64)
        action = np.repeat(np.arange(len(parts), dtype=np.int64), [part.nnz for part in parts])
        probability = np.concatenate([array("P", part.data) for part in parts])
        kept = probability != 0
        state, action, to, probability = state[kept], action[kept], to[kept], probability[kept]
        order = np.lexsort((to, action, state))
        state, action, to, probability = state[order], action[order], to[order], probability[order]
        counts = (len(parts), int(shapes[0][0]))
    else:
        dense = array("P", P)
        if dense.ndim != 3 or dense.shape[1] != dense.shape[2]:
            raise ValueError(f"P has shape {dense.shape}; it must be (actions, states, states)")
        by_state = dense.transpose(1, 0, 2)
        state, action, to = np.nonzero(by_state)
        probability = np.ascontiguousarray(by_state[state, action, to])
        counts = (dense.shape[0], dense.shape[1])
    pair = state * max(counts[0], 1) + action
    first = np.flatnonzero(np.diff(pair, prepend=-1))
    bounds = np.append(first, pair.size).astype(np.int64)
    rows = (
        np.ascontiguousarray(state[first], dtype=np.int64),
        np.ascontiguousarray(action[first], dtype=np.int64),
        bounds,
        np.ascontiguousarray(to, dtype=np.int64),
        probability,
    )
    return rows, counts


def hint_of(P: Any) -> str:
    """What to do if rows do not sum to 1 because their numbers are too coarse."""
    for part in (P, *(P if isinstance(P, Sequence) else ())):
        kind = getattr(part, "dtype", np.dtype(float))
        if kind in (np.float32, np.float16):
            return f" (hint: numbers of type {kind} are too coarse; P = P.astype(float), then P / P.sum(axis=-1, keepdims=True))"
    return ""
