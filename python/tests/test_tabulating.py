"""Tables of simulators and environments: exact where draws can be gone through, with honest bounds where not."""

from __future__ import annotations

import bisect
import copy
import itertools
import pickle
from typing import Any

import gumdp
import gymnasium
import numpy as np
import pytest
from gumdp.scripting import Unscriptable, outcomes
from gymnasium.spaces import Discrete
from gymnasium.wrappers import TimeLimit, TransformReward


def chances(play: Any) -> list[tuple[float, Any]]:
    return [(float(probability), result) for probability, result in outcomes(play, 10_000)]


@pytest.mark.parametrize(
    "play",
    [
        lambda rng: int(rng.integers(3)),
        lambda rng: int(rng.integers(2, 4, endpoint=True)),
        lambda rng: int(rng.integers(0, 2, size=3).sum()),
        lambda rng: str(rng.choice(["a", "b", "b"])),
        lambda rng: int(rng.choice(4, p=[0.1, 0.2, 0.3, 0.4])),
        lambda rng: tuple(rng.choice(4, size=2, replace=False).tolist()),
        lambda rng: tuple(rng.choice([1.0, 2.0], size=(1, 2)).ravel().tolist()),
        lambda rng: tuple(rng.permutation(3).tolist()),
        lambda rng: int(rng.binomial(3, 0.3)),
        lambda rng: bool(rng.random() < 0.25),
        lambda rng: bool(1 - rng.random() >= 0.25),
        lambda rng: int(rng.random() * 3),
        lambda rng: int(rng.uniform(-2, 2)),
        lambda rng: int(np.argmax(np.cumsum([0.2, 0.3, 0.5]) > rng.random())),
        lambda rng: bisect.bisect([0.2, 0.5], rng.random()),
        lambda rng: tuple((rng.random(2) < 0.5).tolist()),
        lambda rng: [float(u < 0.5) + float(u < 0.75) + float(u < 0.1) for u in [rng.random()]][0],
        lambda rng: int(rng.integers(2)) + (int(rng.integers(3)) if rng.random() < 0.5 else 0),
        lambda rng: bool(np.float64(0.3) < rng.uniform(0, 2) + rng.integers(2)),
    ],
)
def test_draws_have_the_probabilities_of_numpy(play: Any) -> None:
    exact: dict[Any, float] = {}
    for probability, result in chances(play):
        exact[result] = exact.get(result, 0.0) + probability
    assert abs(sum(exact.values()) - 1) < 1e-15
    rng, runs = np.random.default_rng(1), 4000
    drawn = [play(rng) for _ in range(runs)]
    assert set(drawn) <= set(exact)
    # Five standard deviations: a false alarm in a million for each outcome.
    for result, p in exact.items():
        assert abs(drawn.count(result) / runs - p) <= 5 * np.sqrt(p * (1 - p) / runs) + 1e-12


@pytest.mark.parametrize(
    ("play", "message"),
    [
        (lambda rng: rng.normal(), r"normal\(\) has outcomes that cannot be listed"),
        (lambda rng: rng.standard_exponential(), r"standard_exponential\(\)"),
        (lambda rng: rng.bytes(3), r"bytes\(\)"),
        (lambda rng: float(rng.random()), r"random\(\) is used as a number, not only compared"),
        (lambda rng: np.array([rng.uniform(0, 1)]), r"uniform\(\) is used as a number"),
        (lambda rng: np.sin(rng.random()), "is used as a number"),
        (lambda rng: {rng.random(): 1}, "is used as a number"),
        (lambda rng: rng.random() < rng.random(), "is used as a number"),
        (lambda rng: rng.integers(200) + rng.integers(200), "has more than 10000 outcomes"),
        (lambda rng: rng.integers(10**9), "has more than 10000 outcomes"),
    ],
)
def test_what_cannot_be_listed_is_named(play: Any, message: str) -> None:
    with pytest.raises(Unscriptable, match=message):
        chances(play)


def test_bits_cannot_be_drawn_past_the_script() -> None:
    for play in (
        lambda rng: rng.bit_generator.random_raw() % 2,
        lambda rng: np.random.Generator(rng.bit_generator).random() < 0.5,
        lambda rng: np.random.Generator.integers(rng, 2),
    ):
        with pytest.raises(ValueError, match="draws from the bits of the generator"):
            chances(play)


