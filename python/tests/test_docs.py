"""The Python in docs/python.md runs, from its first block to its last, and warns of nothing."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

import gumdp


def test_the_blocks_run() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 3
    names: dict[str, Any] = {"gumdp": gumdp, "gymnasium": gymnasium, "np": np}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(blocks[0], "docs/python.md", "exec"), names)
    planner, problem = names["planner"], names["problem"]
    assert planner.time == problem.horizon or names["terminated"]
    paid = names["reward"] * 0.99 ** (planner.time - 1) / sum(0.99**t for t in range(100))
    assert abs(planner.cost + paid) < 1e-12
    for block in blocks[1:]:
        exec(compile(block, "docs/python.md", "exec"), names)
    assert names["costs"].shape == (20,)
