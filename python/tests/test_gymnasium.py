"""Gymnasium: its environments as models, problems as environments, planners as agents; other solvers as witnesses."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import wrappers
from gymnasium.utils.env_checker import check_env
from mdptoolbox import mdp as toolbox

import gumdp
import gumdp.gymnasium
from gumdp import Entropy, Erm, Linear, Model, Planner, Problem


# Up to Gymnasium 1.2, and from 1.3 on. Gymnasium itself warns of names that it will drop.
TAXIS = [name for name in ("Taxi-v3", "Taxi-v4") if name in gymnasium.registry]
TABLES = ["FrozenLake-v1", *TAXIS, "CliffWalking-v1"]


def made(name: str, **settings: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return gymnasium.make(name, **settings)


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
    env = made(name, **settings)
    return env, Model.from_gymnasium(env)


@pytest.mark.parametrize("name", TABLES)
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


@pytest.mark.parametrize("name", TABLES)
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
    exact = gumdp.exact_distribution(cost, optimum)
    assert exact.risk(beta) == pytest.approx(optimum.value, abs=1e-9)
    explore = Problem(model, Entropy(), discount=1.0, horizon=30)
    results = gumdp.compare(explore, ["planner", "uniform"], beta, runs=60, simulations=100)
    # The planner spreads its visits: the gap is many standard errors wide.
    gap = results["uniform"].costs.mean() - results["planner"].costs.mean()
    error = np.sqrt(sum(samples.costs.var() / len(samples) for samples in results.values()))
    assert gap > 4 * error


@pytest.mark.parametrize("name", TAXIS)
def test_a_planner_drives_a_taxi(name: str) -> None:
    env, model = environment(name)
    problem = Problem(model, Linear(model.costs["cost"]), discount=0.99, horizon=40)
    planner = Planner(problem, Erm(0))
    state, _ = env.reset(seed=3)
    total, terminated = 0.0, False
    while not terminated and planner.time < problem.horizon:
        action = planner.act(int(state)).action
        state, reward, terminated, _, _ = env.step(action)
        planner.observe(action, model.state_of(int(state), float(reward), terminated))
        total += float(reward)
    # An optimal ride earns between 3 and 16.
    assert terminated and total > 0


def test_an_optimal_policy_is_an_agent() -> None:
    env, model = environment("FrozenLake-v1")
    problem = Problem(model, Linear(model.costs["cost"]), discount=1.0, horizon=60)
    agent = gumdp.solve(problem, Erm(0)).policy()
    wins = 0
    for episode in range(200):
        state, _ = env.reset(seed=episode)
        agent.reset()
        terminated, reward = False, 0.0
        while not terminated and agent.time < problem.horizon:
            decision = agent.act(int(state))
            state, value, terminated, _, _ = env.step(decision.action)
            agent.observe(decision.action, int(state))
            reward = float(value)
        wins += reward > 0
    # The expected reward is known exactly; 4 standard errors have a false-alarm rate of 6e-5.
    chance = -undiscounted_cost(problem, gumdp.solve(problem, Erm(0)).value)
    assert abs(wins / 200 - chance) < 4 * np.sqrt(chance * (1 - chance) / 200)
    assert decision.stopped == "known" and decision.reasons.size == 0 and np.isnan(decision.estimate)


def unsteady_cliff(slip: float) -> Any:
    """CliffWalking in which a step is slippery with this probability: a mixture of the two tables that Gymnasium has."""
    steady, slippery = (gymnasium.make("CliffWalking-v1", is_slippery=kind).unwrapped for kind in (False, True))
    mixed = {
        state: {
            action: [
                (share * p, *rest)
                for share, env in ((1 - slip, steady), (slip, slippery))
                for p, *rest in env.P[state][action]  # type: ignore[attr-defined]
            ]
            for action in range(4)
        }
        for state in range(48)
    }
    return SimpleNamespace(P=mixed, initial_state_distrib=steady.initial_state_distrib)  # type: ignore[attr-defined]


def test_aversion_walks_further_from_the_cliff() -> None:
    """All of it is exact: expected numbers of steps under optimal policies."""
    problem = Problem.from_gymnasium(unsteady_cliff(0.004), discount=1.0, horizon=60)
    states = [problem.model.states[state] for state in problem.model.pair_states]
    rows = np.array([int(name[1:].split("[")[0]) // 12 if name.startswith("s") else -1 for name in states])
    falls = np.array([name == "s36[-100]" for name in states])
    found = gumdp.frontier(problem, levels=[0.0, 0.6, 1.8])
    visits = [found.visits[number] for number in found.behaviour]
    beside = [v[rows == 2].sum() / v[(0 <= rows) & (rows < 3)].sum() for v in visits]
    fallen = [v[falls].sum() for v in visits]
    # Neutral: along the cliff, row 2. Averse: row 1, and down at the end only.
    assert beside[0] > 0.95 and beside[1] < 0.25 and beside[2] < beside[1]
    assert fallen[0] > 0.01 and fallen[1] < 0.003 and fallen[2] < fallen[1]
    assert found.mean[0] < found.mean[1] < found.mean[2]
    # The rewards are those of Gymnasium: 13 steps to the goal, and what falls cost.
    assert 60 * found.mean[0] == pytest.approx(14.593, abs=1e-3)


def test_expected_rewards_hide_risk_and_split_ones_do_not() -> None:
    env = gymnasium.make("CliffWalking-v1", is_slippery=True)
    split, expected = (
        Problem.from_gymnasium(env, discount=1.0, horizon=30, rewards=kind) for kind in ("split", "expected")
    )
    assert (split.horizon, expected.horizon) == (31, 30)
    assert gumdp.solve(split).value == pytest.approx(gumdp.solve(expected).value, abs=1e-9)
    uniform = [gumdp.evaluate(problem, "uniform", runs=2000).costs.std() for problem in (split, expected)]
    assert uniform[0] > 1.2 * uniform[1]
    with pytest.raises(ValueError, match="rewards"):
        Problem.from_gymnasium(env, discount=1.0, horizon=30, rewards="some")
    for discount in (2.0, float("nan"), -float("inf")):
        with pytest.raises(ValueError, match="the discount is"):
            Problem.from_gymnasium(env, discount=discount, horizon=30)


@pytest.mark.parametrize("name", list(gumdp.tasks))
def test_every_task_is_an_environment(name: str) -> None:
    env = gymnasium.make(f"gumdp/{name}-v0")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)
    problem = gumdp.tasks[name]
    observation, info = env.reset(seed=1)
    d = np.zeros((len(problem.model.states), len(problem.model.actions)))
    mass = problem.discount ** np.arange(problem.horizon)
    terminated, reward, time = False, 0.0, 0
    while not terminated:
        assert reward == 0.0 and observation["time"] == time and env.observation_space.contains(observation)
        action = int(np.flatnonzero(info["action_mask"])[-1])
        d[observation["state"], action] += mass[time] / mass.sum()
        observation, value, terminated, _, info = env.step(action)
        reward, time = float(value), time + 1
    assert time == problem.horizon and -reward == pytest.approx(problem.value(d), abs=1e-9)
    with pytest.raises(ValueError, match="the episode is over"):
        env.unwrapped.step(0)


def test_gymnasium_finds_the_tasks(tmp_path: Path) -> None:
    program = "import gymnasium, sys; print(gymnasium.make('gumdp.gymnasium:gumdp/grid-msee-v0').reset(seed=0)[0]['time'])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert done.stdout == "0\n"


def played(env: Any, problem: Problem, agent: gumdp.Agent, seed: int) -> list[float]:
    """The rewards of an episode of the loop in docs/python.md."""
    model, rewards = problem.model, []
    observation, _ = env.reset(seed=seed)
    agent.reset()
    state, terminated = model.state_of(observation), False
    while not terminated and agent.time < problem.horizon:
        action = agent.act(state).action
        observation, reward, terminated, _, _ = env.step(action)
        state = model.state_of(observation, reward, terminated)
        agent.observe(action, state)
        rewards.append(float(reward))
    return rewards


@pytest.mark.parametrize("kind", ["split", "expected"])
@pytest.mark.parametrize("steps", [3, 30])
def test_a_loop_earns_what_the_cost_says(kind: str, steps: int) -> None:
    """The cost is minus the discounted average of what the environment paid, wherever the episode ends."""
    for env in (
        made("FrozenLake-v1", is_slippery=False),
        made("FrozenLake-v1", map_name="4x4"),
        made("CliffWalking-v1"),
        made("CliffWalking-v1", is_slippery=True),
        *map(made, TAXIS),
    ):
        # Where chance decides what is paid, a pair costs the expected payment, which no single episode shows.
        if kind == "expected" and env.unwrapped.spec.kwargs.get("is_slippery", "Lake" in env.unwrapped.spec.id):
            continue
        problem = Problem.from_gymnasium(env, discount=0.9, horizon=steps, rewards=kind)
        optimum = gumdp.solve(problem, Erm(0))
        for agent in (optimum.policy(), Planner(problem, Erm(0), simulations=20)):
            for seed in range(3):
                rewards = played(env, problem, agent, seed)
                average = sum(0.9**time * reward for time, reward in enumerate(rewards)) / sum(0.9**t for t in range(steps))
                assert agent.cost == pytest.approx(-average, abs=1e-9)
                # No step too many: the last one of a problem with split rewards only pays.
                assert len(rewards) <= steps and (agent.time == problem.horizon) == (len(rewards) == steps)
                if len(rewards) == steps:
                    with pytest.raises(ValueError, match=f"the episode is over after {steps} steps"):
                        agent.act(0)
                    with pytest.raises(ValueError, match=f"the episode is over after {steps} steps"):
                        agent.observe(0, 0)


def test_both_ways_to_a_problem_count_the_same() -> None:
    env = made("FrozenLake-v1", is_slippery=False)
    model = Model.from_gymnasium(env)
    by_model = Problem(model, Linear(model.costs["cost"]), discount=0.99, horizon=30)
    costs = []
    for problem in (by_model, Problem.from_gymnasium(env, discount=0.99, horizon=30)):
        for again in (problem, pickle.loads(pickle.dumps(problem))):
            agent = Planner(again, Erm(5))
            assert played(env, again, agent, 0)[-1] == 1.0
            costs.append(agent.cost)
    assert costs == pytest.approx([-(0.99**5) / sum(0.99**t for t in range(30))] * 4, abs=1e-12)


def test_states_of_observations() -> None:
    split = Problem.from_gymnasium(unsteady_cliff(0.1), discount=1.0, horizon=5).model
    assert split.states[split.state_of(36, -100.0)] == "s36[-100]" and split.states[split.state_of(36)] == "s36[0]"
    with pytest.raises(ValueError, match="state 36 is never reached with reward 5"):
        split.state_of(36, 5.0)
    with pytest.raises(ValueError, match="there is no state 48"):
        split.state_of(48)
    with pytest.raises(TypeError, match="observation is 'x'"):
        split.state_of("x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not one of a Gymnasium environment"):
        gumdp.tasks["rooms"].model.state_of(0)


def one(*outcomes: Any) -> Any:
    """A table of one state and one action."""
    return {0: {0: list(outcomes)}}


STAY = (1.0, 0, 0.0, False)


@pytest.mark.parametrize(
    ("table", "initial", "message"),
    [
        ({0: {0: [(1.0, 2, 0.0, False)]}, 2: {0: [STAY]}}, None, "P has state 2 but no state 1"),
        ({0: {0: [STAY], 2: [STAY]}}, None, "P has action 2 but no action 1"),
        (one((1.0, 7, 0.0, False)), None, "P[0][0] leads to state 7, which P does not have"),
        ({}, None, "P is empty; it must have a state"),
        ({0: None}, None, "P[0] is None; it must be a mapping or a list of actions"),
        ({0: "ab"}, None, "P[0] is 'ab'; it must be a mapping or a list of actions"),
        ({0: {0: None}}, None, "P[0][0] is None; it must be a list of (probability, next state, reward, terminated)"),
        ({"a": {0: [STAY]}}, None, "P has the state 'a'; it must be a whole number"),
        ({0: {0.2: [STAY]}}, None, "P[0] has the action 0.2; it must be a whole number"),
        (one(STAY[:3]), None, "P[0][0][0] is (1.0, 0, 0.0); it must be (probability, next state, reward, terminated)"),
        (one(7), None, "P[0][0][0] is 7; it must be"),
        (one(("x", 0, 0.0, False)), None, "P[0][0][0]: the probability is 'x'; it must be a number"),
        (one(("1.0", 0, 0.0, False)), None, "P[0][0][0]: the probability is '1.0'; it must be a number"),
        (one((1.0, 0.9, 0.0, False)), None, "P[0][0][0]: the next state is 0.9; it must be a whole number"),
        (one((1.0, "0", 0.0, False)), None, "P[0][0][0]: the next state is '0'; it must be a whole number"),
        (one((1.0, np.nan, 0.0, False)), None, "P[0][0][0]: the next state is nan; it must be a whole number"),
        (one((0.5, 0, 0.0, False), (0.5, 0, np.nan, False)), None, "P[0][0][1]: the reward is nan; it must be finite"),
        (one((1.0, 0, 10**400, False)), None, "P[0][0][0]: the reward is 1"),
        (one((1.0, 0, [1.0], False)), None, "P[0][0][0]: the reward is [1.0]; it must be a number"),
        (one((1.0, 0, 0.0, "False")), None, "P[0][0][0]: the end is 'False'; it must be True or False"),
        (one((1.0, 0, 0.0, None)), None, "P[0][0][0]: the end is None; it must be True or False"),
        (one((1.0, 0, 0.0, 2)), None, "P[0][0][0]: the end is 2; it must be True or False"),
        (one((-1, 0, 0.0, False), (2, 0, 0.0, False)), None, "P[0][0][0]: the probability is -1; it must lie in [0, 1]"),
        (one((0.5, 0, 0.0, False)), None, "P[0][0]: the probabilities sum to 0.5; they must sum to 1 within 1e-9"),
        # The library numbers what it meets, so numbers would change.
        ({0: {0: [], 1: [STAY]}}, None, "P[0][0] is empty, as that of every state"),
        ({0: {0: [STAY]}, 1: {}}, None, "P[1] has no outcomes, and no outcome of another state leads there"),
        (one((1.0, 0, 1e308, False)), None, "the values of the objective are not bounded"),
        ([[[(1.0, 1, 0.0, False)]], [[STAY]]], [1.0], "initial has shape (1,); it must be (2,)"),
        (one(STAY), [np.nan], "initial[0] is nan; it must lie in [0, 1]"),
        (one(STAY), [2.0], "initial[0] is 2; it must lie in [0, 1]"),
        (one(STAY), [0.5], "initial sums to 0.5; it must sum to 1 within 1e-9"),
    ],
)
def test_wrong_tables(table: Any, initial: Any, message: str) -> None:
    env = SimpleNamespace(P=table)
    for read in (
        lambda: Model.from_gymnasium(env, initial),
        lambda: Problem.from_gymnasium(env, discount=0.9, horizon=3, initial=initial),
    ):
        with pytest.raises(ValueError) as raised:
            read()
        assert str(raised.value).startswith(message)


def test_wrong_settings_of_tables() -> None:
    env = SimpleNamespace(P=one(STAY))
    with pytest.raises(ValueError, match=r"^the discount is 2; it must lie in \(0, 1\]"):
        Problem.from_gymnasium(env, discount=2, horizon=3)
    with pytest.raises(TypeError, match="has no table P"):
        Model.from_gymnasium(SimpleNamespace(P="abc"))
    short = SimpleNamespace(P=[[[(1.0, 1, 0.0, False)]], [[STAY]]], initial_state_distrib=[1.0])
    with pytest.raises(ValueError, match="^initial_state_distrib has shape"):
        Problem.from_gymnasium(short, discount=1.0, horizon=3)


def test_tables_of_numbers_of_any_type() -> None:
    expected = [[[(0.25, 0, 1.0, False), (0.75, 1, 2.0, True)]], [[(1.0, 1, 0.0, True)]]]
    typed = {
        np.int64(0): {np.int32(0): ((np.float32(0.25), np.uint8(0), True, np.bool_(False)), (0.75, 1.0, np.int64(2), 1))},
        1: [np.array([[1.0, 1.0, 0.0, 1.0]])],
    }
    ours, theirs = (Model.from_gymnasium(SimpleNamespace(P=table)) for table in (typed, expected))
    assert np.array_equal(ours.to_numpy(), theirs.to_numpy())
    assert np.array_equal(ours.costs["cost"], theirs.costs["cost"]) and ours.states == theirs.states
    # A state without actions is fine if something leads there.
    assert Model.from_gymnasium(SimpleNamespace(P={0: {0: [(1.0, 1, 0.0, True)]}, 1: {}})).states[:2] == ["s0", "s1"]


def test_wrong_environments() -> None:
    with pytest.raises(TypeError, match="has no table P"):
        Model.from_gymnasium(object())
    env = gumdp.gymnasium.OccupancyEnv("rooms")
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    env.reset(seed=0)
    with pytest.raises(ValueError, match="action is 9"):
        env.step(9)


class Doubled(gymnasium.Wrapper):  # type: ignore[misc]
    def step(self, action: Any) -> Any:
        observation, reward, *rest = self.env.step(action)
        return observation, 2 * reward, *rest


class Named(gymnasium.Wrapper):  # type: ignore[misc]
    name = "changes nothing"


class Recorded(wrappers.RecordEpisodeStatistics):  # type: ignore[misc]
    def reset(self, **settings: Any) -> Any:
        return 5, {}


@pytest.mark.parametrize(
    "wrap",
    [
        lambda env: wrappers.TransformReward(env, lambda reward: 2 * reward),
        lambda env: wrappers.ClipReward(env, -1, 1),
        lambda env: wrappers.NormalizeReward(env),
        lambda env: wrappers.TransformObservation(env, lambda state: state, None),
        lambda env: wrappers.FlattenObservation(env),
        lambda env: wrappers.TimeAwareObservation(env),
        lambda env: wrappers.TransformAction(env, lambda action: 3 - action, env.action_space),
        lambda env: wrappers.StickyAction(env, 0.5),
        lambda env: wrappers.Autoreset(env),
        Doubled,
        Recorded,
        lambda env: Named(wrappers.TimeLimit(Doubled(env), 10)),
    ],
)
def test_wrappers_that_change_the_table_are_refused(wrap: Any) -> None:
    env = wrap(made("FrozenLake-v1"))
    for read in (Model.from_gymnasium, lambda env: Problem.from_gymnasium(env, discount=0.9, horizon=5)):
        with pytest.raises(ValueError, match="the environment is wrapped in [A-Z][A-Za-z]+, whose (step|reset|reward|observation|action)"):
            read(env)
    assert Model.from_gymnasium(env.unwrapped).costs


def test_wrappers_that_change_nothing_pass() -> None:
    plain = made("FrozenLake-v1")
    env = Named(wrappers.RecordEpisodeStatistics(wrappers.TimeLimit(plain, 7)))
    assert np.array_equal(Model.from_gymnasium(env).costs["cost"], Model.from_gymnasium(plain).costs["cost"])
    env.step = plain.step
    with pytest.raises(ValueError, match="wrapped in Named, whose step"):
        Model.from_gymnasium(env)


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
    exact = gumdp.exact_distribution(rooms, "pi2")
    assert abs(np.mean(costs) - exact.mean) < 4 * np.std(costs) / np.sqrt(len(costs)) + 1e-12


MEASURES = [gumdp.Mean(), Erm(3), Erm(-3), gumdp.Cvar(0.8), gumdp.MeanCvar(0.8, 0.5), gumdp.Evar(0.5), gumdp.Exceed(0.5)]


@pytest.mark.parametrize("risk", MEASURES, ids=str)
def test_expected_rewards_are_the_measure(risk: Any) -> None:
    """At the outer variable that is best for some costs; at others, where the measure is a minimum, what is expected is lower."""
    env = gumdp.gymnasium.OccupancyEnv("rooms", risk=risk, outer=None)
    costs = np.random.default_rng(0).choice([0.1, 0.2, 0.55, 0.9], size=400)
    env.fit(costs)
    expected = -float(env._reward.of(costs).mean())
    # The β of an entropic value at risk is one of a grid.
    slack = 1e-4 if isinstance(risk, gumdp.Evar) else 1e-12
    assert risk.of(costs) - 1e-12 <= expected <= risk.of(costs) + slack
    best = env.outer
    for shift in (-0.2, -0.01, 0.01, 0.2) if best else ():
        env._reward.outer = (*best[:-1], best[-1] + shift)
        other = -float(env._reward.of(costs).mean())
        assert other <= expected + 1e-12 if risk == Erm(-3) else other >= expected - 1e-12


def test_another_measure_is_fitted() -> None:
    costs = [0.1, 0.2, 0.55, 0.9]
    for env in (gumdp.gymnasium.OccupancyEnv("rooms"), gumdp.gymnasium.OccupancyVectorEnv("rooms", 2)):
        for risk in (Erm(2), gumdp.Cvar(0.5), gumdp.Mean(), "erm:7"):
            env.fit(costs, risk)
            fresh = gumdp.gymnasium.OccupancyEnv("rooms", risk=risk, outer=0.0 if risk != gumdp.Mean() else None)
            fresh.fit(costs)
            assert env.outer == fresh.outer and np.array_equal(env._reward.of(costs), fresh._reward.of(costs))
        with pytest.raises(ValueError, match="no expectation"):
            env.fit(costs, gumdp.Worst())
        with pytest.raises(ValueError, match="costs is empty"):
            env.fit([], Erm(2))
        # What is refused changes nothing.
        assert np.array_equal(env._reward.of(costs), fresh._reward.of(costs))


def test_rewards_of_any_beta_are_finite() -> None:
    for beta in (1e-9, 50.0, 1e6, 1e300, -1e300):
        env = gumdp.gymnasium.OccupancyEnv("rooms", risk=Erm(beta), outer=0.0)
        assert np.all(np.isfinite(env._reward.of(np.array([-1e9, 0.0, 1.0]))))


def test_measures_that_are_no_expectations_are_refused() -> None:
    for risk in (gumdp.Worst(), Erm(float("-inf")), gumdp.Cvar(1.0)):
        with pytest.raises(ValueError, match="no expectation"):
            gumdp.gymnasium.OccupancyEnv("rooms", risk=risk)
    with pytest.raises(ValueError, match="outer is 1.0; mean has 0 outer variables|outer is 1.0; erm:0 has 0 outer variables"):
        gumdp.gymnasium.OccupancyEnv("rooms", outer=1.0)
    with pytest.raises(ValueError, match="outer is nan; it must be finite"):
        gumdp.gymnasium.OccupancyEnv("rooms", risk=Erm(1), outer=float("nan"))


def test_the_last_reward_has_the_measure() -> None:
    env = gumdp.gymnasium.OccupancyEnv("rooms", risk=gumdp.Cvar(0.9), outer=0.25)
    check_env(env, skip_render_check=True)
    env.reset(seed=1)
    over, rewards, info = False, [], {}
    while not over:
        _, reward, over, _, info = env.step(env.action_space.sample())
        rewards.append(reward)
    assert rewards[:-1] == [0.0] * (len(rewards) - 1)
    assert rewards[-1] == pytest.approx(-(0.25 + max(info["cost"] - 0.25, 0) / 0.1), abs=1e-12)


def vector(count: int, **settings: Any) -> Any:
    return gumdp.gymnasium.OccupancyVectorEnv("grid-mo", count, **settings)


def test_many_episodes_at_once() -> None:
    envs = vector(8, risk=Erm(2), outer=0.5)
    horizon = envs.problem.horizon
    observations, info = envs.reset(seed=3)
    assert np.isnan(info["cost"]).all() and envs.observation_space.contains(observations)
    model, states = envs.problem.model, [observations["state"]]
    rng = np.random.default_rng(0)
    for step in range(1, horizon + 1):
        actions = rng.integers(len(model.actions), size=8)
        observations, rewards, over, cut, info = envs.step(actions)
        assert envs.observation_space.contains(observations) and not cut.any()
        assert (observations["time"] == step).all() and over.all() == (step == horizon)
        for before, action, after in zip(states[-1], actions, observations["state"]):
            assert model.to_numpy()[action, before, after] > 0
        states.append(observations["state"])
    assert np.allclose(rewards, -(0.5 + np.expm1(2 * (info["cost"] - 0.5)) / 2))
    # The next step begins other episodes, whatever the actions.
    observations, rewards, over, _, info = envs.step(np.zeros(8, dtype=int))
    assert (observations["time"] == 0).all() and not rewards.any() and not over.any() and np.isnan(info["cost"]).all()
    assert not observations["features"].any()


def test_chance_depends_on_the_seed_alone() -> None:
    def play(count: int) -> Any:
        envs, rng = vector(count), np.random.default_rng(5)
        envs.reset(seed=9)
        return [envs.step(np.full(count, action))[0]["state"] for action in rng.integers(4, size=100)]

    few, many = play(3), play(7)
    assert all(np.array_equal(a, b[:3]) for a, b in zip(few, many))


def test_costs_have_the_mean_of_random_play() -> None:
    """20 000 episodes against the exact mean, five standard errors (false alarm below 1e-6)."""
    problem = gumdp.tasks["rooms"]
    exact = gumdp.exact_distribution(problem, "uniform").mean
    envs, costs = gumdp.gymnasium.OccupancyVectorEnv("rooms", 1000), []
    envs.reset(seed=0)
    rng = np.random.default_rng(1)
    while len(costs) < 20:
        info = envs.step(rng.integers(2, size=1000))[4]
        if not np.isnan(info["cost"]).any():
            costs.append(info["cost"])
    all_costs = np.concatenate(costs)
    assert abs(all_costs.mean() - exact) < 5 * all_costs.std() / np.sqrt(all_costs.size)


def test_wrong_actions_and_places() -> None:
    envs = vector(2)
    with pytest.raises(gymnasium.error.ResetNeeded):
        envs.step([0, 0])
    envs.reset()
    with pytest.raises(ValueError, match=r"an action is 4; it must lie in \[0, 3\]"):
        envs.step([0, 4])
    with pytest.raises(ValueError, match="3 actions are given for 2 episodes"):
        envs.step([0, 1, 2])
    with pytest.raises(ValueError, match="num_envs"):
        vector(0)
    with pytest.raises(TypeError, match="one seed is for all"):
        envs.reset(seed=[1, 2])


class Drift:
    """A walk that slips to the right; the episode ends beyond 3."""

    def initial(self, rng: Any) -> int:
        return 0

    def actions(self, state: int) -> list[str]:
        return ["stay", "left", "right"] if state else ["stay", "left"]

    def step(self, state: int, action: str, rng: Any) -> tuple[int, list[float], bool]:
        moved = state + {"stay": 0, "left": -1, "right": 1}[action] + int(rng.random() < 0.25)
        return moved, [float(moved == 0), float(moved)], moved > 3


def test_simulated_problems_are_environments() -> None:
    problem = gumdp.SimulatedProblem(Drift(), lambda sums: float(sums[1] ** 2 - sums[0]), discount=0.9, horizon=8)
    env = gumdp.gymnasium.OccupancyEnv(problem, risk=Erm(2), outer=0.1)
    assert env.action_space.n == 3
    check_env(env, skip_render_check=True)
    masses = 0.9 ** np.arange(8) / np.sum(0.9 ** np.arange(8))
    for seed in range(20):
        observation, info = env.reset(seed=seed)
        sums, over, time = np.zeros(2), False, 0
        while not over:
            observation, reward, over, cut, info = env.step(int(env.np_random.integers(3)))
            place = observation["state"][0]
            sums += masses[time] * np.array([place == 0, place])
            time += 1
            assert np.allclose(observation["features"], sums) and observation["time"] == time and not cut
        assert over == (time == 8 or place > 3)
        assert reward == pytest.approx(-(0.1 + np.expm1(2 * (sums[1] ** 2 - sums[0] - 0.1)) / 2))
    with pytest.raises(ValueError, match="the episode is over"):
        env.step(0)
    with pytest.raises(TypeError, match="observe is for simulated problems"):
        gumdp.gymnasium.OccupancyEnv("rooms", observe=np.array)


def test_environments_elsewhere_are_environments_again() -> None:
    problem = gumdp.SimulatedProblem.from_gymnasium(
        made("CartPole-v1"), lambda sums: float(-sums[0]), discount=1.0, horizon=20
    )
    env = gumdp.gymnasium.OccupancyEnv(problem, risk=gumdp.Cvar(0.5))
    assert len(env.outer) == 1 and env.observation_space["state"].shape == (4,)
    check_env(env, skip_render_check=True)