def test_what_is_drawn_elsewhere_is_refused() -> None:
    hidden, counted = np.random.default_rng(0), itertools.count()

    def simulator(draw: Any) -> Any:
        class Coin:
            def initial(self, rng: Any) -> int:
                return 0

            def actions(self, state: int) -> list[str]:
                return ["toss"]

            def step(self, state: int, action: str, rng: Any) -> tuple[int, list[float], bool]:
                return state, [float(draw())], state == 3

        return Coin()

    for draw in (lambda: hidden.random() < 0.5, lambda: np.random.random(), lambda: next(counted) % 3):
        with pytest.raises(ValueError, match="the same draws lead to .* something else is drawn from, or remembered"):
            gumdp.Model.from_simulator(simulator(draw))


def test_an_error_that_somebody_catches_is_not_forgotten() -> None:
    def play(rng: Any) -> int:
        try:
            rng.normal()
        except ValueError:
            return 0
        return 1

    with pytest.raises(Unscriptable, match="normal"):
        chances(play)


class Mine:
    """Digs for ore, which chance may double; the roof falls with a chance that grows with the depth."""

    names = ("ore", "lost")

    def initial(self, rng: np.random.Generator) -> int:
        return int(rng.integers(2))

    def actions(self, depth: int) -> list[str]:
        return ["dig", "leave"] if depth < 3 else ["leave"]

    def step(self, depth: int, action: str, rng: np.random.Generator) -> tuple[int, list[float], bool]:
        if action == "leave":
            return depth, [0.0, 0.0], True
        if rng.random() < 0.1 * depth:
            return depth, [0.0, 1.0], True
        return depth + 1, [float(rng.choice([1, 2], p=[0.75, 0.25])), 0.0], False


def brute(simulator: Any, f: Any, discount: float, horizon: int) -> float:
    """The least mean cost over all policies that know everything so far, by going through all draws."""
    masses = discount ** np.arange(horizon)
    masses /= masses.sum()

    def value(state: Any, time: int, sums: np.ndarray) -> float:
        if state is None or time == horizon:
            return float(f(sums))
        values = []
        for action in simulator.actions(state):
            played = outcomes(lambda rng, action=action: simulator.step(state, action, rng), 1000)
            values.append(sum(float(p) * value(None if done else to, time + 1, sums + masses[time] * np.array(phi)) for p, (to, phi, done) in played))
        return min(values)

    start = np.zeros(len(simulator.names))
    return sum(float(p) * value(state, 0, start) for p, state in outcomes(simulator.initial, 1000))


@pytest.mark.parametrize("discount", [1.0, 0.8])
def test_the_optimum_is_that_of_all_ways_to_play(discount: float) -> None:
    def f(sums: np.ndarray) -> float:
        return float((sums[0] - 0.5) ** 2 + 2 * sums[1])

    exact = brute(Mine(), f, discount, 4)
    by_formula = gumdp.Problem.from_simulator(Mine(), "(ore - 0.5)^2 + 2*lost", discount=discount, horizon=4)
    by_function = gumdp.Problem.from_simulator(Mine(), f, discount=discount, horizon=4)
    assert by_formula.horizon == 5
    assert abs(gumdp.solve(by_formula).value - exact) < 1e-12
    assert abs(gumdp.solve(by_function).value - exact) < 1e-12
    # Weights of features.
    linear = gumdp.Problem.from_simulator(Mine(), {"lost": 3, "ore": -1}, discount=discount, horizon=4)
    assert abs(gumdp.solve(linear).value - brute(Mine(), lambda sums: 3 * sums[1] - sums[0], discount, 4)) < 1e-12
    # Expected rewards have the same mean.
    averaged = gumdp.Problem.from_simulator(Mine(), {"lost": 3, "ore": -1}, discount=discount, horizon=4, rewards="expected")
    assert averaged.horizon == 4 and abs(gumdp.solve(averaged).value - gumdp.solve(linear).value) < 1e-12


