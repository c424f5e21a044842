"""Every promise of every level holds, for root and for an ordinary user, here and on simulated machines."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lm_eval_strict.sandbox.conformance import PROBES, run_conformance
from lm_eval_strict.sandbox.isolation import probe
from lm_eval_strict.sandbox.records import Isolation

STAND_IN = Path(__file__).with_name("stand_in.py")
needs_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the sandbox needs Linux")
needs_root = pytest.mark.skipif(
    not sys.platform.startswith("linux") or os.geteuid() != 0,
    reason="only root can become another user or another machine",
)


def _on(machine: str, level: str) -> list[dict[str, object]]:
    request = {"level": level, "without": [], "only": []}
    call = {"machine": machine, "module": "conformance", "function": "watch", "value": request}
    done = subprocess.run(
        [sys.executable, STAND_IN, json.dumps(call)], capture_output=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    answer = json.loads(done.stdout)
    assert isinstance(answer, list)
    return answer


@needs_linux
@pytest.mark.parametrize("level", [Isolation.FULL, Isolation.REDUCED])
def test_every_promise_holds_on_this_machine(level: Isolation) -> None:
    if level.value in probe().faults:
        pytest.skip(f"this machine does not give {level.value}: {probe().faults[level.value]}")
    results = run_conformance(level)
    assert [(result.name, result.detail) for result in results if not result.held] == []
    wanted = {item.name for item in PROBES if level in item.levels}
    assert wanted <= {result.name for result in results}


@needs_root
@pytest.mark.parametrize(
    ("machine", "level"),
    [
        ("user", "full"),
        ("user", "reduced"),
        ("docker", "reduced"),
        ("docker user", "reduced"),
        ("kubernetes restricted", "reduced"),
        ("ubuntu 24.04", "reduced"),
    ],
)
def test_every_promise_holds_for_other_users_and_machines(machine: str, level: str) -> None:
    results = _on(machine, level)
    assert [(result["name"], result["detail"]) for result in results if not result["held"]] == []
    wanted = {item.name for item in PROBES if Isolation(level) in item.levels}
    assert wanted <= {str(result["name"]) for result in results}


@needs_root
@pytest.mark.parametrize("machine", ["docker", "kubernetes restricted", "ubuntu 24.04"])
def test_a_level_that_cannot_be_had_is_one_result_that_says_why(machine: str) -> None:
    results = _on(machine, "full")
    assert [result["name"] for result in results] == ["open_cell"]
    assert not results[0]["held"]
    assert "isolation=full" in str(results[0]["detail"])


def test_every_probe_states_its_promise_and_has_a_name_of_its_own() -> None:
    assert all(item.promise.endswith(".") for item in PROBES)
    assert len({item.name for item in PROBES}) == len(PROBES)


@needs_linux
def test_level_none_has_no_promise_to_hold() -> None:
    assert [result.name for result in run_conformance(Isolation.NONE, only=["no_socket"])] == ["open_cell"]
