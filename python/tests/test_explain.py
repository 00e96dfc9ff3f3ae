"""Decision trees: the numbers of the command line, data that add up, text."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import pytest
from test_playing import command, needs_command

import gumdp
from gumdp import Cvar, Erm, Problem


@needs_command
@pytest.mark.parametrize(
    ("task", "risk", "flags"),
    [
        ("rooms", "erm:50", {}),
        ("mdp", "erm:0.1", {"depth": 2, "nodes": 9}),
        ("grid-mo", "cvar:0.9", {}),
        ("msee", "erm:1", {"max_states": 100, "simulations": 20, "runs": 5, "seed": 3}),
        ("rooms", "evar:0.9", {"max_states": 3, "simulations": 20, "runs": 5}),
    ],
)
def test_the_same_bits_as_the_command_line(task: str, risk: str, flags: dict[str, int]) -> None:
    given = [text for name, value in flags.items() for text in (f"--{name.replace('_', '-')}", str(value))]
    printed = command("explain", task, "--risk", risk, *given)
    found = gumdp.explain(gumdp.tasks[task], risk, **flags)  # type: ignore[arg-type]
    assert dataclasses.asdict(found.tree) == printed["tree"]
    for name in ("risk", "value", "low", "high", "exact", "origin", "estimate_of", "upper_bounds"):
        assert getattr(found, name) == printed[name], name


def test_nodes_add_up(corridor: gumdp.Model) -> None:
    problem = Problem(corridor, gumdp.Entropy(), discount=0.9, horizon=7)
    found = gumdp.explain(problem, Erm(3), depth=5, nodes=40)
    assert found.exact and found.low == found.value == found.high and found.outer is None
    assert found.value == pytest.approx(gumdp.solve(problem, Erm(3)).value, abs=1e-12)
    assert found.nodes[0] is found.tree and len(found.nodes) > 5
    for node in found.nodes:
        assert (node.then == "chance") == bool(node.outcomes)
        if node.outcomes and node.folded is None:
            probabilities = [outcome.probability for outcome in node.outcomes]
            assert sum(probabilities) == pytest.approx(1.0)
            assert Erm(3).of([outcome.value for outcome in node.outcomes], probabilities) == pytest.approx(node.value)
        assert node.next_best is None or node.next_best.extra >= 0


def test_text_and_copies(rooms: Problem) -> None:
    found = gumdp.explain(rooms, Cvar(0.95), depth=2)
    lines = str(found).splitlines()
    assert lines[0].startswith("rooms: solved exactly") and lines[1].startswith("cvar:0.95 with lambda = ")
    assert "reached" in lines[3] and len(lines) == 4 + len(found.nodes) + sum(node.folded is not None for node in found.nodes)
    assert found.text == "\n".join(lines[3:]) + "\n"
    again = pickle.loads(pickle.dumps(found))
    assert again.tree == found.tree and str(again) == str(found)


def test_functions_are_explained(corridor: gumdp.Model) -> None:
    built_in = Problem(corridor, gumdp.Linear({"c": 1.0}), discount=1.0, horizon=3)
    own = Problem(corridor, lambda d: float(d[2].sum()), discount=1.0, horizon=3)
    ours, theirs = gumdp.explain(own, Erm(2)), gumdp.explain(built_in, Erm(2))
    assert ours.value == pytest.approx(theirs.value) and ours.tree.steps == theirs.tree.steps


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"risk": "no"}, ValueError, "no"),
        ({"depth": -1}, ValueError, "depth is -1"),
        ({"nodes": 0}, ValueError, "nodes is 0"),
        ({"runs": 1.5}, TypeError, "runs is 1.5"),
        ({"problem": 3}, TypeError, "problem is 3"),
    ],
)
def test_wrong_explanations(rooms: Problem, settings: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        gumdp.explain(**{"problem": rooms, **settings})
