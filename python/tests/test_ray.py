"""Sweeps on a real Ray, `scripts/test-ray`: nodes die, sweeps are cancelled, and the bytes are those of one process."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gumdp

ray = pytest.importorskip("ray")

SPEC = {
    "problems": ["rooms"],
    "risks": [0, 10, gumdp.Cvar(0.9)],
    "policies": ["planner", "uniform"],
    "presets": "paper",
    "simulations": [400, 1600],
    "runs": 60,
    "seed": [0, 1],
}
FILES = ["samples.csv", "trajectories.csv", "manifest.json"]


def contents(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in FILES]


def journals(folder: Path) -> list[str]:
    return [path.read_text() for path in sorted((folder / "runs").iterdir())]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    gumdp.sweep(SPEC, folder)
    return folder


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A head that plays nothing, and two nodes of one core."""
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    cluster.nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    cluster.wait_for_nodes()
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def test_a_node_dies(whole: Path, tmp_path: Path, cluster: Any) -> None:
    told: list[tuple[int, int]] = []

    def progress(done: int, of: int) -> None:
        told.append((done, of))
        if done == 3:
            # Both nodes are in the middle of a unit.
            while len(begun := [text for text in journals(tmp_path) if "\nend," not in text]) < 2 or any(
                not 2 <= text.count("\nrun,") <= 20 for text in begun
            ):
                time.sleep(0.01)
            cluster.remove_node(cluster.nodes[0], allow_graceful=False)

    with gumdp.RayExecutor(cluster.address) as executor:
        assert executor.workers == 2
        assert executor.submit(os.getenv, "RAYON_NUM_THREADS").result() == "1"
        gumdp.sweep(SPEC, tmp_path, executor=executor, units=12, progress=progress)
    assert told == [(done, 12) for done in range(1, 13)]
    written = journals(tmp_path)
    unfinished = [text for text in written if "\nend," not in text]
    print(f"{len(written)} journals of 12 units, {len(unfinished)} without an end")
    # The node died in the middle of a unit, which another one has played to its end.
    assert len(unfinished) == 1
    assert len(written) == 13
    assert contents(tmp_path) == contents(whole)


def test_cancelled_and_gone_on(whole: Path, tmp_path: Path, cluster: Any) -> None:
    def interrupt(done: int, of: int) -> None:
        raise KeyboardInterrupt

    with gumdp.RayExecutor(cluster.address) as executor:
        with pytest.raises(KeyboardInterrupt):
            gumdp.sweep(SPEC, tmp_path, executor=executor, units=12, progress=interrupt)
        time.sleep(3)
        before = journals(tmp_path)
        time.sleep(3)
        assert journals(tmp_path) == before, "the units were not cancelled"
        assert sum(text.count("\nrun,") for text in before) < 1080
        gumdp.sweep(SPEC, tmp_path, executor=executor, units=12)
    assert contents(tmp_path) == contents(whole)


def test_one_machine_is_one_call(whole: Path, tmp_path: Path) -> None:
    with gumdp.RayExecutor(cpus=2, num_cpus=2, include_dashboard=False) as executor:
        assert executor.workers == 1
        assert executor.submit(os.getenv, "RAYON_NUM_THREADS").result() == "2"
        gumdp.sweep(SPEC, tmp_path, executor=executor)
    assert not ray.is_initialized()
    assert contents(tmp_path) == contents(whole)


def test_mistakes() -> None:
    with pytest.raises(ValueError, match=r"cpus is 0; it must be a whole number in \[1, 1024\]"):
        gumdp.RayExecutor(cpus=0)
