"""Behaviour as a small decision tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from . import _native
from ._checks import HIGHEST_SEED, MOST_RUNS, MOST_SIMULATIONS, MOST_STATES, MOST_THREADS, count, optional_count
from .problem import Problem, native_of
from .risks import RiskLike, spec_of

__all__ = ["Explanation", "Folded", "NextBest", "Node", "explain"]


@dataclass(frozen=True)
class NextBest:
    """The second best action, and what it would cost to take it."""

    action: str
    extra: float
    """How much higher the risk would be."""


@dataclass(frozen=True)
class Folded:
    """Outcomes that are not shown one by one."""

    outcomes: int
    """How many."""
    probability: float
    """That of any of them in this turn of chance."""
    value: float | None
    """Their risk, if it is known."""
    mean: float | None
    """Their expected cost, if it is known."""


@dataclass(frozen=True)
class Node:
    """Where one may be, what is done there and what comes of it."""

    states: list[str]
    """The state; several if outcomes were merged."""
    time: int
    probability: float
    """That of this outcome of the last turn of chance."""
    reach: float
    """The probability of ever being here."""
    value: float
    """The risk of the final cost, given that one is here."""
    mean: float
    """The expected final cost, given that one is here."""
    steps: list[str]
    """Actions, one after the other, until chance has its turn."""
    next_best: NextBest | None
    """The second best first action; None if it is not known or all are equal."""
    then: str
    """What comes after the steps: "over", "chance", or "unshown" if there is more than is shown."""
    outcomes: list[Node] = field(repr=False)
    """The outcomes of chance, likely ones first."""
    folded: Folded | None
    """Outcomes that are not shown."""

    def __iter__(self) -> Iterator[Node]:
        """This node and all below it."""
        yield self
        for outcome in self.outcomes:
            yield from outcome


@dataclass(frozen=True, repr=False)
class Explanation:
    """What :func:`explain` found. Its text, ``print(explanation)``, is the tree."""

    problem: Problem
    risk: str
    value: float
    """The measure of the whole episode: exact, or of sampled episodes."""
    low: float | None
    """It is certainly not lower; None if episodes were sampled."""
    high: float | None
    """It is certainly not higher."""
    outer: str | None
    """The variable of CVaR or EVaR, fixed at the first decision. Values further on are then what a node contributes to the first."""
    exact: bool
    """Whether behaviour and values are exact."""
    origin: str
    """How they were found."""
    estimate_of: str
    """What the values of nodes are of: the measure with `outer` fixed, or an entropic one that stands in for it."""
    upper_bounds: bool
    """Whether the risk of the next best first action is an upper bound only."""
    text: str = field(compare=False)
    """The tree, one node in a line."""
    tree: Node
    """Where an episode begins."""

    @property
    def nodes(self) -> list[Node]:
        """All nodes, each before its outcomes."""
        return list(self.tree)

    def __str__(self) -> str:
        fixed = "" if self.outer is None else f" with {self.outer}, fixed at the first decision"
        head = f"{self.risk}{fixed}: {self.value:.6g}, mean {self.tree.mean:.6g}; lower is better"
        return f"{self.problem.name}: {self.origin}\n{head}\n\n{self.text}"

    def __repr__(self) -> str:
        exact = "exact" if self.exact else "planned"
        return f"Explanation({self.problem.name!r}, {self.risk}: {self.value:.6g}, {len(self.nodes)} nodes, {exact})"


def explain(
    problem: Problem,
    risk: RiskLike = 0.0,
    *,
    depth: int = 3,
    nodes: int = 24,
    runs: int = 30,
    simulations: int | None = None,
    seed: int = 0,
    max_states: int | None = None,
    threads: int | None = None,
) -> Explanation:
    """The optimal or planned behaviour as a small decision tree: what ``gumdp explain`` finds, bit for bit.

    Steps without chance are put together, outcomes with the same consequences merged, unlikely ones folded, but never the worst.

    Parameters
    ----------
    problem : Problem
    risk : Risk, float or str
    depth : int
        Turns of chance, one after the other.
    nodes : int
        About so many nodes at most; the most likely come first.
    runs : int
        Episodes played on from each node to estimate its risk, where the problem is too large to be solved.
    simulations, seed
        As for :class:`Planner`, which plays then.
    max_states : int, optional
        What may be solved: 20 million occupancy states by default.
    threads : int, optional
        As many as there are cores by default. The result does not depend on it.

    Examples
    --------
    >>> import gumdp
    >>> careful = gumdp.explain(gumdp.tasks["rooms"], gumdp.Erm(50))
    >>> careful
    Explanation('rooms', erm:50: 0.469901, 7 nodes, exact)
    >>> careful.tree.states, careful.tree.steps[:4], careful.tree.next_best.action
    (['s1'], ['left', 'left', 'left', 'right'], 'right')
    >>> bold = gumdp.explain(gumdp.tasks["rooms"], gumdp.Erm(1), depth=1)
    >>> [(node.states, node.probability) for node in bold.tree.outcomes]
    [(['s2'], 0.9), (['s3'], 0.1)]
    """
    native = native_of(problem)
    measure = spec_of(risk)
    wanted = (count("depth", depth, 0, 100), count("nodes", nodes, 1, 10_000), count("runs", runs, 1, MOST_RUNS))
    value, bounds, outer, exact, origin, estimate_of, upper_bounds, text, tree = _native.explain(
        native,
        measure,
        wanted,
        optional_count("max_states", max_states, 1, MOST_STATES),
        optional_count("simulations", simulations, 1, MOST_SIMULATIONS),
        count("seed", seed, 0, HIGHEST_SEED),
        optional_count("threads", threads, 1, MOST_THREADS),
    )
    low, high = bounds or (None, None)
    found = (value, low, high, outer, exact, origin, estimate_of, upper_bounds, text)
    return Explanation(problem, measure, *found, _node(tree))


def _node(parts: tuple[Any, ...]) -> Node:
    """A node of the native half."""
    states, time, (probability, reach, value, mean), steps, next_best, then, outcomes, folded = parts
    return Node(
        states,
        time,
        probability,
        reach,
        value,
        mean,
        steps,
        None if next_best is None else NextBest(*next_best),
        then,
        [_node(outcome) for outcome in outcomes],
        None if folded is None else Folded(*folded),
    )
