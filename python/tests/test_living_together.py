"""Beside the rest of a Python program: other threads, Ctrl-C, memory, and what a call costs."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gumdp
from gumdp import Cvar, Planner, Problem


def test_python_runs_meanwhile() -> None:
    ticks = 0
    done = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    Planner(gumdp.tasks["grid-msee"], 1.0, time_limit=0.5, preset="paper").act(0)
    done.set()
    thread.join()
    assert ticks > 50


def slow(d: Any) -> float:
    time.sleep(0.001)
    return float(d.max())


def long_work(what: str) -> Callable[[], Any]:
    """Something that takes minutes."""
    grid, il = gumdp.tasks["grid-msee"], gumdp.tasks["il"]
    if what in ("default", "paper"):
        planner = Planner(il if what == "default" else grid, 1.0, simulations=10**7, preset=what)
        return lambda: planner.act(0)
    if what == "function":
        own = Problem(grid.model, slow, discount=1.0, horizon=50)
        return lambda: gumdp.evaluate(own, "planner", 1.0, runs=1000)
    return {
        "evaluate": lambda: gumdp.evaluate(grid, "paper", 1.0, runs=10**4),
        "one run": lambda: gumdp.evaluate(grid, "paper", 1.0, runs=1, simulations=10**7),
        "solve": lambda: gumdp.solve(il, Cvar(0.95), max_states=3 * 10**7),
        "frontier": lambda: gumdp.frontier(il, "cvar", max_states=5 * 10**6),
        "sampled frontier": lambda: gumdp.frontier(grid, levels=[0, 1], max_states=10, runs=10**4),
        "explain": lambda: gumdp.explain(grid, 1.0, max_states=10, runs=10**4),
        "distribution": lambda: gumdp.exact_distribution(grid, "uniform", max_states=5 * 10**6),
    }[what]


def interrupted_after(work: Callable[[], Any]) -> float:
    """Seconds from Ctrl-C to KeyboardInterrupt."""
    sent = 0.0

    def interrupt() -> None:
        nonlocal sent
        sent = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.3, interrupt)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
        return time.monotonic() - sent
    finally:
        timer.cancel()
        timer.join()


def threads() -> int:
    return len(os.listdir("/proc/self/task"))


WORK = "default, paper, evaluate, one run, solve, frontier, sampled frontier, explain, distribution, function"


@pytest.mark.parametrize("what", WORK.split(", "))
def test_interruptions_are_raised_soon_and_work_stops(what: str) -> None:
    known = Path("/proc/self/task").exists()
    # Preparing a planner starts the threads of the process once; they stay.
    Planner(gumdp.tasks["rooms"], 5, simulations=1).act("s1")
    before = threads() if known else 0
    # A busy machine may be slow once, not three times.
    assert any(interrupted_after(long_work(what)) < 0.2 for _ in range(3))
    deadline = time.monotonic() + 10.0
    while known and threads() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not known or threads() <= before
    assert gumdp.evaluate(gumdp.tasks["rooms"], "uniform", runs=3).costs.size == 3


def test_an_interrupted_decision_can_be_made_again() -> None:
    problem = gumdp.tasks["grid-msee"]
    planner = Planner(problem, 1.0, simulations=3 * 10**5, preset="paper")
    threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        planner.act(0)
    again = planner.act(0)
    other = Planner(problem, 1.0, simulations=3 * 10**5, preset="paper").act(0)
    assert again.simulations == 3 * 10**5
    assert (again.reasons["visits"] == other.reasons["visits"]).all() and again.estimate == other.estimate


def test_planners_do_not_leak() -> None:
    def memory() -> int:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    if not Path("/proc/self/statm").exists():
        pytest.skip("the memory of the process is not known")
    problem = gumdp.tasks["rooms"]

    def make(count: int) -> None:
        for number in range(count):
            # The default planner prepares for seconds in all: fewer of them.
            Planner(problem, 5, simulations=1, preset="default" if number % 500 == 0 else "paper").act("s1")
        gc.collect()

    make(1000)
    before = memory()
    make(10_000)
    assert memory() - before < 20_000_000


def test_an_interrupted_program_ends_well(tmp_path: Path) -> None:
    """Threads that ask a function are not cut off in the middle of Python's end."""
    program = """
import os, signal, threading, time
import gumdp

# As in the foreground, wherever the test is run.
signal.signal(signal.SIGINT, signal.default_int_handler)

def slow(d):
    time.sleep(0.001)
    return float(d.max())

own = gumdp.Problem(gumdp.tasks["grid-msee"].model, slow, discount=1.0, horizon=50)
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
gumdp.evaluate(own, "planner", 1.0, runs=1000, threads=4)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert done.returncode == -signal.SIGINT and done.stderr.strip().endswith("KeyboardInterrupt")


def test_the_border_is_cheap() -> None:
    """What a call of act() costs beyond the decision itself: measured 1 µs, at most 5 µs."""
    problem = gumdp.tasks["rooms"]
    planner = Planner(problem, 5, simulations=1)
    beyond = []
    for _ in range(2000):
        planner.reset()
        started = time.perf_counter()
        decision = planner.act(1)
        beyond.append(time.perf_counter() - started - decision.seconds)
    # The median: now and then somebody else has the processor.
    assert np.median(beyond) < 5e-6
