"""How optimal behaviour changes with the attitude to risk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from . import _native
from ._checks import MOST_STATES, MOST_THREADS, Floats, Ints, array, choice, optional_count
from .evaluation import Distribution, exact_distribution
from .problem import Problem, native_of
from .risks import Cvar, Erm, Risk, Worst, spec_of
from .solving import solve

__all__ = ["Change", "Frontier", "frontier"]

# Those with one number.
MEASURES = {kind._name: kind for kind in Risk.__subclasses__() if len(fields(kind)) == 1}


@dataclass(frozen=True)
class Change:
    """One optimal behaviour takes over from another."""

    before: int
    after: int
    level: float | None
    """The level, β for erm, from which on the later one is better; None if it is only known to lie between two levels."""
    next_level: float
    """The first of the frontier's levels that is not before the change."""


@dataclass(frozen=True, repr=False, eq=False)
class Frontier:
    """What :func:`frontier` found: arrays with one entry for each level, and the behaviours behind them."""

    problem: Problem
    measure: str
    levels: Floats
    risk: Floats
    """The lowest possible risk at each level."""
    behaviour: Ints
    """The number of a behaviour that has it."""
    laws: list[Distribution]
    """The law of the cost of each behaviour."""
    visits: list[Floats]
    """The expected number of steps at each pair, for each behaviour."""
    changes: list[Change]
    complete: bool
    """Whether every change between levels of erm is located."""

    @property
    def mean(self) -> Floats:
        """The expected cost of optimal behaviour at each level."""
        return self.of(Erm(0.0))

    @property
    def cvar(self) -> Floats:
        """The mean of its worst 5 %."""
        return self.of(Cvar(0.95))

    @property
    def worst(self) -> Floats:
        """Its largest possible cost."""
        return self.of(Worst())

    def of(self, risk: Risk) -> Floats:
        """Any risk measure of optimal behaviour at each level."""
        return np.array([law.risk(risk) for law in self.laws])[self.behaviour]

    def plot(self, axes: Any = None) -> Any:
        """Mean, CVaR and worst cost over the level, on matplotlib axes, which are returned.

        They step at the changes, which are dotted lines, and at the next level where a change is not located.
        """
        if axes is None:
            from matplotlib import pyplot

            axes = pyplot.subplots()[1]
        changes = [change.level for change in self.changes if change.level is not None and np.isfinite(change.level)]
        places, linear, ticks = _places(self.levels, np.array(changes))
        steps, played = self._steps(places)
        for name, risk, shade in (("worst", Worst(), "0.75"), ("CVaR 0.95", Cvar(0.95), "0.45"), ("mean", Erm(0.0), "0")):
            values = np.array([law.risk(risk) for law in self.laws])
            axes.plot(steps, values[played], drawstyle="steps-post", color=shade, label=name)
        axes.plot(places, self.risk, color="tab:blue", linestyle="--", label=f"{self.measure}, minimised")
        for level in changes:
            axes.axvline(level, color="tab:blue", linestyle=":", linewidth=0.8)
        if self.measure == "erm":
            axes.set_xscale("symlog", linthresh=linear)
            axes.set_xticks(list(ticks), labels=list(ticks.values()))
            axes.minorticks_off()
        axes.set_xlim(places.min(), places.max())
        axes.set_xlabel({"beta": "β"}.get(MEASURES[self.measure]._swept, MEASURES[self.measure]._swept))
        axes.set_ylabel("cost f(d)")
        axes.set_title(f"{self.problem.name}: optimal behaviour by attitude to risk")
        axes.legend(frameon=False)
        return axes

    def _steps(self, places: Floats) -> tuple[Floats, Ints]:
        """Where behaviour changes or a level is, ascending, and which behaviour is optimal from there on."""
        steps = []
        for number, place in enumerate(places.tolist()):
            if number > 0:
                located = [
                    (float(np.clip(change.level, places[number - 1], place)), change.after)
                    for change in self.changes
                    if change.next_level == self.levels[number] and change.level is not None
                ]
                steps += sorted(located, key=lambda step: step[0])
            steps.append((place, int(self.behaviour[number])))
        return np.array([place for place, _ in steps]), np.array([behaviour for _, behaviour in steps], dtype=np.int64)

    def __len__(self) -> int:
        return len(self.levels)

    def __repr__(self) -> str:
        return f"Frontier({len(self)} levels of {self.measure}, {len(self.laws)} behaviours, {len(self.changes)} changes)"


