"""What all objectives have in common, and sums of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Union

import numpy as np

from . import _native
from ._checks import Floats, array, digits, key, number, own
from .model import Model


class Objective:
    """A function of the occupancy. Objectives can be added, and added to, multiplied and divided by numbers.

    A function f(d) may be a summand: ``Entropy() + f``. Python itself knows no ``2 * f``; write ``2 * Function(f)``.
    """

    # Whether its text may be a sum.
    _is_sum = False

    def __post_init__(self) -> None:
        # Whoever made the objective may change the arrays later.
        for part in fields(self):  # type: ignore[arg-type]
            object.__setattr__(self, part.name, own(part.name, getattr(self, part.name)))

    def __reduce__(self) -> Any:
        return type(self), tuple(getattr(self, part.name) for part in fields(self))  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Objective) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> Any:
        """What makes it the objective it is."""
        return type(self), *(key(getattr(self, part.name)) for part in fields(self))  # type: ignore[arg-type]

    def _given(self, model: Model) -> tuple[str, dict[str, Any]]:
        """Its kind and fields, as the library lists them, for one model."""
        raise NotImplementedError

    def build(self, model: Model) -> _native.Objective:
        """The objective for one model."""
        return _native.Objective.of_kind(model._native, *self._given(model))

    def value(self, model: Model, occupancy: Any) -> float:
        """f(d) at an occupancy over the pairs of a model, or over its states and actions.

        >>> import numpy as np
        >>> from gumdp import Linear, Model
        >>> Linear([0.0, 1.0]).value(Model([np.eye(2)]), [0.25, 0.75])
        0.75
        """
        return self.build(model).value(_occupancy(model, occupancy))

    def gradient(self, model: Model, occupancy: Any) -> Floats | None:
        """The gradient of f over pairs; None where a slope is infinite.

        >>> import numpy as np
        >>> from gumdp import Linear, Model
        >>> Linear([0.0, 1.0]).gradient(Model([np.eye(2)]), [0.25, 0.75]).tolist()
        [0.0, 1.0]
        """
        return self.build(model).gradient(_occupancy(model, occupancy))

    def _terms(self) -> tuple[tuple[tuple[float, Objective], ...], float]:
        return ((1.0, self),), 0.0

    def __add__(self, other: Summand) -> Sum:
        terms, constant = self._terms()
        more, shift = _summand(other)
        return Sum(terms + more, constant + shift)

    def __radd__(self, other: Summand) -> Sum:
        terms, constant = self._terms()
        more, shift = _summand(other)
        return Sum(more + terms, shift + constant)

    def __mul__(self, weight: float) -> Sum:
        if isinstance(weight, Objective) or callable(weight):
            raise TypeError('objectives cannot be multiplied with each other; write Expression("a * b", a=..., b=...)')
        factor = number("the weight", weight)
        if not np.isfinite(factor):
            raise ValueError(f"the weight is {factor}; it must be finite")
        terms, constant = self._terms()
        return Sum(tuple((factor * own, term) for own, term in terms), factor * constant)

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> Sum:
        if isinstance(divisor, Objective) or callable(divisor):
            raise TypeError('objectives cannot be divided by each other; write Expression("a / b", a=..., b=...)')
        by = number("the divisor", divisor)
        if by == 0:
            raise ZeroDivisionError("the divisor is 0; it must not be")
        if not np.isfinite(by):
            raise ValueError(f"the divisor is {by}; it must be finite")
        terms, constant = self._terms()
        return Sum(tuple((weight / by, term) for weight, term in terms), constant / by)

    def __neg__(self) -> Sum:
        return self * -1.0

    def __sub__(self, other: Summand) -> Sum:
        terms, constant = _summand(other)
        return self + Sum(tuple((-weight, term) for weight, term in terms), -constant)

    def __rsub__(self, other: Summand) -> Sum:
        return other + -self


# What can be added to an objective.
Summand = Union[Objective, Callable[[Floats], float], float]


def objective_of(given: Any) -> Objective | None:
    """An objective, or one that a function stands for. A class such as Entropy can be called too, but Entropy() is meant."""
    if isinstance(given, Objective):
        return given
    if callable(given) and not isinstance(given, type):
        from .functions import Function

        return Function(given)
    return None


def _summand(given: Any) -> tuple[tuple[tuple[float, Objective], ...], float]:
    objective = objective_of(given)
    if objective is not None:
        return objective._terms()
    try:
        constant = number("the summand", given)
    except TypeError:
        raise TypeError(f"an objective, a function or a number can be added to an objective, not {given!r}") from None
    if not np.isfinite(constant):
        raise ValueError(f"the summand is {constant}; it must be finite")
    return (), constant


@dataclass(frozen=True, repr=False, eq=False)
class Sum(Objective):
    """A weighted sum of objectives and a constant; what ``0.5 * a + b`` gives.

    >>> from gumdp import Entropy, Linear
    >>> 0.5 * Linear({"away": 1}) + Entropy() - 2
    0.5*Linear({'away': 1}) + Entropy() - 2
    """

    terms: tuple[tuple[float, Objective], ...]
    constant: float = 0.0

    def __post_init__(self) -> None:
        # Finite numbers may have a sum or a product that is not. Nothing in it can be changed.
        for what, value in (*(("a weight", weight) for weight, _ in self.terms), ("the constant", self.constant)):
            if not np.isfinite(value):
                raise ValueError(f"{what} of the sum is {value}; it must be finite")

    def build(self, model: Model) -> _native.Objective:
        """The sum for one model."""
        built = [term.build(model).scaled(weight) for weight, term in self.terms]
        total = built[0]
        for part in built[1:]:
            total = total.plus(part)
        return total.shifted(self.constant)

    def _terms(self) -> tuple[tuple[tuple[float, Objective], ...], float]:
        return self.terms, self.constant

    def __repr__(self) -> str:
        text = ""
        for weight, term in self.terms:
            sign = ("-" if weight < 0 else "") if not text else (" - " if weight < 0 else " + ")
            shown = f"({term!r})" if term._is_sum else repr(term)
            text += sign + (shown if abs(weight) == 1 else f"{digits(abs(weight))}*{shown}")
        if self.constant:
            text += f" {'-' if self.constant < 0 else '+'} {digits(abs(self.constant))}"
        return text


def _occupancy(model: Model, occupancy: Any) -> Floats:
    given = array("occupancy", occupancy)
    if not (np.isfinite(given).all() and (given >= 0).all()):
        raise ValueError("an occupancy has masses that are negative or not finite")
    return model.vector(given, "occupancy") if given.ndim == 2 else given
