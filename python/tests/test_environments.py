"""Environments of Gymnasium that nobody here wrote: their state is saved, put back, and rehearsed.

Those of this file have what makes real ones hard: objects in objects, lists that are changed in place, generators of their own, counters.
"""

from __future__ import annotations

import copy
import itertools
import pickle
import random
import time
from collections import deque
from typing import Any

import gumdp
import gymnasium
import numpy as np
import pytest
from gumdp.snapshots import Snapshot
from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete
from gymnasium.wrappers import TimeLimit, TransformReward


class Cargo:
    """An object with slots that holds the world that holds it."""

    __slots__ = ("home", "items", "weights")

    def __init__(self, home: Any) -> None:
        self.home, self.items, self.weights = home, [], {"total": 0}


class Warehouse(gymnasium.Env[Any, Any]):
    """Takes and drops things; what it holds is changed in place, shared, and nested. Nothing of it shows but a number."""

    action_space = Discrete(3)
    observation_space = Discrete(100)

    def __init__(self) -> None:
        self.cargo = Cargo(self)
        self.shared = self.cargo.items
        self.places = np.zeros((2, 2))
        self.row = self.places[0]
        self.last: deque[int] = deque(maxlen=2)
        self.seen: set[int] = set()
        self.log: list[Any] = []
        self.log.append(self.log)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        del self.cargo.items[:]
        self.cargo.weights["total"] = 0
        self.places[...] = 0
        self.last.clear()
        self.seen.clear()
        self.extra = None
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        if action == 0:
            self.shared.append([int(self.np_random.integers(5))])
        elif action == 1 and self.shared:
            self.cargo.items[-1][0] += 1
            self.row[0] += 1
        elif self.shared:
            self.extra = self.shared.pop()
        self.last.append(action)
        self.seen.add(action)
        self.cargo.weights["total"] = sum(item[0] for item in self.shared)
        seen = int(self.cargo.weights["total"] + 7 * self.places[0, 0] + 11 * len(self.seen) + 13 * sum(self.last))
        return seen, float(seen), False, False, {}


def played(environment: gumdp.Environment, state: Any, plan: list[int], seed: int) -> list[Any]:
    rng, seen = np.random.default_rng(seed), []
    for action in plan:
        state, features, done = environment.step(state, action, rng)
        seen.append((state.observation, features.tolist(), done))
    return seen


def test_any_state_can_be_gone_back_to() -> None:
    environment = gumdp.Environment(Warehouse())
    rng = np.random.default_rng(1)
    state = environment.initial(rng)
    met = [state]
    for _ in range(30):
        state, _, _ = environment.step(state, int(rng.integers(3)), rng)
        met.append(state)
    plan = [0, 1, 1, 2, 0, 1]
    futures = [played(environment, state, plan, 5) for state in met]
    # In another order, with others in between; and from a copy that nobody stepped before.
    for place in rng.permutation(len(met)):
        assert played(environment, met[place], plan, 5) == futures[place]
    assert len({str(future) for future in futures}) > 20
    assert environment.env.shared is environment.env.cargo.items and environment.env.row.base is environment.env.places


def test_states_are_equal_if_all_fields_are() -> None:
    environment = gumdp.Environment(Warehouse())
    start = environment.initial(np.random.default_rng(0))
    ways = {plan: start for plan in itertools.product((0, 1, 2), repeat=3)}
    for plan in ways:
        for action in plan:
            ways[plan], _, _ = environment.step(ways[plan], action, np.random.default_rng(3))
    # Taking something and putting it down again leaves traces in what is extra, not in where it was.
    assert ways[0, 1, 1] != ways[0, 0, 1] and ways[1, 1, 1] == ways[1, 1, 1]
    assert ways[1, 1, 2] != ways[2, 1, 1]  # The two last actions differ.
    assert ways[1, 2, 2] == ways[2, 2, 2] or ways[1, 2, 2].observation != ways[2, 2, 2].observation
    assert len(set(ways.values())) < len(ways)


class Trap(gymnasium.Env[Any, Any]):
    """Counts steps, and something else that each test adds."""

    action_space = Discrete(2)
    observation_space = Discrete(1000)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.count = 0
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.count += 1
        return self.count, self.pay(), False, False, {}

    def pay(self) -> float:
        return 0.0


class Iterated(Trap):
    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        self.numbers = (number for number in range(10**9))
        return super().reset(seed=seed)

    def pay(self) -> float:
        return float(next(self.numbers))


