"""Models: finite Markov decision processes, from arrays, environments and files."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native
from ._checks import Floats, Ints, array, number
from ._native import Model as NativeModel
from ._native import Problem as NativeProblem

if TYPE_CHECKING:
    from .builder import ModelBuilder

__all__ = ["Model"]

PathLike = str | os.PathLike[str]


class Model:
    """A finite Markov decision process.

    Parameters
    ----------
    P : array_like of shape (A, S, S), or a sequence of A sparse matrices of shape (S, S)
        ``P[a][s, s']`` is the probability that action a leads from s to s'. A row of zeros means that the state does not
        allow the action; all other rows must sum to 1 within 1e-9.
    initial : int, str, mapping or array_like of shape (S,), optional
        The first state, by number or name, or the probability of each state to be the first. The default is state 0.
    states, actions : sequence of str, optional
        Names; s0, s1, … and a0, a1, … by default.

    Examples
    --------
    >>> import numpy as np
    >>> stay, leave = np.eye(2), np.array([[0.1, 0.9], [0.0, 1.0]])
    >>> model = Model([stay, leave], states=["home", "away"], actions=["stay", "leave"])
    >>> model
    Model(2 states, 2 actions, 5 transitions)
    >>> Model([stay * 0.5, leave])
    Traceback (most recent call last):
    ...
    ValueError: state "s0", action "a0": the probabilities sum to 0.5; they must sum to 1 within 1e-9
    """

    __slots__ = ("_native", "_pairs", "costs")

    _native: NativeModel
    _pairs: tuple[Ints, Ints]
    costs: dict[str, Floats]
    """Costs by name, one number for each pair, if the model was imported with rewards."""

    def __init__(
        self,
        P: Any,
        initial: Any = 0,
        *,
        states: Sequence[str] | None = None,
        actions: Sequence[str] | None = None,
    ) -> None:
        row_states, row_actions, first, successors, probabilities, shape = _rows(P)
        action_count, state_count = shape
        state_names = _names("states", states, "s", state_count)
        action_names = _names("actions", actions, "a", action_count)
        start = _initial(initial, state_names)
        native = _native.Model(
            state_names, action_names, start, row_states, row_actions, first, successors, probabilities
        )
        self._take(native, {})

    def _take(self, native: NativeModel, costs: dict[str, Floats]) -> Model:
        self._native = native
        self._pairs = native.pairs()
        self.costs = costs
        return self

    @classmethod
    def _of(cls, problem: NativeProblem) -> Model:
        return cls.__new__(cls)._take(problem.model(), dict(problem.costs()))

    @staticmethod
    def builder(actions: Sequence[str] = ()) -> ModelBuilder:
        """A model to be built transition by transition; see :class:`ModelBuilder`."""
        from .builder import ModelBuilder

        return ModelBuilder(actions)

    @classmethod
    def from_gymnasium(cls, env: Any, initial: Any = None) -> Model:
        """The model of an environment with a table ``P``, such as FrozenLake, Taxi or CliffWalking.

        A transition that terminates leads to the state ``terminated``, which costs nothing, unless the state it names stays
        where it is at no cost anyway. Equal next states are merged. ``model.costs["cost"]`` is minus the expected reward of
        each pair.

        Parameters
        ----------
        env : gymnasium.Env
            An environment whose ``env.unwrapped.P[state][action]`` lists (probability, next state, reward, terminated).
        initial : array_like, optional
            The probability of each state to be the first; by default the environment's ``initial_state_distrib``.
        """
        return cls._of(_native.Problem.parse("gymnasium.json", gymnasium_json(env, initial)))

    @classmethod
    def from_file(cls, path: PathLike) -> Model:
        """The model in a file: a problem file (TOML), transitions as CSV, Gymnasium's P as JSON, Storm's DRN."""
        return cls._of(_native.Problem.load(path))

    def to_file(self, path: PathLike) -> list[str]:
        """Writes the model as .csv, .drn or .toml, without costs; returns what the format cannot hold.

        >>> import tempfile, os, numpy as np
        >>> path = os.path.join(tempfile.mkdtemp(), "one.drn")
        >>> notes = Model([np.eye(2)]).to_file(path)
        >>> Model.from_file(path)
        Model(2 states, 1 actions, 2 transitions)
        """
        free = _native.Objective.linear(np.zeros(self.pair_count))
        return write(_native.Problem(self._native, free, 1.0, 1), path)

    def to_numpy(self) -> Floats:
        """The probabilities as an array of shape (A, S, S); rows of actions that a state does not allow are zero.

        >>> import numpy as np
        >>> Model([np.eye(2)]).to_numpy().tolist()
        [[[1.0, 0.0], [0.0, 1.0]]]
        """
        first, successors, probabilities = self._native.rows()
        states, actions = self._pairs
        dense = np.zeros((len(self.actions), len(self.states), len(self.states)))
        pair = np.repeat(np.arange(states.size), np.diff(first))
        dense[actions[pair], states[pair], successors] = probabilities
        return dense

    @property
    def states(self) -> list[str]:
        """Names of the states."""
        return self._native.states()

    @property
    def actions(self) -> list[str]:
        """Names of the actions."""
        return self._native.actions()

    @property
    def initial(self) -> Floats:
        """The probability of each state to be the first."""
        return self._native.initial()

    @property
    def pair_count(self) -> int:
        """Number of state-action pairs: the length of costs, occupancies and targets over pairs."""
        return self._native.counts()[2]

    @property
    def pair_states(self) -> Ints:
        """The state of each pair."""
        return self._pairs[0]

    @property
    def pair_actions(self) -> Ints:
        """The action of each pair."""
        return self._pairs[1]

    def vector(self, values: Any, name: str = "values") -> Floats:
        """Values over pairs, from shape (S,), (S, A) or (pairs,), or a mapping of state names to numbers.

        If there are as many states as pairs, both are the same.

        >>> import numpy as np
        >>> Model([np.eye(2), np.eye(2)]).vector([0.0, 1.0]).tolist()
        [0.0, 0.0, 1.0, 1.0]
        """
        states, actions = self._pairs
        shape = (len(self.states), len(self.actions))
        if isinstance(values, Mapping):
            by_state = np.zeros(shape[0])
            for state, value in values.items():
                by_state[self._native.state(state)] = number(f"{name}[{state!r}]", value)
            return by_state[states]
        given = array(name, values)
        if given.shape == (shape[0],):
            return given[states]
        if given.shape == (states.size,):
            return given
        if given.shape == shape:
            return np.ascontiguousarray(given[states, actions])
        raise ValueError(
            f"{name} has shape {given.shape}; it must be ({shape[0]},) for states, {shape} for states and actions, "
            f"or ({states.size},) for pairs"
        )

    def __repr__(self) -> str:
        states, actions, _, transitions = self._native.counts()
        return f"Model({states} states, {actions} actions, {transitions} transitions)"


def gymnasium_json(env: Any, initial: Any) -> str:
    """The table of an environment as a file of the library's would have it."""
    table = getattr(getattr(env, "unwrapped", env), "P", None)
    if not isinstance(table, (Mapping, Sequence)):
        raise TypeError(f"{env!r} has no table P of transitions")
    if initial is None:
        initial = getattr(getattr(env, "unwrapped", env), "initial_state_distrib", None)
    by_state = table.items() if isinstance(table, Mapping) else enumerate(table)
    rows = {
        int(state): {
            int(action): [[float(p), int(to), float(reward), bool(end)] for p, to, reward, end in outcomes]
            for action, outcomes in (by_action.items() if isinstance(by_action, Mapping) else enumerate(by_action))
        }
        for state, by_action in by_state
    }
    text: dict[str, Any] = {"P": rows}
    if initial is not None:
        text["initial"] = array("initial", initial).tolist()
    return json.dumps(text)


def write(problem: NativeProblem, path: PathLike) -> list[str]:
    """Writes a problem, each file to a temporary name first; returns what the format cannot hold."""
    files, notes = problem.export(path)
    for extension, text in files:
        target = Path(path).with_suffix("." + extension)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=target.name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise
    return notes


def _names(what: str, names: Sequence[str] | None, prefix: str, count: int) -> list[str]:
    if names is None:
        return [f"{prefix}{number}" for number in range(count)]
    given = [names] if isinstance(names, str) else list(names)
    if not all(isinstance(name, str) for name in given):
        raise TypeError(f"{what} must be names")
    if len(given) != count:
        raise ValueError(f"{len(given)} names are given for {count} {what}")
    return given


def _initial(initial: Any, states: list[str]) -> Floats:
    start = np.zeros(len(states))
    if not states:
        return start
    if isinstance(initial, (str, int, np.integer)):
        initial = {initial: 1.0}
    if not isinstance(initial, Mapping):
        given = array("initial", initial)
        if given.shape != start.shape:
            raise ValueError(f"initial has shape {given.shape}; it must be {start.shape}, one number for each state")
        return given
    for state, probability in initial.items():
        number_of = states.index(state) if state in states else state
        if isinstance(number_of, str) or not 0 <= number_of < len(states):
            raise ValueError(f"initial names state {state!r}, which does not exist")
        start[number_of] = number(f"initial[{state!r}]", probability)
    return start


def _rows(P: Any) -> tuple[Ints, Ints, Ints, Ints, Floats, tuple[int, int]]:
    """The transitions of all pairs, sorted by state and action, and the numbers of actions and states."""
    if not isinstance(P, np.ndarray) and any(hasattr(matrix, "tocoo") for matrix in P):
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
    return (
        np.ascontiguousarray(state[first], dtype=np.int64),
        np.ascontiguousarray(action[first], dtype=np.int64),
        bounds,
        np.ascontiguousarray(to, dtype=np.int64),
        probability,
        counts,
    )
