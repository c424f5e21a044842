"""What a machine's speed and size do to limits and workers."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from lm_eval_strict.sandbox import machine
from lm_eval_strict.sandbox.records import Limits

LIMITS = json.loads((Path(__file__).parents[2] / "tasks" / "humaneval_plus_cpu_limits.json").read_text())


@pytest.mark.parametrize(
    ("times_slower", "factor"), [(0.2, 1.0), (1.0, 1.0), (1.2, 1.0), (2.0, 2.0), (3.14, 3.1), (10.0, 10.0)]
)
def test_a_slower_machine_multiplies_and_a_faster_one_never_divides(
    monkeypatch: pytest.MonkeyPatch, times_slower: float, factor: float
) -> None:
    monkeypatch.setattr(machine, "_loop", lambda: machine.RECORDED_LOOP_S * times_slower)
    assert machine.speed_factor.__wrapped__() == factor


def test_the_loop_does_the_same_work_each_time() -> None:
    assert machine._loop() > 0


def test_the_recorded_loop_is_the_one_in_the_limits_file() -> None:
    assert LIMITS["loop_s"] == machine.RECORDED_LOOP_S


def test_no_problem_has_less_than_the_general_limit() -> None:
    assert all(seconds > Limits().cpu_s for seconds in LIMITS["cpu_s"].values())
    assert all(key.startswith("HumanEval/") for key in LIMITS["cpu_s"])


@pytest.mark.parametrize(
    ("affinity", "quota", "memory_mib", "cpus"),
    [
        (8, None, None, 8),
        (8, 2.0, None, 2),
        (8, 2.6, None, 3),
        (8, 0.1, None, 1),
        (8, None, 3 * machine.MEMORY_PER_WORKER_MIB, 3),
        (8, None, 10, 1),
        (2, 16.0, 1 << 20, 2),
    ],
)
def test_affinity_quota_and_memory_all_bound_the_workers(
    monkeypatch: pytest.MonkeyPatch, affinity: int, quota: float | None, memory_mib: int | None, cpus: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: set(range(affinity)))
    monkeypatch.setattr(machine, "_cgroup_quota", lambda: quota)
    monkeypatch.setattr(machine, "_available_mib", lambda: memory_mib)
    assert machine.usable_cpus() == cpus
