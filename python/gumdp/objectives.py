"""Objectives: functions f(d) of the occupancy d, to be minimised.

They are small values that know no model yet. They print well and compose: ``0.5 * Linear(c) + Entropy()``. Two that were given
the same numbers are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Union

import numpy as np

from . import _native
from ._checks import Floats, are_many, array, choice, digits, key, number, numbers, own
from .model import Model

__all__ = ["Entropy", "Imitation", "Linear", "MultiObjective", "Objective", "Sum"]


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

    def build(self, model: Model) -> _native.Objective:
        """The objective for one model."""
        raise NotImplementedError

    def value(self, model: Model, occupancy: Any) -> float:
        """f(d) at an occupancy over the pairs of a model, or over its states and actions.

        >>> import numpy as np
        >>> Linear([0.0, 1.0]).value(Model([np.eye(2)]), [0.25, 0.75])
        0.75
        """
        return self.build(model).value(_occupancy(model, occupancy))

    def gradient(self, model: Model, occupancy: Any) -> Floats | None:
        """The gradient of f over pairs; None where a slope is infinite.

        >>> import numpy as np
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
        """The objective for one model."""
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


@dataclass(frozen=True, repr=False, eq=False)
class Linear(Objective):
    """Expected cost c·d.

    Parameters
    ----------
    costs : array_like or mapping
        One cost for each state, (state, action) or pair, or a mapping of states to costs.

    >>> Linear([0.0, 1.0])
    Linear([0.0, 1.0])
    """

    costs: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        check_costs("costs", self.costs)

    def build(self, model: Model) -> _native.Objective:
        """The objective for one model."""
        return _native.Objective.linear(model.vector(self.costs, "costs"))

    def __repr__(self) -> str:
        return f"Linear({_short(self.costs)})"


@dataclass(frozen=True, repr=False, eq=False)
class Entropy(Objective):
    """Negative entropy Σ y ln y of the time spent in each state: minimising it explores evenly.

    Parameters
    ----------
    over : {"states", "pairs"} or array_like of int
        What is counted together: each state, each state-action pair, or states with the same cell number.
    epsilon : float
        Smoothing: y = (1 − εn)·x + ε·m for a cell of m of all n pairs. 0 is none; then f has no Lipschitz constant.

    >>> import numpy as np
    >>> round(Entropy().value(Model([np.eye(2)]), [0.5, 0.5]), 6)
    -0.693147
    """

    over: Any = "states"
    epsilon: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_cells(self.over)
        _check_epsilon(self.epsilon)

    def build(self, model: Model) -> _native.Objective:
        """The objective for one model."""
        over, cells = _cells(model, self.over)
        return _native.Objective.entropy(model._native, over, cells, number("epsilon", self.epsilon))

    def __repr__(self) -> str:
        parts = [] if _is("states", self.over) else [f"over={_short(self.over)}"]
        return f"Entropy({', '.join(parts + ([f'epsilon={self.epsilon!r}'] if self.epsilon else []))})"


@dataclass(frozen=True, repr=False, eq=False)
class Imitation(Objective):
    """Distance to a target occupancy.

    Parameters
    ----------
    target : array_like
        One number for each cell that `over` counts: of shape (S,) for states, (pairs,) or (S, A) for pairs.
    distance : {"squared", "absolute", "kl"}
        Σ (x − τ)², Σ |x − τ|, or Σ y ln(y/τ'), where y and τ' are x and τ smoothed by `epsilon`.
    over : {"pairs", "states"} or array_like of int
        What is counted together.
    epsilon : float
        Smoothing of both, for "kl": y = (1 − εn)·x + ε·m and τ' = (1 − εn)·τ + ε·m for a cell of m of all n pairs.

    >>> import numpy as np
    >>> Imitation([1.0, 0.0], over="states").value(Model([np.eye(2)]), [0.5, 0.5])
    0.5
    """

    target: Any
    distance: str = "squared"
    over: Any = "pairs"
    epsilon: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if numbers("target", self.target).ndim > 2:
            raise ValueError(f"target has {np.ndim(self.target)} dimensions; it must have one or two")
        choice("distance", self.distance, ("squared", "absolute", "kl"))
        _check_cells(self.over)
        _check_epsilon(self.epsilon)

    def build(self, model: Model) -> _native.Objective:
        """The objective for one model."""
        over, cells = _cells(model, self.over)
        target = array("target", self.target)
        if over == "pairs" and cells is None and target.ndim == 2:
            target = model.vector(target, "target")
        if target.ndim != 1:
            raise ValueError(f"target has shape {target.shape}; it must be one number for each cell")
        return _native.Objective.distance(
            model._native, self.distance, over, cells, target, number("epsilon", self.epsilon)
        )

    def __repr__(self) -> str:
        smoothing = f", epsilon={self.epsilon!r}" if self.epsilon else ""
        return f"Imitation({_short(self.target)}, distance={self.distance!r}, over={_short(self.over)}{smoothing})"


