"""Frontiers: optimal behaviour over the attitude to risk."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_playing import command, needs_command

import gumdp
from gumdp import Cvar, Erm, Linear, Model, Problem


@pytest.fixture
def coin() -> Problem:
    """A sure cost of 1, or a coin between 0 and 1.8."""
    model = (
        Model.builder()
        .transition("start", "pay", "sure")
        .transition("start", "toss", {"nothing": 0.5, "much": 0.5})
        .transition("sure", "pay", "sure")
        .transition("nothing", "pay", "nothing")
        .transition("much", "pay", "much")
        .build()
    )
    return Problem(model, Linear({"sure": 2.0, "much": 3.6}), discount=1.0, horizon=2)


def test_the_change_is_where_the_distributions_cross(coin: Problem) -> None:
    found = gumdp.frontier(coin, levels=[float("inf"), 0, 1])
    assert found.levels.tolist() == [0.0, 1.0, np.inf] and found.complete and len(found) == 3
    (change,) = found.changes
    # ERM of the coin is 1 where exp(1.8β) + 1 = 2·exp(β).
    assert change.level is not None and change.next_level == 1.0
    assert np.exp(1.8 * change.level) + 1 == pytest.approx(2 * np.exp(change.level), abs=1e-8)
    assert (change.before, change.after) == (0, 1)
    assert found.mean.tolist() == pytest.approx([0.9, 1.0, 1.0]) and found.worst.tolist() == pytest.approx([1.8, 1, 1])
    assert found.cvar.tolist() == pytest.approx([1.8, 1.0, 1.0]) and found.behaviour.tolist() == [0, 1, 1]
    assert found.distributions[1].values.tolist() == [1.0] and [visits.sum() for visits in found.visits] == pytest.approx([2, 2])
    assert repr(found) == "Frontier(3 levels of erm, 2 behaviours, 1 changes)"


@pytest.mark.parametrize(("risk", "measure"), [("erm", Erm), ("cvar", Cvar)])
def test_every_level_is_the_optimum(corridor: Model, risk: str, measure: Any) -> None:
    levels = [0.0, 0.5, 0.9]
    problem = Problem(corridor, gumdp.Entropy(), discount=0.9, horizon=7)
    found = gumdp.frontier(problem, risk, levels)
    for level, value in zip(levels, found.risk):
        assert value == pytest.approx(gumdp.solve(problem, measure(level)).value, abs=2e-6)
    assert np.allclose([found.of(measure(level))[k] for k, level in enumerate(levels)], found.risk, atol=2e-6)


def test_levels_do_not_wait_for_changes(coin: Problem) -> None:
    found = gumdp.frontier(coin, levels=[0, 1], patience=0)
    assert not found.complete and [change.level for change in found.changes] == [None]
    assert found.risk.tolist() == gumdp.frontier(coin, levels=[0, 1]).risk.tolist()
    for patience in (-1, float("nan"), 1e9):
        with pytest.raises(ValueError, match=r"patience is .*; it must lie in \[0, 86400\], in seconds"):
            gumdp.frontier(coin, patience=patience)


def test_the_best_bargain(coin: Problem) -> None:
    best = gumdp.frontier(coin, levels=[0, 1]).bargain
    assert best is not None and (best.behaviour, best.neutral) == (1, 0)
    assert (best.paid, best.saved) == pytest.approx((0.1, 0.8))
    assert gumdp.frontier(coin, levels=[2, 3]).bargain is None


def test_features_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "flights.toml"
    file.write_text("""
    kind = "explicit"
    states = ["home", "lost"]
    actions = ["fly", "stay"]
    start = "home"
    discount = 1.0
    horizon = 2
    transitions = [
      { from = "home", action = "fly", to = { home = 0.75, lost = 0.25 } },
      { from = "home", action = "stay", to = "home" },
      { from = "lost", action = "*", to = "lost" },
    ]
    [objective]
    kind = "formula"
    features = { waiting = { "home/stay" = 2 }, lost = { lost = 2 } }
    expression = "0.4 * waiting + lost"
    """)
    found = gumdp.frontier(Problem.from_file(file), levels=[0, float("inf")])
    # Who minimises the mean flies once, and is lost at the end of a quarter of the flights; in the worst case it is better to stay.
    assert found.features["lost"].tolist() == pytest.approx([0.25, 0.0])
    assert found.shares["lost"].tolist() == pytest.approx([0.25, 0.0])
    assert list(found.features) == ["lost", "waiting"] and found.features["waiting"][0] < found.features["waiting"][1]


def test_usual_levels(coin: Problem) -> None:
    assert gumdp.frontier(coin).levels[[0, -1]].tolist() == [0.0, np.inf]
    assert gumdp.frontier(coin, "evar").levels[-1] == 0.99


def test_plot(coin: Problem) -> None:
    pytest.importorskip("matplotlib")
    axes = gumdp.frontier(coin).plot()
    assert axes.get_xlabel() == "β" and "problem" in axes.get_title()
    assert gumdp.frontier(coin, "cvar", [0, 0.5]).plot().get_xlabel() == "level"


def test_curves_step_where_behaviour_changes(coin: Problem) -> None:
    found = gumdp.frontier(coin, levels=[0, 1, 10])
    change = found.changes[0].level
    assert change is not None and 0 < change < 1
    mean = next(line for line in found.plot().get_lines() if line.get_label() == "mean")
    assert mean.get_drawstyle() == "steps-post"
    assert mean.get_xdata().tolist() == [0, change, 1, 10]
    assert mean.get_ydata().tolist() == pytest.approx([0.9, 1, 1, 1])
    # A change that is not located is drawn at the level that knows of it.
    rough = dataclasses.replace(found, changes=[dataclasses.replace(found.changes[0], level=None)])
    mean = next(line for line in rough.plot().get_lines() if line.get_label() == "mean")
    assert mean.get_xdata().tolist() == [0, 1, 10] and mean.get_ydata().tolist() == pytest.approx([0.9, 1, 1])


@pytest.mark.parametrize(
    ("risk", "levels", "ticks"),
    [
        ("erm", [-np.inf, 0, np.inf], ["−∞", "0", "∞"]),
        ("erm", [0, np.inf], ["0", "∞"]),
        ("erm", [-np.inf, np.inf], ["−∞", "0", "∞"]),
        ("erm", [-2.0, -1.0], ["-1"]),
        ("erm", [3.0, 4.0, np.inf], ["∞"]),
        ("erm", [-1e3, -1.0, 0, 1.0, 1e3], ["-1000", "-100", "-10", "-1", "0", "1", "10", "100", "1000"]),
        ("cvar", [0.0, 1.0], None),
    ],
)
def test_plots_of_extreme_levels(coin: Problem, risk: str, levels: list[float], ticks: list[str] | None) -> None:
    axes = gumdp.frontier(coin, risk, levels).plot()
    axes.figure.canvas.draw()
    labels = sorted((tick.get_position()[0], tick.get_text()) for tick in axes.get_xticklabels())
    assert ticks is None or [label for _, label in labels] == ticks
    low, high = axes.get_xlim()
    assert low < high and np.isfinite([low, high]).all()
    boxes = sorted((tick.get_window_extent() for tick in axes.get_xticklabels()), key=lambda box: box.x0)
    assert all(one.x1 < two.x0 for one, two in zip(boxes, boxes[1:]))


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"risk": "mean"}, ValueError, "risk is 'mean'; it must be 'erm', 'cvar', 'evar', 'exceed' or 'var'"),
        ({"levels": [1.0]}, ValueError, "at least two are needed"),
        ({"levels": ["a", "b"]}, TypeError, "real numbers"),
        ({"levels": [0.0, float("nan")]}, ValueError, "."),
        ({"risk": "cvar", "levels": [0.5, 95]}, ValueError, "must lie in"),
        ({"levels": [0, 1], "max_states": 0}, ValueError, "max_states is 0"),
    ],
)
def test_wrong_frontiers(rooms: Problem, settings: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        gumdp.frontier(rooms, **settings)


def test_too_large() -> None:
    with pytest.raises(gumdp.TooLarge):
        gumdp.frontier(gumdp.tasks["grid-msee"], levels=[0, 1], max_states=1000, runs=None)


@needs_command
@pytest.mark.parametrize(
    ("task", "risk", "flags"),
    [
        ("rooms", "erm", {}),
        ("rooms", "exceed", {}),
        ("grid-mo", "cvar", {"levels": [0, 0.5, 0.9]}),
        ("msee", "erm", {"levels": [0, 1, 50], "max_states": 100, "runs": 20, "simulations": 20, "seed": 5}),
        ("rooms", "cvar", {"max_states": 3, "runs": 10, "simulations": 10}),
    ],
)
def test_the_same_bits_as_the_command_line(task: str, risk: str, flags: dict[str, Any]) -> None:
    def written(value: Any) -> str:
        return ",".join(map(str, value)) if isinstance(value, list) else str(value)

    given = [text for name, value in flags.items() for text in (f"--{name.replace('_', '-')}", written(value))]
    printed = command("frontier", task, "--risk", risk, *given)
    found = gumdp.frontier(gumdp.tasks[task], risk, **flags)
    columns = {"level": found.levels, "value": found.risk, "low": found.low, "high": found.high, "behaviour": found.behaviour}
    for name, column in columns.items():
        assert [float(row[name]) for row in printed["levels"]] == column.tolist(), name
    assert [float(row["mean"]) for row in printed["levels"]] == pytest.approx(found.mean.tolist(), abs=1e-14)
    assert [change["at"] for change in printed["changes"]] == [change.level for change in found.changes]
    assert (found.sampled is None) == (printed["sampled"] is None)
    if found.sampled is not None:
        assert (found.sampled.runs, found.sampled.simulations) == (flags["runs"], flags["simulations"])
        assert found.sampled.because == printed["sampled"]["because"]
        for name, pairs in (("mean", found.sampled.mean), ("cvar95", found.sampled.cvar)):
            assert [interval[name] for interval in printed["sampled"]["intervals"]] == pairs.tolist()


def test_sampled_frontiers(coin: Problem) -> None:
    found = gumdp.frontier(coin, levels=[0, 10], max_states=1, runs=200, simulations=200)
    assert found.sampled is not None and found.sampled.because.startswith("too large to solve (more than 1 ")
    assert repr(found) == "Frontier(2 levels of erm, 200 runs each, 1 changes)"
    assert (found.low <= found.risk).all() and (found.risk <= found.high).all()
    low, high = found.sampled.mean[0]
    assert low <= found.mean[0] <= high and low < 0.9 < high
    assert found.mean[1] == pytest.approx(1.0) and found.changes[0].level is None
    pytest.importorskip("matplotlib")
    assert "planned" in found.plot().get_title()
