"""How behaviour changes with the attitude to risk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _native
from ._checks import (
    HIGHEST_SEED,
    MOST_RUNS,
    MOST_SECONDS,
    MOST_SIMULATIONS,
    MOST_STATES,
    MOST_THREADS,
    Floats,
    Ints,
    array,
    choice,
    count,
    digits,
    number,
    optional_count,
)
from .evaluation import Distribution
from .problem import Problem, native_of
from .risks import Cvar, Erm, Risk, Worst

__all__ = ["Bargain", "Change", "Frontier", "Sampled", "frontier"]


@dataclass(frozen=True)
class Bargain:
    """The behaviour that saves most in the worst 5 % for what it costs in the mean, of those that save a tenth of what can be saved."""

    behaviour: int
    neutral: int
    """The behaviour of lowest mean, with which it is compared."""
    paid: float
    """By how much its mean is higher."""
    saved: float
    """By how much the mean of its worst 5 % is lower."""


@dataclass(frozen=True)
class Change:
    """One behaviour takes over from another."""

    before: int
    after: int
    level: float | None
    """The level, β for erm, from which on the later one is better; None if it is only known to lie between two levels."""
    next_level: float
    """The first of the frontier's levels that is not before the change."""


@dataclass(frozen=True, repr=False, eq=False)
class Sampled:
    """How a frontier was sampled: all levels met common random numbers."""

    runs: int
    """Episodes at each level."""
    simulations: int | None
    """Simulations for each decision; None if the optimum played, which could be solved, while its distribution was too large."""
    because: str
    """Why it is not exact."""
    mean: Floats
    """The 95 % interval of the expected cost at each level, of shape (levels, 2)."""
    cvar: Floats
    """The same of the mean of the worst 5 %."""

    def __repr__(self) -> str:
        who = "optimum" if self.simulations is None else f"{self.simulations} simulations"
        return f"Sampled({self.runs} runs, {who}, {self.because!r})"


@dataclass(frozen=True, repr=False, eq=False)
class Frontier:
    """What :func:`frontier` found: arrays with one entry for each level, and the behaviours behind them."""

    problem: Problem
    measure: str
    levels: Floats
    level_name: str
    """What a level is: "beta", "level" or "threshold"."""
    risk: Floats
    """The lowest possible risk at each level, or that of the planner's runs."""
    low: Floats
    """The risk is not lower: certainly, or with 95 % confidence if it is sampled."""
    high: Floats
    """It is not higher."""
    behaviour: Ints
    """The number of a behaviour that has it."""
    distributions: list[Distribution]
    """The distribution of the cost of each behaviour."""
    visits: list[Floats]
    """The expected number of steps at each pair, for each behaviour."""
    changes: list[Change]
    """Where behaviour changes; of runs, where the 99 % interval of a paired difference excludes 0."""
    complete: bool
    """Whether every change between levels is located; if not, more `patience` may locate more."""
    sampled: Sampled | None = None
    """How it was sampled; None if it is exact."""
    bargain: Bargain | None = None
    """The best bargain; None if no level lowers the mean of the worst 5 %, and of runs, which differ by chance."""
    features: dict[str, Floats] = field(default_factory=dict)
    """What is expected at each level of each cost with a name of the problem file: `[objective.features]`, costs of an import."""
    shares: dict[str, Floats] = field(default_factory=dict)
    """The share of episodes with some of each of them, at each level; NaN where it is negative somewhere."""

    @property
    def mean(self) -> Floats:
        """The expected cost at each level."""
        return self.of(Erm(0.0))

    @property
    def cvar(self) -> Floats:
        """The mean of the worst 5 %."""
        return self.of(Cvar(0.95))

    @property
    def worst(self) -> Floats:
        """The largest possible cost, or that of the runs."""
        return self.of(Worst())

    def of(self, risk: Risk) -> Floats:
        """Any risk measure of the cost at each level."""
        return self._by_behaviour(risk)[self.behaviour]

    def _by_behaviour(self, risk: Risk) -> Floats:
        return np.array([costs.risk(risk) for costs in self.distributions])

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
            axes.plot(steps, self._by_behaviour(risk)[played], drawstyle="steps-post", color=shade, label=name)
        axes.plot(places, self.risk, color="tab:blue", linestyle="--", label=f"{self.measure}, minimised")
        if self.sampled is not None:
            axes.fill_between(places, self.low, self.high, color="tab:blue", alpha=0.15, label="its 95 % interval")
        for level in changes:
            axes.axvline(level, color="tab:blue", linestyle=":", linewidth=0.8)
        if self.measure == "erm":
            axes.set_xscale("symlog", linthresh=linear)
            axes.set_xticks(list(ticks), labels=list(ticks.values()))
            axes.minorticks_off()
        axes.set_xlim(places.min(), places.max())
        axes.set_xlabel("β" if self.level_name == "beta" else self.level_name)
        axes.set_ylabel("cost f(d)")
        kind = "optimal" if self.sampled is None else "planned"
        axes.set_title(f"{self.problem.name}: {kind} behaviour by attitude to risk")
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
        behaviours = f"{len(self.distributions)} behaviours" if self.sampled is None else f"{self.sampled.runs} runs each"
        return f"Frontier({len(self)} levels of {self.measure}, {behaviours}, {len(self.changes)} changes)"


