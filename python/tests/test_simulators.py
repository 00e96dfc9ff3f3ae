"""Simulators without tables."""

from __future__ import annotations

import gc
import signal
import threading
from typing import Any

import gumdp
import numpy as np
import pytest


class Gamble:
    """Stop with a loss of 1, or go on and lose 3 with probability 1/4."""

    def initial(self, rng: np.random.Generator) -> tuple[str, int]:
        return ("start", 0)

    def actions(self, state: tuple[str, int]) -> tuple[str, ...]:
        return ("stop", "go")

    def step(self, state: tuple[str, int], action: str, rng: np.random.Generator) -> tuple[tuple[str, int], np.ndarray, bool]:
        if action == "stop":
            return state, np.array([1.0]), True
        lost = rng.random() < 0.25
        return ("lost" if lost else "kept", 1), np.array([3.0 * lost]), False


def total(features: np.ndarray) -> float:
    return float(features[0])


def gamble(**changes: object) -> gumdp.SimulatedProblem:
    simulator = Gamble()
    for name, value in changes.items():
        setattr(simulator, name, value)
    return gumdp.SimulatedProblem(simulator, total, discount=1.0, horizon=1, features=1)


def test_the_careful_stop_and_the_bold_go() -> None:
    for beta, action in ((0, "go"), (50, "stop"), (np.inf, "stop"), (-5, "go")):
        for preset in ("default", "paper"):
            decision = gumdp.SimulatorPlanner(gamble(), beta, preset=preset).act(("start", 0))
            assert decision.action == action
            assert decision.simulations == 500
            assert decision.reasons["visits"].sum() == 500 or preset == "default"
            assert np.isfinite(decision.reasons["value"]).all()
            assert decision.stopped == "simulations"
            assert decision.unseen >= 0 if preset == "default" else np.isnan(decision.unseen)


@pytest.mark.parametrize(
    ("risk", "action"),
    [("cvar:0.9", "stop"), ("evar:0.95", "stop"), ("exceed:2", "stop"), ("exceed:0.5", "go"), ("var:0.5", "go")],
)
def test_all_measures_are_planned_with(risk: str, action: str) -> None:
    assert gumdp.SimulatorPlanner(gamble(), risk, simulations=200).act(("start", 0)).action == action


def test_actions_may_be_drawn_and_states_need_not_recur() -> None:
    class Glide:
        """To be at 1 at the end; each action is a speed."""

        def initial(self, rng: np.random.Generator) -> float:
            return float(rng.uniform(-0.1, 0.1))

        def sample_action(self, state: float, rng: np.random.Generator) -> float:
            return float(rng.uniform(-0.3, 0.3))

        def step(self, state: float, action: float, rng: np.random.Generator) -> tuple[float, list[float], bool]:
            moved = action + float(rng.normal(0.0, 0.01))
            return state + moved, [10.0 * moved], False

    problem = gumdp.SimulatedProblem(Glide(), lambda moved: abs(moved[0] - 1.0), discount=1.0, horizon=10)
    planner = gumdp.SimulatorPlanner(problem, 1.0, simulations=200)
    assert problem.play(planner, runs=3).max() < 0.3


def test_episodes_are_played_and_repeated() -> None:
    class Line:
        def initial(self, rng: np.random.Generator) -> int:
            return 0

        def actions(self, state: int) -> range:
            return range(-1, 2)

        def step(self, state: int, action: int, rng: np.random.Generator) -> tuple[int, list[float], bool]:
            return state + action + int(rng.integers(2)), [float(state > 0), float(state <= 0)], state > 9

    problem = gumdp.SimulatedProblem(Line(), lambda d: abs(d[0] - d[1]), discount=0.95, horizon=12)

    def played(preset: str, simulations: int) -> np.ndarray:
        planner = gumdp.SimulatorPlanner(problem, 3.0, simulations=simulations, seed=1, preset=preset)
        return problem.play(planner, runs=6, seed=2)

    # What one visit alone does not show takes the default planner more simulations.
    costs = [played(*player) for player in (("paper", 60), ("default", 1000)) for _ in range(2)]
    assert np.array_equal(*costs[:2]) and np.array_equal(*costs[2:])
    # Of random actions, by the definition of the cost.
    masses = 0.95 ** np.arange(12)
    careless = []
    for run in range(200):
        rng, state, sums = np.random.default_rng(run), 0, np.zeros(2)
        for mass in masses / masses.sum():
            state, features, done = problem.simulator.step(state, rng.integers(-1, 2), rng)
            sums += mass * np.array(features)
            if done:
                break
        careless.append(abs(sums[0] - sums[1]))
    assert costs[0].max() < np.mean(careless) and costs[2].max() < np.mean(careless)


