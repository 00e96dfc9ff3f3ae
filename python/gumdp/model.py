"""Models: finite Markov decision processes, from arrays, environments and files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native
from ._arrays import hint_of, initial_of, names_of, rows_of
from ._checks import Floats, Ints, array, fixed, is_text, number, path_of, shown
from ._native import Model as NativeModel
from ._native import Problem as NativeProblem
from ._tables import Observations, Table

if TYPE_CHECKING:
    from ._reached import Laid, Whereabouts
    from .builder import ModelBuilder
    from .tabulating import Estimate

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
    _observations: Observations | Whereabouts | None
    # What it was made of, unless the model gives the same again.
    _source: Parts | NativeProblem | None
    costs: dict[str, Floats]
    """Costs by name, one number for each pair, if the model was imported with rewards; features, if it was made of a simulator."""

    def __init__(
        self,
        P: Any,
        initial: Any = 0,
        *,
        states: Sequence[str] | None = None,
        actions: Sequence[str] | None = None,
    ) -> None:
        rows, (action_count, state_count) = rows_of(P)
        state_names = names_of("states", states, "s", state_count)
        action_names = names_of("actions", actions, "a", action_count)
        start = initial_of(initial, state_names)
        try:
            self._take((state_names, action_names, start, *rows), {}, None)
        except ValueError as error:
            raise ValueError(f"{error}{hint_of(P)}" if "sum to" in str(error) else str(error)) from None

    def _take(
        self, source: Parts | NativeProblem, costs: dict[str, Floats], observations: Observations | Whereabouts | None
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

    @classmethod
    def _of_laid(cls, laid: Laid) -> Model:
        return cls.__new__(cls)._take(laid.parts, laid.costs, laid.whereabouts)

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

    @classmethod
    def from_simulator(
        cls,
        simulator: Any,
        *,
        max_states: int = 100_000,
        samples: int | None = None,
        confidence: float = 0.95,
        seed: int = 0,
    ) -> Model:
        """The model of a simulator: all states that can be reached, and where each action leads with which probability.

        Every random draw is gone through, so probabilities are exact: ``integers``, ``choice``, ``binomial``, ``permutation``, and
        ``random`` or ``uniform`` where they are compared with numbers. ``model.costs`` has the expected features of each pair
        by name (``simulator.names``, or feature0, feature1, …). An episode that is over is in the state ``terminated``.

        Parameters
        ----------
        simulator : Simulator
            As for :class:`SimulatedProblem`.
        max_states : int
            More are a ValueError.
        samples : int, optional
            Where draws cannot be gone through, such as ``normal``, outcomes are estimated from so many samples. By default that
            is a ValueError, which names the draw.
        confidence : float
            The probability that all bounds of :attr:`estimate` hold.
        seed : int
            Of the samples.

        >>> class Walk:
        ...     names = ["paid"]
        ...     def initial(self, rng):
        ...         return 0
        ...     def actions(self, state):
        ...         return ["rest", "climb"]
        ...     def step(self, state, action, rng):
        ...         up = action == "climb" and rng.random() < 0.75
        ...         return state + up, [float(state)], state + up == 3
        >>> model = Model.from_simulator(Walk())
        >>> model.states, model.costs["paid"].tolist()
        (['0', '1', '2', 'terminated'], [0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 0.0])
        >>> model.to_numpy()[1][:, 1].tolist()
        [0.75, 0.25, 0.0, 0.0]
        """
        from ._reached import lay_out, reach_simulator

        limits = {"max_states": max_states, "samples": samples, "confidence": confidence, "seed": seed}
        return cls._of_laid(lay_out(reach_simulator(simulator, None, limits), None, None))

    @classmethod
    def from_env(
        cls,
        env: Any,
        *,
        max_states: int = 100_000,
        samples: int | None = None,
        confidence: float = 0.95,
        seed: int = 0,
        **settings: Any,
    ) -> Model:
        """The model of an environment of Gymnasium without a table, from the states that can be reached.

        As :meth:`from_simulator`. The state is what the environment's fields are; states that show the same observation and
        differ in nothing that follows, such as in the last action, are one. A time limit that is a wrapper is no part of the
        model. Rewards, which may be vectors, are the features ``reward``, or ``reward0``, ``reward1``, …, in ``model.costs`` as
        they are: gains, mostly.

        Parameters
        ----------
        env : gymnasium.Env
            It is left as it was found.
        **settings
            As for :class:`Environment`.
        """
        from ._reached import lay_out, reach_env
        from .environments import Environment

        environment = Environment(env, **settings)
        limits = {"max_states": max_states, "samples": samples, "confidence": confidence, "seed": seed}
        return cls._of_laid(lay_out(reach_env(environment, None, limits), None, environment))

    @property
    def estimate(self) -> Estimate | None:
        """How probabilities were estimated from samples, and how far off they may be; None if they were not."""
        return getattr(self._observations, "estimate", None)

    def state_of(self, observation: Any, reward: Any = 0.0, terminated: bool = False) -> int:
        """The number of the state that an environment or a simulator is in, for a model of it.

        For a model of a table ``P`` it is the observation itself, but for two cases: an episode that terminated may be in the state
        ``terminated``, and in a problem with ``rewards="split"`` the state depends on the reward that led to it.

        Parameters
        ----------
        observation : object
            What ``env.reset`` or ``env.step`` returned, or the state of a simulator. Where several states of an environment
            show the same, the environment itself.
        reward : float or array_like
            The reward of that step, or its features.
        terminated : bool
            Whether the episode ended with that step.
        """
        if self._observations is None:
            raise ValueError("the model is not one of a Gymnasium environment or a simulator; its states are numbers and names")
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
        estimated = "" if self.estimate is None else ", estimated"
        return f"Model({states} states, {actions} actions, {transitions} transitions{estimated})"


def _again(made_of: Any, costs: dict[str, Floats], observations: Observations | Whereabouts | None) -> Model:
    """The model that was pickled."""
    source = _native.Problem.parse(*made_of) if len(made_of) == 2 else made_of
    return Model.__new__(Model)._take(source, costs, observations)


def write(problem: NativeProblem, path: PathLike) -> list[str]:
    """Writes a problem; returns what the format cannot hold."""
    files, notes = problem.export(path_of(path))
    for extension, text in files:
        _native.write(Path(path).with_suffix("." + extension), text)
    return notes
