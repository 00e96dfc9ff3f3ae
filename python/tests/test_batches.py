"""Simulators that step many states at once."""

from __future__ import annotations

import copy
import signal
import threading
from typing import Any

import gumdp
import numpy as np
import pytest


class Walk:
    """A walk along the integers; every third step to the right is three long, and beyond 8 the episode is over."""

    def __init__(self) -> None:
        self.batches: list[int] = []

    def initial(self, rng: np.random.Generator) -> tuple[int, float]:
        return 0, 0.0

    def actions(self, state: tuple[int, float]) -> list[str]:
        return ["left", "right"]

    def step(self, state: tuple[int, float], action: str, rng: np.random.Generator) -> tuple[tuple[int, float], list[float], bool]:
        by = -1 if action == "left" else 3 if rng.random() < 1 / 3 else 1
        return (state[0] + by, state[1]), [float(state[0] <= 0), float(state[0] > 0)], state[0] + by > 8

    def step_batch(self, states: Any, actions: Any, rng: np.random.Generator) -> tuple[Any, Any, Any]:
        self.batches.append(len(states))
        by = np.where(actions == "left", -1, np.where(rng.random(len(states)) < 1 / 3, 3, 1))
        at = states[:, 0]
        return np.stack([at + by, states[:, 1]], 1), np.stack([at <= 0, at > 0], 1), at + by > 8


def uneven(time: Any) -> float:
    return float(abs(time[0] - time[1]))


def walk(simulator: Any = None, **settings: Any) -> gumdp.SimulatedProblem:
    return gumdp.SimulatedProblem(Walk() if simulator is None else simulator, uneven, discount=1.0, horizon=12, **settings)


def test_simulations_make_their_steps_at_once() -> None:
    problem = walk()
    planner = gumdp.SimulatorPlanner(problem, gumdp.Erm(3), simulations=400)
    decision = planner.act((0, 0.0))
    assert decision.action in ("left", "right") and decision.simulations == 400
    assert decision.reasons["visits"].sum() == 400
    batches = problem.simulator.batches
    # Some random episodes show how large costs are; then 8 times 50 simulations of 12 steps.
    assert batches[0] == 16 and max(batches) == 50 and len(batches) <= 9 * 12
    assert problem.play(planner, runs=10).mean() < 0.2


def test_it_plays_as_well_as_one_by_one() -> None:
    costs = {}
    for preset in ("batch", "paper"):
        problem = walk()
        planner = gumdp.SimulatorPlanner(problem, gumdp.Erm(3), simulations=200, preset=preset)
        costs[preset] = problem.play(planner, runs=30, seed=1)
        assert bool(problem.simulator.batches) == (preset == "batch")
    # Means of 30 episodes whose costs lie in [0, 1], with a spread of .06.
    assert costs["batch"].mean() < costs["paper"].mean() + 0.05


def test_the_same_seed_plays_the_same() -> None:
    played = []
    for _ in range(2):
        problem = walk()
        planner = gumdp.SimulatorPlanner(problem, gumdp.Erm(3), simulations=50, seed=4)
        played.append(problem.play(planner, runs=3, seed=4).tolist())
        assert problem.play(copy.copy(gumdp.SimulatorPlanner(problem, gumdp.Erm(3), simulations=50, seed=4)), runs=3, seed=4).tolist() == played[0]
    assert played[0] == played[1]


def test_an_episode_is_followed() -> None:
    planner = gumdp.SimulatorPlanner(walk(), gumdp.Erm(3), simulations=20)
    with pytest.raises(ValueError, match="nothing was decided yet"):
        planner.observe((1, 0.0), [1.0, 0.0])
    planner.act((0, 0.0))
    planner.observe((1, 0.0), [1.0, 0.0])
    assert (planner.time, planner.cost) == (1, pytest.approx(1 / 12))
    with pytest.raises(ValueError, match="another state than"):
        planner.act((2, 0.0))
    planner.act((1, 0.0))
    planner.observe((9, 0.0), [0.0, 1.0], done=True)
    assert (planner.time, planner.cost) == (12, 0.0)
    with pytest.raises(ValueError, match="the episode is over"):
        planner.act((9, 0.0))
    planner.reset()
    assert planner.act((0, 0.0)).simulations == 20


def replaced(**methods: Any) -> Any:
    simulator = Walk()
    for name, method in methods.items():
        setattr(simulator, name, method)
    return simulator


def returning(*values: Any) -> Any:
    return replaced(step_batch=lambda states, actions, rng: values)


@pytest.mark.parametrize(
    ("simulator", "message"),
    [
        (returning(1, 2), "step_batch returned .* must be a tuple"),
        (returning(np.zeros((16, 3)), np.zeros((16, 2)), np.zeros(16, bool)), r"next states .* have the shape \(16, 3\)"),
        (returning(np.zeros((16, 2), complex), np.zeros((16, 2)), np.zeros(16, bool)), "next states .* type complex128"),
        (returning(np.zeros((16, 2)), np.zeros((16, 1)), np.zeros(16, bool)), r"features .* must have \(16, 2\)"),
        (returning(np.zeros((16, 2)), np.full((16, 2), np.nan), np.zeros(16, bool)), "not finite"),
        (returning(np.zeros((16, 2)), np.zeros((16, 2)), False), "ends that step_batch"),
        (returning(np.zeros((16, 2)), np.zeros((16, 2)), np.zeros(16)), "ends that step_batch .* type float64"),
    ],
)
def test_wrong_batches_are_named(simulator: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        gumdp.SimulatorPlanner(walk(simulator), gumdp.Erm(3), simulations=20).act((0, 0.0))


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(TypeError, match="a state must be numbers"):
        gumdp.SimulatorPlanner(walk(replaced(initial=lambda rng: "here", step=lambda *_: ("here", [0.0, 0.0], False))), 1.0)
    with pytest.raises(ValueError, match=r"it must have the shape \(2,\)"):
        gumdp.SimulatorPlanner(walk(), 1.0).act(3)

    class OneByOne(Walk):
        step_batch = None  # type: ignore[assignment]

    with pytest.raises(ValueError, match="needs a simulator with a method step_batch"):
        gumdp.SimulatorPlanner(walk(OneByOne()), 1.0, preset="batch")
    with pytest.raises(ValueError, match="entropic risk measures only"):
        gumdp.SimulatorPlanner(walk(), "cvar:0.9", preset="batch")
    # Others plan with all measures, one by one.
    assert gumdp.SimulatorPlanner(walk(), "cvar:0.9", simulations=20).act((0, 0.0)).action in ("left", "right")


def test_what_is_raised_arrives() -> None:
    def fails(*_: Any) -> Any:
        raise KeyError("mine")

    planner = gumdp.SimulatorPlanner(walk(replaced(step_batch=fails)), 1.0)
    for _ in range(2):
        with pytest.raises(KeyError, match="mine"):
            planner.act((0, 0.0))


def test_interruptions_are_heard() -> None:
    planner = gumdp.SimulatorPlanner(walk(), 1.0, simulations=10**9)
    timer = threading.Timer(0.2, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        planner.act((0, 0.0))
    timer.join()
