"""Planning, playing and solving: the numbers of the command line, freedom of Python, refusals."""

from __future__ import annotations

import csv
import json
import os
import pickle
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gumdp
from gumdp import Cvar, Erm, Planner, Problem

COMMAND = os.environ.get("GUMDP_COMMAND")
"""The command-line program, built by scripts/test-python."""

needs_command = pytest.mark.skipif(COMMAND is None, reason="GUMDP_COMMAND names no program")


def command(*arguments: str) -> Any:
    assert COMMAND is not None
    done = subprocess.run([COMMAND, *arguments, "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def play(planner: Planner, problem: Problem, steps: int) -> list[int]:
    """The actions of an episode in which the likeliest happens."""
    dense = problem.model.to_numpy()
    state, actions = int(np.argmax(problem.model.initial)), []
    for _ in range(steps):
        action = planner.act(state).action
        following = int(np.argmax(dense[action, state]))
        planner.observe(action, following)
        actions.append(action)
        state = following
    return actions


@needs_command
@pytest.mark.parametrize(
    ("task", "policy", "flags"),
    [
        ("rooms", "auto", ["--policy", "auto"]),
        ("msee", "planner", ["--policy", "planner", "--simulations", "100"]),
        ("mo-max", "paper", ["--preset", "paper", "--simulations", "100"]),
        ("grid-mo", "uniform", ["--policy", "uniform"]),
    ],
)
@pytest.mark.parametrize("risk", ["erm:2", "cvar:0.9"])
def test_the_same_bits_as_the_command_line(tmp_path: Path, task: str, policy: str, flags: list[str], risk: str) -> None:
    out = tmp_path / "out"
    command("run", task, "--risk", risk, "--runs", "20", "--seed", "7", "--out", str(out), *flags)
    journals = [path for path in out.rglob("*.csv") if path.name.startswith(f"{task}_")]
    assert len(journals) == 1
    with journals[0].open(encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    theirs = {int(row["run"]): float(row["cost"]) for row in rows}
    simulations = 100 if policy in ("planner", "paper") else None
    ours = gumdp.evaluate(gumdp.tasks[task], policy, risk, runs=20, seed=7, simulations=simulations)
    assert ours.costs.tolist() == [theirs[run] for run in range(20)]


@needs_command
def test_the_same_decision_and_optimum_as_the_command_line() -> None:
    plan = command("plan", "rooms", "--beta", "5", "--policy", "planner", "--seed", "3", "--simulations", "500")
    decision = Planner(gumdp.tasks["rooms"], 5, seed=3, simulations=500).act(plan["state"])
    assert (decision.action_name, decision.estimate) == (plan["action"], plan["root_estimate"])
    assert decision.reasons["value"].tolist() == [reason["value"] for reason in plan["reasons"]]
    assert decision.reasons["visits"].tolist() == [reason["visits"] for reason in plan["reasons"]]


@needs_command
def test_the_same_measures_as_the_command_line(rooms: Problem) -> None:
    exact = command("evaluate", "rooms", "--policy", "pi1")["measures"]
    assert list(gumdp.exact_distribution(rooms, "pi1").measures().values()) == [row["value"] for row in exact]
    sampled = command("evaluate", "rooms", "--policy", "uniform", "--max-states", "0", "--runs", "60", "--seed", "4")["measures"]
    theirs = [pytest.approx(tuple(float(row[end]) for end in ("value", "low", "high")), abs=1e-12) for row in sampled]
    assert list(gumdp.evaluate(rooms, "uniform", runs=60, seed=4).measures().values()) == theirs


@pytest.mark.parametrize(("preset", "policy"), [("default", "planner"), ("paper", "paper")])
@pytest.mark.parametrize("risk", [Erm(5), Cvar(0.9)])
def test_planners_play_what_evaluate_plays(rooms: Problem, preset: str, policy: str, risk: gumdp.Risk) -> None:
    samples = gumdp.evaluate(rooms, policy, risk, runs=5, seed=1, simulations=60)
    planner = Planner(rooms, risk, simulations=60, preset=preset, seed=1)
    planner.reset()
    for trajectory, final, cost in zip(samples.trajectories, samples.final_states, samples.costs):
        following = [*trajectory["state"][1:], final]
        for (state, action), after in zip(trajectory, following):
            assert planner.act(state).action == action
            planner.observe(action, after)
        assert planner.cost == cost
        planner.reset()


def test_threads_do_not_matter(rooms: Problem) -> None:
    one, three = (gumdp.evaluate(rooms, "planner", 5, runs=12, simulations=50, threads=n).costs for n in (1, 3))
    assert np.array_equal(one, three)


def test_solutions_and_distributions(rooms: Problem) -> None:
    solution = gumdp.solve(rooms, Erm(50))
    assert solution.low == solution.high == solution.value and solution.outer is None
    costs = gumdp.exact_distribution(rooms, solution)
    assert costs.risk(Erm(50)) == pytest.approx(solution.value, abs=1e-12)
    assert costs.mean == pytest.approx(solution.mean, abs=1e-12)
    assert costs.probabilities.sum() == pytest.approx(1.0) and costs.cdf(costs.values[-1]) == pytest.approx(1.0)
    samples = gumdp.evaluate(rooms, solution, Erm(50), runs=200)
    assert set(samples.costs) <= set(costs.values)
    assert gumdp.exact_distribution(rooms, "pi1").risk(50) >= solution.value
    cvar = gumdp.solve(rooms, Cvar(0.9))
    assert cvar.outer is not None and 0 <= cvar.high - cvar.low <= 1e-6


def test_policies_of_all_kinds(rooms: Problem, tmp_path: Path) -> None:
    states, actions = len(rooms.model.states), len(rooms.model.actions)
    table = np.zeros((states, actions))
    table[rooms.model.pair_states[::-1], rooms.model.pair_actions[::-1]] = 1.0
    table /= table.sum(axis=1, keepdims=True)
    uniform = gumdp.exact_distribution(rooms, "uniform")
    for same in (table, np.repeat(table[np.newaxis], rooms.horizon, axis=0)):
        costs = gumdp.exact_distribution(rooms, same)
        assert np.allclose(costs.values, uniform.values) and np.allclose(costs.probabilities, uniform.probabilities)
    script = rooms.scripts["pi1"]
    names = [rooms.model.actions[action] for action in script]
    assert gumdp.exact_distribution(rooms, names).mean == gumdp.exact_distribution(rooms, "pi1").mean
    path = tmp_path / "table.csv"
    path.write_text("state,action\ns0,right\ns1,left\n", encoding="utf-8")
    for name in (path, str(path)):
        assert gumdp.exact_distribution(rooms, name).values[-1] < 0.7
    for other in (tmp_path / "table.txt", str(tmp_path / "table.txt")):
        with pytest.raises(ValueError, match=r"policy is .*table\.txt'; .*\.csv"):
            gumdp.evaluate(rooms, other)


def test_decisions_say_why_they_have_no_estimate(rooms: Problem) -> None:
    assert repr(Planner(gumdp.tasks["il"], 5).act(0)).startswith("Decision('a1', estimate=")
    assert repr(gumdp.solve(rooms, 5).policy().act("s1")) == "Decision('left', estimate=nan, stopped='known')"
    searched = Planner(rooms, 50, simulations=200, preset="paper").act("s1")
    assert repr(searched) == f"Decision('left', estimate={searched.estimate:.6g}, simulations=200)"


def test_actions_by_state(corridor: gumdp.Model) -> None:
    problem = Problem(corridor, gumdp.Linear([0, 1, 3]), discount=0.9, horizon=7)
    by_state = np.array([0, 1, 0])
    table = np.eye(2)[by_state]
    expected = gumdp.evaluate(problem, table, runs=30).costs
    by_time = np.tile(by_state, (7, 1))
    for same in (by_state, by_state.astype(np.uint8), by_time, by_time.tolist(), lambda s, t, x: by_state[s]):
        assert np.array_equal(gumdp.evaluate(problem, same, runs=30).costs, expected)
    by_time[2:] = 0
    assert gumdp.exact_distribution(problem, by_time).mean > gumdp.exact_distribution(problem, table).mean
    # A list is a script: one action for each time.
    assert gumdp.evaluate(problem, by_state.tolist(), runs=5).trajectories["action"][:, :3].tolist() == [[0, 1, 0]] * 5
    # As many times as states, and as many states as actions: probabilities.
    square = Problem(gumdp.Model([np.eye(2), np.eye(2)[::-1]]), gumdp.Entropy(), discount=1.0, horizon=2)
    assert gumdp.exact_distribution(square, np.array([[0, 1], [1, 0]])).mean == 0.0 - np.log(2)


@needs_command
@pytest.mark.parametrize("preset", ["default", "paper"])
@pytest.mark.parametrize("risk", ["erm:2", "cvar:0.9"])
def test_a_planner_is_played_as_the_command_line_plays_it(tmp_path: Path, preset: str, risk: str) -> None:
    out, flags = tmp_path / "out", ["--policy", "planner"] if preset == "default" else ["--preset", "paper"]
    command("run", "msee", "--risk", risk, "--runs", "10", "--seed", "7", "--simulations", "60", "--out", str(out), *flags)
    (journal,) = (path for path in out.rglob("*.csv") if path.name.startswith("msee_"))
    with journal.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    theirs = {int(row["run"]): float(row["cost"]) for row in rows}
    problem = gumdp.tasks["msee"]
    planner = Planner(problem, risk, simulations=60, preset=preset, seed=7)
    planner.act(problem.model.states[int(np.argmax(problem.model.initial))])
    time = planner.time
    samples = gumdp.evaluate(problem, planner, runs=10)
    assert samples.costs.tolist() == [theirs[run] for run in range(10)] and samples.risk == planner.risk
    assert samples.seed == 7 and planner.time == time


def test_agents_are_policies(rooms: Problem) -> None:
    solution = gumdp.solve(rooms, Erm(50))
    samples = gumdp.evaluate(rooms, solution.policy(seed=3), runs=20)
    assert np.array_equal(samples.costs, gumdp.evaluate(rooms, solution, runs=20, seed=3).costs)
    assert samples.risk == "erm:50" and samples.seed == 3
    assert gumdp.exact_distribution(rooms, solution.policy()).mean == pytest.approx(solution.mean)
    with pytest.raises(ValueError, match="the policy is one of another problem"):
        gumdp.evaluate(gumdp.tasks["mdp"], solution.policy())
    with pytest.raises(ValueError, match="are settings of the Planner"):
        gumdp.evaluate(rooms, Planner(rooms, 5), simulations=5)


def test_functions_are_policies(rooms: Problem) -> None:
    seen: list[tuple[int, int, Any]] = []

    def policy(state: int, time: int, features: Any) -> str:
        seen.append((state, time, features))
        return "left" if state == 1 else "right"

    samples = gumdp.evaluate(rooms, policy, 2.0, runs=8, threads=2)
    assert samples.policy == "function policy" and len(seen) == 8 * rooms.horizon
    assert sorted({time for _, time, _ in seen}) == list(range(rooms.horizon))
    assert all(not features.flags.writeable and features.shape == (4,) for _, _, features in seen)
    steps = samples.trajectories
    left = rooms.model.actions.index("left")
    assert ((steps["action"] == left) == (steps["state"] == 1)).all()
    with pytest.raises(ValueError, match="planners and functions"):
        gumdp.exact_distribution(rooms, policy)


def test_functions_that_fail(rooms: Problem) -> None:
    error = RuntimeError("no idea")

    def raises(state: int, time: int, features: Any) -> int:
        if time == 3:
            raise error
        return 0

    for threads in (1, 3):
        with pytest.raises(RuntimeError) as caught:
            gumdp.evaluate(rooms, raises, runs=50, threads=threads)
        assert caught.value is error
    for returned, kind, message in [
        (None, TypeError, "the policy returned None; it must be the number or the name of an action"),
        (1.0, TypeError, "the policy returned 1.0"),
        (17, ValueError, "there is no action 17"),
        ("fly", ValueError, 'unknown action "fly"'),
    ]:
        with pytest.raises(kind, match=message):
            gumdp.evaluate(rooms, lambda *_, value=returned: value, runs=2)
    some = gumdp.Model.builder(["x", "y"]).transition("s", "y", "t").transition("t", "x", "s").build()
    problem = Problem(some, gumdp.Linear([0, 1]), discount=1.0, horizon=3)
    with pytest.raises(ValueError, match='the policy chose action "x", which state "s" does not allow'):
        gumdp.evaluate(problem, lambda *_: 0, runs=2)
    with pytest.raises(ValueError, match='the policy takes action "x" in state "s", which does not allow it'):
        gumdp.evaluate(problem, np.array([0, 0]), runs=2)
    with pytest.raises(TypeError, match="positional argument"):
        gumdp.evaluate(rooms, lambda state: 0, runs=2)  # type: ignore[misc]


def test_models_are_not_problems(corridor: gumdp.Model) -> None:
    for work in (gumdp.evaluate, gumdp.solve, gumdp.frontier, gumdp.compare):
        with pytest.raises(TypeError, match=r"problem is Model\(.*it must be a gumdp.Problem"):
            work(corridor)  # type: ignore[operator]
    for work in (gumdp.exact_distribution, Planner):
        with pytest.raises(TypeError, match="it must be a gumdp.Problem"):
            work(corridor, "uniform" if work is gumdp.exact_distribution else 1.0)  # type: ignore[arg-type]


def test_samples(rooms: Problem) -> None:
    samples = gumdp.evaluate(rooms, "uniform", Cvar(0.9), runs=300)
    steps = samples.trajectories
    assert steps.shape == (300, rooms.horizon) and len(samples) == 300
    d = np.zeros((len(rooms.model.states), len(rooms.model.actions)))
    mass = rooms.discount ** np.arange(rooms.horizon)
    np.add.at(d, (steps[0]["state"], steps[0]["action"]), mass / mass.sum())
    assert rooms.value(d) == pytest.approx(samples.costs[0])
    summary = samples.summary()
    assert summary["value"] == pytest.approx(Cvar(0.9).of(samples.costs)) and summary["count"] == 300
    assert summary["low"] <= summary["value"] <= summary["high"]
    assert samples.summary(Erm(0))["value"] == pytest.approx(samples.costs.mean())
    assert samples.to_pandas()["cost"].tolist() == samples.costs.tolist()
    assert samples.to_polars()["cost"].to_list() == samples.costs.tolist()


def test_plot(rooms: Problem) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    axes = gumdp.evaluate(rooms, "uniform", runs=50).plot()
    assert "rooms" in axes.get_title() and axes.get_xlabel()


def test_compare_meets_the_same_luck(rooms: Problem) -> None:
    results = gumdp.compare(rooms, {"one": "pi1", "same": rooms.scripts["pi1"]}, runs=50)
    assert np.array_equal(results["one"].costs, results["same"].costs)


def test_decisions_print_and_explain(rooms: Problem) -> None:
    decision = Planner(rooms, 50, simulations=100, preset="paper").act("s1")
    assert decision.reasons.dtype.names == ("action", "visits", "rank", "value", "mean", "best", "worst")
    assert decision.reasons["visits"].sum() == decision.simulations == 100
    assert (decision.reasons["best"] <= decision.reasons["worst"]).all()
    assert repr(decision).startswith("Decision('")
    assert decision.stopped == "simulations"


def test_wrong_steps(rooms: Problem) -> None:
    planner = Planner(rooms, 5, simulations=10)
    with pytest.raises(ValueError, match="nothing was decided yet"):
        planner.observe(0, 0)
    for wrong, error, message in [
        ("s9", ValueError, 'unknown state "s9"'),
        (-1, ValueError, "there is no state -1"),
        (99, ValueError, "numbered 0 to 3"),
        (1.5, TypeError, "."),
        (None, TypeError, "."),
    ]:
        with pytest.raises(error, match=message):
            planner.act(wrong)  # type: ignore[arg-type]
    action = planner.act("s1").action
    planner.observe(action, "s0")
    with pytest.raises(ValueError, match='the episode is in state "s0", not in "s2"'):
        planner.act("s2")
    with pytest.raises(ValueError, match="unknown action"):
        planner.observe("fly", 0)
    planner.reset()
    play(planner, rooms, rooms.horizon)
    with pytest.raises(ValueError, match="the episode is over after 20 steps"):
        planner.observe(0, 0)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"simulations": -5}, ValueError, "simulations is -5"),
        ({"simulations": 0}, ValueError, "simulations is 0"),
        ({"simulations": "many"}, TypeError, "simulations is 'many'"),
        ({"simulations": 2.5}, TypeError, "simulations is 2.5"),
        ({"time_limit": -1.0}, ValueError, "time_limit is -1"),
        ({"time_limit": float("nan")}, ValueError, "time_limit is nan"),
        ({"seed": -1}, ValueError, "seed is -1"),
        ({"preset": "fast"}, ValueError, "preset is 'fast'"),
    ],
)
def test_wrong_planners(rooms: Problem, settings: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Planner(rooms, 5, **settings)


@pytest.mark.parametrize(
    ("arguments", "settings", "error", "message"),
    [
        (("pi9",), {}, ValueError, "policy is 'pi9'; it must be one of auto"),
        (("nowhere.csv",), {}, FileNotFoundError, "no such file"),
        ((np.ones((2, 2)),), {}, ValueError, "policy has shape"),
        ((np.ones((4, 2)),), {}, ValueError, "sum to 2|does not allow"),
        ((np.full((4, 2), np.nan),), {}, ValueError, "."),
        ((["fly"],), {}, ValueError, 'unknown action "fly"'),
        ((7.5,), {}, TypeError, "policy is 7.5; it must be a name"),
        ((Erm(5),), {}, TypeError, "it must be a name, a planner"),
        (("uniform",), {"runs": -1}, ValueError, "runs is -1"),
        (("uniform",), {"runs": "10"}, TypeError, "runs is '10'"),
        (("uniform",), {"threads": 0}, ValueError, "threads is 0"),
        (("uniform", "risky"), {}, ValueError, "is no risk measure"),
        (("uniform", []), {}, TypeError, "risk is \\[\\]; it must be a measure"),
        ((None,), {}, TypeError, "policy is None; it must be a name"),
        ((Planner,), {}, TypeError, "it must be a name, a planner"),
        ((np.array([0, 1, 2]),), {}, ValueError, r"policy has shape \(3,\) and type int64.*a list has one action"),
        ((np.array([0, 1, 0, 9]),), {}, ValueError, "policy has action 9; actions are numbered 0 to 1"),
        ((np.array([0, 1, -1, 0]),), {}, ValueError, "policy has action -1"),
    ],
)
def test_wrong_plays(
    rooms: Problem, arguments: tuple[Any, ...], settings: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        gumdp.evaluate(rooms, *arguments, **settings)


def test_too_large() -> None:
    problem = gumdp.tasks["grid-msee"]
    with pytest.raises(gumdp.TooLarge, match="the occupancy MDP is too large"):
        gumdp.solve(problem, max_states=1000)
    with pytest.raises(gumdp.TooLarge):
        gumdp.exact_distribution(problem, "uniform", max_states=1000)
    with pytest.raises(ValueError, match="evaluate\\(\\) plays them"):
        gumdp.exact_distribution(problem, "planner")
    with pytest.raises(ValueError, match="max_states is -1"):
        gumdp.solve(problem, max_states=-1)


def test_a_solution_of_another_problem(rooms: Problem) -> None:
    other = gumdp.solve(gumdp.tasks["mdp"], 1.0)
    with pytest.raises(ValueError):
        gumdp.exact_distribution(gumdp.tasks["grid-mo"], other)
    with pytest.raises(ValueError, match="another problem"):
        gumdp.evaluate(gumdp.tasks["grid-mo"], other, runs=2)


@pytest.mark.parametrize("state", [None, 1.0, True, [0], np.array([1])])
def test_states_are_numbers_or_names(state: object) -> None:
    planner = gumdp.Planner(gumdp.tasks["rooms"], 1.0, simulations=5)
    with pytest.raises(TypeError, match="give its number or its name"):
        planner.act(state)  # type: ignore[arg-type]


def test_steps_that_cannot_happen_are_refused() -> None:
    planner = gumdp.Planner(gumdp.tasks["rooms"], 1.0, simulations=5)
    planner.act("s1")
    with pytest.raises(ValueError, match='never leads to state "s2"'):
        planner.observe("left", "s2")


def test_too_many_runs_are_refused() -> None:
    with pytest.raises(MemoryError, match="do not fit in memory"):
        gumdp.evaluate(gumdp.tasks["rooms"], "uniform", runs=10**9)


@needs_command
@pytest.mark.parametrize(("task", "risk"), [("rooms", "erm:50"), ("mdp", "erm:1"), ("rooms", "cvar:0.9")])
def test_saved_policies_are_the_same_everywhere(tmp_path: Path, task: str, risk: str) -> None:
    problem = gumdp.tasks[task]
    solution = gumdp.solve(problem, risk)
    solution.save(tmp_path / "python.json")
    command("solve", task, "--risk", risk, "--save", str(tmp_path / "shell.json"))
    assert (tmp_path / "python.json").read_text() == (tmp_path / "shell.json").read_text()
    saved = gumdp.load_policy(tmp_path / "shell.json", problem)
    assert saved.risk == solution.risk
    costs = [
        gumdp.evaluate(problem, policy, runs=20, seed=3).costs.tolist()
        for policy in (solution, saved, pickle.loads(pickle.dumps(saved)), str(saved.path), saved.path)
    ]
    assert all(own == costs[0] for own in costs)
    agent = pickle.loads(pickle.dumps(saved.policy(seed=1)))
    start = problem.model.states[int(np.argmax(problem.model.initial))]
    assert agent.act(start).action == solution.policy(seed=1).act(start).action
    with pytest.raises(ValueError, match="the policy is for another problem, saved as"):
        gumdp.load_policy(saved.path, gumdp.tasks["msee"])
    with pytest.raises(FileNotFoundError):
        gumdp.load_policy(tmp_path / "none.json", problem)
    if task == "rooms":
        # Only what the policy leads to is saved; nothing is guessed elsewhere.
        with pytest.raises(ValueError, match="the policy has no decision for time 0, state"):
            saved.policy().act("s0" if start != "s0" else "s1")


@needs_command
@pytest.mark.parametrize(("preset", "risk"), [("default", "cvar:0.9"), ("paper", "erm:5")])
def test_saved_planners_plan_again(tmp_path: Path, preset: str, risk: str) -> None:
    problem = gumdp.tasks["msee"]
    settings = ["--policy", "planner", "--preset", preset, "--risk", risk, "--simulations", "10", "--seed", "3"]
    command("plan", "msee", *settings, "--save", str(tmp_path / "shell.json"))
    own = gumdp.Planner(problem, risk, simulations=10, preset=preset, seed=3)
    own.save(tmp_path / "python.json")
    assert (tmp_path / "python.json").read_text() == (tmp_path / "shell.json").read_text()
    saved = gumdp.load_policy(tmp_path / "shell.json", problem)
    costs = [gumdp.evaluate(problem, policy, runs=3, seed=3).costs.tolist() for policy in (own, saved)]
    assert costs[0] == costs[1]
    theirs = command("evaluate", "msee", "--policy", str(tmp_path / "python.json"), "--runs", "3")
    assert theirs["measures"][0]["value"] == gumdp.evaluate(problem, saved, runs=3, seed=3).summary()["mean"]
    with pytest.raises(ValueError, match="a planner with a time limit cannot be saved"):
        gumdp.Planner(problem, risk, time_limit=0.1).save(tmp_path / "none.json")


def test_a_journal_is_gone_on_with(rooms: Problem, tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    planner = Planner(rooms, Cvar(0.9), simulations=20, seed=3)
    whole = gumdp.evaluate(rooms, planner, runs=12)
    gumdp.evaluate(rooms, planner, runs=5, journal=path)
    with path.open("a", encoding="utf-8") as file:
        file.write("7,0.5,1")  # cut off by a kill
    again = gumdp.evaluate(rooms, planner, runs=12, journal=path)
    assert np.array_equal(whole.costs, again.costs)
    assert np.array_equal(whole.trajectories, again.trajectories)
    assert np.array_equal(whole.final_states, again.final_states)
    text = path.read_text(encoding="utf-8")
    # Nothing is played twice, and fewer can be asked for.
    assert len(gumdp.evaluate(rooms, planner, runs=4, journal=str(path))) == 4
    assert path.read_text(encoding="utf-8") == text
    assert sorted(int(line.split(",")[0]) for line in text.splitlines()[1:]) == list(range(12))


def test_journals_of_others_are_refused(rooms: Problem, tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    gumdp.evaluate(rooms, "uniform", runs=5, seed=1, journal=path)
    for problem, policy, seed, what in [
        (rooms, "uniform", 2, "is of another problem or seed"),
        (gumdp.tasks["msee"], "uniform", 1, "is of another problem or seed"),
        (rooms, "pi1", 1, "of the journal is one of another policy"),
    ]:
        with pytest.raises(ValueError, match=f"run 0 {what}"):
            gumdp.evaluate(problem, policy, runs=5, seed=seed, journal=path)
    path.write_text("some,other,table\n", encoding="utf-8")
    with pytest.raises(ValueError, match="it is not a journal of runs"):
        gumdp.evaluate(rooms, "uniform", runs=5, journal=path)
    with pytest.raises(FileNotFoundError):
        gumdp.evaluate(rooms, "uniform", runs=5, journal=tmp_path / "nowhere" / "runs.csv")


def test_runs_until_the_risk_is_known(rooms: Problem) -> None:
    wide = gumdp.evaluate(rooms, "uniform", 5, runs=20).summary()
    precise = gumdp.evaluate(rooms, "uniform", 5, runs=20, precision=0.005)
    narrow = precise.summary()
    assert wide["high"] - wide["low"] > 0.01 >= narrow["high"] - narrow["low"]
    assert len(gumdp.evaluate(rooms, "uniform", 5, runs=20, precision=1e-6, max_runs=100)) == 100
    for precision in (0, -1, float("inf"), float("nan")):
        with pytest.raises(ValueError, match="precision is"):
            gumdp.evaluate(rooms, "uniform", precision=precision)
    with pytest.raises(ValueError, match="max_runs is 0"):
        gumdp.evaluate(rooms, "uniform", precision=0.1, max_runs=0)


@needs_command
def test_as_many_runs_as_the_command_line(rooms: Problem) -> None:
    settings = ["--preset", "paper", "--simulations", "5", "--runs", "50", "--precision", "0.01"]
    (row,) = command("run", "rooms", "--risk", "cvar:0.5", "--policy", "planner", *settings)
    samples = gumdp.evaluate(rooms, "paper", Cvar(0.5), runs=50, precision=0.01, simulations=5)
    assert row["runs"] == len(samples) > 50
    assert row["mean"] == samples.summary()["mean"]


def test_a_formula_that_breaks_is_told(corridor: gumdp.Model) -> None:
    at = np.zeros((len(corridor.states), len(corridor.actions)))
    at[0] = 1
    problem = Problem(corridor, gumdp.Expression("1/(7*x - 2)", x=gumdp.Linear(at)), discount=1.0, horizon=7)
    for policy in ("planner", "paper", "auto"):
        with pytest.raises(ValueError, match="the objective is infinite or not a number"):
            gumdp.evaluate(problem, policy, 1, runs=20)


def test_intervals_of_costs_are_those_of_samples(rooms: Problem) -> None:
    samples = gumdp.evaluate(rooms, "pi1", runs=200)
    for risk in (Erm(50), Cvar(0.9), gumdp.Var(0.9), gumdp.Mean()):
        summary = samples.summary(risk)
        # Between time spent evenly in four states, and in one.
        assert risk.interval(samples.costs, (1 / 3, 1)) == pytest.approx((summary["low"], summary["high"]), abs=1e-6)
        assert risk.interval(samples.costs, (0, 1), seed=3) == risk.interval(samples.costs, (0, 1), seed=3)
    low, high = Erm(50).interval(samples.costs)
    wide = Erm(50).interval(samples.costs, (0, 1))
    assert wide[0] <= low <= high < wide[1] and high <= samples.costs.max()
    assert Erm(0).interval([0.5], (0, 1))[1] > 0.95
    with pytest.raises(ValueError, match=r"bounds is \(1, 0\); the lower bound"):
        Erm(0).interval([0.5], (1, 0))
    with pytest.raises(ValueError, match=r"bounds is \(0, 0.4\); there are costs from 0.5 to 0.5"):
        Erm(0).interval([0.5], (0, 0.4))
    with pytest.raises(TypeError, match="a bound is '0'"):
        Erm(0).interval([0.5], ("0", 1))  # type: ignore[arg-type]
    for costs in ([], [float("nan")]):
        with pytest.raises(ValueError):
            Erm(0).interval(costs)
