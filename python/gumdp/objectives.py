"""Objectives: functions f(d) of the occupancy d, to be minimised.

They are small values that know no model yet. They print well and compose: ``0.5 * Linear(c) + Entropy()``. Two that were given
the same numbers are equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._checks import Floats, are_many, array, choice, number, numbers
from ._objective import Objective, Sum  # noqa: F401  (pickles of older versions look for Sum here)
from .model import Model

__all__ = ["Coverage", "Entropy", "Imitation", "Linear", "MultiObjective", "Objective"]


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

    def _given(self, model: Model) -> tuple[str, dict[str, Any]]:
        return "linear", {"cost": model.vector(self.costs, "costs")}

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

    def _given(self, model: Model) -> tuple[str, dict[str, Any]]:
        return "entropy", {"over": _cells(model, self.over), "epsilon": number("epsilon", self.epsilon)}

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

    def _given(self, model: Model) -> tuple[str, dict[str, Any]]:
        target = array("target", self.target)
        if _is("pairs", self.over) and target.ndim == 2:
            target = model.vector(target, "target")
        if target.ndim != 1:
            raise ValueError(f"target has shape {target.shape}; it must be one number for each cell")
        kind = self.distance if self.distance == "kl" else f"{self.distance}-distance"
        return kind, {"over": _cells(model, self.over), "target": target, "epsilon": number("epsilon", self.epsilon)}

    def __repr__(self) -> str:
        smoothing = f", epsilon={self.epsilon!r}" if self.epsilon else ""
        return f"Imitation({_short(self.target)}, distance={self.distance!r}, over={_short(self.over)}{smoothing})"


@dataclass(frozen=True, repr=False, eq=False)
class Coverage(Objective):
    """Minus the weighted share of groups of states that are visited at least once, for patrols and inspection tours.

    Parameters
    ----------
    groups : "states" or sequence
        Each state, or some groups: each a state, or a list of states that count as one. Groups do not overlap.
    weights : sequence of float, optional
        What each group counts; 1 each by default.
    smooth : float, optional
        τ > 0: a group counts by 1 − exp(−y/τ), where y is its occupancy, so that time spent there counts too.

    >>> import numpy as np
    >>> Coverage([0, [1, 2]], weights=[1, 3]).value(Model([np.eye(4)]), [0.0, 0.25, 0.25, 0.5])
    -0.75
    """

    groups: Any = "states"
    weights: Any = None
    smooth: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.groups, (str, Mapping)) or not are_many(self.groups):
            if not _is("states", self.groups):
                raise TypeError(f'groups is {self.groups!r}; it must be "states" or a list of states and lists of states')
        elif not len(self.groups) or any(are_many(group) and not len(group) for group in self.groups):
            raise ValueError(f"groups is {_short(self.groups)}; there must be a state in each of at least one group")
        if self.weights is not None:
            weights = numbers("weights", self.weights)
            if weights.ndim != 1 or weights.min() < 0 or not weights.max():
                raise ValueError(f"weights is {_short(self.weights)}; it must be numbers that are not negative, not all of them 0")
            if not _is("states", self.groups) and len(weights) != len(self.groups):
                raise ValueError(f"weights has {len(weights)} numbers; there must be one for each of {len(self.groups)} groups")
        if self.smooth is not None and not 0 < number("smooth", self.smooth) < np.inf:
            raise ValueError(f"smooth is {self.smooth}; it must be finite and positive")

    def _given(self, model: Model) -> tuple[str, dict[str, Any]]:
        given: dict[str, Any] = {"over": "states"}
        count = len(model.states)
        if not _is("states", self.groups):
            groups = [group if are_many(group) else [group] for group in self.groups]
            seen = np.array([model.vector(dict.fromkeys(group, 1.0), "groups") > 0 for group in groups])
            if seen.sum(axis=0).max() > 1:
                raise ValueError(f"groups is {_short(self.groups)}; groups must not overlap")
            # All other states are one cell more, which does not count.
            count = len(groups)
            given["over"] = np.where(seen.any(axis=0), seen.argmax(axis=0), count).tolist()
        weights = np.ones(count) if self.weights is None else numbers("weights", self.weights)
        others = not isinstance(given["over"], str) and max(given["over"]) == count
        given["weights"] = np.append(weights, 0.0) if others else weights
        return "coverage", given if self.smooth is None else {**given, "smooth": number("smooth", self.smooth)}

    def __repr__(self) -> str:
        given = {"weights": self.weights, "smooth": self.smooth}
        parts = [_short(self.groups)] + [f"{name}={_short(part)}" for name, part in given.items() if part is not None]
        return f"Coverage({', '.join(parts)})"


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

    def _given(self, model: Model) -> tuple[str, dict[str, Any]]:
        given: dict[str, Any] = {"costs": [vector(model, f"costs[{k}]", cost) for k, cost in enumerate(self.costs)]}
        for name, value in (("weights", self.weights), ("powers", self.powers)):
            if value is not None or self.combine == "power":
                given[name] = np.ones(len(self.costs)) if value is None else numbers(name, value)
        return {"sum": "weighted-sum", "power": "signed-power"}.get(self.combine, self.combine), given

    def __repr__(self) -> str:
        given = {"combine": repr(self.combine), "weights": self.weights, "powers": self.powers}
        parts = [f"{name}={part if name == 'combine' else _short(part)}" for name, part in given.items() if part is not None]
        costs = ", ".join(map(_short, self.costs))
        return f"MultiObjective([{costs}], {', '.join(parts)})"


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


def _cells(model: Model, over: Any) -> str | list[int]:
    if isinstance(over, str):
        return over
    cells = np.asarray(over)
    states = len(model.states)
    if cells.dtype.kind not in "iu" or cells.shape != (states,) or (cells.size and cells.min() < 0):
        raise ValueError(f'over must be "states", "pairs", or one cell number for each of the {states} states')
    if cells.size and cells.max() >= 2**31:
        raise ValueError("cell numbers must be below 2147483648")
    return [int(cell) for cell in np.unique(cells, return_inverse=True)[1].ravel()[model.pair_states]]


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.size > 8:
        return f"<array of shape {value.shape}>"
    if isinstance(value, np.ndarray):
        return repr(value.tolist())
    if isinstance(value, (list, tuple, dict)) and len(value) > 8:
        return f"<{len(value)} numbers>"
    return repr(value)
