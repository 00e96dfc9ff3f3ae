"""The notebooks in examples/notebooks run from their first cell to their last, and show what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "notebooks"


def executed(name: str, monkeypatch: pytest.MonkeyPatch) -> tuple[str, int]:
    """What a notebook prints, and its number of pictures. They are kept without outputs."""
    notebook: Any = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in notebook.cells)
    # The kernel draws into the notebook.
    monkeypatch.delenv("MPLBACKEND", raising=False)
    nbclient.NotebookClient(notebook, timeout=120).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    text = "".join(output.get("text", "") for output in outputs if output["output_type"] == "stream")
    return text, sum("image/png" in output.get("data", {}) for output in outputs)


def test_there_is_a_test_for_each() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.ipynb")) == ["cliff-walking", "frozen-lake", "mountain-car"]


def test_cliff_walking(monkeypatch: pytest.MonkeyPatch) -> None:
    text, pictures = executed("cliff-walking", monkeypatch)
    assert pictures == 1 and text.count("goal reached in 100 % of walks") == 2


def test_frozen_lake(monkeypatch: pytest.MonkeyPatch) -> None:
    text, pictures = executed("frozen-lake", monkeypatch)
    assert pictures == 2 and "within 100 steps: 0.641" in text and text.count("mean of the worst tenth") == 4


def test_mountain_car(monkeypatch: pytest.MonkeyPatch) -> None:
    text, pictures = executed("mountain-car", monkeypatch)
    assert pictures == 1 and text.count("mean entropy") == 2 and text.count("optimum") == 3
    chance, planned = (float(line.split("mean entropy ")[1].split(",")[0]) for line in text.splitlines() if "entropy" in line)
    assert planned > chance
