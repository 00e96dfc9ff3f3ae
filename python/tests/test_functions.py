"""Python functions as objectives."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import gumdp
from gumdp import Cvar, Entropy, Erm, Function, Linear, Model, Planner, Problem


class Broken(Exception):
    """Raised by objectives below."""


def entropy(d: Any) -> float:
    """What Entropy() is, by another hand."""
    states = d.sum(axis=1)
    positive = states[states > 0]
    return float((positive * np.log(positive)).sum())


def problem(model: Model, f: Any, horizon: int = 7) -> Problem:
    return Problem(model, f, discount=0.9, horizon=horizon)


@pytest.mark.parametrize("risk", [Erm(0), Erm(3), Erm(float("inf")), Cvar(0.8)])
def test_a_function_is_solved_as_the_objective_it_computes(corridor: Model, risk: gumdp.Risk) -> None:
    built_in, own = problem(corridor, Entropy()), problem(corridor, Function(entropy, bounds=(-1.2, 0.0)))
    theirs, ours = gumdp.solve(built_in, risk), gumdp.solve(own, risk)
    assert ours.value == pytest.approx(theirs.value, abs=1e-6 if isinstance(risk, Cvar) else 1e-12)
    costs, other = gumdp.exact_distribution(own, ours), gumdp.exact_distribution(built_in, theirs)
    assert costs.risk(risk) == pytest.approx(other.risk(risk), abs=1e-6 if isinstance(risk, Cvar) else 1e-12)


def test_a_function_is_played_as_the_objective_it_computes(corridor: Model) -> None:
    own, built_in = problem(corridor, entropy), problem(corridor, Entropy())
    for policy in ("uniform", gumdp.solve(own, 3.0), "exact"):
        other = gumdp.solve(built_in, 3.0) if isinstance(policy, gumdp.Solution) else policy
        ours = gumdp.evaluate(own, policy, 3.0, runs=40, threads=2)
        theirs = gumdp.evaluate(built_in, other, 3.0, runs=40, threads=2)
        assert np.allclose(ours.costs, theirs.costs, rtol=0, atol=1e-12)
    # Samples of the published planner see final values only.
    ours = gumdp.evaluate(own, "paper", 3.0, runs=5, simulations=20, threads=2)
    theirs = gumdp.evaluate(built_in, "paper", 3.0, runs=5, simulations=20, threads=2)
    assert np.allclose(ours.costs, theirs.costs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_planning_with_a_function(corridor: Model, preset: str) -> None:
    own, best = problem(corridor, entropy), gumdp.solve(problem(corridor, Entropy()), 0.0).value
    planner = Planner(own, 0.0, preset=preset, simulations=200)
    state, decision = "a", None
    for _ in range(own.horizon):
        decision = planner.act(state)
        state = {"a": "b", "b": "c", "c": "c"}[state] if decision.action_name == "on" else {"c": "b"}.get(state, "a")
        planner.observe(decision.action, state)
    assert planner.cost is not None and best - 0.3 < planner.cost < 0.0


def test_what_a_function_gets(corridor: Model) -> None:
    seen: list[Any] = []

    def spy(d: Any) -> float:
        seen.append(d)
        return float(d[2].sum())

    own = problem(corridor, spy)
    gumdp.evaluate(own, "planner", 1.0, runs=2, simulations=20)
    gumdp.solve(own)
    assert all(d.shape == (3, 2) and d.dtype == np.float64 and not d.flags.writeable for d in seen)
    assert np.allclose([d.sum() for d in seen], 1.0) and min(d.min() for d in seen) >= 0.0
    with pytest.raises(ValueError, match="read-only"):
        seen[0][0, 0] = 1.0


def test_functions_compose(corridor: Model) -> None:
    both = 2 * Function(entropy) + Linear([0, 0, 1]) - 1
    assert repr(both) == "2*Function(entropy) + Linear([0, 0, 1]) - 1"
    d = np.full((3, 2), 1 / 6)
    assert both.value(corridor, d) == pytest.approx(-2 * np.log(3) + 1 / 3 - 1)
    assert Function(entropy).gradient(corridor, d) is None
    assert gumdp.solve(problem(corridor, both), 2.0).value == pytest.approx(
        gumdp.solve(problem(corridor, 2 * Entropy() + Linear([0, 0, 1]) - 1), 2.0).value, abs=1e-12
    )


def works(own: Problem, threads: int) -> list[Any]:
    return [
        lambda: gumdp.solve(own, 2.0, threads=threads),
        lambda: gumdp.solve(own, Cvar(0.9), threads=threads),
        lambda: gumdp.exact_distribution(own, "uniform", threads=threads),
        lambda: gumdp.evaluate(own, "uniform", runs=50, threads=threads),
        lambda: gumdp.evaluate(own, "planner", 2.0, runs=50, simulations=50, threads=threads),
        lambda: gumdp.evaluate(own, "paper", Cvar(0.9), runs=50, simulations=50, threads=threads),
        lambda: gumdp.frontier(own, levels=[0, 1], threads=threads),
        lambda: Planner(own, 2.0, simulations=50).act("a"),
        lambda: Planner(own, 2.0, simulations=50, preset="paper").act("a"),
    ]


@pytest.mark.parametrize("number", range(9))
@pytest.mark.parametrize("threads", [1, 3])
def test_the_very_exception_arrives(corridor: Model, number: int, threads: int) -> None:
    error = Broken("no value")
    calls = 0

    def broken(d: Any) -> float:
        nonlocal calls
        calls += 1
        if calls > 5:
            raise error
        return 0.0

    work = works(problem(corridor, broken), threads)[number]
    with pytest.raises(Broken) as raised:
        work()
    assert raised.value is error and raised.value.__traceback__ is not None
    # Nobody asks on and on.
    assert calls <= 5 + 2 * threads


def test_objects_are_usable_after_an_exception(corridor: Model) -> None:
    fails = False

    def moody(d: Any) -> float:
        if fails:
            raise Broken
        return entropy(d)

    own = problem(corridor, moody)
    planner = Planner(own, 2.0, simulations=50, preset="paper")
    fails = True
    for _ in range(2):
        with pytest.raises(Broken):
            planner.act("a")
        with pytest.raises(Broken):
            gumdp.solve(own)
    fails = False
    fresh = Planner(own, 2.0, simulations=50, preset="paper").act("a")
    assert planner.act("a").estimate == fresh.estimate
    assert gumdp.solve(own).value == pytest.approx(gumdp.solve(problem(corridor, Entropy())).value, abs=1e-12)


@pytest.mark.parametrize(
    ("returned", "error", "message"),
    [
        (float("nan"), ValueError, "the objective returned NaN; it must be finite"),
        (float("inf"), ValueError, "it must be finite"),
        ("low", TypeError, "the objective returned 'low'; it must be a number"),
        (None, TypeError, "the objective returned None"),
        ([1.0, 2.0], TypeError, "it must be a number"),
        (7.0, ValueError, "the objective returned 7, which is outside of its bounds 0 to 1"),
    ],
)
def test_wrong_values(corridor: Model, returned: Any, error: type[Exception], message: str) -> None:
    own = problem(corridor, Function(lambda d: returned, bounds=(0, 1)))
    for work in works(own, 2):
        with pytest.raises(error, match=message):
            work()


def test_other_numbers_are_numbers(corridor: Model) -> None:
    for value in (1, np.float32(1.0), np.int64(1), True):
        assert gumdp.solve(problem(corridor, lambda d: value)).value == 1.0


@pytest.mark.parametrize(
    ("settings", "error"),
    [({"bounds": (1, 0)}, ValueError), ({"bounds": ("a", 1)}, TypeError), ({"bounds": 3}, TypeError), ({"bounds": (0, float("nan"))}, ValueError)],
)
def test_wrong_bounds(corridor: Model, settings: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        problem(corridor, Function(entropy, **settings))


def test_wrong_functions(corridor: Model) -> None:
    with pytest.raises(TypeError, match="must be a function"):
        Function(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="it must be a gumdp objective"):
        problem(corridor, 3)


def test_a_function_may_use_the_package_and_threads(corridor: Model) -> None:
    inner = problem(corridor, Entropy(), horizon=3)
    known = gumdp.solve(inner).value

    def nested(d: Any) -> float:
        return gumdp.solve(inner, threads=1).value + float(d[0].sum())

    own = problem(corridor, nested, horizon=3)
    values: list[float] = []
    workers = [threading.Thread(target=lambda: values.append(gumdp.solve(own, threads=2).value)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(values) == 3 and min(values) >= known


def test_a_function_over_some_actions_only() -> None:
    """Pairs that are not allowed are zeros of the array."""
    model = Model.builder(["x", "y"]).transition("s", "y", "t").transition("t", "x", "t").transition("t", "y", "s").build()
    own = Problem(model, lambda d: float(d[0, 1] - 10 * d[0, 0] - d[1, 1]), discount=1.0, horizon=2)
    assert gumdp.solve(own).value == 0.0


def test_certified_intervals_need_no_bounds() -> None:
    ring = np.array([[0, 1, 0], [0, 0, 1], [0.9, 0, 0.1]])
    model = gumdp.Model([np.eye(3), ring])

    def entropy(d: np.ndarray) -> float:
        times = d.sum(axis=1)
        return float((times[times > 0] * np.log(times[times > 0])).sum())

    built_in = gumdp.Problem(model, gumdp.Entropy(), discount=0.9, horizon=6)
    for bounds in (None, (-np.inf, 0.0), (-2.0, 1.0)):
        objective = entropy if bounds is None else gumdp.Function(entropy, bounds=bounds)
        problem = gumdp.Problem(model, objective, discount=0.9, horizon=6)
        for risk in (gumdp.Cvar(0.9), gumdp.Cvar(0.3), gumdp.Evar(0.5)):
            known, found = gumdp.solve(built_in, risk), gumdp.solve(problem, risk)
            assert abs(known.high - found.high) < 3e-6
            assert found.low <= known.high + 1e-9
            assert found.high - found.low <= 1e-6
