"""Objectives that are not put together of parts: any function of Python, and those of tasks and files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _native
from ._checks import Floats, number
from ._objective import Objective
from .model import Model

__all__ = ["Function"]


@dataclass(frozen=True, repr=False, eq=False)
class Function(Objective):
    """Any Python function f(d) of the occupancy. ``Problem(model, f)`` is enough where no bounds are needed.

    It is slower than all others by far, because Python is asked for each value, and exact solvers see every state-action pair. If
    it raises, that exception arrives where planning, solving or playing was asked for.

    Parameters
    ----------
    f : callable
        Gets d as a read-only array of shape (S, A) that sums to 1, and returns a finite float. Planners also ask about the
        occupancy of an episode that is under way, scaled up to 1. It may be called from several threads, one at a time.
    bounds : (float, float), optional
        No value is lower or higher; one that is raises a ValueError.

    >>> import numpy as np, gumdp
    >>> model = gumdp.Model([np.eye(2), np.eye(2)[::-1]])
    >>> def uneven(d):
    ...     return abs(d[0].sum() - d[1].sum())
    >>> problem = gumdp.Problem(model, uneven, discount=1.0, horizon=4)
    >>> gumdp.solve(problem).value
    0.0
    """

    f: Callable[[Floats], float]
    bounds: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.f):
            raise TypeError(f"the objective is {self.f!r}; it must be a function")
        low, high = self._range()
        if not low <= high:
            raise ValueError(f"bounds is {self.bounds!r}; the first must not be higher than the second")

    def _range(self) -> tuple[float, float]:
        if self.bounds is None:
            return -np.inf, np.inf
        try:
            low, high = self.bounds
        except (TypeError, ValueError):
            raise TypeError(f"bounds is {self.bounds!r}; it must be two numbers") from None
        return number("bounds[0]", low), number("bounds[1]", high)

    def build(self, model: Model) -> _native.Objective:
        """The objective for one model."""
        return _native.Objective.function(model._native, self.f, *self._range())

    def __repr__(self) -> str:
        name = getattr(self.f, "__name__", repr(self.f))
        return f"Function({name}{'' if self.bounds is None else f', bounds={self.bounds}'})"


@dataclass(frozen=True, repr=False, eq=False)
class Given(Objective):
    """The objective of a task or a file, which is for its own model only."""

    _is_sum = True

    problem: _native.Problem

    def build(self, model: Model) -> _native.Objective:
        """The objective, if the model has as many pairs."""
        return self.problem.objective()

    def _key(self) -> Any:
        return Given, self.problem.source()

    def __reduce__(self) -> Any:
        return _given_again, self.problem.source()

    def __repr__(self) -> str:
        return str(self.problem.objective())


def _given_again(file: str, text: str) -> Given:
    """The objective that was pickled."""
    return Given(_native.Problem.parse(file, text))
