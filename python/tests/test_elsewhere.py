"""Environments of MO-Gymnasium and MiniGrid, which nobody here wrote. The packages are large: these tests run where they are installed.

GUMDP_SLOW=1 makes their absence a failure.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

import gumdp
import gymnasium
import numpy as np
import pytest

if os.environ.get("GUMDP_SLOW") == "1":
    import minigrid
    import mo_gymnasium
else:
    minigrid = pytest.importorskip("minigrid")
    mo_gymnasium = pytest.importorskip("mo_gymnasium")

pytestmark = pytest.mark.filterwarnings("ignore")


def made(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return (mo_gymnasium if name[0].islower() else gymnasium).make(name).unwrapped


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("resource-gathering-v0", {}),
        ("fishwood-v0", {}),
        ("breakable-bottles-v0", {}),
        ("deep-sea-treasure-v0", {}),
        ("four-room-v0", {}),
        ("minecart-v0", {}),
        ("water-reservoir-v0", {"actions": [np.array([20.0]), np.array([50.0])]}),
        ("MiniGrid-FourRooms-v0", {}),
        ("MiniGrid-DoorKey-5x5-v0", {}),
        ("MiniGrid-Dynamic-Obstacles-5x5-v0", {}),
    ],
)
def test_elsewhere_states_can_be_gone_back_to(name: str, settings: dict[str, Any]) -> None:
    environment = gumdp.Environment(made(name), **settings)
    chooser, rng = np.random.default_rng(0), np.random.default_rng(1)
    state, met = environment.initial(rng), []
    for _ in range(25):
        met.append(state)
        actions = environment.actions(state)
        state, _, done = environment.step(state, actions[int(chooser.integers(len(actions)))], rng)
        if done:
            state = environment.initial(rng)

    def future(state: Any) -> Any:
        rng, seen = np.random.default_rng(7), []
        for k in range(4):
            state, features, done = environment.step(state, environment.actions(state)[k % 2], rng)
            seen.append((str(state.observation), features.tolist(), done))
            if done:
                break
        return seen

    futures = [future(state) for state in met]
    for place in chooser.permutation(len(met)):
        assert future(met[place]) == futures[place]


def test_elsewhere_resource_gathering() -> None:
    """Gold and diamond together are worth 2, and there is a way that meets no enemy where it matters."""
    problem = gumdp.Problem.from_env(made("resource-gathering-v0"), "-25*(reward0 + reward1 + reward2)", discount=1.0, horizon=25)
    assert len(gumdp.Model.from_env(made("resource-gathering-v0")).states) == 94
    for risk in (0, 5, "worst"):
        assert abs(gumdp.solve(problem, risk).value + 2) < 1e-9
    # What the environment's authors have derived by hand: the best point of their front, whose first reward counts γ already.
    env, gamma = made("resource-gathering-v0"), 0.9
    problem = gumdp.Problem.from_env(env, "-(reward0 + reward1 + reward2)", discount=gamma, horizon=60)
    best = max(point.sum() for point in env.pareto_front(gamma)) / gamma
    assert abs(-gumdp.solve(problem).value * sum(gamma**t for t in range(60)) - best) < 1e-6


def test_elsewhere_fishwood() -> None:
    """Planner against optimum: a binomial number of fish and of wood, whichever is less."""
    problem = gumdp.Problem.from_env(made("fishwood-v0"), "-20*min(reward0, reward1)", discount=1.0, horizon=20, ignored=["_timestep"])
    optimum = gumdp.solve(problem).value
    played = gumdp.evaluate(problem, "planner", 0, runs=200, simulations=200).costs
    # Four standard errors: a false alarm in 16 000.
    assert abs(played.mean() - optimum) < 4 * played.std() / np.sqrt(played.size) + 0.02 * abs(optimum)


def test_elsewhere_breakable_bottles() -> None:
    problem = gumdp.Problem.from_env(made("breakable-bottles-v0"), "-25*(reward0 + reward1)", discount=1.0, horizon=25)
    # Two bottles are fetched in 4 + 2 + 4 steps, and nothing can be dropped if they are carried one by one: 4 + 1 + 4 + 4 + 1 + 4.
    assert abs(gumdp.solve(problem, "worst").value - (18 - 50)) < 1e-9
    assert gumdp.solve(problem).value < 18 - 50


def test_elsewhere_four_rooms_become_a_table() -> None:
    model = gumdp.Model.from_env(
        made("MiniGrid-FourRooms-v0"),
        reset_seed=0,
        actions=[0, 1, 2],
        state_key=lambda env, observation: (tuple(map(int, env.agent_pos)), int(env.agent_dir)),
    )
    # Four directions in each cell but the goal, of four rooms of 8 × 8 with four doors; and the end.
    assert len(model.states) == 4 * (4 * 64 + 4 - 1) + 1 and "terminated" in model.states
