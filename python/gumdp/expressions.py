"""Objectives that are arithmetic expressions of others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from . import _native
from ._checks import is_text
from ._objective import Objective, Sum, objective_of
from .model import Model
from .objectives import Linear, MultiObjective, check_costs, vector

__all__ = ["Expression"]

# A name in an expression that is not called.
NAME = re.compile(r"(?<![\w.])[^\W\d]\w*(?!\w|\s*\()")


@dataclass(frozen=True, repr=False, eq=False)
class Expression(Objective):
    """Any arithmetic expression of named objectives: linear ones, entropies, distances, sums of them, other expressions.

    There are ``+ - * / ^``, parentheses, abs, exp, ln, sqrt, min and max. Functions of Python can be added and multiplied by numbers
    only; for more, write one function of all, in which ``objective.value(model, d)`` gives the values of the others.

    Parameters
    ----------
    text : str
        The expression.
    **inputs : Objective or array_like
        What its names stand for; costs stand for ``Linear(costs)``.

    >>> import numpy as np
    >>> f = Expression("sqrt(fuel) + 2*max(0, risk - 0.1)", fuel=[1.0, 0.0], risk=[0.0, 1.0])
    >>> f
    Expression('sqrt(fuel) + 2*max(0, risk - 0.1)', fuel=Linear([1.0, 0.0]), risk=Linear([0.0, 1.0]))
    >>> f.value(Model([np.eye(2)]), [0.25, 0.75])
    1.8
    """

    text: str
    inputs: Mapping[str, Objective] = field(default_factory=dict)
    """What its names stand for; it cannot be changed."""

    def __init__(self, text: str, **inputs: Any) -> None:
        if not isinstance(text, str):
            raise TypeError(f"the expression is {text!r}; it must be text")
        named: dict[str, Objective] = {}
        for name, part in inputs.items():
            objective = objective_of(part)
            if objective is None:
                check_costs(name, part)
                objective = Linear(part)
            named[name] = objective
        _check(text, list(named))
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "inputs", MappingProxyType(named))

    def __reduce__(self) -> Any:
        return _expression_again, (self.text, dict(self.inputs))

    def build(self, model: Model) -> _native.Objective:
        """The objective for one model."""
        leaves: dict[str, Objective] = {}
        text = _with(self.text, {name: _spelled(model, part, name, leaves) for name, part in self.inputs.items()})
        try:
            return _native.Objective.formula(text, [(name, leaf.build(model)) for name, leaf in leaves.items()])
        except ValueError as error:
            if "must be linear" not in str(error):
                # Places are those of the text with its parts in it.
                raise ValueError(f"{error} (in {text!r})" if text != self.text else str(error)) from None
            hint = "write one function of all, in which objective.value(model, d) gives the values of the others"
            raise ValueError(f"{error} (hint: {hint})") from None

    def __repr__(self) -> str:
        return f"Expression({', '.join([repr(self.text)] + [f'{name}={part!r}' for name, part in self.inputs.items()])})"


def _check(text: str, names: list[str]) -> None:
    """Refuses text that no model makes an expression of: its parts are then replaced only where its own names are."""
    for name in names:
        if NAME.fullmatch(name) is None:
            raise ValueError(f"{name!r} is no name for an input; a name has letters, digits and underscores")
    if not is_text(text):
        raise ValueError(f"the expression is {text!r}; it has characters that are no text")
    # A function may stand for any input. It is never called: expressions take functions only as summands.
    model = Model(np.ones((1, 1, 1)))._native
    anything = _native.Objective.function(model, lambda d: 0.0, -np.inf, np.inf)
    try:
        _native.Objective.formula(text, [(name, anything) for name in names])
    except ValueError as error:
        if "unknown name" in str(error):
            known = ", ".join(names) if names else "none"
            raise ValueError(f"{error}; the names of its inputs: {known}") from None
        if "must be linear" not in str(error):
            raise ValueError(str(error)) from None


def _spelled(model: Model, part: Objective, name: str, leaves: dict[str, Objective]) -> str:
    """An objective as text over inputs that the native half takes; they are added to `leaves`."""
    if isinstance(part, Expression):
        inner = {own: _spelled(model, other, f"{name}_{own}", leaves) for own, other in part.inputs.items()}
        return f"({_with(part.text, inner)})"
    if isinstance(part, Sum) and len(part.terms) > 1 and not part.build(model).is_linear():
        terms = (f"({weight!r}) * {_spelled(model, term, f'{name}_{k}', leaves)}" for k, (weight, term) in enumerate(part.terms))
        return f"({' + '.join(terms)} + ({part.constant!r}))"
    if isinstance(part, MultiObjective) and part.combine in ("maximum", "minimum"):
        parts = (Linear(vector(model, f"costs[{k}]", cost)) for k, cost in enumerate(part.costs))
        return f"{part.combine[:3]}({', '.join(_spelled(model, own, f'{name}_{k}', leaves) for k, own in enumerate(parts))})"
    while name in leaves:
        name += "_"
    leaves[name] = part
    return name


def _with(text: str, replacements: Mapping[str, str]) -> str:
    return NAME.sub(lambda name: replacements.get(name[0], name[0]), text)


def _expression_again(text: str, inputs: dict[str, Objective]) -> Expression:
    """The expression that was pickled."""
    return Expression(text, **inputs)
