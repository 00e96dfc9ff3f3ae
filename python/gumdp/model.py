"""Models: finite Markov decision processes, from arrays, environments and files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native
from ._checks import Floats, Ints, are_many, array, fixed, is_text, number, path_of, shown
from ._native import Model as NativeModel
from ._native import Problem as NativeProblem
from ._tables import Observations, Table

if TYPE_CHECKING:
    from .builder import ModelBuilder

__all__ = ["Model"]

PathLike = str | os.PathLike[str]

# Names of states and actions, initial probabilities, and the transitions: what the native half makes a model of.
Parts = tuple[list[str], list[str], Floats, Ints, Ints, Ints, Ints, Floats]


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

    __slots__ = ("_native", "_observations", "_pairs", "_source", "costs")

    _native: NativeModel
    _pairs: tuple[Ints, Ints]
    _observations: Observations | None
    # What it was made of, unless the model gives the same again.
    _source: Parts | NativeProblem | None
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
        rows, (action_count, state_count) = _rows(P)
        state_names = _names("states", states, "s", state_count)
        action_names = _names("actions", actions, "a", action_count)
        start = _initial(initial, state_names)
        try:
            self._take((state_names, action_names, start, *rows), {}, None)
        except ValueError as error:
            raise ValueError(f"{error}{_hint(P)}" if "sum to" in str(error) else str(error)) from None

    def _take(
        self, source: Parts | NativeProblem, costs: dict[str, Floats], observations: Observations | None
    ) -> Model:
        self._native = source.model() if isinstance(source, NativeProblem) else _native.Model(*source)
        self._pairs = self._native.pairs()
        self._source, self._observations, self.costs = source, observations, costs
        if isinstance(source, tuple):
            # Rows are divided by their sums. Where that changed nothing, the arrays need not be kept.
            if all(map(np.array_equal, self._parts()[2:], source[2:])):
                self._source = None
        for values in (*self._pairs, *costs.values()):
            fixed(values)
        return self

    @classmethod
    def _of(cls, problem: NativeProblem, table: Table | None = None) -> Model:
        observations = None if table is None else table.observations(problem.model().states())
        return cls.__new__(cls)._take(problem, dict(problem.costs()), observations)

    def _parts(self) -> Parts:
        native = self._native
        return (native.states(), native.actions(), native.initial(), *native.pairs(), *native.rows())

    def __reduce__(self) -> Any:
        made_of = self._source.source() if isinstance(self._source, NativeProblem) else self._source
        return _again, (made_of or self._parts(), self.costs, self._observations)

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
            An environment whose ``env.unwrapped.P[state][action]`` lists (probability, next state, reward, terminated). Wrappers
            that may change rewards, observations or actions are refused: the table does not know of them.
        initial : array_like, optional
            The probability of each state to be the first; by default the environment's ``initial_state_distrib``.
        """
        table = Table(env, initial)
        return cls._of(table.read("gymnasium.json", table.text), table)

    def state_of(self, observation: int, reward: float = 0.0, terminated: bool = False) -> int:
        """The number of the state that an environment is in, for a model of that environment.

        It is the observation itself, but for two cases: an episode that terminated may be in the state ``terminated``, and
        in a problem with ``rewards="split"`` the state depends on the reward that led to it.

        Parameters
        ----------
        observation : int
            What ``env.reset`` or ``env.step`` returned.
        reward : float
            The reward of that step.
        terminated : bool
            Whether the episode ended with that step.
        """
        if self._observations is None:
            raise ValueError("the model is not one of a Gymnasium environment; its states are numbers and names")
        return self._observations.state(observation, reward, terminated)

    @classmethod
    def from_file(cls, path: PathLike, *, allow_files: bool = False) -> Model:
        """The model in a file: a problem file (TOML), transitions as CSV, Gymnasium's P as JSON, Storm's DRN."""
        return cls._of(_native.Problem.load(path_of(path), bool(allow_files)))

    def to_file(self, path: PathLike) -> list[str]:
        """Writes the model as .csv, .drn or .toml, without costs; returns what the format cannot hold.

        >>> import tempfile, os, numpy as np
        >>> path = os.path.join(tempfile.mkdtemp(), "one.drn")
        >>> notes = Model([np.eye(2)]).to_file(path)
        >>> Model.from_file(path)
        Model(2 states, 1 actions, 2 transitions)
        """
        free = _native.Objective.of_kind(self._native, "linear", {"cost": np.zeros(self.pair_count)})
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
                self._look_for(state=state)
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

    def _look_for(self, **wanted: Any) -> None:
        """Says of states and actions that they do not exist, where the native half cannot even read what was given."""
        for what, given in wanted.items():
            is_number = isinstance(given, (int, np.integer)) and not isinstance(given, bool)
            if is_number and not -(2**63) <= given < 2**63:
                highest = self._native.counts()[0 if what == "state" else 1] - 1
                raise ValueError(f"there is no {what} {shown(given)}; they are numbered 0 to {highest}") from None
            if isinstance(given, str) and not is_text(given):
                raise ValueError(f"unknown {what} {given!r}") from None

    def __repr__(self) -> str:
        states, actions, _, transitions = self._native.counts()
        return f"Model({states} states, {actions} actions, {transitions} transitions)"


def _again(made_of: Any, costs: dict[str, Floats], observations: Observations | None) -> Model:
    """The model that was pickled."""
    source = _native.Problem.parse(*made_of) if len(made_of) == 2 else made_of
    return Model.__new__(Model)._take(source, costs, observations)


def write(problem: NativeProblem, path: PathLike) -> list[str]:
    """Writes a problem; returns what the format cannot hold."""
    files, notes = problem.export(path_of(path))
    for extension, text in files:
        _native.write(Path(path).with_suffix("." + extension), text)
    return notes


def _names(what: str, names: Sequence[str] | None, prefix: str, count: int) -> list[str]:
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


def _initial(initial: Any, states: list[str]) -> Floats:
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


def _rows(P: Any) -> tuple[tuple[Ints, Ints, Ints, Ints, Floats], tuple[int, int]]:
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


def _hint(P: Any) -> str:
    """What to do if rows do not sum to 1 because their numbers are too coarse."""
    for part in (P, *(P if isinstance(P, Sequence) else ())):
        kind = getattr(part, "dtype", np.dtype(float))
        if kind in (np.float32, np.float16):
            return f" (hint: numbers of type {kind} are too coarse; P = P.astype(float), then P / P.sum(axis=-1, keepdims=True))"
    return ""
