"""Checks of what users pass: the native half gets numbers and arrays of the right kind."""

from __future__ import annotations

import copy
import operator
import os
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MOST_RUNS = 1_000_000_000
MOST_SIMULATIONS = 1_000_000_000
MOST_STATES = 2**64 - 1
MOST_THREADS = 1024
HIGHEST_SEED = 2**64 - 1


def shown(value: Any) -> str:
    """A value in a message, which may be an array of thousands of numbers."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:79]}…"


def count(name: str, value: Any, low: int, high: int) -> int:
    """A whole number in [low, high]."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {shown(value)}; it must be a whole number in [{low}, {high}]") from None
    if not low <= number <= high:
        raise ValueError(f"{name} is {number}; it must be a whole number in [{low}, {high}]")
    return number


def optional_count(name: str, value: Any, low: int, high: int) -> int | None:
    """A whole number in [low, high], or nothing."""
    return None if value is None else count(name, value, low, high)


def number(name: str, value: Any) -> float:
    """A real number; text is none."""
    if isinstance(value, (str, bytes, bool, np.bool_)):
        raise TypeError(f"{name} is {value!r}; it must be a number")
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {shown(value)}; it must be a number") from None


def path_of(path: Any) -> str | os.PathLike[str]:
    """The path of a file."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path is {path!r}; it must be the path of a file")
    return path


def choice(name: str, value: Any, allowed: Sequence[str]) -> str:
    """One of a few words."""
    listed = " or ".join([", ".join(map(repr, allowed[:-1])), repr(allowed[-1])])
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}; it must be {listed}")
    if value not in allowed:
        raise ValueError(f"{name} is {value!r}; it must be {listed}")
    return value


def are_many(value: Any) -> bool:
    """Whether it is a collection; text is none."""
    return not isinstance(value, (str, bytes)) and bool(np.iterable(value))


def numbers(name: str, value: Any) -> Floats:
    """An array of finite numbers, at least one."""
    if not are_many(value):
        raise TypeError(f"{name} is {value!r}; it must be an array of numbers")
    given = array(name, value)
    if not given.size:
        raise ValueError(f"{name} is empty; there must be a number")
    if not np.isfinite(given).all():
        raise ValueError(f"{name} has the number {given[~np.isfinite(given)][0]}; all must be finite")
    return given


def array(name: str, value: Any) -> Floats:
    """An array of real numbers, C-contiguous; copied only if it is not one yet."""
    try:
        raw = np.asarray(value)
    except ValueError:
        raise ValueError(f"{name} is no array of numbers: its parts have different lengths or shapes") from None
    if raw.dtype.kind not in "biuf":
        raise TypeError(f"{name} has elements of type {raw.dtype}; they must be real numbers")
    return np.ascontiguousarray(raw, dtype=np.float64)


def budget(simulations: Any, time_limit: Any) -> tuple[int | None, float | None]:
    """Simulations and seconds for a decision, as somebody gave them."""
    seconds = None if time_limit is None else number("time_limit", time_limit)
    return optional_count("simulations", simulations, 1, MOST_SIMULATIONS), seconds


def own(value: Any) -> Any:
    """The same numbers, which nobody else can change."""
    if hasattr(value, "__array__") and not isinstance(value, np.generic):
        return fixed(np.array(value))
    if isinstance(value, Mapping):
        return dict(value)
    return copy.deepcopy(value) if isinstance(value, (list, tuple)) else value


def key(value: Any) -> Hashable:
    """The same for the same numbers, however they were given."""
    if isinstance(value, Mapping):
        return frozenset((name, key(part)) for name, part in value.items())
    if isinstance(value, (list, tuple, np.ndarray)):
        try:
            raw = np.asarray(value)
        except ValueError:
            raw = np.empty(0, dtype=object)
        if raw.dtype.kind in "biuf" and raw.size:
            # Zeros may have signs.
            return raw.shape, (raw.astype(np.float64) + 0.0).tobytes()
        return tuple(key(part) for part in value)
    hashable: Hashable = value
    return hashable


def fixed(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """An array that cannot be changed any more."""
    values.setflags(write=False)
    return values