def test_the_model_has_exact_probabilities_and_named_features() -> None:
    model = gumdp.Model.from_simulator(Mine())
    assert model.states == ["0", "1", "terminated", "2", "3"] and model.actions == ["dig", "leave"]
    assert model.initial.tolist() == [0.5, 0.5, 0, 0, 0] and model.estimate is None
    assert model.to_numpy()[0][3].tolist() == [0, 0, 0.2, 0, 0.8]
    assert model.costs["ore"][:2].tolist() == [1.25, 0.0]
    assert abs(model.costs["lost"][5] - 0.2) < 1e-15
    assert model.state_of(2) == 3 and model.state_of(2, terminated=True) == 2
    with pytest.raises(ValueError, match="there is no state 7"):
        model.state_of(7)


class Sure:
    """Features are those of the state and the action."""

    def initial(self, rng: np.random.Generator) -> int:
        return 0

    def actions(self, state: int) -> range:
        return range(2)

    def step(self, state: int, action: int, rng: np.random.Generator) -> tuple[int, list[float], bool]:
        return (state + action + int(rng.integers(2))) % 5, [float(state == 3)], False


def test_states_are_split_only_where_it_is_needed() -> None:
    problem = gumdp.Problem.from_simulator(Sure(), "feature", discount=0.9, horizon=6)
    assert problem.horizon == 6 and len(problem.model.states) == 5
    split = gumdp.Problem.from_simulator(Mine(), "lost - ore", discount=0.9, horizon=4)
    assert split.model.states == ["0", "1[0, 0]", "1[1, 0]", "1[2, 0]", "terminated[0, 0]"] + ["terminated[0, 1]", "2[1, 0]", "2[2, 0]", "3[1, 0]", "3[2, 0]"]
    assert split.model.state_of(1, [2, 0]) == 3 and split.model.state_of(1) == 1
    assert split.model.state_of(2, [0, 1], True) == 5
    with pytest.raises(ValueError, match=r"state 2 is never reached with reward \[5, 0\]"):
        split.model.state_of(2, [5, 0])


def test_a_planner_plays_the_simulator_itself() -> None:
    problem = gumdp.Problem.from_simulator(Mine(), "(ore - 0.5)^2 + 2*lost", discount=0.9, horizon=4)
    agent, simulator, model = gumdp.solve(problem).policy(), Mine(), problem.model
    masses = 0.9 ** np.arange(4)
    masses /= masses.sum()
    costs = []
    for run in range(2000):
        rng = np.random.default_rng(run)
        agent.reset()
        state, done, sums = simulator.initial(rng), False, np.zeros(2)
        number = model.state_of(state)
        for mass in masses:
            action = agent.act(number).action
            state, features, done = simulator.step(state, model.actions[action], rng)
            sums += mass * np.array(features)
            number = model.state_of(state, features, done)
            agent.observe(action, number)
            if done:
                break
        costs.append((sums[0] - 0.5) ** 2 + 2 * sums[1])
        assert abs(agent.cost - costs[-1]) < 1e-12
    # Four standard errors: a false alarm in 16 000.
    assert abs(np.mean(costs) - gumdp.solve(problem).value) < 4 * np.std(costs) / np.sqrt(len(costs))


class Noisy(Mine):
    """The roof falls when noise is low."""

    def step(self, depth: int, action: str, rng: np.random.Generator) -> tuple[int, list[float], bool]:
        if action == "dig" and rng.normal() < -1.0:
            return depth, [0.0, 1.0], True
        return super().step(0 if action == "dig" else depth, action, rng)[0] + (depth if action == "dig" else 0), [0.0, 0.0], action == "leave"


def test_what_cannot_be_listed_is_estimated_within_its_bound() -> None:
    with pytest.raises(ValueError, match=r"state 0, action 'dig': normal\(\) has outcomes .*; samples= estimates"):
        gumdp.Model.from_simulator(Noisy())
    truth, right = 0.15865525393145707, 0
    for seed in range(10):
        model = gumdp.Model.from_simulator(Noisy(), samples=1000, confidence=0.9, seed=seed)
        estimate = model.estimate
        assert estimate is not None and estimate.pairs == 3 and estimate.samples == 1000 and 0.05 < estimate.radius < 0.3
        fall = model.to_numpy()[0][:, model.states.index("terminated")]
        # Each row has two outcomes, so the sum of differences is twice one of them.
        right += bool(np.all(2 * np.abs(fall[[model.states.index(name) for name in ("0", "1", "2")]] - truth) <= estimate.radius))
        assert model.costs["lost"].max() > 0
    # They hold with probability .9 at least, all together; 5 or fewer of 10 are a false alarm in 600.
    assert right >= 6
    assert "estimated" in repr(model) and "with confidence 0.9 every row is within" in str(model.estimate) and "normal()" in str(model.estimate)
    # What can be listed is exact.
    assert model.to_numpy()[1][0].tolist()[model.states.index("terminated")] == 1.0


