"""Simulators that step many states at once, as rows of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._checks import Floats, shown

__all__ = ["Batches", "has_batches"]


def has_batches(simulator: Any) -> bool:
    """Whether it steps many states at once."""
    return callable(getattr(simulator, "step_batch", None))


class Batches:
    """Turns states into rows of bytes and back, and looks at what ``step_batch`` returns.

    States are arrays of the shape and type of the first one; all have its actions.
    """

    def __init__(self, simulator: Any, features: int) -> None:
        self._simulator, self._features = simulator, features
        first = simulator.initial(np.random.default_rng(0))
        example = np.asarray(first)
        if example.dtype.kind not in "biuf" or example.size == 0:
            raise TypeError(f"initial returned {shown(first)}; where there is a step_batch a state must be numbers")
        self._type, self._shape = example.dtype, example.shape
        self.actions = list(simulator.actions(first))
        if not self.actions:
            raise ValueError(f"actions({shown(first)}) is empty; there must be an action")
        try:
            self._choices = np.array(self.actions)
        except ValueError:
            self._choices = np.empty(len(self.actions), dtype=object)
            self._choices[:] = self.actions

    def row(self, state: Any) -> bytes:
        """The bytes of a state."""
        given = np.asarray(state)
        if given.shape != self._shape or not np.can_cast(given.dtype, self._type, "same_kind"):
            raise ValueError(f"state is {shown(state)}; it must have the shape {self._shape} and the type {self._type} of that of initial()")
        return given.astype(self._type).tobytes()

    def action(self, number: int) -> Any:
        """An action, as the simulator gave it."""
        return self.actions[number]

    def step(
        self, rows: npt.NDArray[np.uint8], numbers: npt.NDArray[np.int64], rng: np.random.Generator
    ) -> tuple[npt.NDArray[np.uint8], Floats, npt.NDArray[np.bool_]]:
        """Steps of states in rows, by numbers of actions."""
        states = rows.view(self._type).reshape(numbers.size, *self._shape)
        returned = self._simulator.step_batch(states, self._choices[numbers], rng)
        if not (isinstance(returned, tuple) and len(returned) == 3):
            raise TypeError(f"step_batch returned {shown(returned)}; it must be a tuple (next_states, features, done)")
        reached, features, over = map(np.asarray, returned)
        for name, given, shape, kind in (
            ("next states", reached, states.shape, self._type),
            ("features", features, (numbers.size, self._features), np.dtype(np.float64)),
            ("ends", over, numbers.shape, np.dtype(np.bool_)),
        ):
            if given.shape != shape or not np.can_cast(given.dtype, kind, "same_kind"):
                has = f"the shape {given.shape} and the type {given.dtype}"
                raise ValueError(f"the {name} that step_batch returned have {has}; they must have {shape} and {kind}")
        read = np.ascontiguousarray(features, dtype=np.float64)
        if not np.isfinite(read).all():
            raise ValueError("features that step_batch returned are not finite")
        bytes_of = np.ascontiguousarray(reached, dtype=self._type).reshape(-1).view(np.uint8)
        return bytes_of, read, np.ascontiguousarray(over, dtype=np.bool_)