@dataclass(frozen=True, repr=False, eq=False)
class MultiObjective(Objective):
    """Several costs c_i·d at once.

    Parameters
    ----------
    costs : sequence of Linear, array_like or mapping
        Each as in :class:`Linear`; sums of linear objectives too.
    combine : {"maximum", "minimum", "sum", "power"}
        The largest, the smallest, Σ w_i z_i, or Σ w_i sign(z_i)|z_i|^p_i.
    weights, powers : sequence of float, optional
        1 each by default. Weights are for "sum" and "power", powers for "power".

    >>> import numpy as np
    >>> MultiObjective([[1.0, 0.0], [0.0, 1.0]]).value(Model([np.eye(2)]), [0.25, 0.75])
    0.75
    """

    costs: Any
    combine: str = "maximum"
    weights: Any = None
    powers: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        choice("combine", self.combine, ("maximum", "minimum", "sum", "power"))
        if isinstance(self.costs, (Mapping, Objective)) or not are_many(self.costs):
            raise TypeError(f"costs is {self.costs!r}; it must be a list of costs, such as [Linear(c), Linear(d)]")
        object.__setattr__(self, "costs", self.costs if isinstance(self.costs, np.ndarray) else tuple(self.costs))
        if not len(self.costs):
            raise ValueError("costs is empty; there must be a cost")
        for place, costs in enumerate(self.costs):
            if not isinstance(costs, Objective):
                check_costs(f"costs[{place}]", costs)
        if self.weights is not None and self.combine not in ("sum", "power"):
            raise ValueError(f'weights are for combine="sum" and "power", not {self.combine!r}; multiply the costs instead')
        if self.powers is not None and self.combine != "power":
            raise ValueError(f'powers are for combine="power", not {self.combine!r}')
        for name, given in (("weights", self.weights), ("powers", self.powers)):
            if given is not None and numbers(name, given).shape != (len(self.costs),):
                raise ValueError(f"{name} has shape {np.shape(given)}; there must be a number for each of {len(self.costs)} costs")

    def build(self, model: Model) -> _native.Objective:
        """The objective for one model."""
        costs = [vector(model, f"costs[{k}]", cost) for k, cost in enumerate(self.costs)]
        ones = [1.0] * len(costs)
        weights = ones if self.weights is None else numbers("weights", self.weights).tolist()
        powers = ones if self.powers is None else numbers("powers", self.powers).tolist()
        return _native.Objective.several(self.combine, costs, weights, powers)

    def __repr__(self) -> str:
        given = {"combine": repr(self.combine), "weights": self.weights, "powers": self.powers}
        parts = [f"{name}={part if name == 'combine' else _short(part)}" for name, part in given.items() if part is not None]
        costs = ", ".join(map(_short, self.costs))
        return f"MultiObjective([{costs}], {', '.join(parts)})"


def _occupancy(model: Model, occupancy: Any) -> Floats:
    given = array("occupancy", occupancy)
    if not (np.isfinite(given).all() and (given >= 0).all()):
        raise ValueError("an occupancy has masses that are negative or not finite")
    return model.vector(given, "occupancy") if given.ndim == 2 else given


def vector(model: Model, name: str, costs: Any) -> Floats:
    """Costs over pairs, of numbers or of a linear objective."""
    if not isinstance(costs, Objective):
        return model.vector(costs, name)
    built = costs.build(model)
    slope = built.gradient(np.zeros(model.pair_count)) if built.is_linear() else None
    if slope is None:
        raise ValueError(f'{name} is {costs!r}; it must be linear; write Expression("max(a, b)", a=..., b=...) for others')
    # An occupancy sums to 1.
    return slope + built.value(np.zeros(model.pair_count))


def check_costs(name: str, costs: Any) -> None:
    if isinstance(costs, Mapping):
        for state, cost in costs.items():
            if isinstance(state, (bool, np.bool_)) or not isinstance(state, (str, int, np.integer)):
                raise TypeError(f"{name} names state {state!r}; a state is a name or a number")
            if not np.isfinite(number(f"{name}[{state!r}]", cost)):
                raise ValueError(f"{name}[{state!r}] is {cost}; it must be finite")
    elif not are_many(costs):
        raise TypeError(f"{name} is {costs!r}; it must be costs by state, (state, action) or pair, or a mapping of states to costs")
    elif numbers(name, costs).ndim > 2:
        raise ValueError(f"{name} has {np.ndim(costs)} dimensions; it must have one or two")


def _check_cells(over: Any) -> None:
    allowed = '"states", "pairs", or one cell number for each state'
    if isinstance(over, str):
        if over not in ("states", "pairs"):
            raise ValueError(f"over is {over!r}; it must be {allowed}")
    elif not are_many(over) or np.ndim(over) != 1 or np.asarray(over).dtype.kind not in "iu":
        raise TypeError(f"over is {over!r}; it must be {allowed}")
    elif np.size(over) and np.min(over) < 0:
        raise ValueError(f"over has the cell {np.min(over)}; cell numbers must not be negative")


def _check_epsilon(epsilon: Any) -> None:
    if not 0 <= number("epsilon", epsilon) <= 1:
        raise ValueError(f"epsilon is {epsilon}; it must lie in [0, 1/n], where n is the number of pairs")


def _is(word: str, over: Any) -> bool:
    return isinstance(over, str) and over == word


def _cells(model: Model, over: Any) -> tuple[str, list[int] | None]:
    if isinstance(over, str):
        return over, None
    cells = np.asarray(over)
    states = len(model.states)
    if cells.dtype.kind not in "iu" or cells.shape != (states,) or (cells.size and cells.min() < 0):
        raise ValueError(f'over must be "states", "pairs", or one cell number for each of the {states} states')
    if cells.size and cells.max() >= 2**31:
        raise ValueError("cell numbers must be below 2147483648")
    return "cells", [int(cell) for cell in np.unique(cells, return_inverse=True)[1].ravel()[model.pair_states]]


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.size > 8:
        return f"<array of shape {value.shape}>"
    if isinstance(value, np.ndarray):
        return repr(value.tolist())
    if isinstance(value, (list, tuple, dict)) and len(value) > 8:
        return f"<{len(value)} numbers>"
    return repr(value)
