"""One planner and several threads; functions that use the planner that asks them; pilot episodes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gumdp
import gumdp.gymnasium
from gumdp import Cvar, Evar, Planner, Problem

AT_WORK = "is at work, and a function that it asks cannot use it"


def in_threads(works: list[Callable[[], Any]]) -> list[Any]:
    """What each returns or raises."""
    results: list[Any] = [None] * len(works)

    def run(place: int) -> None:
        try:
            results[place] = works[place]()
        except BaseException as error:  # noqa: BLE001
            results[place] = error

    threads = [threading.Thread(target=run, args=(place,)) for place in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    return results


def test_threads_wait_for_their_turn() -> None:
    planner = Planner(gumdp.tasks["grid-msee"], 1.0, time_limit=0.2, preset="paper")
    started = time.monotonic()
    decisions = in_threads([lambda: planner.act(0)] * 3 + [lambda: planner.time])
    assert decisions[3] == 0 and [decision.stopped for decision in decisions[:3]] == ["time limit"] * 3
    assert time.monotonic() - started > 0.6


def test_nobody_starves() -> None:
    """A thread that asks gets its turn although another one always wants the next."""
    planner = Planner(gumdp.tasks["grid-msee"], 1.0, time_limit=0.02, preset="paper")
    asked, done = 0, threading.Event()

    def greedy() -> None:
        nonlocal asked
        while not done.is_set():
            planner.act(0)
            asked += 1

    thread = threading.Thread(target=greedy)
    thread.start()
    while asked == 0:
        time.sleep(0.001)
    before = asked
    for _ in range(5):
        planner.act(0)
    done.set()
    thread.join()
    assert asked - before < 50


def test_many_threads_use_many_objects_at_once() -> None:
    rooms = gumdp.tasks["rooms"]
    planner, agent = Planner(rooms, 5, simulations=20), gumdp.solve(rooms, 5).policy()
    env = gumdp.gymnasium.OccupancyEnv(rooms)
    env.reset(seed=0)

    def use() -> None:
        for _ in range(200):
            planner.act("s1")
            agent.act("s1")
            planner.reset()
            cost = planner.cost
            assert cost is None or np.isfinite(cost)
            repr(planner)
            walk = env._world._walk
            assert walk is not None
            walk.place(), walk.features(), walk.cost()

    assert in_threads([use] * 4) == [None] * 4


def interrupt_after(seconds: float) -> threading.Timer:
    timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    return timer


def test_waiting_can_be_interrupted() -> None:
    planner = Planner(gumdp.tasks["grid-msee"], 1.0, time_limit=1.5, preset="paper")
    other = threading.Thread(target=lambda: planner.act(0))
    started = time.monotonic()
    other.start()
    time.sleep(0.05)
    timer = interrupt_after(0.3)
    with pytest.raises(KeyboardInterrupt):
        planner.act(0)
    assert time.monotonic() - started < 1.2
    timer.join()
    other.join()
    assert planner.act(0).stopped == "time limit"


@pytest.mark.parametrize("preset", ["default", "paper"])
@pytest.mark.parametrize("risk", [gumdp.Erm(2), Cvar(0.9)])
def test_a_function_cannot_use_the_planner_that_asks_it(preset: str, risk: gumdp.Risk) -> None:
    tried: list[str] = []
    made = False
    uses: list[Callable[[], Any]] = [
        lambda: planner.act("s1"),
        lambda: planner.observe(0, "s1"),
        lambda: planner.reset(),
        lambda: planner.time,
        lambda: planner.cost,
    ]

    def curious(d: Any) -> float:
        if made and len(tried) < 200:
            with pytest.raises(RuntimeError, match=AT_WORK):
                uses[len(tried) % len(uses)]()
            tried.append("")
        return float(d.max())

    problem = Problem(gumdp.tasks["rooms"].model, curious, discount=1.0, horizon=3)
    planner = Planner(problem, risk, simulations=5, preset=preset)
    made = True
    for _ in range(3):
        planner.act("s1")
        planner.reset()
    planner.act("s1")
    assert planner.cost is not None and len(tried) > 10


def test_what_the_function_does_not_catch_arrives() -> None:
    def curious(d: Any) -> float:
        return float(planner.act("s1").estimate)

    problem = Problem(gumdp.tasks["rooms"].model, curious, discount=1.0, horizon=3)
    planner = Planner(problem, 1.0, simulations=5)
    for _ in range(2):
        with pytest.raises(RuntimeError, match=AT_WORK):
            planner.act("s1")
    lazy = Planner(problem, Cvar(0.9), simulations=5)
    planner = lazy
    with pytest.raises(RuntimeError, match=AT_WORK):
        _ = lazy.outer
    with pytest.raises(RuntimeError, match=AT_WORK):
        gumdp.evaluate(problem, lazy, runs=2)


def test_a_function_may_use_another_planner() -> None:
    other = Planner(gumdp.tasks["rooms"], 1.0, simulations=5)

    def nested(d: Any) -> float:
        other.reset()
        return float(other.act("s1").action)

    problem = Problem(gumdp.tasks["rooms"].model, nested, discount=1.0, horizon=3)
    planners = [Planner(problem, 1.0, simulations=5) for _ in range(3)]
    assert all(isinstance(found, gumdp.Decision) for found in in_threads([lambda p=p: p.act("s1") for p in planners]))  # type: ignore[misc]


def test_simulators_and_environments_cannot_use_who_asks_them() -> None:
    class Curious:
        def initial(self, rng: Any) -> int:
            return 0

        def actions(self, state: int) -> list[int]:
            return [0, 1]

        def step(self, state: int, action: int, rng: Any) -> tuple[int, list[float], bool]:
            with pytest.raises(RuntimeError, match=AT_WORK):
                planner.act(0)
            return state + action, [float(action)], False

    problem = gumdp.SimulatedProblem(Curious(), lambda sums: float(sums[0]), discount=1.0, horizon=3, features=1)
    planner = gumdp.SimulatorPlanner(problem, 1.0, simulations=5)
    assert [decision.simulations for decision in in_threads([lambda: planner.act(0)] * 3)] == [5] * 3

    def watching(d: Any) -> float:
        if (walk := env._world._walk) is not None:
            with pytest.raises(RuntimeError, match="this environment is at work"):
                walk.place()
        return 0.0

    env = gumdp.gymnasium.OccupancyEnv(Problem(gumdp.tasks["rooms"].model, watching, discount=1.0, horizon=2))
    env.reset(seed=0)
    env.step(0)
    assert env.step(0)[2]


def test_pilots_are_played_with_the_first_decision() -> None:
    calls = 0

    def counted(d: Any) -> float:
        nonlocal calls
        calls += 1
        return float(d.max())

    problem = Problem(gumdp.tasks["rooms"].model, counted, discount=1.0, horizon=3)
    planner = Planner(problem, Cvar(0.9), simulations=5)
    made = calls
    assert planner.time == 0 and planner.cost is None and "cvar:0.9" in repr(planner)
    planner.reset()
    assert calls == made
    with pytest.raises(ValueError, match="unknown state"):
        planner.act("nowhere")
    assert calls == made
    planner.act("s1")
    assert calls > made + 24
    # Once is enough.
    after, outer = calls, planner.outer
    planner.act("s1")
    assert calls - after < (after - made) / 4 and outer is not None
    asked = Planner(problem, Cvar(0.9), simulations=5)
    assert asked.outer == outer and asked.time == 0


@pytest.mark.skipif("GUMDP_COMMAND" not in os.environ, reason="GUMDP_COMMAND names no program")
@pytest.mark.parametrize("risk", [Cvar(0.9), Evar(0.9)])
def test_pilots_are_those_of_the_command_line(risk: gumdp.Risk) -> None:
    command = [os.environ["GUMDP_COMMAND"], "plan", "il", "--risk", risk.spec, "--policy", "planner", "--seed", "3", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    said = json.loads(done.stdout)
    planner = Planner(gumdp.tasks["il"], risk, seed=3)
    decision = planner.act(said["state"])
    assert decision.action_name == said["action"] and planner.outer == said["outer"]
    # Where nothing was searched there is no value: null there, NaN here.
    told = [reason["value"] for reason in said["reasons"]]
    np.testing.assert_array_equal(decision.reasons["value"], np.array(told, dtype=float))
    assert decision.reasons["rank"].tolist() == [reason["rank"] for reason in said["reasons"]]


def test_pilots_can_be_interrupted() -> None:
    grid = gumdp.tasks["grid-msee"]
    planner, waits = Planner(grid, Cvar(0.9)), []
    for _ in range(3):
        sent = time.monotonic() + 0.3
        timer = interrupt_after(0.3)
        with pytest.raises(KeyboardInterrupt):
            planner.act(0)
        waits.append(time.monotonic() - sent)
        timer.join()
        assert planner.time == 0 and planner.cost is None
    # A busy machine may be slow once, not three times.
    assert min(waits) < 0.2
    planner.reset()
    other = Planner(grid, Cvar(0.9))
    again, fresh = in_threads([lambda: planner.act(0), lambda: other.act(0)])
    assert planner.outer == other.outer and again.action == fresh.action
    for column in ("rank", "value"):
        np.testing.assert_array_equal(again.reasons[column], fresh.reasons[column])


def test_threads_share_the_pilots() -> None:
    calls = 0

    def counted(d: Any) -> float:
        nonlocal calls
        calls += 1
        return float(d.max())

    problem = Problem(gumdp.tasks["rooms"].model, counted, discount=1.0, horizon=3)
    alone = Planner(problem, Cvar(0.9), simulations=5)
    alone.act("s1")
    once, calls = calls, 0
    shared = Planner(problem, Cvar(0.9), simulations=5)
    outers = in_threads([lambda: shared.outer, lambda: gumdp.evaluate(problem, shared, runs=1).policy, lambda: shared.act("s1").action_name])
    assert outers[0] == alone.outer and calls < 1.5 * once