def frontier(
    problem: Problem,
    risk: str = "erm",
    levels: Sequence[float] | None = None,
    *,
    patience: float = 30.0,
    runs: int | None = 100,
    simulations: int | None = None,
    seed: int = 0,
    max_states: int | None = None,
    threads: int | None = None,
) -> Frontier:
    """Behaviour for many attitudes to risk, and where it changes: what ``gumdp frontier`` finds, bit for bit.

    Optimal and exact if the problem can be solved, else that of the planner, sampled with common random numbers.

    Parameters
    ----------
    problem : Problem
    risk : str
        The measure whose number is swept: "erm" (its β), or the name of another with one number, such as "cvar".
    levels : sequence of float, optional
        At least two, sorted here; by default 0 to 0.99, or the problem's own β and β from 0 over four decades around one over the
        spread of the cost to infinity, or costs from the best to the worst case; six or so where costs are sampled.
    patience : float
        Seconds, by the clock, that changes between the levels are looked for once all levels are known.
    runs : int or None
        Episodes at each level where the problem or the distribution of its costs is too large; None never plays.
    simulations, seed
        As for :class:`Planner`.
    max_states : int, optional
        What may be solved: 20 million occupancy states by default, as on the command line; without `runs` as much as
        :func:`solve` may. A distribution may have a tenth of that.
    threads : int, optional
        As for :func:`solve`.

    Raises
    ------
    TooLarge
        If the problem cannot be solved and `runs` is None.

    Examples
    --------
    >>> import gumdp
    >>> found = gumdp.frontier(gumdp.tasks["rooms"], levels=[0, 1, 10, 100])
    >>> found.levels.tolist()
    [0.0, 1.0, 10.0, 100.0]
    >>> bool((found.mean <= found.risk + 1e-9).all()), bool((found.worst[1:] <= found.worst[:-1] + 1e-9).all())
    (True, True)
    >>> gumdp.frontier(gumdp.tasks["grid-mo"], levels=[0, 10], max_states=1000, runs=4, simulations=8).sampled
    Sampled(4 runs, 8 simulations, 'too large to solve (more than 1000 occupancy states)')
    """
    native = native_of(problem)
    choice("risk", risk, _native.SWEPT)
    swept = None if levels is None else np.unique(array("levels", levels).ravel()).tolist()
    if swept is not None and len(swept) < 2:
        raise ValueError(f"levels holds {len(swept)} different levels; at least two are needed")
    allowed = f"[0, {MOST_SECONDS}]"
    seconds = number("patience", patience, allowed)
    if not 0 <= seconds <= MOST_SECONDS:
        raise ValueError(f"patience is {digits(seconds)}; it must lie in {allowed}, in seconds")
    level_name, points, behaviours, changes, complete, sampled, bargain, names = _native.frontier(
        native,
        risk,
        swept,
        optional_count("max_states", max_states, 1, MOST_STATES),
        seconds,
        optional_count("runs", runs, 2, MOST_RUNS),
        optional_count("simulations", simulations, 1, MOST_SIMULATIONS),
        count("seed", seed, 0, HIGHEST_SEED),
        optional_count("threads", threads, 1, MOST_THREADS),
    )
    at, value, low, high, behaviour = map(np.array, zip(*points))
    behaviour = behaviour.astype(np.int64)
    return Frontier(
        problem,
        risk,
        at,
        level_name,
        value,
        low,
        high,
        behaviour,
        [Distribution(values, probabilities) for values, probabilities, _, _ in behaviours],
        [visits for _, _, visits, _ in behaviours],
        [Change(before, after, level, float(at[point])) for before, after, level, point in changes],
        complete,
        None if sampled is None else Sampled(*sampled[:3], *map(np.array, sampled[3:])),
        None if bargain is None else Bargain(*bargain),
        {name: np.array([own[3][k][0] for own in behaviours])[behaviour] for k, name in enumerate(names)},
        {name: np.array([own[3][k][1] for own in behaviours])[behaviour] for k, name in enumerate(names)},
    )


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
