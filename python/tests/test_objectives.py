"""Objectives as values: equal ones are equal, they compose, and what can never work is refused where it is written."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import gumdp
import gumdp.gymnasium
from gumdp import Cvar, Entropy, Erm, Expression, Function, Imitation, Linear, Model, MultiObjective, Objective, Planner, Problem

D = np.array([[0.1, 0.2], [0.3, 0.0], [0.4, 0.0]])


def first(d: Any) -> float:
    return float(d[0].sum())


def second(d: Any) -> float:
    return float(d[1].sum())


DIFFERENT: list[Callable[[], Objective]] = [
    Entropy,
    lambda: Entropy("pairs"),
    lambda: Entropy([0, 0, 1]),
    lambda: Entropy(epsilon=0.01),
    lambda: Linear([1, 2, 3]),
    lambda: Linear([1, 2, 4]),
    lambda: Linear([[1, 2, 3]]),
    lambda: Linear({"a": 1}),
    lambda: Linear({"a": 2}),
    lambda: Imitation([1, 2, 3]),
    lambda: Imitation([1, 2, 3], "absolute"),
    lambda: MultiObjective([[1, 2, 3], [3, 2, 1]]),
    lambda: MultiObjective([[1, 2, 3], [3, 2, 1]], "minimum"),
    lambda: MultiObjective([Linear([1, 2, 3]), {"a": 1}]),
    lambda: Expression("a + b", a=[1, 2, 3], b=Entropy()),
    lambda: Expression("a - b", a=[1, 2, 3], b=Entropy()),
    lambda: Function(first),
    lambda: Function(first, bounds=(0, 1)),
    lambda: Function(second),
    lambda: Entropy() + 1,
    lambda: Entropy() + Linear([1, 2, 3]),
    lambda: 2 * Entropy(),
    lambda: gumdp.tasks["rooms"].objective,
    lambda: gumdp.tasks["il"].objective,
]


def test_objectives_are_values() -> None:
    for place, make in enumerate(DIFFERENT):
        own = make()
        for number, other in enumerate(DIFFERENT):
            assert (own == other()) == (place == number), (own, other())
        for same in (copy.deepcopy(own), pickle.loads(pickle.dumps(own))):
            assert own == same and hash(own) == hash(same) and not own != same
    assert len({make() for make in DIFFERENT + DIFFERENT}) == len(DIFFERENT)
    assert Linear([1, 2]) == Linear(np.array([1.0, 2.0])) == Linear((1, 2)) and hash(Linear([1, 2])) == hash(Linear((1, 2)))
    assert Linear(range(2)) == Linear([0, 1]) and hash(Linear(range(2))) == hash(Linear([0, 1]))
    assert repr(Linear(range(2))) == "Linear([0, 1])" and Entropy(range(3)) == Entropy([0, 1, 2])
    assert Linear(np.ma.array([1, 2])) == Linear([1, 2]) and Linear([2**64, 1]) == Linear([2.0**64, 1.0])
    assert Linear([0.0]) == Linear([-0.0]) and Entropy() != 3 and Entropy() != "Entropy()"
    assert Erm(5) == Erm(5.0) != Erm(6) and Cvar(0.5) != Erm(0.5) and len({Erm(5), Erm(5.0)}) == 1


def test_functions_are_summands(corridor: Model) -> None:
    entropy = Entropy().value(corridor, D)
    sums = {
        Entropy() + first: entropy + 0.3,
        first + Entropy(): 0.3 + entropy,
        Entropy() - first: entropy - 0.3,
        first - Entropy(): 0.3 - entropy,
        0.5 * Function(first) + second - 1: 0.15 + 0.3 - 1,
        sum([Entropy(), Linear([1, 2, 3])], 0): entropy + 0.3 + 0.6 + 1.2,  # type: ignore[list-item]
    }
    for objective, value in sums.items():
        assert isinstance(objective, Objective) and objective.value(corridor, D) == pytest.approx(value)
    assert repr(first - Entropy()) == "Function(first) - Entropy()"
    problem = Problem(corridor, Entropy() + first, discount=0.9, horizon=4)
    same = Problem(corridor, Entropy() + Linear([1, 0, 0]), discount=0.9, horizon=4)
    assert gumdp.solve(problem, 2.0).value == pytest.approx(gumdp.solve(same, 2.0).value, abs=1e-12)
    assert Planner(problem, 2.0, simulations=20).act("a").simulations > 0


def test_costs_may_be_linear_objectives(corridor: Model) -> None:
    costs = [[1.0, 2.0, 3.0], [3.0, 0.0, 0.0]]
    for combine in ("maximum", "minimum", "sum"):
        plain = MultiObjective(costs, combine).value(corridor, D)
        assert MultiObjective([Linear(cost) for cost in costs], combine).value(corridor, D) == plain
    shifted = MultiObjective([2 * Linear([1, 2, 3]) + Linear({"a": 1}) - 1, Linear([0, 0, 0]) + 0.5])
    assert shifted.value(corridor, D) == pytest.approx(max(2 * 2.1 + 0.3 - 1, 0.5))
    with pytest.raises(ValueError, match=r"costs\[1\] is Entropy\(\); it must be linear; write Expression\("):
        Problem(corridor, MultiObjective([costs[0], Entropy()]), discount=1.0, horizon=2)


def test_expressions_of_sums_and_expressions(corridor: Model) -> None:
    entropy = Entropy().value(corridor, D)
    near = Imitation([1.0, 0.0, 0.0], over="states")
    part = Entropy() - 0.5 * near + Linear([1, 2, 3]) - 2
    value = entropy - 0.5 * near.value(corridor, D) + 2.1 - 2
    nested = Expression("max(a, b)^2 + a_0", a=part, b=Expression("a * 1e-1", a=[1, 2, 3]), a_0=[0, 0, 1])
    assert nested.value(corridor, D) == pytest.approx(max(value, 0.21) ** 2 + 0.4)
    several = Expression("m + e * m", m=MultiObjective([[1, 2, 3], Linear([3, 0, 0])]), e=Entropy())
    assert several.value(corridor, D) == pytest.approx(2.1 + entropy * 2.1)
    spelled = Expression("max(e - n / 2 + c - 2, 0.1 * c)^2 + z", e=Entropy(), n=near, c=[1, 2, 3], z=[0, 0, 1])
    for risk in (0.0, 3.0):
        ours, theirs = (gumdp.solve(Problem(corridor, f, discount=0.9, horizon=5), risk) for f in (nested, spelled))
        assert ours.value == pytest.approx(theirs.value, abs=1e-9)


def test_expressions_of_functions(corridor: Model) -> None:
    sum_ = Expression("f + 2*e - 1", f=first, e=Entropy())
    assert sum_.value(corridor, D) == pytest.approx(0.3 + 2 * Entropy().value(corridor, D) - 1)
    same = Problem(corridor, Linear([1, 0, 0]) + 2 * Entropy() - 1, discount=1.0, horizon=4)
    assert gumdp.solve(Problem(corridor, sum_, discount=1.0, horizon=4)).value == pytest.approx(gumdp.solve(same).value)
    with pytest.raises(ValueError, match='input "f" of the expression must be linear.*hint: write one function of all'):
        Expression("f * f", f=first).build(corridor)
    # What the hint says works.
    product = Function(lambda d: first(d) * Entropy().value(corridor, d))
    assert product.value(corridor, D) == pytest.approx(0.3 * Entropy().value(corridor, D))


def test_names_of_parts_stay_apart(corridor: Model) -> None:
    inner = Expression("2*b", b=[1, 2, 3])
    both = Expression("x*x + x_b", x=inner, x_b=[0, 0, 1])
    assert both.value(corridor, D) == pytest.approx(4.2**2 + 0.4)
    # Letters of all alphabets are letters.
    greek = Expression("β + x", β=[1, 2, 3], x=Expression("2*β", β=[0, 0, 1]))
    assert greek.value(corridor, D) == pytest.approx(2.1 + 0.8)
    with pytest.raises(TypeError):
        both.inputs["x"] = inner  # type: ignore[index]
    assert dict(both.inputs) == {"x": inner, "x_b": Linear([0, 0, 1])}


def test_expressions_are_checked_without_values() -> None:
    # Whether these have values depends on the model.
    for text in ("ln(a)", "1 / (a - 1)", "sqrt(-a) + b", "a + b", "max(a, b)^2"):
        assert Expression(text, a=[1], b=Entropy()).text == text


def test_the_divergence_smooths_both(corridor: Model) -> None:
    target, epsilon = np.array([0.5, 0.5, 0.0]), 0.01
    pairs = np.bincount(corridor.pair_states)
    smoothed = [(1 - epsilon * pairs.sum()) * x + epsilon * pairs for x in (D.sum(axis=1), target)]
    value = float(np.sum(smoothed[0] * np.log(smoothed[0] / smoothed[1])))
    assert Imitation(target, "kl", "states", epsilon).value(corridor, D) == pytest.approx(value)


def rooms() -> Problem:
    return gumdp.tasks["rooms"]


@pytest.mark.parametrize(
    ("write", "error", "message"),
    [
        (lambda: Entropy() * first, TypeError, r'cannot be multiplied with each other; write Expression\("a \* b"'),
        (lambda: Entropy() / Entropy(), TypeError, r'cannot be divided by each other; write Expression\("a / b"'),
        (lambda: Entropy() + "x", TypeError, "an objective, a function or a number can be added to an objective, not 'x'"),
        (lambda: Entropy() + Entropy, TypeError, "can be added to an objective, not <class"),
        (lambda: Entropy() * np.inf, ValueError, "the weight is inf; it must be finite"),
        (lambda: Linear("x"), TypeError, "costs is 'x'; it must be costs by state"),
        (lambda: Linear(3), TypeError, "costs is 3; it must be"),
        (lambda: Linear([]), ValueError, "costs is empty"),
        (lambda: Linear([1, np.nan]), ValueError, "costs has the number nan; all must be finite"),
        (lambda: Linear(["a"]), TypeError, "must be real numbers"),
        (lambda: Linear(np.zeros((2, 2, 2))), ValueError, "costs has 3 dimensions"),
        (lambda: Linear({"a": "x"}), TypeError, r"costs\['a'\] is 'x'; it must be a number"),
        (lambda: Linear({"a": np.ones(1000)}), TypeError, r"costs\['a'\] is array\(.{70,75}…; it must be a number"),
        (lambda: Linear({"a": np.inf}), ValueError, r"costs\['a'\] is inf; it must be finite"),
        (lambda: Linear({1.5: 1}), TypeError, "costs names state 1.5"),
        (lambda: Entropy("foo"), ValueError, 'over is \'foo\'; it must be "states", "pairs", or one cell'),
        (lambda: Entropy(3), TypeError, "over is 3"),
        (lambda: Entropy(epsilon=-1), ValueError, "epsilon is -1"),
        (lambda: Imitation("x"), TypeError, "target is 'x'"),
        (lambda: Imitation([1, 2], "foo"), ValueError, "distance is 'foo'; it must be 'squared', 'absolute' or 'kl'"),
        (lambda: Imitation([1, 2], over="foo"), ValueError, "over is 'foo'"),
        (lambda: MultiObjective("ab"), TypeError, "costs is 'ab'"),
        (lambda: MultiObjective([[1], "x"]), TypeError, r"costs\[1\] is 'x'"),
        (lambda: MultiObjective([[1]], "x"), ValueError, "combine is 'x'; it must be 'maximum'"),
        (lambda: MultiObjective([[1]], 3), TypeError, "combine is 3"),  # type: ignore[arg-type]
        (lambda: MultiObjective([[1]], "sum", weights=[1, 2]), ValueError, r"weights has shape \(2,\)"),
        (lambda: Expression("a", a="x"), TypeError, "a is 'x'"),
        (lambda: Expression("a+", a=[1]), ValueError, "wrong at character 3: the expression ends where a number"),
        (lambda: Expression("a*a +* 2", a=[1]), ValueError, "wrong at character 6: a number, a name or"),
        (lambda: Expression("a+b", a=[1], c=[1]), ValueError, 'unknown name at character 3: "b"; the names of its inputs: a, c$'),
        (lambda: Expression("b"), ValueError, 'unknown name at character 1: "b"; the names of its inputs: none'),
        (lambda: Expression("x + x_b", x=Expression("2*b", b=[1])), ValueError, 'unknown name at character 5: "x_b"'),
        (lambda: Expression("x*x_0", x=Entropy() + Linear([1])), ValueError, 'unknown name at character 3: "x_0"'),
        (lambda: Expression("1 + 2", a=[1]), ValueError, "no inputs in its expression"),
        (lambda: Expression("abs + 1", abs=[1]), ValueError, '"abs" is the name of a function'),
        (lambda: Expression("a(b)", **{"a(b)": [1]}), ValueError, r"'a\(b\)' is no name for an input"),
        (lambda: Expression("\ud800"), ValueError, r"the expression is '\\ud800'; it has characters that are no text"),
        (lambda: Entropy() + np.nan, ValueError, "the summand is nan; it must be finite"),
        (lambda: 1e308 - Linear([1]) + 1e308, ValueError, "the constant of the sum is inf; it must be finite"),
        (lambda: Entropy() / np.nan, ValueError, "the divisor is nan; it must be finite"),
        (lambda: Entropy() / 0.0, ZeroDivisionError, "the divisor is 0; it must not be"),
        (lambda: Entropy() / 1e-320, ValueError, "a weight of the sum is inf; it must be finite"),
        (lambda: Entropy() * 10**400, ValueError, r"the weight is 10{78}…; it must lie in \[-1.8e308, 1.8e308\]"),
        (lambda: Linear({0: 10**400}), ValueError, r"costs\[0\] is 10{78}…; it must lie in"),
        (lambda: Linear([10**400, 1]), ValueError, "costs has a number that is too large; all must lie in"),
        (lambda: Linear(np.ma.array([1, 2], mask=[0, 1])), ValueError, "costs has masked numbers; fill them first"),
        (lambda: Linear([np.ma.array([1, 2], mask=[0, 1])]), ValueError, "costs has masked numbers"),
        (lambda: Expression("a", a=np.ma.array([1, 2], mask=[0, 1])), ValueError, "a has masked numbers"),
        (lambda: Linear({2**70: 1}).build(rooms().model), ValueError, "there is no state 1180591620717411303424; they are numbered"),
        (lambda: Planner(rooms(), 5, time_limit=10**400), ValueError, r"time_limit is 10+…; it must lie in \(0, 86400\] seconds"),
        (lambda: Planner(rooms(), 5).act(7), ValueError, "there is no state 7; they are numbered 0 to 3"),
        (lambda: Planner(rooms(), 5).act(2**70), ValueError, "there is no state 1180591620717411303424; they are numbered 0 to 3"),
        (lambda: Planner(rooms(), 5).act("\ud800"), ValueError, "unknown state"),
        (lambda: gumdp.evaluate(rooms(), [2**70]), ValueError, "there is no action 1180591620717411303424; they are numbered 0 to 1"),
        (lambda: Model([np.eye(2)], {None: 1}), TypeError, "initial names state None; a state is a name or a number"),
        (lambda: Model([np.eye(2)], {0.5: 1}), TypeError, "initial names state 0.5; a state is a name or a number"),
        (lambda: Model([np.eye(2)], {1.0: 1}), TypeError, "initial names state 1.0; a state is a name or a number"),
        (lambda: Model([np.eye(2)], {True: 1}), TypeError, "initial names state True; a state is a name or a number"),
        (lambda: Model([np.eye(2)], {"s2": 1}), ValueError, "initial names state 's2', which does not exist"),
        (lambda: Model([np.eye(2)], {-1: 1}), ValueError, "initial names state -1, which does not exist"),
        (lambda: Model([np.eye(2)], {"s0": 0.5, 0: 0.5}), ValueError, "initial names state 0 twice"),
        (lambda: Model([np.eye(2)], {0: 10**400}), ValueError, r"initial\[0\] is 10+…; it must lie in \[0, 1\]"),
        (lambda: Model([np.eye(2)], states=["a", "\ud800"]), ValueError, "states has the name .*, which is no text"),
        (lambda: Function(first, bounds=(1, 0)), ValueError, r"bounds is \(1, 0\)"),
        (lambda: Planner(rooms(), 5, preset=3), TypeError, "preset is 3; it must be 'default' or 'paper'"),  # type: ignore[arg-type]
        (lambda: Planner(rooms(), 5, preset="x"), ValueError, "preset is 'x'; it must be 'default' or 'paper'"),
        (lambda: Planner(rooms(), Cvar(0.9), time_limit=-1), ValueError, "time_limit is -1"),
        (lambda: Model([np.eye(2)], True), TypeError, "initial is True; it must be the number or name of a state"),
        (lambda: Model([np.eye(2)], None), TypeError, "initial is None; it must be"),
        (lambda: Model([np.eye(2)], 0.5), TypeError, "initial is 0.5; it must be"),
        (lambda: Model([np.eye(2)], states=5), TypeError, "states is 5; it must be a list of names"),  # type: ignore[arg-type]
        (lambda: Model([np.eye(2)], states=[1, 2]), TypeError, r"states is \[1, 2\]"),  # type: ignore[list-item]
        (lambda: Model([np.eye(2), np.eye(3)]), ValueError, "P is no array of numbers: its parts have different"),
        (lambda: Model.builder(5), TypeError, "actions is 5"),  # type: ignore[arg-type]
        (lambda: Model.builder().initial(5), TypeError, "initial is 5"),  # type: ignore[arg-type]
        (lambda: Planner(rooms(), None), TypeError, r"risk is None; it must be a measure such as Cvar\(0.95\)"),  # type: ignore[arg-type]
        (lambda: gumdp.frontier(rooms(), 5), TypeError, "risk is 5; it must be 'erm', 'cvar', 'evar', 'exceed' or 'var'"),  # type: ignore[arg-type]
        (lambda: Model.from_file(5), TypeError, "path is 5; it must be the path of a file"),  # type: ignore[arg-type]
        (lambda: Problem.from_file(5), TypeError, "path is 5"),  # type: ignore[arg-type]
        (lambda: rooms().model.to_file(5), TypeError, "path is 5"),  # type: ignore[arg-type]
        (lambda: gumdp.compare(rooms(), 5), TypeError, "policies is 5; it must be a list of names, or a mapping"),  # type: ignore[arg-type]
        (lambda: gumdp.compare(rooms(), [np.zeros(3)]), TypeError, "policies is"),  # type: ignore[list-item]
        (lambda: gumdp.gymnasium.OccupancyEnv("rooms", "human"), ValueError, "render_mode is 'human'; it must be None"),
    ],
)
def test_what_never_works_is_refused_where_it_is_written(
    write: Callable[[], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        write()


def test_one_policy_can_be_compared() -> None:
    assert list(gumdp.compare(rooms(), "uniform", 5, runs=3)) == ["uniform"]


def test_files_that_cannot_be_written_are_named(tmp_path: Path) -> None:
    target = tmp_path / "nope" / "x.csv"
    with pytest.raises(FileNotFoundError) as raised:
        rooms().model.to_file(target)
    assert raised.value.filename == str(target)


def test_only_planners_play_simulators() -> None:
    class Coin:
        def initial(self, rng: Any) -> int:
            return 0

        def actions(self, state: int) -> list[int]:
            return [0]

        def step(self, state: int, action: int, rng: Any) -> tuple[int, list[float], bool]:
            return 0, [1.0], False

    problem = gumdp.SimulatedProblem(Coin(), lambda sums: float(sums[0]), discount=1.0, horizon=2)
    with pytest.raises(TypeError, match=r"planner is 5; it must be a gumdp\.SimulatorPlanner"):
        problem.play(5)  # type: ignore[arg-type]


def test_gymnasium_makes_environments_without_pictures() -> None:
    assert gymnasium.make("gumdp/rooms-v0", render_mode=None).unwrapped.render_mode is None
