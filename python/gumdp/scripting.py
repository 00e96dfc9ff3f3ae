"""A generator of random numbers whose draws are all gone through, one after the other, with their exact probabilities.

What can be listed is listed: whole numbers, choices, coins. A number drawn evenly from an interval is not one of finitely many; it can
be compared with others, which divides the interval in two. All other use of it, and draws such as ``normal()``, raise `Unscriptable`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from ._checks import Floats

__all__ = ["Script", "Unscriptable", "outcomes"]

Result = TypeVar("Result")
NUMBER = "{name}() is used as a number, not only compared with others: it has outcomes that cannot be listed"


class Unscriptable(ValueError):
    """A draw has outcomes that cannot be listed."""


def outcomes(play: Callable[[Script], Result], limit: int) -> Iterator[tuple[Fraction, Result]]:
    """All results of something that draws random numbers, with their probabilities.

    >>> for probability, result in outcomes(lambda rng: (int(rng.integers(2)), rng.random() < 0.25), 10):
    ...     print(probability, result)
    1/8 (0, True)
    3/8 (0, False)
    1/8 (1, True)
    3/8 (1, False)
    """
    turns: list[tuple[int, Sequence[Fraction]]] = []
    for _ in range(limit):
        script = Script(turns, limit)
        try:
            result = play(script)
        except TypeError as error:
            if "'Draw'" not in str(error):
                raise
            raise Unscriptable(NUMBER.format(name="random() or uniform")) from None
        yield script.check(result)
        while turns:
            taken, chances = turns.pop()
            later = next((k for k in range(taken + 1, len(chances)) if chances[k]), None)
            if later is not None:
                turns.append((later, chances))
                break
        else:
            return
    raise Unscriptable(TOO_MANY.format(limit=limit))


TOO_MANY = "a single step or a beginning has more than {limit} outcomes"
FRESH = np.random.PCG64(0).state


class Script(np.random.Generator):
    """Draws what it was told to, and then the first of all possibilities."""

    def __init__(self, turns: list[tuple[int, Sequence[Fraction]]], limit: int) -> None:
        super().__init__(np.random.PCG64(0))
        self.turns, self.limit = turns, limit
        self.position, self.probability = 0, Fraction(1)
        self.refused: Unscriptable | None = None

    def check(self, result: Result) -> tuple[Fraction, Result]:
        """The probability of what was drawn. Somebody may have caught the error that says it cannot be told."""
        if self.refused is None and self.is_moved():
            self.refuse("somebody draws from the bits of the generator, which cannot be listed")
        if self.refused is not None:
            raise self.refused
        return self.probability, result

    def is_moved(self) -> bool:
        """Whether somebody drew from its bits without asking it."""
        return bool(self.bit_generator.state != FRESH)

    def refuse(self, message: str) -> Unscriptable:
        """The error that says why; it stays true even if somebody catches it."""
        self.refused = Unscriptable(message)
        return self.refused

    def branch(self, chances: Sequence[Fraction]) -> int:
        """One of several possibilities."""
        if self.position == len(self.turns):
            self.turns.append((next(k for k, chance in enumerate(chances) if chance), chances))
        taken, known = self.turns[self.position]
        if len(known) != len(chances):
            raise self.refuse("the same draws do not lead to the same draws again; something else is drawn from, or remembered")
        self.position += 1
        self.probability *= chances[taken]
        return taken

    def one_of(self, count: int) -> int:
        """One of several possibilities that are equally likely."""
        if self.position < len(self.turns) and len(self.turns[self.position][1]) == count:
            return self.branch(self.turns[self.position][1])
        if count > self.limit:
            raise self.refuse(TOO_MANY.format(limit=self.limit))
        return self.branch([Fraction(1, count)] * count)

    def _many(self, size: Any, draw: Callable[[], Any], kind: Any) -> Any:
        if size is None:
            return draw()
        shape = tuple(size) if np.iterable(size) else (int(size),)
        drawn = np.empty(shape, dtype=kind)
        for place in np.ndindex(*shape):
            drawn[place] = draw()
        return drawn

    def integers(self, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: bool = False) -> Any:
        """A whole number."""
        if np.ndim(low) or np.ndim(high):
            raise self.refuse("integers() of arrays of bounds cannot be listed")
        first, last = (0, int(low)) if high is None else (int(low), int(high))
        last = last if endpoint else last - 1
        if first > last:
            raise ValueError("low >= high")
        kind = np.dtype(dtype)
        return self._many(size, lambda: kind.type(first + self.one_of(last - first + 1)), kind)

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """A number in [0, 1)."""
        if out is not None:
            raise self.refuse("random(out=...) cannot be listed")
        return self.uniform(0.0, 1.0, size, name="random")

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None, name: str = "uniform") -> Any:
        """A number in [low, high)."""
        if np.ndim(low) or np.ndim(high):
            lows, highs = np.broadcast_arrays(low, high)
            drawn = np.empty(lows.shape, dtype=object)
            for place in np.ndindex(*lows.shape):
                drawn[place] = self.uniform(lows[place], highs[place], name=name)
            return drawn
        start, width = Fraction(float(low)), Fraction(float(high)) - Fraction(float(low))
        return self._many(size, lambda: Draw(Interval(self, name), width, start), object)

    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True) -> Any:
        """One or several of some."""
        of = None if np.ndim(a) == 0 else np.asarray(a)
        count = int(a) if of is None else of.shape[axis]
        if count > self.limit:
            raise self.refuse(TOO_MANY.format(limit=self.limit))
        if p is not None and np.any(np.asarray(p) < 0):
            raise ValueError("probabilities are negative")
        if p is not None and (np.shape(p) != (count,) or abs(math.fsum(p) - 1) > 1e-8):
            raise ValueError("probabilities do not sum to 1 or are not as many as there are to choose from")
        chances = [Fraction(1, count)] * count if p is None else [Fraction(float(part)) for part in p]
        total = sum(chances)
        chances = [chance / total for chance in chances]
        many = 1 if size is None else math.prod(tuple(size) if np.iterable(size) else (int(size),))
        if of is not None and of.ndim == 1 and replace:
            # Equal ones are one.
            same: dict[Any, int] = {}
            for k, value in enumerate(of.tolist() if of.dtype.kind in "biufUS" else range(count)):
                first = same.setdefault(value, k)
                if first != k:
                    chances[first], chances[k] = chances[first] + chances[k], Fraction(0)
        taken: list[int] = []
        for _ in range(many):
            left = chances
            if not replace:
                rest = 1 - sum(chances[k] for k in taken)
                if not rest:
                    raise ValueError("cannot take a larger sample than there are possibilities")
                left = [Fraction(0) if k in taken else chance / rest for k, chance in enumerate(chances)]
            taken.append(self.branch(left))
        if size is None:
            return np.int64(taken[0]) if of is None else (of[taken[0]] if of.ndim == 1 else np.take(of, taken[0], axis))
        places = np.array(taken, dtype=np.int64).reshape(size)
        return places if of is None else np.take(of, places, axis)

    def permutation(self, x: Any, axis: int = 0) -> Any:
        """All orders of some."""
        of = np.arange(int(x)) if np.ndim(x) == 0 else np.array(x)
        return np.take(of, self._order(of.shape[axis]), axis)

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """All orders of some, in place."""
        if isinstance(x, np.ndarray):
            x[...] = np.take(x, self._order(x.shape[axis]), axis)
        else:
            x[:] = [x[k] for k in self._order(len(x))]

    def _order(self, count: int) -> list[int]:
        left = list(range(count))
        return [left.pop(self.one_of(len(left))) for _ in range(count)]

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        """The number of successes in n attempts."""
        if np.ndim(n) or np.ndim(p):
            raise self.refuse("binomial() of arrays cannot be listed")
        count, chance = int(n), Fraction(float(p))
        if count >= self.limit:
            raise self.refuse(TOO_MANY.format(limit=self.limit))
        chances = [math.comb(count, k) * chance**k * (1 - chance) ** (count - k) for k in range(count + 1)]
        return self._many(size, lambda: np.int64(self.branch(chances)), np.int64)


def _refusal(name: str) -> Any:
    def refuse(self: Script, *args: Any, **kwargs: Any) -> Any:
        raise self.refuse(f"{name}() has outcomes that cannot be listed")

    return refuse


for _name in dir(np.random.Generator):
    if not _name.startswith("_") and _name not in vars(Script) and callable(getattr(np.random.Generator, _name)):
        setattr(Script, _name, _refusal(_name))


class Interval:
    """Where a number between 0 and 1 may still be."""

    __slots__ = ("high", "low", "name", "script")

    def __init__(self, script: Script, name: str) -> None:
        self.script, self.name = script, name
        self.low, self.high = Fraction(0), Fraction(1)

    def is_below(self, threshold: Fraction) -> bool:
        """Whether it is lower; from then on it is, or is not."""
        if threshold <= self.low or threshold >= self.high:
            return threshold >= self.high
        chance = (threshold - self.low) / (self.high - self.low)
        below = self.script.branch([chance, 1 - chance]) == 0
        if below:
            self.high = threshold
        else:
            self.low = threshold
        return below

    def used(self) -> Unscriptable:
        return self.script.refuse(NUMBER.format(name=self.name))


class Draw:
    """A number from an interval, times a factor, and moved. Only comparisons tell something of it."""

    __slots__ = ("factor", "interval", "start")
    # NumPy leaves operators to this class.
    __array_ufunc__ = None

    def __init__(self, interval: Interval, factor: Fraction, start: Fraction) -> None:
        self.interval, self.factor, self.start = interval, factor, start

    def is_below(self, other: Any) -> Any:
        """Whether it is below a number, or each of an array of numbers."""
        if np.ndim(other):
            given: Floats = np.asarray(other)
            below = [bool(self.is_below(part)) for part in given.flat]
            return np.array(below, dtype=bool).reshape(given.shape)
        bound = self._exact(other)
        if isinstance(bound, float):
            return bound > 0
        if not self.factor:
            return self.start < bound
        threshold = (bound - self.start) / self.factor
        return self.interval.is_below(threshold) if self.factor > 0 else not self.interval.is_below(threshold)

    def _exact(self, other: Any) -> Fraction | float:
        """The number; ±infinity and what is no number stay what they are."""
        if not isinstance(other, (int, float, np.number, np.bool_, Fraction)) or isinstance(other, complex):
            raise self.interval.used()
        if isinstance(other, Fraction):
            return other
        if isinstance(other, (int, np.integer, np.bool_)):
            return Fraction(int(other))
        number = float(other)
        if math.isnan(number):
            raise self.interval.used()
        return Fraction(number) if math.isfinite(number) else number

    def __lt__(self, other: Any) -> Any:
        return self.is_below(other)

    __le__ = __lt__

    def __gt__(self, other: Any) -> Any:
        below = self.is_below(other)
        return ~below if isinstance(below, np.ndarray) else not below

    __ge__ = __gt__

    def _moved(self, factor: Any, start: Any) -> Draw:
        by, to = self._exact(factor), self._exact(start)
        if isinstance(by, float) or isinstance(to, float):
            raise self.interval.used()
        return Draw(self.interval, self.factor * by, self.start * by + to)

    def __add__(self, other: Any) -> Any:
        return self._moved(1, other) if not np.ndim(other) else _each(other, self.__add__)

    __radd__ = __add__

    def __mul__(self, other: Any) -> Any:
        return self._moved(other, 0) if not np.ndim(other) else _each(other, self.__mul__)

    __rmul__ = __mul__

    def __neg__(self) -> Draw:
        return self._moved(-1, 0)

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __truediv__(self, other: Any) -> Any:
        exact = self._exact(other)
        if isinstance(exact, float):
            raise self.interval.used()
        return self._moved(1 / exact, 0)

    def __floor__(self) -> int:
        ends = sorted((self.start + self.factor * self.interval.low, self.start + self.factor * self.interval.high))
        whole = math.floor(ends[0])
        # Numbers are drawn below 1, so the end itself is not reached.
        while whole + 1 < ends[1] and not self.is_below(whole + 1):
            whole += 1
        return whole

    def __int__(self) -> int:
        whole = math.floor(self)
        return whole if whole >= 0 else -math.floor(-self)

    __trunc__ = __int__

    def refuse(self, *_: Any, **__: Any) -> Any:
        """Raises what says that the number itself cannot be told."""
        raise self.interval.used()

    __float__ = __bool__ = __eq__ = __ne__ = __hash__ = __index__ = __round__ = __complex__ = refuse
    __pow__ = __rpow__ = __rtruediv__ = __mod__ = __rmod__ = __floordiv__ = __abs__ = __reduce_ex__ = __array__ = refuse


def _each(values: Any, operation: Callable[[Any], Any]) -> Any:
    given = np.asarray(values)
    results = np.empty(given.shape, dtype=object)
    for place in np.ndindex(*given.shape):
        results[place] = operation(given[place])
    return results
