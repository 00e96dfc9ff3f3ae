"""The README's Python prints what it says."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path


def test_the_quick_start_prints_what_it_says() -> None:
    page = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
    section = page.split("## From Python", 1)[1].split("\n## ", 1)[0]
    found = re.search(r"```python\n(.*?)```\s*```text\n(.*?)```", section, re.DOTALL)
    assert found is not None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(found[1], "README.md", "exec"), {})
    assert printed.getvalue() == found[2]
