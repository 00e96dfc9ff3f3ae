"""The Python in docs/python.md runs, from its first block to its last, and warns of nothing."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import gumdp


def test_the_blocks_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # One of them writes a journal.
    page = (Path(__file__).resolve().parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 7
    names: dict[str, Any] = {"gumdp": gumdp, "gymnasium": gymnasium, "np": np}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(blocks[0], "docs/python.md", "exec"), names)
    planner, problem = names["planner"], names["problem"]
    assert planner.time == problem.horizon or names["terminated"]
    # The other kind of problem in the same loop.
    others = re.findall(r"`(problem = gumdp.Problem.from_gymnasium.*?)` and `(model = .*?)` in that loop", page)
    before, after = blocks[0].split("planner = ")
    loop = "\n".join([before.splitlines()[0].replace("8x8", "4x4"), *others[0], "planner = " + after])
    wins = 0
    for seed in range(6):
        exec(compile(loop.replace("seed=0", f"seed={seed}"), "docs/python.md", "exec"), names)
        planner, steps = names["planner"], names["planner"].time
        assert names["terminated"] or steps == 101
        paid = names["reward"] * 0.99 ** (steps - 1) / sum(0.99**t for t in range(100))
        assert abs(planner.cost + paid) < 1e-12
        wins += names["reward"] == 1
    assert wins > 0
    for block in blocks[1:]:
        exec(compile(block, "docs/python.md", "exec"), names)
    assert names["costs"].shape == (20,)
    assert names["bold"] < names["careful"] <= 0 and names["explored"].shape == (2,)
