"""Gymnasium: its environments as models, problems as environments, planners as agents; other solvers as witnesses."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from mdptoolbox import mdp as toolbox

import gumdp
import gumdp.gymnasium
from gumdp import Entropy, Erm, Linear, Model, Planner, Problem


TAXI = "Taxi-v4" if "Taxi-v4" in gymnasium.registry else "Taxi-v3"


def undiscounted_cost(problem: Problem, value: float) -> float:
    """The expected discounted total of a linear objective, which is normalised by Σ γ^t."""
    return float(value * np.sum(problem.discount ** np.arange(problem.horizon)))


def witness(problem: Problem) -> float:
    """The lowest expected discounted total by pymdptoolbox's finite-horizon solver."""
    model = problem.model
    rewards = np.full((len(model.states), len(model.actions)), -1e6)
    rewards[model.pair_states, model.pair_actions] = -model.costs["cost"]
    transitions = model.to_numpy()
    # It wants every action in every state; a state that lacks one gets it at a forbidding price.
    for action, state in zip(*np.nonzero(transitions.sum(axis=2) == 0)):
        transitions[action, state, state] = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solver = toolbox.FiniteHorizon(transitions, rewards, problem.discount, problem.horizon)
        solver.run()
    return float(-(model.initial @ solver.V[:, 0]))


def environment(name: str) -> tuple[Any, Model]:
    settings: dict[str, Any] = {"map_name": "8x8"} if name == "FrozenLake-v1" else {}
    env = gymnasium.make(name, **settings)
    return env, Model.from_gymnasium(env)


@pytest.mark.parametrize("name", ["FrozenLake-v1", TAXI, "CliffWalking-v1"])
def test_models_of_environments(name: str) -> None:
    env, model = environment(name)
    table = env.unwrapped.P  # type: ignore[attr-defined]
    assert model.states[: len(table)] == [f"s{state}" for state in range(len(table))]
    dense = model.to_numpy()
    assert np.allclose(dense[:, : len(table)].sum(axis=2), 1.0)
    if name == "FrozenLake-v1":
        assert "terminated" not in model.states and np.isclose(dense[0, 0, 0], 2 / 3)
    else:
        assert model.states[-1] == "terminated" and dense[:, -1, -1].max() == 1


@pytest.mark.parametrize("name", ["FrozenLake-v1", TAXI, "CliffWalking-v1"])
def test_another_solver_finds_the_same_expected_cost(name: str) -> None:
    _, model = environment(name)
    problem = Problem(model, Linear(model.costs["cost"]), discount=0.95, horizon=60)
    best = witness(problem)
    assert undiscounted_cost(problem, gumdp.solve(problem, Erm(0)).value) == pytest.approx(best, abs=1e-6)
    assert undiscounted_cost(problem, gumdp.solve(problem, Erm(1e-9)).value) == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("beta", [0.0, 5.0, 50.0])
def test_frozen_lake(beta: float) -> None:
    _, model = environment("FrozenLake-v1")
    cost = Problem(model, Linear(model.costs["cost"]), discount=1.0, horizon=40)
    optimum = gumdp.solve(cost, beta)
    law = gumdp.exact_distribution(cost, optimum)
    assert law.risk(beta) == pytest.approx(optimum.value, abs=1e-9)
    explore = Problem(model, Entropy(), discount=1.0, horizon=30)
    results = gumdp.compare(explore, ["planner", "uniform"], beta, runs=60, simulations=100)
    # The planner spreads its visits: the gap is many standard errors wide.
    gap = results["uniform"].costs.mean() - results["planner"].costs.mean()
    error = np.sqrt(sum(samples.costs.var() / len(samples) for samples in results.values()))
    assert gap > 4 * error


def test_a_planner_drives_a_taxi() -> None:
    env, model = environment(TAXI)
    problem = Problem(model, Linear(model.costs["cost"]), discount=0.99, horizon=40)
    planner = Planner(problem, Erm(0))
    state, _ = env.reset(seed=3)
    total, terminated = 0.0, False
    while not terminated and planner.time < problem.horizon:
        action = planner.act(int(state)).action
        state, reward, terminated, _, _ = env.step(action)
        planner.observe(action, "terminated" if terminated else int(state))
        total += float(reward)
    # An optimal ride earns between 3 and 16.
    assert terminated and total > 0


def test_seeking_risk_walks_along_the_cliff() -> None:
    """Only seeking is told apart: expected rewards average the fall itself, so aversion adds next to nothing to the mean."""
    env = gymnasium.make("CliffWalking-v1", is_slippery=True)
    model = Model.from_gymnasium(env)
    problem = Problem(model, Linear(model.costs["cost"]), discount=1.0, horizon=100)

    def beside_the_cliff(beta: float) -> float:
        steps = gumdp.evaluate(problem, gumdp.solve(problem, beta), runs=1000).trajectories["state"]
        on_the_way = steps[steps < 36]  # rows 0 to 2; the start, the cliff and the end are row 3
        return float((on_the_way // 12 == 2).mean())

    seeking, neutral, averse = (beside_the_cliff(beta) for beta in (-100.0, 0.0, 100.0))
    assert averse <= neutral < seeking - 0.01


@pytest.mark.parametrize("name", list(gumdp.tasks))
def test_every_task_is_an_environment(name: str) -> None:
    env = gymnasium.make(f"gumdp/{name}-v0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(env.unwrapped, skip_render_check=True)
    problem = gumdp.tasks[name]
    observation, info = env.reset(seed=1)
    d = np.zeros((len(problem.model.states), len(problem.model.actions)))
    mass = problem.discount ** np.arange(problem.horizon)
    terminated, reward, time = False, 0.0, 0
    while not terminated:
        assert reward == 0.0 and observation["time"] == time
        action = int(np.flatnonzero(info["action_mask"])[-1])
        d[observation["state"], action] += mass[time] / mass.sum()
        observation, value, terminated, _, info = env.step(action)
        reward, time = float(value), time + 1
    assert time == problem.horizon and -reward == pytest.approx(problem.value(d), abs=1e-9)
    with pytest.raises(ValueError, match="the episode is over"):
        env.unwrapped.step(0)


def test_wrong_environments() -> None:
    with pytest.raises(TypeError, match="has no table P"):
        Model.from_gymnasium(object())
    env = gumdp.gymnasium.OccupancyEnv("rooms")
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    env.reset(seed=0)
    with pytest.raises(ValueError, match="action is 9"):
        env.step(9)


def test_the_environment_has_the_law_of_the_problem() -> None:
    """Means of 4000 episodes; the false-alarm rate of four standard errors is 6e-5."""
    env = gumdp.gymnasium.OccupancyEnv("rooms")
    env.reset(seed=5)
    rooms, costs = gumdp.tasks["rooms"], []
    for _ in range(4000):
        env.reset()
        for action in (rooms.scripts["pi2"] * rooms.horizon)[: rooms.horizon]:
            _, reward, _, _, info = env.step(action)
        costs.append(info["cost"])
    law = gumdp.exact_distribution(rooms, "pi2")
    assert abs(np.mean(costs) - law.mean) < 4 * np.std(costs) / np.sqrt(len(costs)) + 1e-12
