"""Attitudes to risk: what is minimised of the random cost f(d)."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Union

import numpy as np

from . import _native
from ._checks import HIGHEST_SEED, array, count, is_text, number, shown

__all__ = ["Cvar", "Erm", "Evar", "Exceed", "Mean", "MeanCvar", "Risk", "Var", "Worst"]


@dataclass(frozen=True)
class Risk:
    """A risk measure: :class:`Erm`, :class:`Cvar` and the other classes of this module."""

    _name: ClassVar[str]

    def __post_init__(self) -> None:
        if type(self) is Risk:
            raise TypeError("Risk stands for any measure; use Erm, Cvar or another of its classes")
        # Reading it checks it.
        _ = self.spec

    @property
    def spec(self) -> str:
        """The measure as the command line writes it.

        >>> Cvar(0.95).spec
        'cvar:0.95'
        """
        numbers = [repr(number(own.name, getattr(self, own.name))) for own in fields(self)]
        return _spec(":".join([self._name, *numbers]))

    def of(self, costs: Any, weights: Any = None) -> float:
        """The measure of costs, equally likely or with weights.

        Parameters
        ----------
        costs : array_like
            The costs.
        weights : array_like, optional
            Their weights, which need not sum to 1.

        >>> Cvar(0.75).of([1.0, 2.0, 3.0, 9.0])
        9.0
        """
        values = array("costs", costs).ravel()
        given = np.ones_like(values) if weights is None else array("weights", weights).ravel()
        if given.shape != values.shape:
            raise ValueError(f"{given.size} weights are given for {values.size} costs")
        return _native.risk_of(self.spec, values, given)

    def interval(self, costs: Any, bounds: tuple[float, float] | None = None, *, seed: int = 0) -> tuple[float, float]:
        """The 95 % interval of the measure, of costs that were sampled.

        It allows for costs within the bounds that were not met, as :meth:`Samples.summary` does. Without bounds it knows of no cost but those
        that were met, which is too narrow for few costs and for strong aversion to risk.

        Parameters
        ----------
        costs : array_like
            The costs, equally likely.
        bounds : tuple of float, optional
            The lowest and the highest cost that there can be.
        seed : int
            Of the random distributions behind the interval.

        >>> low, high = Erm(0).interval([0.0] * 100, bounds=(0, 1))
        >>> low == 0 and 0.03 < high < 0.045
        True
        """
        values = array("costs", costs).ravel()
        low, high = (-np.inf, np.inf) if bounds is None else (number("a bound", bound) for bound in bounds)
        if not low <= high:
            raise ValueError(f"bounds is {shown(bounds)}; the lower bound must not be above the higher one")
        # Costs are rounded.
        slack = 1e-9 * (1 + np.abs(values).max(initial=0.0))
        if values.size and not (low - slack <= values.min() and values.max() <= high + slack):
            raise ValueError(f"bounds is {shown(bounds)}; there are costs from {values.min():g} to {values.max():g}")
        _, *ends = _native.interval(values, self.spec, (low, high), count("seed", seed, 0, HIGHEST_SEED))
        return ends[0], ends[1]


@dataclass(frozen=True)
class Erm(Risk):
    """Entropic risk measure (1/β) ln E exp(β f): 0 is the mean, infinity the worst case, negative seeks risk.

    >>> Erm(5)
    Erm(beta=5)
    >>> Erm(0).of([1.0, 2.0])
    1.5
    """

    _name = "erm"
    beta: float


@dataclass(frozen=True)
class Cvar(Risk):
    """Conditional value at risk: the mean of the worst share 1 − level of the outcomes.

    >>> Cvar(95)
    Traceback (most recent call last):
    ...
    ValueError: cvar:95.0: level is 95, but must lie in [0, 1]
    """

    _name = "cvar"
    level: float


@dataclass(frozen=True)
class Evar(Risk):
    """Entropic value at risk at a level.

    >>> Evar(0.5).of([0.0, 1.0]) >= Cvar(0.5).of([0.0, 1.0])
    True
    """

    _name = "evar"
    level: float


@dataclass(frozen=True)
class MeanCvar(Risk):
    """(1 − weight)·mean + weight·CVaR.

    >>> MeanCvar(0.5, weight=0.5).of([0.0, 1.0])
    0.75
    """

    _name = "mean-cvar"
    level: float
    weight: float


@dataclass(frozen=True)
class Exceed(Risk):
    """The probability of a cost above a threshold: P(f > threshold), for chance constraints.

    >>> Exceed(2).of([1.0, 2.0, 3.0, 9.0])
    0.5
    >>> import gumdp
    >>> solution = gumdp.solve(gumdp.tasks["rooms"], Exceed(0.5))
    >>> bool(abs(gumdp.exact_distribution(gumdp.tasks["rooms"], solution).risk(Exceed(0.5)) - solution.value) < 1e-12)
    True
    """

    _name = "exceed"
    threshold: float


@dataclass(frozen=True)
class Var(Risk):
    """Value at risk: the least cost that is not exceeded with probability level, a quantile.

    >>> Var(0.5).of([4.0, 1.0, 3.0, 2.0])
    2.0
    >>> import gumdp
    >>> solution = gumdp.solve(gumdp.tasks["rooms"], Var(0.9))
    >>> bool(gumdp.exact_distribution(gumdp.tasks["rooms"], solution).risk(Var(0.9)) == solution.value)
    True
    """

    _name = "var"
    level: float


def Mean() -> Erm:
    """The expected cost: ``Erm(0)``.

    >>> Mean()
    Erm(beta=0.0)
    """
    return Erm(0.0)


def Worst() -> Erm:
    """The largest possible cost: ``Erm(inf)``.

    >>> Worst().of([1.0, 7.0])
    7.0
    """
    return Erm(float("inf"))


RiskLike = Union[Risk, float, str]


# Rust writes all digits of a number, which may be hundreds.
LONG = re.compile(r"\d+(?:\.\d+)?")


def _spec(text: str) -> str:
    """A measure as the command line writes it, with exponents where numbers are long."""

    def written(digits: re.Match[str]) -> str:
        return digits[0] if len(digits[0]) <= 24 else repr(float(digits[0]))

    if not is_text(text):
        raise ValueError(f'risk is {text!r}; it must be text such as "cvar:0.95"')
    try:
        return LONG.sub(written, _native.risk(text))
    except ValueError as error:
        raise ValueError(LONG.sub(written, str(error))) from None


def spec_of(risk: RiskLike) -> str:
    """A measure as text: of a :class:`Risk`, of β, or of text such as ``"cvar:0.95"``.

    >>> spec_of(5), spec_of("cvar:0.95")
    ('erm:5', 'cvar:0.95')
    """
    if isinstance(risk, Risk):
        return risk.spec
    if isinstance(risk, str):
        return _spec(risk)
    try:
        return Erm(number("risk", risk)).spec
    except TypeError:
        raise TypeError(f'risk is {risk!r}; it must be a measure such as Cvar(0.95), a β, or text such as "cvar:0.95"') from None
