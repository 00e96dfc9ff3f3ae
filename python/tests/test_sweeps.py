"""Sweeps: whoever plays them, the bytes are those of one process."""

from __future__ import annotations

import multiprocessing
import subprocess
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from test_playing import COMMAND, needs_command

import gumdp

SPEC = {"problems": ["rooms"], "risks": [0, 5.0, gumdp.Cvar(0.9)], "policies": ["uniform", "exact"], "runs": 7, "seed": [0, 1]}
FILES = ["samples.csv", "trajectories.csv", "manifest.json"]


def contents(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in FILES]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    done = gumdp.sweep(SPEC, folder)
    assert (done.cells, done.runs) == (12, 84)
    return folder


def test_pools_play_the_same_bytes(whole: Path, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        gumdp.sweep(SPEC, tmp_path / "pool", executor=pool, units=5, progress=lambda done, of: told.append((done, of)))
    assert told == [(done, 5) for done in range(1, 6)]
    with ThreadPoolExecutor(2) as threads:
        gumdp.sweep(SPEC, tmp_path / "threads", executor=threads)
    assert contents(tmp_path / "pool") == contents(tmp_path / "threads") == contents(whole)


class Clumsy:
    """Loses every third unit, after it was played or before."""

    def __init__(self) -> None:
        self.calls = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> Future[Any]:
        self.calls += 1
        future: Future[Any] = Future()
        if self.calls % 3 == 0:
            if self.calls % 2 == 0:
                fn(*args)
            future.set_exception(RuntimeError("the worker died"))
        else:
            future.set_result(fn(*args))
        return future


def test_lost_units_are_played_again(whole: Path, tmp_path: Path) -> None:
    gumdp.sweep(SPEC, tmp_path, executor=Clumsy(), units=6)
    assert contents(tmp_path) == contents(whole)
    with pytest.raises(RuntimeError, match="the worker died"):
        gumdp.sweep(SPEC, tmp_path / "never", executor=Clumsy(), units=6, retries=0)


class Plain:
    """Futures with nothing but `result`, as submitit's; they play when they are asked."""

    def __init__(self) -> None:
        self.played: list[int] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> Any:
        def result() -> Any:
            self.played.append(args[1])
            return fn(*args)

        return SimpleNamespace(result=result)


def test_futures_need_a_result_only(whole: Path, tmp_path: Path) -> None:
    plain = Plain()
    gumdp.sweep(SPEC, tmp_path, executor=plain, units=4)
    assert plain.played == [1, 2, 3, 4]
    assert contents(tmp_path) == contents(whole)


def test_units_count_as_they_end(tmp_path: Path) -> None:
    futures: list[Future[Any]] = []

    class Backwards:
        """Ends the units in the opposite order."""

        def submit(self, fn: Callable[..., Any], /, *args: Any) -> Future[Any]:
            future: Future[Any] = Future()
            futures.append(future)
            if len(futures) == 3:
                futures[2].set_result(fn(*args))
            return future

    def interrupted(done: int, of: int) -> None:
        assert (done, of) == (1, 3)
        raise KeyboardInterrupt

    # The last one is told although the first is not done; all others are cancelled.
    with pytest.raises(KeyboardInterrupt):
        gumdp.sweep(SPEC, tmp_path, executor=Backwards(), units=3, progress=interrupted)
    assert [future.cancelled() for future in futures] == [True, True, False]


def test_what_is_there_is_not_played_again(whole: Path) -> None:
    before = sorted((whole / "runs").iterdir())
    gumdp.sweep(SPEC, whole)
    assert sorted((whole / "runs").iterdir()) == before


@needs_command
def test_the_command_line_plays_the_same_bytes(whole: Path, tmp_path: Path) -> None:
    assert COMMAND is not None
    subprocess.run([COMMAND, "sweep", whole / "sweep.toml", "--out", tmp_path / "out", "--quiet"], check=True)
    assert contents(tmp_path / "out") == contents(whole)


def test_results_as_tables(whole: Path, tmp_path: Path) -> None:
    done = gumdp.Sweep(whole, 12, 84)
    costs = dict(done.costs())
    assert len(costs) == 12 and all(len(of) == 7 for of in costs.values())
    cells = done.manifest()["cells"]
    assert [cell["id"] for cell in cells] == list(costs)
    frame = done.to_polars()
    assert frame.shape == (84, 8)
    assert np.array_equal(frame["cost"].to_numpy(), np.concatenate(list(costs.values())))
    assert len(done.to_pandas()) == 84
    done.to_parquet(tmp_path / "samples.parquet")
    import polars

    assert polars.read_parquet(tmp_path / "samples.parquet").equals(frame)


def test_problems_may_have_any_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "maps [a-z] \U0001f600"
    here.mkdir()
    for name in ("one", "two \U0001f600"):
        gumdp.tasks["rooms"].to_file(here / f"{name}.toml")
    monkeypatch.chdir(here)
    for problems, cells in (("*.toml", 2), ("./t*.toml", 1), (Path("one.toml"), 1), (["two \U0001f600.toml", "rooms"], 2)):
        done = gumdp.sweep({"problems": problems, "risks": 0, "policies": "uniform", "runs": 1}, tmp_path / str(problems)[:4].strip("*./[] "))
        assert done.cells == cells, problems


def test_wrong_executors_are_named(tmp_path: Path) -> None:
    class Silent:
        def submit(self, fn: Callable[..., Any], /, *args: Any) -> Any:
            return None

    for settings, message in (
        ({"executor": 3}, "executor is 3; it must have a method submit"),
        ({"executor": Silent()}, "submit returned None; it must be a future"),
        ({"progress": 3}, "progress is 3; it must be a function"),
        ({"retries": 0.5}, "retries is 0.5"),
    ):
        with pytest.raises(TypeError, match=message):
            gumdp.sweep(SPEC, tmp_path / "out", **settings)
    with pytest.raises(ValueError, match="retries is -1"):
        gumdp.sweep(SPEC, tmp_path / "out", retries=-1)


def test_mistakes(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="problems is .* it must be names of built-in tasks or files"):
        gumdp.sweep({"problems": gumdp.tasks["rooms"]}, tmp_path)  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="no key 'beta'"):
        gumdp.sweep({"problems": "rooms", "beta": 1}, tmp_path)
    with pytest.raises(ValueError, match="no such task or file"):
        gumdp.sweep({"problems": "nowhere.toml"}, tmp_path)
    with pytest.raises(TypeError, match="cannot stand in a sweep"):
        gumdp.sweep({"problems": "rooms", "runs": {}}, tmp_path)
    with pytest.raises(gumdp.SweepFailed) as failed:
        gumdp.sweep({"problems": "rooms", "risks": 1, "policies": "backward-induction", "runs": 2}, tmp_path / "bi")
    assert len(failed.value.cells) == 1
