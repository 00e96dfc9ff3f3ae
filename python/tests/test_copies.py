"""Copies, other processes, and garbage: what is pickled gives the same bits, what nobody holds goes away."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import weakref
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import gumdp
import gumdp.gymnasium
from gumdp import (
    Cvar,
    Entropy,
    Erm,
    Evar,
    Expression,
    Function,
    Imitation,
    Linear,
    MeanCvar,
    Model,
    MultiObjective,
    Planner,
    Problem,
)

COPIES = [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))]
copied = pytest.mark.parametrize("again", COPIES, ids=["deepcopy", "pickle"])


def uneven(d: Any) -> float:
    return float(abs(d[0].sum() - d[1].sum()))


class Line:
    """A simulator."""

    def initial(self, rng: np.random.Generator) -> int:
        return 0

    def actions(self, state: int) -> list[int]:
        return [-1, 1]

    def step(self, state: int, action: int, rng: np.random.Generator) -> tuple[int, list[float], bool]:
        return state + action + int(rng.integers(2)), [float(state > 0)], False


def first(features: Any) -> float:
    return float(features[0])


def same_model(one: Model, other: Model) -> bool:
    same_costs = one.costs.keys() == other.costs.keys() and all(
        np.array_equal(cost, other.costs[name]) for name, cost in one.costs.items()
    )
    return (
        (one.states, one.actions) == (other.states, other.actions)
        and np.array_equal(one.to_numpy(), other.to_numpy())
        and np.array_equal(one.initial, other.initial)
        and same_costs
    )


@copied
def test_models(again: Callable[[Any], Any], corridor: Model, tmp_path: Path) -> None:
    corridor.to_file(tmp_path / "corridor.drn")
    # Rows that do not sum to 1 exactly are divided by their sums; twice would be once too often.
    random = np.random.default_rng(1).random((3, 50, 50)) ** 4
    random /= random.sum(axis=-1, keepdims=True)
    models = [
        corridor,
        Model(random, np.full(50, 1 / 50 + 1e-12)),
        Model.builder().transition("s", "x", {"s": 0.3, "t": 0.7 - 1e-12}).transition("t", "y", "s").build(),
        Model.from_gymnasium(gymnasium.make("FrozenLake-v1")),
        Model.from_gymnasium(gymnasium.make("CliffWalking-v1")),
        Model.from_file(tmp_path / "corridor.drn"),
        gumdp.tasks["grid-mo"].model,
    ]
    for model in models:
        assert same_model(again(model), model) and same_model(again(again(model)), model)
    assert again(models[4]).state_of(0, -1.0) == 0


@copied
@pytest.mark.parametrize("name", list(gumdp.tasks))
def test_tasks(again: Callable[[Any], Any], name: str) -> None:
    problem = gumdp.tasks[name]
    other = again(problem)
    assert same_model(other.model, problem.model) and repr(other) == repr(problem)
    assert (other.name, other.risks, other.runs, other.scripts) == (problem.name, problem.risks, problem.runs, problem.scripts)
    ours, theirs = (gumdp.evaluate(own, "planner", 2.0, runs=2, simulations=5).costs for own in (problem, other))
    assert np.array_equal(ours, theirs)


@copied
@pytest.mark.parametrize(
    "objective",
    [
        Linear(np.array([0.0, 1.0, 2.0])),
        0.1 * Linear({"c": 1.0}) + Entropy(over="pairs", epsilon=0.01) - 2,
        Imitation([0.2, 0.3, 0.5], "kl", "states", 0.01),
        MultiObjective([[1, 0, 0], [0, 0, 1]], "power", weights=[1, 2], powers=[1, 2]),
        Expression("a*b + e", a=[1, 0, 0], b={"c": 1.0}, e=Entropy()),
        Function(uneven, bounds=(0, 1)),
        uneven,
    ],
    ids=repr,
)
def test_problems(again: Callable[[Any], Any], corridor: Model, objective: Any) -> None:
    problem = Problem(corridor, objective, discount=0.9, horizon=6)
    other = again(problem)
    assert repr(other) == repr(problem)
    for risk in (Erm(2.0), Cvar(0.8)):
        assert gumdp.solve(other, risk).value == gumdp.solve(problem, risk).value


@copied
def test_what_comes_of_a_problem(again: Callable[[Any], Any], rooms: Problem) -> None:
    samples = gumdp.evaluate(rooms, "uniform", 2.0, runs=5)
    other = again(samples)
    assert other.summary() == samples.summary() and np.array_equal(other.trajectories, samples.trajectories)
    solution = gumdp.solve(rooms, Cvar(0.9))
    other = again(solution)
    assert (repr(other), other.low, other.outer) == (repr(solution), solution.low, solution.outer)
    ours, theirs = (gumdp.evaluate(rooms, own, runs=20).costs for own in (solution, other))
    assert np.array_equal(ours, theirs)
    frontier = gumdp.frontier(rooms, levels=[0, 5, 50])
    other = again(frontier)
    assert np.array_equal(other.risk, frontier.risk) and other.changes == frontier.changes
    assert other.distributions[0].risk(5) == frontier.distributions[0].risk(5)
    for preset in ("default", "paper"):
        decision = Planner(rooms, 5, simulations=50, preset=preset).act("s1")
        other = again(decision)
        assert repr(other) == repr(decision) and other.reasons.tobytes() == decision.reasons.tobytes()
        assert other.stopped == decision.stopped
    for risk in (Erm(5), Cvar(0.5), Evar(0.5), MeanCvar(0.5, 0.2)):
        assert again(risk) == risk


@copied
@pytest.mark.parametrize("risk", [Erm(5), Cvar(0.9)])
def test_planners_between_episodes(again: Callable[[Any], Any], rooms: Problem, risk: gumdp.Risk) -> None:
    planner = Planner(rooms, risk, simulations=40, seed=3, preset="paper")
    agent = gumdp.solve(rooms, risk).policy(seed=4)
    for _ in range(2):
        for own in (planner, agent):
            other = again(own)
            assert repr(other) == repr(own) and other.risk == own.risk
            decisions = [one.act("s1") for one in (own, other)]
            assert decisions[0].action == decisions[1].action
            assert decisions[0].reasons.tobytes() == decisions[1].reasons.tobytes()
            with pytest.raises(TypeError, match="in the middle of an episode cannot be copied or pickled; reset"):
                again(own)
            own.reset()


@copied
def test_simulators(again: Callable[[Any], Any]) -> None:
    problem = gumdp.SimulatedProblem(Line(), first, discount=0.9, horizon=5)
    planner = gumdp.SimulatorPlanner(problem, 2.0, simulations=50, seed=1)
    decisions = [one.act(0) for one in (planner, again(planner))]
    assert decisions[0].reasons.tobytes() == again(decisions[1]).reasons.tobytes()
    with pytest.raises(TypeError, match="a SimulatorPlanner that has decided"):
        again(planner)
    planner.reset()
    with pytest.raises(TypeError, match="a SimulatorPlanner that has decided"):
        again(planner)
    assert np.array_equal(*(again(problem).play(gumdp.SimulatorPlanner(problem, 1.0), runs=2) for _ in range(2)))


@copied
def test_environments(again: Callable[[Any], Any]) -> None:
    env = gumdp.gymnasium.OccupancyEnv("rooms")
    again(env).reset(seed=1)
    env.reset(seed=1)
    env.step(0)
    other = again(env)
    for _ in range(5):
        one, two = env.step(1), other.step(1)
        assert one[0]["state"] == two[0]["state"] and np.array_equal(one[0]["features"], two[0]["features"])
        assert one[1:3] == two[1:3]


def test_functions_that_cannot_be_pickled(corridor: Model) -> None:
    problem = Problem(corridor, lambda d: float(d[0].sum()), discount=0.9, horizon=3)
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(problem)


def work(problem: Problem, seed: int) -> list[float]:
    return gumdp.evaluate(problem, "planner", 2.0, runs=3, simulations=20, seed=seed, threads=1).costs.tolist()  # type: ignore[no-any-return]


def test_other_processes(corridor: Model) -> None:
    problem = Problem(corridor, uneven, discount=0.9, horizon=6)
    with get_context("spawn").Pool(2) as pool:
        theirs = pool.starmap(work, [(problem, seed) for seed in range(3)])
    assert theirs == [work(problem, seed) for seed in range(3)]


class Owner:
    """Holds a problem whose objective is its own method."""

    problem: Any
    more: Any

    def f(self, d: Any) -> float:
        return float(d[0].sum())

    def policy(self, state: int, time: int, features: Any) -> int:
        return 0


def cycles(owner: Owner, corridor: Model) -> None:
    owner.problem = Problem(corridor, Function(owner.f) + Entropy(), discount=0.9, horizon=4)
    planner = Planner(owner.problem, 1.0, simulations=5)
    planner.act("a")
    solution = gumdp.solve(owner.problem, 1.0)
    samples = gumdp.evaluate(owner.problem, owner.policy, runs=3)
    frontier = gumdp.frontier(owner.problem, levels=[0, 1])
    env = gumdp.gymnasium.OccupancyEnv(owner.problem)
    env.reset(seed=0)
    owner.more = [planner, solution, solution.policy(), samples, frontier, env]


def simulated_cycle(owner: Owner, _: Model) -> None:
    class Simulator(Line):
        back = owner

    owner.problem = gumdp.SimulatedProblem(Simulator(), lambda features: owner.f(np.array([features])), discount=1.0, horizon=3)
    owner.more = gumdp.SimulatorPlanner(owner.problem, 1.0, simulations=5)
    owner.more.act(0)


@pytest.mark.parametrize("make", [cycles, simulated_cycle])
def test_cycles_are_collected(corridor: Model, make: Callable[[Owner, Model], None]) -> None:
    owner = Owner()
    make(owner, corridor)
    gone = weakref.ref(owner)
    del owner
    gc.collect()
    assert gone() is None


def test_what_is_in_use_is_not_collected(corridor: Model) -> None:
    """The collector runs while functions are asked, and sees the same functions in many objects."""

    def collecting(d: Any) -> float:
        gc.collect()
        return float(d[0].sum())

    problem = Problem(corridor, collecting, discount=0.9, horizon=3)
    found = [gumdp.solve(problem, 1.0), gumdp.frontier(problem, levels=[0, 1]), Planner(problem, 1.0, simulations=3)]
    del problem
    gc.collect()
    assert found[2].act("a").action in (0, 1)  # type: ignore[union-attr]
    assert gumdp.evaluate(found[0].problem, found[0], runs=2).costs.size == 2  # type: ignore[union-attr]


def test_threads_have_their_own_exceptions(corridor: Model) -> None:
    """Two threads play with one problem for 50 rounds; its objective raises where one of them goes, not the other."""

    class Broken(Exception):
        pass

    def moody(d: Any) -> float:
        if d[:, 1].any():
            raise Broken
        return float(d[0].sum())

    problem = Problem(corridor, moody, discount=0.9, horizon=5)
    outcomes: dict[str, list[Any]] = {"on": [], "back": []}
    start = threading.Barrier(2)

    def play(action: str) -> None:
        start.wait()
        for _ in range(50):
            try:
                outcomes[action].append(gumdp.evaluate(problem, [action] * 5, runs=20, seed=1, threads=2).costs)
            except BaseException as error:
                outcomes[action].append(error)

    threads = [threading.Thread(target=play, args=(action,)) for action in outcomes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [type(outcome) for outcome in outcomes["back"]] == [Broken] * 50
    assert all(np.array_equal(costs, outcomes["on"][0]) and costs.size == 20 for costs in outcomes["on"])