def test_there_is_a_limit() -> None:
    class Endless(Sure):
        def step(self, state: int, action: int, rng: np.random.Generator) -> tuple[int, list[float], bool]:
            return state + 1 + action, [0.0], False

    with pytest.raises(ValueError, match=r"there are more than 50 states \(max_states\), of which .* were gone through"):
        gumdp.Model.from_simulator(Endless(), max_states=50)
    # A horizon ends it.
    problem = gumdp.Problem.from_simulator(Endless(), "feature", discount=1.0, horizon=10, max_states=50)
    assert len(problem.model.states) == 21
    for arguments, message in (
        ({"max_states": 0}, "max_states is 0"),
        ({"samples": 1}, r"samples is 1; it must be a whole number in \[2"),
        ({"confidence": 1.0}, r"confidence is 1.0; it must lie in \(0, 1\)"),
    ):
        with pytest.raises(ValueError, match=message):
            gumdp.Model.from_simulator(Sure(), **arguments)


def test_wrong_simulators_are_named() -> None:
    for changes, error, message in (
        ({"actions": lambda state: []}, ValueError, r"actions\(0\) is empty"),
        ({"actions": lambda state: [1, 1]}, ValueError, "state 0 has the action 1 twice"),
        ({"step": lambda *_: 5}, TypeError, r"it must be a tuple \(next_state, features, done\)"),
        ({"step": lambda *_: (0, [np.nan], False)}, ValueError, "they must be some finite numbers"),
        ({"step": lambda *_: (0, 3.0, False)}, TypeError, "they must be a list or an array"),
        ({"names": ["a", "b"]}, ValueError, "the names of the features are .*; they must be 1 different names"),
    ):
        simulator = Sure()
        for name, value in changes.items():
            setattr(simulator, name, value)
        with pytest.raises(error, match=message):
            gumdp.Model.from_simulator(simulator)
    with pytest.raises(TypeError, match="it must have a method initial"):
        gumdp.Model.from_simulator(3)
    for objective, error, message in (
        ("feature + other", ValueError, "names other; the features are feature"),
        ({"other": 1}, ValueError, "the objective names 'other'"),
        (3, TypeError, "objective is 3"),
    ):
        with pytest.raises(error, match=message):
            gumdp.Problem.from_simulator(Sure(), objective, discount=1.0, horizon=3)


class Grid(gymnasium.Env[Any, Any]):
    """A slippery corridor. The last action and a list of what was seen are remembered for pictures; rewards are two."""

    action_space = Discrete(2)
    observation_space = Discrete(6)

    def __init__(self, remembers: bool = False) -> None:
        self.remembers = remembers

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.at, self.last_action, self.seen = 2, None, []
        return self.at, {}

    def step(self, action: int) -> tuple[int, Any, bool, bool, dict[str, Any]]:
        slips = self.np_random.choice([False, True], p=[0.8, 0.2])
        self.at += 1 if (action == 1) != slips else -1
        self.last_action = action
        if self.remembers:
            self.seen.append(self.at)
        return self.at, np.array([-1.0, 10.0 * (self.at == 5)], dtype=np.float32), self.at in (0, 5), False, {}


def test_an_environment_becomes_a_model() -> None:
    env = TimeLimit(Grid(), 30)
    env.reset(seed=4)
    env.step(1)
    before = env.unwrapped.at, env.unwrapped.np_random.bit_generator.state
    model = gumdp.Model.from_env(env)
    assert (env.unwrapped.at, env.unwrapped.np_random.bit_generator.state) == before
    # The last action does not make a state.
    assert sorted(model.states) == ["1", "2", "3", "4", "terminated"] and list(model.costs) == ["reward0", "reward1"]
    two = model.states.index("2")
    assert model.to_numpy()[1][two][model.states.index("3")] == 0.8
    assert model.state_of(2) == two == int(model.initial.argmax())
    assert model.state_of(env) == model.states.index(str(env.unwrapped.at))
    another = gymnasium.wrappers.PassiveEnvChecker(Grid())
    another.reset(seed=1)
    assert model.state_of(another) == two
    another.step(0)
    assert model.states[model.state_of(another)] == str(another.unwrapped.at)
    # The hand-made table.
    P = np.zeros((2, 5, 5))
    for action, state in itertools.product(range(2), range(1, 5)):
        for by, p in ((1, 0.8), (-1, 0.2)):
            to = state + (by if action == 1 else -by)
            P[action, state, 0 if to in (0, 5) else to] += p
    order = [0 if name == "terminated" else int(name) for name in model.states]
    moved = P[:, order][:, :, order]
    moved[0, order.index(0), order.index(0)] = 1
    assert np.abs(model.to_numpy() - moved).max() < 1e-15