class Timed(Trap):
    def pay(self) -> float:
        self.at = time.perf_counter()
        return 0.0


class OfClass(Trap):
    steps = [0]

    def pay(self) -> float:
        self.steps[0] += 1
        return float(self.steps[0])


class Entropic(Trap):
    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        self.luck = np.random.default_rng().random()
        return super().reset(seed=seed)


class Closed(Trap):
    """Keeps a generator and a number where only functions know of them, and a generator of Python."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        draw, steps = np.random.default_rng(3).random, 0

        def pay() -> float:
            nonlocal steps
            steps += 1
            return float(10 * steps + draw())

        self.own = pay
        self.coin = random.Random(3).random
        return 0, {}

    def pay(self) -> float:
        return self.own() + 100 * self.coin()


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Iterated, r"the features are \[0.0\] once and .* \(what cannot be saved: .*generator"),
        (Timed, r"after the same step, \.at is [\d.]+ once and [\d.]+ then; if it does not matter, ignored= can name it"),
        (OfClass, r"the features are \[1.0\] once and \[5.0\] then"),
        (Entropic, r"after the same reset, \.luck is"),
    ],
)
def test_what_does_not_continue_identically_is_refused(kind: type[Trap], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gumdp.Environment(kind())


def test_fields_that_do_not_matter_can_be_named() -> None:
    environment = gumdp.Environment(Timed(), ignored=["at", "count"])
    state = environment.initial(np.random.default_rng(0))
    assert environment.step(state, 0, np.random.default_rng(0))[0] == environment.step(state, 1, np.random.default_rng(0))[0]
    wrapped = TransformReward(Timed(), lambda reward: 2 * reward)
    gumdp.Environment(wrapped, ignored=["at"])
    with pytest.raises(ValueError, match=r"constant names the field count, in which \.count changes"):
        gumdp.Environment(Trap(), constant=["count"])


class Everyones(Trap):
    """Draws from the generators that all share."""

    def pay(self) -> float:
        return float(np.random.randint(1000)) + random.random()


class Counter:
    __slots__ = ("__steps",)

    def __init__(self) -> None:
        self.__steps = 0

    def count(self) -> int:
        self.__steps += 1
        return self.__steps


class Twice(Counter):
    __slots__ = ("__steps",)

    def __init__(self) -> None:
        super().__init__()
        self.__steps = 10

    def count(self) -> int:
        self.__steps += 10
        return self.__steps + super().count()


class Private(Trap):
    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        self.counter = Twice()
        return super().reset(seed=seed)

    def pay(self) -> float:
        return float(self.counter.count())


def test_private_slots_of_every_class_are_saved() -> None:
    environment = gumdp.Environment(Private())
    state = environment.initial(np.random.default_rng(0))
    paid = [features[0] for _, features, _ in played(environment, state, [0, 0, 0], 1)]
    assert paid == [21, 32, 43] == [features[0] for _, features, _ in played(environment, state, [0, 0, 0], 1)]


def test_generators_that_all_share_draw_what_is_asked_for() -> None:
    np.random.seed(1)
    random.seed(1)
    wanted = np.random.random(), random.random()
    np.random.seed(1)
    random.seed(1)
    environment = gumdp.Environment(Everyones())
    state = environment.initial(np.random.default_rng(0))
    paid = [environment.step(state, 0, np.random.default_rng(seed))[1][0] for seed in (1, 2, 1)]
    assert paid[0] == paid[2] != paid[1]
    # Those outside do not notice.
    assert (np.random.random(), random.random()) == wanted
    with pytest.raises(ValueError, match="NumPy's global generator has outcomes that cannot be listed; samples="):
        gumdp.Model.from_env(Everyones())


def test_functions_may_remember() -> None:
    environment = gumdp.Environment(Closed())
    state = environment.initial(np.random.default_rng(0))
    plan = [0, 0, 0]
    futures = [played(environment, state, plan, seed) for seed in (1, 2, 1)]
    assert futures[0] == futures[2] != futures[1]
    with pytest.raises(ValueError, match="a generator that cannot be replaced"):
        gumdp.Model.from_env(Closed(), max_states=100)


def test_a_generator_that_is_made_late_is_found() -> None:
    class Late(Trap):
        def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
            self.count = 0
            return 0, {}

        def pay(self) -> float:
            return float(self.np_random.integers(4))

    problem = gumdp.Problem.from_env(Late(), "reward^2", discount=1.0, horizon=2)
    assert problem.horizon == 3 and abs(gumdp.solve(problem).value - (1.5**2 + 1.25 / 2)) < 1e-12
    environment = gumdp.Environment(Late())
    plan = [0, 0, 0, 0]
    state = environment.initial(np.random.default_rng(0))
    assert played(environment, state, plan, 1) == played(environment, state, plan, 1) != played(environment, state, plan, 2)


def test_wrappers_are_stepped_through() -> None:
    class Doubled(TransformReward):  # type: ignore[type-arg]
        def __init__(self, env: Any) -> None:
            super().__init__(env, lambda reward: 2 * reward)
            self.steps = [0]

        def step(self, action: Any) -> Any:
            self.steps[0] += 1
            observation, reward, terminated, truncated, info = super().step(action)
            return observation, reward + self.steps[0], terminated, truncated, info

    environment = gumdp.Environment(Doubled(TimeLimit(Warehouse(), 3)))
    state = environment.initial(np.random.default_rng(0))
    future = played(environment, state, [0, 0, 1], 4)
    assert future == played(environment, state, [0, 0, 1], 4) and [done for *_, done in future] == [False, False, True]
    assert [features[0] for _, features, _ in future] == [2 * seen + k for k, (seen, _, _) in enumerate(future, 1)]
    assert environment.time_limit is None
    # Not taken off, but what it allows is the horizon.
    problem = gumdp.SimulatedProblem.from_gymnasium(Doubled(TimeLimit(Warehouse(), 3)), lambda sums: sums[0], discount=1.0)
    assert problem.horizon == 3
    assert gumdp.Environment(TimeLimit(Warehouse(), 30)).time_limit == 30


def test_features_have_names() -> None:
    def features(observation: int, action: int, reward: float, info: dict[str, Any]) -> dict[str, float]:
        return {"seen": observation, "first": action == 0}

    environment = gumdp.Environment(Warehouse(), features=features)
    state = environment.initial(np.random.default_rng(0))
    _, read, _ = environment.step(state, 0, np.random.default_rng(0))
    assert environment.names == ["seen", "first"] and read[1] == 1
    assert gumdp.Environment(Warehouse()).names == ["reward"]


def test_actions_are_those_of_the_space() -> None:
    class Any_(Trap):
        pass

    def actions(space: Any, **settings: Any) -> list[Any]:
        env = Any_()
        env.action_space = space
        return list(gumdp.Environment(env, check=False, **settings)._actions)

    assert actions(Discrete(3, start=-1)) == [-1, 0, 1]
    assert [action.tolist() for action in actions(MultiDiscrete([2, 2]))] == [[0, 0], [0, 1], [1, 0], [1, 1]]
    box = Box(np.float32([-1, 0]), np.float32([1, 2]))
    assert [action.tolist() for action in actions(box, bins=[3, 2])] == [[x, y] for x in (-1, 0, 1) for y in (0, 2)]
    assert actions(Box(-1, 1), bins=5)[1].tolist() == [-0.5]
    assert actions(Box(-1, 1), actions=["left"]) == ["left"]
    for space, settings, message in (
        (box, {}, "bins= divides each dimension"),
        (Box(0, np.inf), {"bins": 3}, "which has no bounds; actions= lists"),
        (box, {"bins": [3]}, "bins has 1 numbers; the actions have 2 dimensions"),
        (box, {"bins": 1}, r"bins is 1; it must be a whole number in \[2, 10000\]"),
        (Discrete(2), {"bins": 3}, "no dimensions to divide"),
        (Dict(a=Discrete(2)), {}, "actions= lists"),
        (Discrete(2), {"actions": []}, "actions is empty"),
    ):
        with pytest.raises(ValueError, match=message):
            actions(space, **settings)


def test_wrong_arguments_are_named() -> None:
    for arguments, error, message in (
        ({"env": 3}, TypeError, "it must be an environment of Gymnasium, with a method reset"),
        ({"env": Trap}, TypeError, "env is .*Trap.*; it must be an environment of Gymnasium"),
        ({"actions": "ab"}, TypeError, "actions is 'ab'; it must be a list of actions"),
        ({"features": 3}, TypeError, "features is 3; it must be a function"),
        ({"ignored": "count"}, TypeError, "ignored is 'count'; it must be a list of names"),
        ({"reset_seed": -1}, ValueError, "reset_seed is -1"),
        ({"features": lambda *_: "much"}, TypeError, "features"),
    ):
        with pytest.raises(error, match=message):
            gumdp.Environment(**{"env": Trap(), **arguments})
    with pytest.raises(ValueError, match="the environment has no time limit; give the horizon"):
        gumdp.SimulatedProblem.from_gymnasium(Trap(), lambda sums: sums[0], discount=1.0)
    with pytest.raises(ValueError, match=r"horizon is 6; the environment ends episodes after 5 steps"):
        gumdp.SimulatedProblem.from_gymnasium(TimeLimit(Trap(), 5), lambda sums: sums[0], discount=1.0, horizon=6)
    vectors = gymnasium.make_vec("CartPole-v1", num_envs=2)
    with pytest.raises(TypeError, match="which is many environments"):
        gumdp.Environment(vectors)


@pytest.mark.parametrize("name", ["MountainCar-v0", "CartPole-v1", "Acrobot-v1", "Pendulum-v1", "Blackjack-v1"])
def test_those_of_gymnasium_continue_identically(name: str) -> None:
    environment = gumdp.Environment(gymnasium.make(name), bins=3 if name == "Pendulum-v1" else None)
    rng = np.random.default_rng(0)
    state = environment.initial(rng)
    for _ in range(5):
        state, _, done = environment.step(state, environment.actions(state)[0], rng)
        if done:
            break
    # What the library says of a step is what the environment says of it.
    fresh = gymnasium.make(name).unwrapped
    fresh.reset(seed=3)
    start = environment.env.reset(seed=3)
    here = environment.here(start[0])
    fresh.np_random, action = np.random.default_rng(9), environment.actions(here)[-1]
    wanted = fresh.step(action)
    seen, features, done = environment.step(here, action, np.random.default_rng(9))
    assert np.array_equal(seen.observation, wanted[0]) and features[0] == wanted[1] and done == wanted[2]


def test_an_environment_is_planned_in() -> None:
    class Lake(Trap):
        """Two ways; the second is short and slips."""

        def step(self, action: int) -> tuple[int, Any, bool, bool, dict[str, Any]]:
            self.count += 1
            slipped = action == 1 and self.np_random.random() < 0.2
            reward = np.array([-1.0 if action == 0 else 0.0, -5.0 if slipped else 0.0])
            return self.count, reward, self.count == 2, False, {}

    for beta, action in ((0.0, 0), (-3.0, 1)):
        problem = gumdp.SimulatedProblem.from_gymnasium(
            TimeLimit(Lake(), 2), lambda sums: -1.1 * sums[0] - 1.2 * sums[1], discount=1.0
        )
        # Costs of 1.1 and 1.2 are told apart by luck with few simulations.
        for preset, simulations in (("paper", 400), ("default", 10_000)):
            planner = gumdp.SimulatorPlanner(problem, beta, simulations=simulations, preset=preset)
            state = problem.simulator.initial(np.random.default_rng(0))
            assert planner.act(state).action == action, preset
    assert problem.horizon == 2 and problem.features == 2
    assert np.isfinite(problem.play(gumdp.SimulatorPlanner(problem, 0.0, simulations=20), runs=2)).all()


def test_what_cannot_be_copied_says_so() -> None:
    problem = gumdp.SimulatedProblem.from_gymnasium(TimeLimit(Trap(), 2), np.max, discount=1.0)
    for again in (copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="make another one"):
            again(problem)
        with pytest.raises(TypeError, match="belongs to the objects that it was taken of"):
            again(problem.simulator.initial(np.random.default_rng(0)))


def test_somebody_may_step_it_in_between() -> None:
    environment = gumdp.Environment(Warehouse())
    state = environment.initial(np.random.default_rng(0))
    future = played(environment, state, [0, 1, 0], 1)
    environment.initial(np.random.default_rng(5))
    environment.env.step(0)
    assert played(environment, state, [0, 1, 0], 1) == future


def test_snapshots_name_what_differs() -> None:
    class Thing:
        pass

    thing = Thing()
    thing.parts = [{"name": "one", "at": np.zeros(3)}, (1, [2])]
    before = Snapshot(thing)
    thing.parts[0]["at"][1] = 5
    assert before.differs(Snapshot(thing)) == ".parts[0]['at']"
    thing.parts[1][1].append(3)
    before.restore()
    assert thing.parts[1] == (1, [2]) and thing.parts[0]["at"].tolist() == [0, 0, 0]
    thing.more = 1
    assert before.differs(Snapshot(thing)) in (".more", "")
    before.restore()
    assert not hasattr(thing, "more") and before.differs(Snapshot(thing)) is None
    assert Snapshot(float("nan")).key() == Snapshot(float("nan")).key()
