"""Sweeps over problems, attitudes to risk, players, budgets and seeds, on one machine or many."""

from __future__ import annotations

import csv
import glob
import json
import os
import queue
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from . import _native
from ._checks import MOST_THREADS, Floats, are_many, count, optional_count, shown
from .risks import Risk

__all__ = ["Executor", "RayExecutor", "Sweep", "SweepFailed", "sweep"]

_KEYS = ("problems", "risks", "policies", "presets", "simulations", "runs", "seed")


class Executor(Protocol):
    """Whatever has `submit`: concurrent.futures, Dask's client, submitit, `RayExecutor`."""

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> Any: ...


class SweepFailed(RuntimeError):
    """Some cells could not be played. `cells` has their names and the reasons; all others are kept."""

    def __init__(self, cells: dict[str, str]) -> None:
        super().__init__("; ".join(f"{cell}: {why}" for cell, why in cells.items()))
        self.cells = cells


@dataclass(frozen=True)
class Sweep:
    """The merged results of a sweep."""

    folder: Path
    """Where `samples.csv`, `trajectories.csv` and `manifest.json` are."""
    cells: int
    runs: int

    def manifest(self) -> dict[str, Any]:
        """The cells with what is known of them."""
        with open(self.folder / "manifest.json", encoding="utf-8") as file:
            read: dict[str, Any] = json.load(file)
        return read

    def costs(self) -> Iterator[tuple[str, Floats]]:
        """The costs of each cell, in order; one cell is in memory at a time."""
        with open(self.folder / "samples.csv", encoding="utf-8", newline="") as file:
            name: str | None = None
            costs: list[float] = []
            for row in csv.DictReader(file):
                if row["cell"] != name:
                    if name is not None:
                        yield name, np.array(costs)
                    name, costs = row["cell"], []
                costs.append(float(row["cost"]))
            if name is not None:
                yield name, np.array(costs)

    def to_polars(self) -> Any:
        """One row for each run; needs polars."""
        import polars

        return polars.read_csv(self.folder / "samples.csv", schema_overrides={"seed": polars.UInt64})

    def to_pandas(self) -> Any:
        """One row for each run; needs pandas."""
        import pandas

        return pandas.read_csv(self.folder / "samples.csv")

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Writes one row for each run as Parquet, without holding all of them; needs polars."""
        import polars

        rows = polars.scan_csv(self.folder / "samples.csv", schema_overrides={"seed": polars.UInt64})
        rows.sink_parquet(Path(path))


def _toml(value: Any) -> str:
    """A value of a sweep as TOML."""
    if isinstance(value, Risk):
        return _toml(value.spec)
    if isinstance(value, str | os.PathLike):
        # As in JSON, but for characters beyond 16 bits, which that would escape in halves.
        return json.dumps(os.fspath(value), ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, np.ndarray | np.generic):
        return _toml(value.tolist())
    if isinstance(value, Sequence):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{value!r} cannot stand in a sweep")
    return repr(value)


def _file_of(spec: str | os.PathLike[str] | Mapping[str, Any], folder: Path) -> Path:
    if not isinstance(spec, Mapping):
        return Path(spec)
    unknown = [key for key in spec if key not in _KEYS]
    if unknown:
        raise ValueError(f"a sweep has no key {unknown[0]!r}; its keys are {', '.join(_KEYS)}")
    problems = spec.get("problems", [])
    problems = [problems] if isinstance(problems, str | os.PathLike) else problems
    if not are_many(problems) or not all(isinstance(name, str | os.PathLike) for name in problems):
        raise TypeError(f"problems is {shown(problems)}; it must be names of built-in tasks or files")
    paths = [name if name in _native.TASKS else _from_here(name) for name in problems]
    text = "".join(f"{key} = {_toml(paths if key == 'problems' else value)}\n" for key, value in spec.items())
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "sweep.toml"
    path.write_text(text, encoding="utf-8")
    return path


def _from_here(name: str | os.PathLike[str]) -> str:
    """A path is meant from here, not from the folder of the results; if it is a pattern, the name of here is none."""
    path, text = os.path.abspath(name), os.fspath(name)
    is_pattern = glob.escape(text) != text and not os.path.exists(path)
    return os.path.join(glob.escape(os.getcwd()), text) if is_pattern else path


def _play(folder: str, index: int, count: int, threads: int | None) -> list[tuple[str, str]]:
    """Plays a unit: what a worker does. Its runs are in the folder when it returns."""
    own = os.environ.get("RAYON_NUM_THREADS", "")
    threads = threads or (int(own) if own.isdecimal() and int(own) > 0 else 1)
    return _native.sweep_play(folder, index, count, min(threads, MOST_THREADS))[2]


def sweep(
    spec: str | os.PathLike[str] | Mapping[str, Any],
    out: str | os.PathLike[str],
    *,
    executor: Executor | None = None,
    units: int | None = None,
    threads: int | None = None,
    retries: int = 2,
    progress: Callable[[int, int], None] | None = None,
    allow_files: bool = False,
) -> Sweep:
    """Plays a sweep and merges it; what is there already is not played again.

    `spec` is the path of a `sweep.toml`, or its keys as a dictionary. With an `executor`, whatever has `submit`, the work is cut into
    units that its workers play; all of them must see the folder `out`. A unit whose worker dies is submitted again, up to `retries` times.
    The results do not depend on any of this: they are byte for byte those of one process.

    `units` is their number (default: of about two minutes each, and at least four for each worker or core); `threads` of each
    worker (default: with an executor what RAYON_NUM_THREADS says there, else 1; without one all cores); `progress(done, of)` is called
    after each unit. If this is interrupted, the units are cancelled; what was played is kept.

    >>> import tempfile, gumdp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = gumdp.sweep({"problems": "rooms", "risks": [0, 5], "policies": "uniform", "runs": 3}, folder)
    ...     [len(costs) for _, costs in done.costs()]
    [3, 3]
    """
    folder = Path(out)
    threads = optional_count("threads", threads, 1, MOST_THREADS)
    units = optional_count("units", units, 1, 1_000_000)
    retries = count("retries", retries, 0, 1_000_000)
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise TypeError(f"executor is {shown(executor)}; it must have a method submit")
    if progress is not None and not callable(progress):
        raise TypeError(f"progress is {shown(progress)}; it must be a function")
    cells, runs, natural = _native.sweep_open(_file_of(spec, folder), folder, allow_files)
    if executor is None:
        failed = dict(_native.sweep_play(folder, 1, 1, threads)[2])
    else:
        workers = executor.workers if isinstance(executor, RayExecutor) else os.cpu_count() or 1
        cut = units or max(natural, min(4 * workers, runs, 1_000_000))
        failed = _hand_out(executor, folder, cut, threads, retries, progress)
    if failed:
        raise SweepFailed(failed)
    _native.sweep_merge(folder)
    return Sweep(folder, cells, runs)


def _hand_out(
    executor: Executor,
    folder: Path,
    count: int,
    threads: int | None,
    retries: int,
    progress: Callable[[int, int], None] | None,
) -> dict[str, str]:
    missing = _native.sweep_status(folder, count)[2]
    place = str(folder.absolute())
    ended: queue.SimpleQueue[int] = queue.SimpleQueue()
    waiting: dict[int, Any] = {}
    tries = dict.fromkeys(missing, 0)
    failed: dict[str, str] = {}

    def submit(index: int) -> None:
        future = executor.submit(_play, place, index, count, threads)
        if not callable(getattr(future, "result", None)):
            raise TypeError(f"the executor's submit returned {shown(future)}; it must be a future, with a method result")
        waiting[index] = future
        _tell_when_done(waiting[index], lambda: ended.put(index))

    try:
        for index in missing:
            submit(index)
        while waiting:
            index = _next(ended)
            try:
                failed.update(waiting.pop(index).result())
            except Exception:
                # A worker died, or a disk was full there: what it had finished is kept.
                tries[index] += 1
                if tries[index] > retries:
                    raise
                submit(index)
                continue
            if progress is not None:
                progress(count - len(waiting), count)
    except BaseException:
        for future in waiting.values():
            cancel = getattr(future, "cancel", None)
            if cancel is not None:
                cancel()
        raise
    return failed


def _tell_when_done(future: Any, tell: Callable[[], None]) -> None:
    """Calls `tell` when a future is done, or at once if it cannot say that (submitit): its result is waited for then."""
    when_done = getattr(future, "add_done_callback", None)
    if when_done is None:
        tell()
    else:
        when_done(lambda _: tell())


def _next(ended: queue.SimpleQueue[int]) -> int:
    """The next unit that is done; Ctrl-C ends the wait on every system."""
    while True:
        try:
            return ended.get(timeout=0.5)
        except queue.Empty:
            continue


class RayExecutor:
    """Hands units to a Ray cluster, one task each; needs `gumdp[ray]`.

    `address` is that of a cluster; without one Ray starts on this machine. Each task asks for `cpus` cores and uses as many threads; Ray
    starts it again up to `retries` times if its node dies. `init` is what `ray.init` takes. Nothing but the numbers of units passes
    through Ray: results are written to the folder, which all nodes must see. `with` ends a Ray that was started here.
    """

    def __init__(self, address: str | None = None, *, cpus: int = 1, retries: int = 3, **init: Any) -> None:
        import ray

        self._cpus = count("cpus", cpus, 1, MOST_THREADS)
        retries = count("retries", retries, 0, 1_000_000)
        self._ray: Any = ray
        self._is_own = not ray.is_initialized()
        if self._is_own:
            ray.init(address=address, **init)
        self._options: dict[str, Any] = {
            "num_cpus": self._cpus,
            "max_retries": retries,
            # Tiny tasks would all go to one node.
            "scheduling_strategy": "SPREAD",
            "runtime_env": {"env_vars": {"RAYON_NUM_THREADS": str(self._cpus)}},
        }

    @property
    def workers(self) -> int:
        """How many tasks the cluster can play at once, as it is now."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)) // self._cpus)

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> Any:
        """A task on the cluster; its result is that of `fn`."""
        return _RayFuture(self._ray, self._ray.remote(fn).options(**self._options).remote(*args))

    def shutdown(self) -> None:
        """Ends Ray if it was started here."""
        if self._is_own:
            self._ray.shutdown()

    def __enter__(self) -> RayExecutor:
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()


class _RayFuture:
    def __init__(self, ray: Any, reference: Any) -> None:
        self._ray, self._reference = ray, reference
        self._future = reference.future()

    def result(self) -> Any:
        return self._future.result()

    def add_done_callback(self, tell: Callable[[Any], None]) -> None:
        self._future.add_done_callback(tell)

    def cancel(self) -> None:
        self._ray.cancel(self._reference)
