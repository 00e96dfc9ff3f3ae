"""Environments of Gymnasium as simulators: their state is saved and put back, their random numbers are those of the step."""

from __future__ import annotations

import itertools
import pickle
import random
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from ._checks import Floats, are_many, array, count, shown
from ._tables import HARMLESS
from .scripting import Script
from .snapshots import Snapshot

__all__ = ["Environment", "EnvironmentState"]

Features = Callable[[Any, Any, Any, Any], Any]
StateKey = Callable[[Any, Any], Hashable]
# Fields of every environment that only say how it was made.
NEVER = frozenset({"_np_random_seed", "spec"})
MOST_ACTIONS = 100_000
# The generators that everyone may draw from: NumPy's and Python's.
EVERYONES: Any = np.random
PYTHONS = getattr(random.random, "__self__", None)


class EnvironmentState:
    """Where an environment is. Equal to another one if the observation and all fields are, or if a ``state_key`` says so."""

    __slots__ = ("_ignored", "_key", "_seen", "observation", "snapshot")

    observation: Any
    """What the environment showed."""
    snapshot: Snapshot

    def __init__(self, snapshot: Snapshot, observation: Any, ignored: frozenset[str], key: Hashable = None) -> None:
        self.snapshot, self.observation, self._ignored, self._key = snapshot, observation, ignored, key
        # All fields are compared only where observations are equal.
        self._seen = plain(observation) if key is None else key

    @property
    def key(self) -> Hashable:
        """What it is compared by."""
        if self._key is None:
            self._key = self._seen, self.snapshot.key(self._ignored)
        return self._key

    @property
    def shown(self) -> Any:
        """What tells it from others: what ``state_key`` made of it, or what the environment showed."""
        key = self._key
        return key[1] if isinstance(key, tuple) and key[0] == "key" else self.observation

    def __hash__(self) -> int:
        return hash(self._seen)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EnvironmentState):
            return NotImplemented
        return self is other or (self._seen == other._seen and self.key == other.key)

    def __repr__(self) -> str:
        return f"EnvironmentState({shown(self.observation)})"


