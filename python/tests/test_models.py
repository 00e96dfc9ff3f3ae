"""Models, objectives, risks and problems: values, round trips, refusals."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas
import pytest
from scipy import sparse

import gumdp
from gumdp import Cvar, Entropy, Erm, Evar, Expression, Imitation, Linear, MeanCvar, Model, MultiObjective, Problem

EYE = np.eye(2)


def test_dense_and_sparse_are_the_same(corridor: Model) -> None:
    dense = corridor.to_numpy()
    for kind in (sparse.csr_matrix, sparse.coo_array, sparse.csc_matrix):
        again = Model([kind(matrix) for matrix in dense], states=corridor.states, actions=corridor.actions)
        assert np.array_equal(again.to_numpy(), dense)
    assert np.array_equal(Model(np.asfortranarray(dense)).to_numpy(), dense)


def test_rows_of_zeros_are_actions_that_are_not_allowed() -> None:
    other = np.array([[0.0, 1.0], [0.0, 0.0]])
    model = Model([EYE, other])
    assert model.pair_states.tolist() == [0, 0, 1]
    assert model.pair_actions.tolist() == [0, 1, 0]
    assert np.array_equal(model.to_numpy(), [EYE, other])


def test_initial_states(corridor: Model) -> None:
    dense = corridor.to_numpy()
    for initial in (1, "b", {"b": 1.0}, {1: 1}, [0, 1, 0], np.array([0.0, 1.0, 0.0])):
        assert Model(dense, initial, states=["a", "b", "c"]).initial.tolist() == [0, 1, 0]


@pytest.mark.parametrize("extension", ["toml", "drn", "csv"])
def test_files(tmp_path: Path, corridor: Model, extension: str) -> None:
    path = tmp_path / f"corridor.{extension}"
    problem = Problem(corridor, Linear({"c": 1.0}), discount=0.9, horizon=7)
    problem.to_file(path)
    again = Problem.from_file(path)
    assert np.allclose(again.model.to_numpy(), corridor.to_numpy(), atol=1e-15)
    assert gumdp.solve(again, 2.0).value == pytest.approx(gumdp.solve(problem, 2.0).value, abs=1e-12) or extension == "drn"
    corridor.to_file(path)
    assert np.allclose(Model.from_file(path).to_numpy(), corridor.to_numpy(), atol=1e-15)
    assert list(tmp_path.glob("*tmp*")) == []


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([[1.0]],), ValueError, r"P has shape \(1, 1\); it must be \(actions, states, states\)"),
        ((np.zeros((1, 2, 3)),), ValueError, r"P has shape \(1, 2, 3\)"),
        (([EYE * 0.5],), ValueError, "probabilities sum to 0.5"),
        (([EYE * np.nan],), ValueError, "NaN"),
        (([[[1.5, -0.5], [0, 1]]],), ValueError, "must lie in"),
        (([[["x", "y"], ["z", "w"]]],), TypeError, "must be real numbers"),
        (([EYE + 1j],), TypeError, "must be real numbers"),
        (([EYE], 2), ValueError, "state 2, which does not exist"),
        (([EYE], -1), ValueError, "state -1, which does not exist"),
        (([EYE], "s7"), ValueError, "'s7', which does not exist"),
        (([EYE], [0.5, 0.4]), ValueError, "initial probabilities sum to 0.9"),
        (([EYE], [1.0]), ValueError, "initial has shape"),
        (([EYE], {"s0": "x"}), TypeError, "must be a number"),
        (([sparse.csr_matrix((2, 3))],), ValueError, "all must be"),
        (([sparse.csr_matrix((2, 2))],), ValueError, "has no action"),
        ((np.zeros((0, 0, 0)),), ValueError, "has no states"),
        ((7,), TypeError, r"P is 7; it must be an array of shape \(actions, states, states\)"),
        ((None,), TypeError, "P is None; it must be an array"),
        ((sparse.csr_matrix(EYE),), TypeError, "P is one sparse matrix; it must be a list"),
        (([sparse.csr_matrix(EYE), EYE],), TypeError, r"P\[1\] is of type ndarray; all matrices must be sparse"),
        (([[[1.0, 0.0], [1.0]]],), ValueError, "P is no array of numbers"),
        ((np.array([[[1 / 3, 2 / 3 - 1e-6], [0, 1]]], dtype=np.float32),), ValueError, r"float32 are too coarse; P = P.astype\(float\)"),
        (([sparse.csr_matrix(EYE.astype(np.float32) * 0.999)],), ValueError, "float32 are too coarse"),
    ],
)
def test_wrong_models(arguments: tuple[Any, ...], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Model(*arguments)


def test_wrong_names() -> None:
    with pytest.raises(ValueError, match="1 names are given for 2 states"):
        Model([EYE], states=["x"])
    with pytest.raises(ValueError, match="given twice"):
        Model([EYE], states=["x", "x"])
    with pytest.raises(TypeError, match="it must be a list of names"):
        Model([EYE], states=[0, 1])  # type: ignore[list-item]
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        Model.from_file("nowhere.toml")
    with pytest.raises(FileNotFoundError) as missing:
        Problem.from_file("nowhere.toml")
    assert missing.value.filename == "nowhere.toml" and missing.value.errno == 2
    with pytest.raises(ValueError, match="must end in .csv, .drn or .toml"):
        Model([EYE]).to_file("model.pdf")


def test_values_of_objectives(corridor: Model) -> None:
    d = np.array([[0.1, 0.2], [0.3, 0.0], [0.4, 0.0]])
    states = d.sum(axis=1)
    entropy = float(np.sum(states * np.log(states)))
    assert Linear([1, 2, 3]).value(corridor, d) == pytest.approx(states @ [1, 2, 3])
    assert Linear(d).value(corridor, d) == pytest.approx(np.sum(d * d))
    assert Entropy().value(corridor, d) == pytest.approx(entropy)
    assert Entropy(over=[5, 5, 9]).value(corridor, d) == pytest.approx(0.6 * math.log(0.6) + 0.4 * math.log(0.4))
    assert Imitation(np.full((3, 2), 1 / 6)).value(corridor, d) == pytest.approx(np.sum((d - 1 / 6) ** 2))
    target = [0.5, 0.25, 0.25]
    assert Imitation(target, "absolute", "states").value(corridor, d) == pytest.approx(np.abs(states - target).sum())
    several = MultiObjective([[1, 0, 0], {"c": 2.0}])
    assert several.value(corridor, d) == pytest.approx(0.8)
    both = 0.5 * Linear([1, 2, 3]) + Entropy() - 2
    assert both.value(corridor, d) == pytest.approx(0.5 * (states @ [1, 2, 3]) + entropy - 2)
    assert (1 - both).value(corridor, d) == pytest.approx(1 - both.value(corridor, d))
    product = Expression("a*b + e", a=[1, 0, 0], b=[0, 0, 1], e=Entropy())
    assert product.value(corridor, d) == pytest.approx(states[0] * states[2] + entropy)


@pytest.mark.parametrize(
    ("objective", "error", "message"),
    [
        (lambda: Linear([1.0]), ValueError, "costs has shape"),
        (lambda: Linear([1.0, math.nan, 0.0]), ValueError, "finite"),
        (lambda: Linear("abc"), TypeError, "costs is 'abc'; it must be costs by state"),
        (lambda: Linear({"x": 1.0}), ValueError, 'unknown state "x"'),
        (lambda: Linear({7: 1.0}), ValueError, "there is no state 7; they are numbered 0 to 2"),
        (lambda: Entropy(over="rooms"), ValueError, "it must be"),
        (lambda: Entropy(over=[0, -1, 0]), ValueError, "over has the cell -1"),
        (lambda: Entropy(over=[0.5, 1, 0]), TypeError, "one cell number"),
        (lambda: Entropy(epsilon=-1.0), ValueError, "epsilon"),
        (lambda: Entropy(epsilon="x"), TypeError, "must be a number"),  # type: ignore[arg-type]
        (lambda: Imitation([1.0]), ValueError, "target"),
        (lambda: Imitation(np.zeros((3, 2)), "cosine"), ValueError, "cosine"),
        (lambda: MultiObjective([]), ValueError, "costs is empty"),
        (lambda: MultiObjective([[1, 2, 3]], "median"), ValueError, "median"),
        (lambda: MultiObjective([[1, 2, 3]], "sum", weights=[1, 2]), ValueError, "."),
        (lambda: MultiObjective([[1, 2, 3]], weights=[2]), ValueError, "weights are for combine=.*, not 'maximum'; multiply"),
        (lambda: MultiObjective([[1, 2, 3]], "sum", powers=[2]), ValueError, "powers are for combine=\"power\", not 'sum'"),
        (lambda: Expression("a +", a=[0, 0, 1]), ValueError, "."),
        (lambda: Expression("a + b", a=[0, 0, 1]), ValueError, "b"),
        (lambda: Expression("ln(a)", a=[0, 0, 1]), ValueError, "-inf"),
        (lambda: math.nan * Linear([1, 2, 3]), ValueError, "finite"),
    ],
)
def test_wrong_objectives(
    corridor: Model, objective: Callable[[], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Problem(corridor, objective(), discount=0.9, horizon=3)


def test_the_hint_for_coarse_numbers_helps() -> None:
    P = np.random.default_rng(1).random((2, 20, 20)).astype(np.float32)
    P /= P.sum(axis=-1, keepdims=True)
    with pytest.raises(ValueError, match="hint: numbers of type float32"):
        Model(P)
    P = P.astype(float)
    assert Model(P / P.sum(axis=-1, keepdims=True)).pair_count == 40


def test_objectives_keep_what_they_were_given(corridor: Model) -> None:
    c, cells, target = np.array([0.0, 1.0, 2.0]), [0, 0, 1], [[1.0, 0.0, 0.0]]
    series = pandas.Series(c)
    objectives = [Linear(c), Linear(series), Entropy(over=cells), MultiObjective(target), Expression("a", a=c), Imitation(c, over="states")]
    d = np.full((3, 2), 1 / 6)
    before = [objective.value(corridor, d) for objective in objectives]
    c[:], series[:], cells[0], target[0][0] = 9.0, 9.0, 1, 9.0
    assert [objective.value(corridor, d) for objective in objectives] == before
    for array in (corridor.pair_states, corridor.pair_actions, objectives[0].costs):  # type: ignore[attr-defined]
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    rewards = Model.from_gymnasium(SimpleNamespace(P=[[[(1.0, 0, 3.0, False)]]])).costs["cost"]
    with pytest.raises(ValueError, match="read-only"):
        rewards[0] = 1


@pytest.mark.parametrize(
    "objective",
    [
        Linear([0.1, 1, 2]) / 3,
        -(0.1 * Linear({"c": 1.0}) - 2 * Entropy(epsilon=0.01)) / 7 + 1e-9,
        Imitation([0.2, 0.3, 0.5], "kl", "states", 0.01),
        MultiObjective([[1, 0, 0], np.array([0.0, 0, 1])], "power", weights=[1, 2], powers=[1, 2]),
        Expression("a*b", a=[1, 0, 0], b=Linear([0, 0, 1]) * 0.3),
    ],
)
def test_what_is_printed_can_be_evaluated(corridor: Model, objective: Any) -> None:
    again = eval(repr(objective))
    d = np.array([[0.1, 0.2], [0.3, 0.0], [0.4, 0.0]])
    assert again.value(corridor, d) == objective.value(corridor, d) and repr(again) == repr(objective)


def test_the_objective_of_a_task_in_a_sum() -> None:
    rooms = gumdp.tasks["rooms"]
    both = 2 * rooms.objective + Linear([1, 0, 0, 0])
    assert repr(both) == f"2*({rooms.objective!r}) + Linear([1, 0, 0, 0])"


def test_wrong_compositions() -> None:
    with pytest.raises(TypeError, match="divided by each other"):
        Linear([1]) / Linear([1])  # type: ignore[operator]
    with pytest.raises(ZeroDivisionError, match="the divisor is 0; it must not be"):
        Linear([1]) / 0
    with pytest.raises(TypeError):
        Linear([1]) * Linear([1])  # type: ignore[operator]
    with pytest.raises(TypeError):
        Linear([1]) + "x"  # type: ignore[operator]


def test_an_occupancy_of_another_model(corridor: Model) -> None:
    with pytest.raises(ValueError, match="the occupancy has 2 numbers"):
        Entropy().value(corridor, [0.5, 0.5])


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"discount": 1.5, "horizon": 3}, ValueError, "discount is 1.5"),
        ({"discount": math.nan, "horizon": 3}, ValueError, "discount is nan"),
        ({"discount": 10**400, "horizon": 3}, ValueError, r"discount is 10{78}…; it must lie in \(0, 1\]"),
        ({"discount": 1e300, "horizon": 3}, ValueError, r"discount is 1e\+300; it must lie in \(0, 1\]"),
        ({"discount": "0.9", "horizon": 3}, TypeError, "must be a number"),
        ({"discount": 0.9, "horizon": 0}, ValueError, "horizon is 0"),
        ({"discount": 0.9, "horizon": -3}, ValueError, "horizon is -3"),
        ({"discount": 0.9, "horizon": 2.5}, TypeError, "horizon is 2.5"),
        ({"discount": 0.9, "horizon": True}, TypeError, "horizon is True"),
        ({"discount": 0.9}, ValueError, "either horizon or accuracy"),
        ({"discount": 0.9, "horizon": 3, "accuracy": 0.1}, ValueError, "either horizon or accuracy"),
        ({"discount": 0.9, "accuracy": -1.0}, ValueError, "accuracy is -1"),
        ({"discount": 1.0, "accuracy": 0.1}, ValueError, "discount is 1"),
    ],
)
def test_wrong_problems(corridor: Model, settings: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Problem(corridor, Linear([1, 2, 3]), **settings)


def test_wrong_parts(corridor: Model) -> None:
    with pytest.raises(TypeError, match="must be a gumdp.Model"):
        Problem(EYE, Entropy(), discount=0.9, horizon=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="must be a gumdp objective"):
        Problem(corridor, Entropy, discount=0.9, horizon=3)  # type: ignore[arg-type]
    with pytest.raises(KeyError, match="there is no task 'room'; there are rooms"):
        gumdp.tasks["room"]
    with pytest.raises(KeyError, match="there is no task"):
        gumdp.tasks["\ud800"]
    assert "room" not in gumdp.tasks and len(list(gumdp.tasks)) == len(gumdp.tasks)


def test_risks() -> None:
    costs = np.array([0.0, 1.0, 2.0, 7.0])
    assert Erm(2.0).of(costs) == pytest.approx(math.log(np.mean(np.exp(2.0 * costs))) / 2.0)
    assert Erm(math.inf).of(costs) == 7.0 and Erm(-math.inf).of(costs) == 0.0
    assert Cvar(0.5).of(costs) == 4.5
    assert MeanCvar(0.5, 0.5).of(costs) == pytest.approx(0.5 * 2.5 + 0.5 * 4.5)
    assert Cvar(0.5).of(costs) <= Evar(0.5).of(costs) <= 7.0
    assert Erm(0).of([0.0, 1.0], weights=[3.0, 1.0]) == 0.25
    assert Erm(1e300).spec == "erm:1e+300" and Erm(-0.1).spec == "erm:-0.1" and Cvar(1e-300).spec == "cvar:1e-300"
    assert repr(gumdp.Planner(gumdp.tasks["rooms"], 1e300)) == "Planner('rooms', 'erm:1e+300', time=0)"
    assert Erm(5) == Erm(5.0) and Erm(5) != Erm(6) and len({Cvar(0.5), Cvar(0.5)}) == 1


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Erm(math.nan), ValueError, "beta is NaN"),
        (lambda: Erm("5"), TypeError, "must be a number"),  # type: ignore[arg-type]
        (lambda: Erm(None), TypeError, "must be a number"),  # type: ignore[arg-type]
        (lambda: Erm(10**400), ValueError, r"beta is 10{78}…; it must lie in \[-1.8e308, 1.8e308\]"),
        (lambda: Erm(10**5000), ValueError, "beta is <int>; it must lie in"),
        (lambda: Cvar(1e300), ValueError, r"level is 1e\+300, but must lie in"),
        (lambda: Cvar(1.5), ValueError, "level is 1.5"),
        (lambda: Evar(-0.5), ValueError, "level is -0.5"),
        (lambda: MeanCvar(0.5, 2.0), ValueError, "weight of the tail is 2"),
        (lambda: Erm(1).of([]), ValueError, "no outcomes"),
        (lambda: Erm(1).of([math.nan]), ValueError, "NaN"),
        (lambda: Erm(1).of([1.0], [1.0, 2.0]), ValueError, "2 weights are given for 1 costs"),
        (lambda: gumdp.solve(gumdp.tasks["rooms"], "cver:0.9"), ValueError, "is no risk measure"),
        (lambda: gumdp.solve(gumdp.tasks["rooms"], "\ud800"), ValueError, r"risk is '\\ud800'; it must be text such as"),
    ],
)
def test_wrong_risks(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()