def test_planners_do_not_know_what_is_to_come() -> None:
    drawn: dict[int, set[int]] = {}

    class Coins(Gamble):
        """Remembers what was drawn from which generator."""

        generators: list[np.random.Generator] = []

        def step(self, state: Any, action: str, rng: np.random.Generator) -> Any:
            self.generators.append(rng)
            drawn.setdefault(id(rng), set()).add(int(rng.integers(2**62)))
            return state, np.array([0.0]), False

    problem = gumdp.SimulatedProblem(Coins(), total, discount=1.0, horizon=4, features=1)
    problem.play(gumdp.SimulatorPlanner(problem, 0.0, simulations=10, seed=3), runs=2, seed=3)
    # That of each of two worlds, and the planner's in each; no number twice.
    assert len(drawn) == 4 and sum(map(len, drawn.values())) == len(set().union(*drawn.values()))


def test_exceptions_arrive_unharmed() -> None:
    error = RuntimeError("no dice")

    def fails(*_: object) -> object:
        raise error

    for name in ("actions", "step"):
        planner = gumdp.SimulatorPlanner(gamble(**{name: fails}), 1)
        with pytest.raises(RuntimeError) as caught:
            planner.act(("start", 0))
        assert caught.value is error
    problem = gumdp.SimulatedProblem(Gamble(), fails, discount=1.0, horizon=1)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="no dice"):
        gumdp.SimulatorPlanner(problem, 1).act(("start", 0))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"actions": lambda state: []}, "is empty"),
        ({"actions": lambda state: 3}, "not iterable"),
        ({"step": lambda *_: 5}, r"it must be a tuple \(next_state, features, done\)"),
        ({"step": lambda *_: (0, [1.0, 2.0], False)}, "they must be 1 finite numbers"),
        ({"step": lambda *_: (0, [np.nan], False)}, "they must be 1 finite numbers"),
        ({"step": lambda *_: (0, "one", False)}, "they must be 1 finite numbers"),
        ({"step": lambda *_: ([], [1.0], False)}, "unhashable"),
    ],
)
def test_wrong_simulators_are_named(changes: dict[str, object], message: str) -> None:
    problem = gamble(**changes)
    problem.horizon = 2
    with pytest.raises((TypeError, ValueError), match=message):
        gumdp.SimulatorPlanner(problem, 1).act(("start", 0))


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(TypeError, match="it must have a method initial"):
        gumdp.SimulatedProblem(object(), total, discount=1.0, horizon=1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="must be a function"):
        gumdp.SimulatedProblem(Gamble(), 3, discount=1.0, horizon=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="discount is 1.5"):
        gumdp.SimulatedProblem(Gamble(), total, discount=1.5, horizon=1)
    with pytest.raises(ValueError, match="with entropic risk measures only"):
        gumdp.SimulatorPlanner(gamble(), gumdp.Cvar(0.9), preset="paper")
    with pytest.raises(ValueError, match="preset"):
        gumdp.SimulatorPlanner(gamble(), 1, preset="best")
    with pytest.raises(ValueError, match=r"time_limit is -1; it must lie in \(0, 86400\] seconds"):
        gumdp.SimulatorPlanner(gamble(), 1, time_limit=-1)
    for features, error, message in (
        (1.0, TypeError, "step returned the features 1.0; they must be a list or an array of numbers"),
        ([[1.0]], TypeError, "step returned the features"),
        ([], ValueError, r"the number of features is 0; it must be a whole number in \[1, 1000000\]"),
    ):
        simulator: Any = Gamble()
        simulator.step = lambda state, action, rng, features=features: (state, features, True)
        with pytest.raises(error, match=message):
            gumdp.SimulatedProblem(simulator, total, discount=1.0, horizon=1)
    with pytest.raises(ValueError, match=r"time_limit is 1e\+300; it must lie in \(0, 86400\] seconds"):
        gumdp.SimulatorPlanner(gamble(), 1, time_limit=1e300)
    with pytest.raises(ValueError, match="exploration"):
        gumdp.SimulatorPlanner(gamble(), 1, exploration=-1.0)
    planner = gumdp.SimulatorPlanner(gamble(), 1)
    with pytest.raises(ValueError, match="nothing was decided yet"):
        planner.observe(("kept", 1), [0.0])
    planner.act(("start", 0))
    with pytest.raises(ValueError, match="not in"):
        planner.act(("lost", 1))
    planner.observe(("kept", 1), [0.0])
    with pytest.raises(ValueError, match="the episode is over"):
        planner.act(("kept", 1))
    assert planner.cost == 0.0
    planner.reset()
    assert planner.cost is None