class Environment:
    """A simulator of any environment of Gymnasium; ``SimulatedProblem.from_gymnasium`` and ``Problem.from_env`` make one.

    The environment belongs to it from then on: simulated steps are steps of that very environment, from states that were saved.

    Parameters
    ----------
    env : gymnasium.Env
        Its outermost wrappers are taken off as far as they change nothing; others are stepped through, and saved as the rest is.
    features : callable, optional
        (observation, action, reward, info) -> the features of a step: numbers, or a mapping of names to numbers. By default the
        reward, which may be a vector.
    actions : sequence, optional
        The actions to choose from; by default those of the action space.
    bins : int or sequence of int, optional
        Into how many values each dimension of a continuous action space is divided, ends included.
    state_key : callable, optional
        (unwrapped environment, observation) -> what makes the state the state it is; by default all fields.
    ignored : sequence of str
        Names of fields of the environment and its wrappers that are no part of its state, such as counters of steps.
    constant : sequence of str
        Names of fields in which nothing ever changes, such as large tables: they are not saved, which is faster.
    reset_seed : int, optional
        Every episode begins as ``env.reset(seed=reset_seed)`` does. By default the beginning is random.
    options : mapping, optional
        For ``env.reset``.
    check : bool
        Whether some steps are played twice from a snapshot; what does not continue identically is a ValueError.
    """

    def __init__(
        self,
        env: Any,
        *,
        features: Features | None = None,
        actions: Sequence[Any] | None = None,
        bins: int | Sequence[int] | None = None,
        state_key: StateKey | None = None,
        ignored: Sequence[str] = (),
        constant: Sequence[str] = (),
        reset_seed: int | None = None,
        options: Mapping[str, Any] | None = None,
        check: bool = True,
    ) -> None:
        for method in ("reset", "step"):
            if isinstance(env, type) or not callable(getattr(env, method, None)):
                raise TypeError(f"env is {shown(env)}; it must be an environment of Gymnasium, with a method {method}")
        if hasattr(env, "num_envs"):
            raise TypeError(f"env is {shown(env)}, which is many environments; it must be one")
        for name, function in (("features", features), ("state_key", state_key)):
            if function is not None and not callable(function):
                raise TypeError(f"{name} is {shown(function)}; it must be a function")
        if actions is not None and (isinstance(actions, str) or not are_many(actions)):
            raise TypeError(f"actions is {shown(actions)}; it must be a list of actions")
        for name, fields in (("ignored", ignored), ("constant", constant)):
            if isinstance(fields, str) or not are_many(fields) or not all(isinstance(field, str) for field in fields):
                raise TypeError(f"{name} is {shown(fields)}; it must be a list of names of fields")
        self.env, self.time_limit = taken_off(env)
        self._as_found = Snapshot(self.env)
        self._features, self._state_key = features, state_key
        self.constant = frozenset(constant)
        self.ignored = NEVER | self.constant | frozenset(ignored)
        self._options = {} if options is None else {"options": dict(options)}
        self._seed = None if reset_seed is None else count("reset_seed", reset_seed, 0, 2**31 - 1)
        self._uses_random = _uses_random(self.env)
        self._actions = list(actions) if actions is not None else actions_of(self.env.action_space, bins)
        if not self._actions:
            raise ValueError("actions is empty; there must be an action")
        self.names: list[str] | None = None
        """Names of the features, once a step has been made."""
        self.env.reset(seed=0, **self._options)
        # Gymnasium makes the generator when it is first asked for.
        getattr(getattr(self.env, "unwrapped", self.env), "np_random", None)
        self._start = Snapshot(self.env, constant=self.constant)
        if check:
            from .rehearsals import rehearse

            rehearse(self)

    def initial(self, rng: np.random.Generator) -> EnvironmentState:
        """Where an episode begins."""
        self._start.restore(rng)
        scripted = isinstance(rng, Script) and self._seed is None
        number = self._seed if self._seed is not None else None if scripted else int(rng.integers(2**31))
        observation, _ = self._drawing(rng, self.env.reset, seed=number, **self._options)
        state = self.here(observation)
        if isinstance(rng, Script) and scripted:
            for holder, place in state.snapshot.generators:
                if holder[place] is not rng:
                    raise rng.refuse("reset() makes a generator of its own")
        return state

    def actions(self, state: EnvironmentState) -> Sequence[Any]:
        """The actions, the same in all states."""
        return self._actions

    def step(
        self, state: EnvironmentState, action: Any, rng: np.random.Generator
    ) -> tuple[EnvironmentState, Floats, bool]:
        """A step from any state."""
        if not isinstance(state, EnvironmentState):
            raise TypeError(f"state is {shown(state)}; it must be one that initial() or step() returned, or here()")
        state.snapshot.restore(rng)
        before = [pickle.dumps(other) for other in state.snapshot.others] if isinstance(rng, Script) else []
        # The environment may change an array that it is given.
        returned = self._drawing(rng, self.env.step, copied(action))
        if isinstance(rng, Script) and before != [pickle.dumps(other) for other in state.snapshot.others]:
            raise rng.refuse("a generator that cannot be replaced has outcomes that cannot be listed")
        if not (isinstance(returned, tuple) and len(returned) == 5):
            raise TypeError(f"env.step returned {shown(returned)}; it must be (observation, reward, terminated, truncated, info)")
        observation, reward, terminated, truncated, info = returned
        features = self._read(observation, action, reward, info)
        return self.here(observation), features, bool(terminated or truncated)

    def here(self, observation: Any) -> EnvironmentState:
        """The state that the environment is in now, where it showed this observation."""
        key = None if self._state_key is None else ("key", self._state_key(getattr(self.env, "unwrapped", self.env), observation))
        return EnvironmentState(Snapshot(self.env, constant=self.constant), copied(observation), self.ignored, key)

    def horizon(self, given: Any, most: int) -> int:
        """The number of steps of an episode, which a time limit may say."""
        if given is None:
            given = self.time_limit or limit_inside(self.env)
            if given is None:
                raise ValueError("the environment has no time limit; give the horizon")
        steps = count("horizon", given, 1, most)
        if self.time_limit is not None and steps > self.time_limit:
            raise ValueError(f"horizon is {steps}; the environment ends episodes after {self.time_limit} steps (TimeLimit)")
        return steps

    @property
    def has_state_key(self) -> bool:
        """Whether somebody said what makes a state."""
        return self._state_key is not None

    def leave(self) -> None:
        """Puts the environment back where it was found."""
        self._as_found.restore()

    def _read(self, observation: Any, action: Any, reward: Any, info: Any) -> Floats:
        given = reward if self._features is None else self._features(observation, action, reward, info)
        usual = None if self.names is None else (len(self.names),)
        if isinstance(given, np.ndarray) and given.dtype.kind == "f" and given.shape == usual:
            return given.astype(np.float64)
        if isinstance(given, Mapping):
            names, given = [str(name) for name in given], list(given.values())
        else:
            prefix = "reward" if self._features is None else "feature"
            names = [prefix] if np.ndim(given) == 0 else [f"{prefix}{place}" for place in range(len(given))]
        if self.names is None:
            self.names = names
        elif names != self.names:
            raise ValueError(f"a step has the features {names}, and another one {self.names}; all must have the same")
        return np.atleast_1d(array("the features of a step", given))

    def _drawing(self, rng: np.random.Generator, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Calls the environment with the global generators drawing from this one, and puts them back."""
        scripted = isinstance(rng, Script)
        everyone = EVERYONES.get_bit_generator()
        ours = rng.bit_generator
        if "seed" in kwargs and not scripted:
            # Old environments give NumPy's generator the seed, which only this kind can take.
            ours = np.random.MT19937(int(rng.integers(2**32)))
        others = random.getstate() if self._uses_random else None
        if self._uses_random:
            random.seed(0 if scripted else int(rng.integers(2**63)))
            seeded = random.getstate() if scripted else None
        EVERYONES.set_bit_generator(ours)
        try:
            returned = call(*args, **kwargs)
            if isinstance(rng, Script):
                if rng.is_moved():
                    raise rng.refuse("NumPy's global generator has outcomes that cannot be listed")
                if self._uses_random and random.getstate() != seeded:
                    raise rng.refuse("the module random has outcomes that cannot be listed")
            return returned
        finally:
            EVERYONES.set_bit_generator(everyone)
            if others is not None:
                random.setstate(others)

    def __reduce__(self) -> Any:
        raise TypeError("an environment may not be what it was when it is copied or pickled; make another one")

    def __repr__(self) -> str:
        return f"Environment({shown(self.env)})"


def taken_off(env: Any) -> tuple[Any, int | None]:
    """The environment inside of wrappers that change nothing, and how many steps they allow."""
    limit: int | None = None
    while env is not getattr(env, "unwrapped", env):
        kind = type(env)
        if kind.__module__.partition(".")[0] != "gymnasium" or kind.__name__ not in HARMLESS:
            break
        steps = getattr(env, "_max_episode_steps", None)
        if kind.__name__ == "TimeLimit" and isinstance(steps, int):
            limit = steps if limit is None else min(limit, steps)
        env = env.env
    return env, limit


def limit_inside(env: Any) -> int | None:
    """How many steps wrappers allow that others are put around: those may take several at once, but hardly less than one."""
    limits = []
    while env is not getattr(env, "unwrapped", env):
        steps = getattr(env, "_max_episode_steps", None) if type(env).__name__ == "TimeLimit" else None
        if isinstance(steps, int):
            limits.append(steps)
        env = env.env
    return min(limits, default=None)


def actions_of(space: Any, bins: int | Sequence[int] | None) -> list[Any]:
    """The actions of a space."""
    from gymnasium import spaces

    hint = "actions= lists those to choose from"
    if isinstance(space, spaces.Box):
        if bins is None:
            raise ValueError(f"the actions are {shown(space)}; bins= divides each dimension, or {hint}")
        if not (np.isfinite(space.low).all() and np.isfinite(space.high).all()):
            raise ValueError(f"the actions are {shown(space)}, which has no bounds; {hint}")
        size = space.low.size
        given = list(bins) if not isinstance(bins, int) and are_many(bins) else [bins] * size
        if len(given) != size:
            raise ValueError(f"bins has {len(given)} numbers; the actions have {size} dimensions")
        parts = [count("bins", part, 2, 10_000) for part in given]
        if np.prod([float(part) for part in parts]) > MOST_ACTIONS:
            raise ValueError(f"bins makes more than {MOST_ACTIONS} actions; {hint}")
        values = [np.linspace(low, high, part) for low, high, part in zip(space.low.flat, space.high.flat, parts)]
        return [np.array(each, dtype=space.dtype).reshape(space.shape) for each in itertools.product(*values)]
    if bins is not None:
        raise ValueError(f"the actions are {shown(space)}, which has no dimensions to divide; leave out bins")
    if isinstance(space, spaces.Discrete):
        if space.n > MOST_ACTIONS:
            raise ValueError(f"there are more than {MOST_ACTIONS} actions; {hint}")
        return list(range(int(space.start), int(space.start + space.n)))
    if isinstance(space, (spaces.MultiDiscrete, spaces.MultiBinary)):
        sizes = np.ravel(space.nvec) if isinstance(space, spaces.MultiDiscrete) else np.full(int(np.prod(space.shape)), 2)
        first = np.ravel(space.start) if isinstance(space, spaces.MultiDiscrete) else np.zeros_like(sizes)
        if np.prod(sizes.astype(float)) > MOST_ACTIONS:
            raise ValueError(f"there are more than {MOST_ACTIONS} actions; {hint}")
        ranges = [range(low, low + size) for low, size in zip(first.tolist(), sizes.tolist())]
        return [np.array(each, dtype=space.dtype).reshape(space.shape) for each in itertools.product(*ranges)]
    raise ValueError(f"the actions are {shown(space)}; {hint}")


def copied(observation: Any) -> Any:
    """An observation that the environment cannot change any more."""
    if isinstance(observation, np.ndarray):
        return observation.copy()
    if isinstance(observation, Mapping):
        return {name: copied(part) for name, part in observation.items()}
    if type(observation) in (list, tuple):
        return type(observation)(map(copied, observation))
    return observation


def plain(observation: Any) -> Hashable:
    """What is equal for equal observations."""
    if isinstance(observation, np.ndarray) and not observation.dtype.hasobject:
        return observation.dtype.str, observation.shape, observation.tobytes()
    if isinstance(observation, Mapping):
        return tuple((name, plain(part)) for name, part in observation.items())
    if isinstance(observation, (list, tuple)):
        return tuple(map(plain, observation))
    return observation if isinstance(observation, Hashable) and observation == observation else repr(observation)


def _uses_random(env: Any) -> bool:
    """Whether the module of an environment or of a wrapper knows Python's own generator."""
    while True:
        for kind in type(env).__mro__:
            known = vars(sys.modules.get(kind.__module__, sys)).values() if kind.__module__ != "builtins" else ()
            draws = any(value is random or getattr(value, "__self__", None) is PYTHONS for value in list(known))
            if draws and not kind.__module__.startswith("gymnasium."):
                return True
        if env is getattr(env, "unwrapped", env):
            return False
        env = env.env