def test_a_problem_of_an_environment_is_solved() -> None:
    problem = gumdp.Problem.from_env(TimeLimit(Grid(), 12), "-reward0 - reward1", discount=1.0)
    assert problem.horizon == 13
    # By backward induction.
    value = np.zeros(6)
    for _ in range(12):
        q = np.full((6, 2), 0.0)
        for at, action in itertools.product(range(1, 5), range(2)):
            for by, p in ((1, 0.8), (-1, 0.2)):
                to = at + (by if action == 1 else -by)
                q[at, action] += p * (1 - 10 * (to == 5) + value[to] * (to not in (0, 5)))
        value = q.min(axis=1)
    assert abs(12 * gumdp.solve(problem).value - value[2]) < 1e-12
    # What is remembered without end is cut off by the horizon, or named.
    longer = gumdp.Problem.from_env(TimeLimit(Grid(True), 6), "-reward0 - reward1", discount=1.0)
    shorter = gumdp.Problem.from_env(TimeLimit(Grid(), 12), "-reward0 - reward1", discount=1.0, horizon=6)
    assert abs(gumdp.solve(longer).value - gumdp.solve(shorter).value) < 1e-12
    with pytest.raises(ValueError, match=r"more than 200 states"):
        gumdp.Model.from_env(Grid(True), max_states=200)
    assert len(gumdp.Model.from_env(Grid(True), ignored=["seen"], max_states=200).states) == 5
    # Wrappers are stepped through: this one doubles rewards.
    doubled = gumdp.Problem.from_env(TransformReward(Grid(), lambda reward: 2 * reward), "-reward0 - reward1", discount=1.0, horizon=6)
    assert abs(gumdp.solve(doubled).value - 2 * gumdp.solve(shorter).value) < 1e-12
    with pytest.raises(ValueError, match="there are the features reward0, reward1; say what is to be small"):
        gumdp.Problem.from_env(Grid(), discount=1.0, horizon=6)


def test_it_agrees_with_the_table_of_the_environment() -> None:
    env = gymnasium.make("FrozenLake-v1")
    by_table = gumdp.Problem.from_gymnasium(env, discount=0.95, horizon=30)
    by_steps = gumdp.Problem.from_env(env, discount=0.95, horizon=30, constant=["P"])
    for risk in (0.0, gumdp.Erm(20)):
        assert abs(gumdp.solve(by_table, risk).value - gumdp.solve(by_steps, risk).value) < 1e-9


def test_states_may_have_a_key_and_show_the_same() -> None:
    class Hidden(Grid):
        def reset(self, **kwargs: Any) -> Any:
            return 0, super().reset(**kwargs)[1]

        def step(self, action: int) -> Any:
            return 0, *super().step(action)[1:]

    env = Hidden()
    model = gumdp.Model.from_env(env)
    env.reset(seed=0)
    assert len(model.states) == 5 and model.state_of(env) == 0
    with pytest.raises(ValueError, match="the observation is 0; give the environment itself"):
        model.state_of(0)
    keyed = gumdp.Model.from_env(env, state_key=lambda env, observation: env.at)
    assert sorted(keyed.states) == ["1", "2", "3", "4", "terminated"]


@pytest.mark.parametrize("again", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_copies_know_their_states(again: Any) -> None:
    problem = again(gumdp.Problem.from_simulator(Mine(), "lost - ore", discount=0.9, horizon=4))
    assert problem.model.state_of(1, [2, 0]) == 3 and problem._is_paid_later
    model = again(gumdp.Model.from_simulator(Noisy(), samples=100))
    assert model.estimate is not None
    assert again(gumdp.Model.from_env(Grid())).state_of(2) == 0
