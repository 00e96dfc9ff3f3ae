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
MOST_TRIALS = 1_000_000_000
MOST_SIMULATIONS = 1_000_000_000
MOST_STATES = 2**64 - 1
MOST_THREADS = 1024
HIGHEST_SEED = 2**64 - 1
MOST_SECONDS = 86_400

# What a float can be.
FLOATS = "[-1.8e308, 1.8e308]"


def shown(value: Any) -> str:
    """A value in a message, which may be an array of thousands of numbers."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:
        # Python writes no number of more than some thousand digits.
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 80 else f"{text[:79]}…"


def digits(value: float) -> str:
    """A number in as few digits as say it exactly."""
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)


def count(name: str, value: Any, low: int, high: int) -> int:
    """A whole number in [low, high]."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {shown(value)}; it must be a whole number in [{low}, {high}]") from None
    if not low <= number <= high:
        raise ValueError(f"{name} is {shown(number)}; it must be a whole number in [{low}, {high}]")
    return number


def optional_count(name: str, value: Any, low: int, high: int) -> int | None:
    """A whole number in [low, high], or nothing."""
    return None if value is None else count(name, value, low, high)


def trials_of(value: Any) -> int | None:
    """A number of trials; None if there are infinitely many."""
    if isinstance(value, (float, np.floating)) and value == np.inf:
        return None
    try:
        return count("trials", value, 1, MOST_TRIALS)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{error}, or inf") from None


def number(name: str, value: Any, allowed: str = FLOATS) -> float:
    """A real number; text is none. What is `allowed` is said of numbers that no float can be."""
    if isinstance(value, (str, bytes, bool, np.bool_)):
        raise TypeError(f"{name} is {value!r}; it must be a number")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} is {shown(value)}; it must lie in {allowed}") from None
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {shown(value)}; it must be a number") from None


def discount_of(value: Any) -> float:
    """A discount γ."""
    gamma = number("the discount", value, "(0, 1]")
    if not 0 < gamma <= 1:
        raise ValueError(f"the discount is {digits(gamma)}; it must lie in (0, 1]")
    return gamma


def is_text(value: str) -> bool:
    """Whether text can leave Python; half of a surrogate pair cannot."""
    return not any("\ud800" <= letter <= "\udfff" for letter in value)


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
    if any(np.ma.is_masked(part) for part in (value, *_masked_parts(value))):
        raise ValueError(_masked(name))
    try:
        raw = np.asarray(value)
    except ValueError:
        raise ValueError(f"{name} is no array of numbers: its parts have different lengths or shapes") from None
    try:
        raw = _floats(raw)
    except OverflowError:
        raise ValueError(f"{name} has a number that is too large; all must lie in {FLOATS}") from None
    if raw.dtype.kind not in "biuf":
        raise TypeError(f"{name} has elements of type {raw.dtype}; they must be real numbers")
    return np.ascontiguousarray(raw, dtype=np.float64)


def _floats(raw: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same, as floats if it has whole numbers that NumPy has no type for."""
    if raw.dtype.kind == "O" and all(isinstance(part, (int, float, np.number)) for part in raw.flat):
        return raw.astype(np.float64)
    return raw


def _masked(name: str) -> str:
    return f"{name} has masked numbers; fill them first, such as with {name}.filled(0)"


def _masked_parts(value: Any) -> list[Any]:
    return [part for part in value if isinstance(part, np.ma.MaskedArray)] if isinstance(value, (list, tuple)) else []


def budget(simulations: Any, time_limit: Any) -> tuple[int | None, float | None]:
    """Simulations and seconds for a decision, as somebody gave them."""
    allowed = f"(0, {MOST_SECONDS}] seconds"
    seconds = None if time_limit is None else number("time_limit", time_limit, allowed)
    if seconds is not None and not 0 < seconds <= MOST_SECONDS:
        raise ValueError(f"time_limit is {digits(seconds)}; it must lie in {allowed}")
    return optional_count("simulations", simulations, 1, MOST_SIMULATIONS), seconds


def own(name: str, value: Any) -> Any:
    """The same numbers, which nobody else can change."""
    if np.ma.is_masked(value):
        raise ValueError(_masked(name))
    if hasattr(value, "__array__") and not isinstance(value, np.generic):
        return fixed(np.array(value))
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (list, tuple)):
        return copy.deepcopy(value)
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        # Such as a range.
        return copy.deepcopy(list(value))
    return value


def key(value: Any) -> Hashable:
    """The same for the same numbers, however they were given."""
    if isinstance(value, Mapping):
        return frozenset((name, key(part)) for name, part in value.items())
    if isinstance(value, (list, tuple, np.ndarray)):
        try:
            raw = _floats(np.asarray(value))
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