def frontier(
    problem: Problem,
    risk: str = "erm",
    levels: Sequence[float] | None = None,
    *,
    max_states: int | None = None,
    threads: int | None = None,
) -> Frontier:
    """Optimal behaviour for many attitudes to risk, and where it changes. Everything is exact.

    Parameters
    ----------
    problem : Problem
    risk : str
        The measure whose number is swept: "erm" (its β), or the name of another with one number, such as "cvar".
    levels : sequence of float, optional
        At least two, sorted here; by default 0 to 0.99, or β from 0 over three decades around one over the spread of the cost
        to infinity, or costs from the best to the worst case.
    max_states, threads
        As for :func:`solve`.

    Raises
    ------
    TooLarge
        If the problem cannot be solved exactly.

    Examples
    --------
    >>> import gumdp
    >>> found = gumdp.frontier(gumdp.tasks["rooms"], levels=[0, 1, 10, 100])
    >>> found.levels.tolist()
    [0.0, 1.0, 10.0, 100.0]
    >>> bool((found.mean <= found.risk + 1e-9).all()), bool((found.worst[1:] <= found.worst[:-1] + 1e-9).all())
    (True, True)
    """
    native = native_of(problem)
    choice("risk", risk, list(MEASURES))
    limit = optional_count("max_states", max_states, 1, MOST_STATES)
    workers = optional_count("threads", threads, 1, MOST_THREADS)
    swept = np.unique(_usual(problem, risk, limit, workers) if levels is None else array("levels", levels).ravel())
    if swept.size < 2:
        raise ValueError(f"levels holds {swept.size} different levels; at least two are needed")
    measures = [spec_of(f"{risk}:{level!r}") for level in swept.tolist()]
    points, behaviours, changes, complete = _native.frontier(native, measures, limit, workers)
    return Frontier(
        problem,
        risk,
        swept,
        np.array([value for value, _ in points]),
        np.array([number for _, number in points], dtype=np.int64),
        [Distribution(values, probabilities) for values, probabilities, _ in behaviours],
        [visits for _, _, visits in behaviours],
        [Change(before, after, level, float(swept[point])) for before, after, level, point in changes],
        complete,
    )


def _usual(problem: Problem, risk: str, limit: int | None, threads: int | None) -> Floats:
    if MEASURES[risk]._swept == "level":
        return np.append(np.arange(20) / 20, 0.99)
    if MEASURES[risk]._swept == "cost":
        best, worst = (solve(problem, end, max_states=limit, threads=threads).value for end in ("best", "worst"))
        return np.linspace(best, worst, 21)
    neutral = exact_distribution(problem, solve(problem, 0.0, max_states=limit, threads=threads), max_states=limit)
    spread = float(neutral.values[-1] - neutral.values[0]) or 1.0
    return np.concatenate([[0.0], np.geomspace(0.1, 1000.0, 48) / spread, [np.inf]])


def _places(levels: Floats, changes: Floats) -> tuple[Floats, float, dict[float, str]]:
    """Where levels are drawn, infinite ones beside the others; where the scale begins to be logarithmic; ticks apart."""
    known = np.append(levels, changes)
    sizes = np.abs(known[np.isfinite(known) & (known != 0)])
    low, high = (float(sizes.min()), float(sizes.max())) if sizes.size else (1.0, 1.0)
    edge = 10 * high
    places = np.clip(levels, -edge, edge)

    def on_axis(level: float) -> float:
        return float(np.sign(level) * (1 + np.log10(abs(level) / low))) if level else 0.0

    apart = 0.1 * (on_axis(places[-1]) - on_axis(places[0]))
    ticks = {sign * edge: name for sign, name in ((1, "∞"), (-1, "−∞")) if sign * np.inf in levels}
    powers = 10.0 ** np.arange(np.ceil(np.log10(low) - 1e-9), np.floor(np.log10(high) + 1e-9) + 1)
    for tick in (0.0, *(sign * float(power) for power in powers for sign in (1, -1))):
        free = all(abs(on_axis(tick) - on_axis(other)) >= apart for other in ticks)
        if places[0] <= tick <= places[-1] and free:
            ticks[tick] = f"{tick:g}"
    return places, low, ticks
