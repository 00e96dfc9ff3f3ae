"""Rewards whose expectation is a risk measure, for agents that learn from rewards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ._checks import Floats, array, number
from .risks import Erm, RiskLike, Var, spec_of

__all__ = ["Reward"]

# Entropic measures that have names of their own.
ENTROPIC = {"mean": "erm:0", "worst": "erm:inf", "best": "erm:-inf"}

# Beyond this an exponential would leave the range of numbers; nobody learns from rewards of 1e217 anyway.
STEEPEST = 500.0
# Values of β that are tried for an entropic value at risk, in units of one over the spread of costs.
ATTITUDES = np.geomspace(1e-3, 1e3, 61)
REFINEMENTS = 4


class Reward:
    """Minus what an episode counts for. The lowest expectation over the outer variable is the measure, for β < 0 the highest; for ``Var`` the expectation is
    the probability of a cost above x, which the best x makes at most 1 − level.

    ========================  ==============================================  ==========
    measure                   an episode of cost c counts for                 outer
    ========================  ==============================================  ==========
    mean                      c                                               none
    ``Erm(beta)``             λ + (exp(β(c − λ)) − 1)/β                       λ
    ``Cvar(level)``           λ + max(c − λ, 0)/(1 − level)                   λ
    ``MeanCvar(level, w)``    (1 − w)·c + w·(the same)                        λ
    ``Evar(level)``           λ + (exp(β(c − λ)) − 1)/β − ln(1 − level)/β     (β, λ)
    ``Exceed(threshold)``     1 if c > threshold, else 0                      none
    ``Var(level)``            1 if c > x, else 0                              x
    ========================  ==============================================  ==========
    """

    def __init__(self, risk: RiskLike | None, outer: Any, costs: Callable[[], Floats]) -> None:
        self.spec = spec_of(0.0 if risk is None else risk)
        self._kind, *numbers = ENTROPIC.get(self.spec, self.spec).split(":")
        self._numbers = [float(text) for text in numbers]
        if self._kind == "erm" and not np.isfinite(self._numbers[0]):
            raise ValueError(f"risk is {self.spec}; the best and the worst case are no expectations, take a finite β")
        if self._kind != "erm" and self._kind != "exceed" and self._numbers[0] >= 1:
            raise ValueError(f"risk is {self.spec}; the worst case is no expectation, take a level below 1")
        if self._count() and outer is None:
            self.outer = self.fitted(costs())
        else:
            self.outer = self._checked(outer)

    def _count(self) -> int:
        """How many outer variables there are."""
        if self._kind == "erm":
            return int(self._numbers[0] != 0)
        return {"exceed": 0, "evar": 2}.get(self._kind, 1)

    def _checked(self, outer: Any) -> tuple[float, ...]:
        if outer is None:
            given: Sequence[Any] = ()
        else:
            given = outer if isinstance(outer, (tuple, list)) else (outer,)
        if len(given) != self._count():
            raise ValueError(f"outer is {outer!r}; {self.spec} has {self._count()} outer variables")
        values = tuple(number("outer", value) for value in given)
        if not np.all(np.isfinite(values)) or (self._kind == "evar" and values[0] <= 0):
            raise ValueError(f"outer is {outer!r}; it must be finite, and β above 0")
        return values

    def fitted(self, costs: Any) -> tuple[float, ...]:
        """The best outer variable for costs that are equally likely."""
        values = array("costs", costs).ravel()
        if values.size == 0:
            raise ValueError("costs is empty; there must be a cost")
        if self._count() == 0:
            return ()
        if self._kind == "erm":
            return (Erm(self._numbers[0]).of(values),)
        if self._kind != "evar":
            return (Var(self._numbers[0]).of(values),)
        spread = float(values.max() - values.min()) or 1.0
        price = -np.log1p(-self._numbers[0])
        tried = ATTITUDES / spread
        for _ in range(REFINEMENTS):
            best = min(range(len(tried)), key=lambda k: Erm(float(tried[k])).of(values) + price / tried[k])
            tried = np.geomspace(tried[max(best - 1, 0)], tried[min(best + 1, len(tried) - 1)], 31)
        beta = float(tried[len(tried) // 2])
        return beta, Erm(beta).of(values)

    def of(self, costs: Any) -> Any:
        """The rewards of episodes with these costs."""
        costs = np.asarray(costs, dtype=float)
        if self._kind == "erm" and self._numbers[0] == 0:
            return -costs
        if self._kind == "erm":
            return -entropic(costs, self._numbers[0], self.outer[0])
        if self._kind == "evar":
            beta, centre = self.outer
            return -(entropic(costs, beta, centre) - np.log1p(-self._numbers[0]) / beta)
        if self._kind in ("exceed", "var"):
            return -np.where(costs > (self._numbers if self._kind == "exceed" else self.outer)[0], 1.0, 0.0)
        tail = self.outer[0] + np.maximum(costs - self.outer[0], 0.0) / (1.0 - self._numbers[0])
        weight = self._numbers[1] if self._kind == "mean-cvar" else 1.0
        return -((1.0 - weight) * costs + weight * tail)


def entropic(costs: Any, beta: float, centre: float) -> Any:
    """What costs count for: centre + (exp(β(c − centre)) − 1)/β."""
    return centre + np.expm1(np.minimum(beta * (costs - centre), STEEPEST)) / beta