def test_objectives_must_be_finite_numbers() -> None:
    for value, message in ((np.nan, "it must be finite"), ("much", "it must be a number")):
        problem = gumdp.SimulatedProblem(Gamble(), lambda _, value=value: value, discount=1.0, horizon=1)  # type: ignore[misc]
        with pytest.raises((TypeError, ValueError), match=message):
            gumdp.SimulatorPlanner(problem, 1).act(("start", 0))


class Share:
    """Three steps; what counts is the part of them that went up."""

    def initial(self, rng: np.random.Generator) -> int:
        return 0

    def actions(self, state: int) -> tuple[str, ...]:
        return ("up", "down")

    def step(self, state: int, action: str, rng: np.random.Generator) -> tuple[int, list[float], bool]:
        return state + 1, [float(action == "up"), 1.0], False


def test_objectives_need_no_value_before_the_end() -> None:
    def share(sums: Any) -> float:
        return float(sums[0]) / float(sums[1])

    problem = gumdp.SimulatedProblem(Share(), share, discount=1.0, horizon=3)
    for preset in ("default", "paper"):
        planner = gumdp.SimulatorPlanner(problem, 1, simulations=200, preset=preset)
        assert planner.act(0).action == "down"
        assert problem.play(planner, runs=2).tolist() == [0.0, 0.0]

    def never(sums: Any) -> float:
        raise ZeroDivisionError("at the end")

    problem = gumdp.SimulatedProblem(Gamble(), never, discount=1.0, horizon=1)
    with pytest.raises(ZeroDivisionError, match="at the end"):
        gumdp.SimulatorPlanner(problem, 1, simulations=50).act(("start", 0))


def test_interruptions_are_heard() -> None:
    problem = gumdp.SimulatedProblem(Gamble(), total, discount=1.0, horizon=1)
    planner = gumdp.SimulatorPlanner(problem, 1, simulations=100_000_000)
    timer = threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        planner.act(("start", 0))
    timer.join()
    assert gumdp.SimulatorPlanner(problem, 1).act(("start", 0)).simulations == 500


def test_nothing_is_left_behind() -> None:
    problem = gamble()
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(300):
        gumdp.SimulatorPlanner(problem, 1, simulations=5).act(("start", 0))
    gc.collect()
    assert len(gc.get_objects()) < before + 100


def test_features_may_be_any_view() -> None:
    table = np.arange(6.0).reshape(2, 3)
    problem = gamble(step=lambda state, action, rng: (state, table[:1, 0], True))
    assert gumdp.SimulatorPlanner(problem, 1).act(("start", 0)).estimate == 0.0
    strided = gumdp.SimulatedProblem(problem.simulator, total, discount=1.0, horizon=1, features=2)
    strided.simulator.step = lambda state, action, rng: (state, table[:, 1], True)  # type: ignore[method-assign]
    assert gumdp.SimulatorPlanner(strided, 1).act(("start", 0)).estimate == 1.0
