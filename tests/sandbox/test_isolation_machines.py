"""What a machine gives is found by trying, and each gap has its remedy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from lm_eval_strict.sandbox import fresh_process
from lm_eval_strict.sandbox.errors import SandboxUnavailable
from lm_eval_strict.sandbox.isolation import Capabilities, open_cell, probe, remedies
from lm_eval_strict.sandbox.records import Isolation, Limits

needs_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the sandbox needs Linux")
needs_root = pytest.mark.skipif(
    not sys.platform.startswith("linux") or os.geteuid() != 0,
    reason="only root can become another user or another machine",
)
STAND_IN = Path(__file__).with_name("stand_in.py")
POD = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
USERNS = "/proc/sys/user/max_user_namespaces"
DEBIAN = "/proc/sys/kernel/unprivileged_userns_clone"
APPARMOR = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"


def test_another_platform_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(SandboxUnavailable, match="needs Linux, this is darwin"):
        open_cell(Isolation.FULL, Limits())
    probe.cache_clear()
    try:
        machine = probe()
    finally:
        probe.cache_clear()
    assert machine.level is Isolation.NONE
    assert "grade=later" in remedies(machine)[0].how


@needs_linux
def test_probing_changes_nothing_of_the_caller() -> None:
    def own() -> list[str]:
        return [os.readlink(f"/proc/self/ns/{name}") for name in ("user", "mnt", "net")]

    before = own(), os.getcwd(), dict(os.environ), os.getuid()
    probe.cache_clear()
    assert probe().level in Isolation
    assert (own(), os.getcwd(), dict(os.environ), os.getuid()) == before


@needs_root
@pytest.mark.parametrize(
    ("machine", "level", "word"),
    [
        ("root", "full", ""),
        ("user", "full", ""),
        ("docker", "reduced", "seccomp=unconfined"),
        ("docker user", "reduced", "seccomp=unconfined"),
        ("kubernetes restricted", "reduced", "seccomp=unconfined"),
        ("ubuntu 24.04", "reduced", "apparmor=unconfined"),
        ("no user namespaces", "reduced", "seccomp=unconfined"),
        ("docker without landlock", "none", "Landlock"),
    ],
)
def test_probing_finds_the_level_of_a_machine_and_its_remedy(machine: str, level: str, word: str) -> None:
    call = {"machine": machine, "module": "probing", "function": "try_everything", "value": None}
    done = subprocess.run([sys.executable, STAND_IN, json.dumps(call)], capture_output=True, check=True)
    found = json.loads(done.stdout)
    assert found["level"] == level
    told = remedies(_capabilities(found), read=lambda path: "")
    assert word in " ".join(f"{remedy.missing} {remedy.how}" for remedy in told)


def _capabilities(found: Mapping[str, object]) -> Capabilities:
    fields = {**found, "level": Isolation(found["level"])}
    return Capabilities(platform="linux", **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("faults", "files", "word"),
    [
        (
            {"user namespace": "x"},
            {USERNS: "0"},
            "user.max_user_namespaces=15000",
        ),
        ({"user namespace": "x"}, {DEBIAN: "0"}, "userns_clone=1"),
        (
            {"file view": "x"},
            {APPARMOR: "1"},
            "apparmor_parser",
        ),
        ({"file view": "x"}, {}, "docker run --security-opt seccomp=unconfined"),
        ({"network namespace": "x"}, {}, "docker run"),
        ({"user namespace": "x"}, {POD: "a"}, "securityContext"),
    ],
)
def test_each_gap_has_the_remedy_that_this_machine_needs(
    faults: dict[str, str], files: dict[str, str], word: str
) -> None:
    machine = Capabilities(
        "linux", False, Isolation.REDUCED, {"full": "x", **faults}, landlock=5, cgroup="v2"
    )
    told = remedies(machine, read=lambda path: files.get(path, ""))
    assert len(told) == 1
    assert word in told[0].how


def test_a_machine_without_gaps_has_no_remedies() -> None:
    assert remedies(Capabilities("linux", True, Isolation.FULL, {}, landlock=7, cgroup="v2")) == []


def test_landlock_missing_from_the_boot_line_is_named() -> None:
    machine = Capabilities("linux", False, Isolation.FULL, {}, landlock=0, cgroup="v2")
    told = remedies(machine, read=lambda path: "capability,yama" if path.endswith("/lsm") else "")
    assert told[0].how == "boot with lsm=landlock,capability,yama"


@needs_linux
def test_a_fresh_process_that_fails_says_its_last_line() -> None:
    with pytest.raises(OSError, match="no_such_function"):
        fresh_process.call("probing", "no_such_function", None, wall_s=60)
