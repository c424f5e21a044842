"""Each layer holds something back: leave it out by name, and a probe sees through."""

from __future__ import annotations

import functools
import os
import sys

import pytest

from lm_eval_strict.sandbox.conformance import run_conformance
from lm_eval_strict.sandbox.conformance_probe import ProbeResult
from lm_eval_strict.sandbox.isolation import guarantees, probe
from lm_eval_strict.sandbox.layers import Layer
from lm_eval_strict.sandbox.records import Isolation

FULL, REDUCED = Isolation.FULL, Isolation.REDUCED
# Level, layer, layers that would cover for it, probe, what the probe says once the layer is gone.
CASES = [
    (FULL, Layer.USER_NAMESPACE, (), "own_namespaces", "user"),
    (FULL, Layer.NETWORK_NAMESPACE, (), "own_namespaces", "net"),
    (FULL, Layer.IPC_NAMESPACE, (), "own_namespaces", "ipc"),
    (FULL, Layer.UTS_NAMESPACE, (), "first_process_of_its_own", "the host's name is"),
    (FULL, Layer.PID_NAMESPACE, (), "first_process_of_its_own", "it is process"),
    (FULL, Layer.PID_NAMESPACE, (Layer.SECCOMP, Layer.LANDLOCK), "no_other_process", "pidfd of"),
    (FULL, Layer.FILE_VIEW, (), "canaries_unreadable", "/canary"),
    (FULL, Layer.FILE_VIEW, (), "only_the_view", "proc"),
    (FULL, Layer.WORK_FOLDER, (), "empty_working_folder", "No usable temporary directory"),
    (FULL, Layer.ENVIRONMENT, (), "fixed_environment", "CONFORMANCE_SECRET"),
    (FULL, Layer.OWN_UID, (Layer.CGROUP,), "bounded_threads", "threads started"),
    (FULL, Layer.NO_CAPABILITIES, (), "no_capability", "capabilities"),
    (FULL, Layer.NO_NEW_PRIVILEGES, (Layer.SECCOMP, Layer.LANDLOCK), "no_new_privileges", "not set"),
    (FULL, Layer.SECCOMP, (), "no_socket", "family"),
    (FULL, Layer.SECCOMP, (), "no_new_namespace", "unshare user"),
    (FULL, Layer.SECCOMP, (), "no_new_process", "fork"),
    (FULL, Layer.SECCOMP, (), "x32_calls", "came back"),
    (FULL, Layer.LANDLOCK, (Layer.FILE_VIEW,), "nothing_written_outside", "make"),
    (FULL, Layer.RLIMITS, (), "limits_stay", "has no limit"),
    (FULL, Layer.RLIMITS, (), "bounded_descriptors", "are open"),
    (FULL, Layer.RLIMITS, (), "bounded_cpu", "exit_status=0"),
    (FULL, Layer.CGROUP, (Layer.RLIMITS,), "bounded_memory", "MiB"),
    (FULL, Layer.CLOSED_DESCRIPTORS, (), "no_open_descriptor", "read"),
    (FULL, Layer.DEATH_WITH_PARENT, (), "dies_with_its_worker", "still ran"),
    (REDUCED, Layer.WORK_FOLDER, (), "empty_working_folder", "Permission denied"),
    (REDUCED, Layer.ENVIRONMENT, (), "fixed_environment", "CONFORMANCE_SECRET"),
    (REDUCED, Layer.OWN_UID, (Layer.CGROUP,), "bounded_threads", "threads started"),
    (REDUCED, Layer.NO_NEW_PRIVILEGES, (Layer.SECCOMP, Layer.LANDLOCK), "no_new_privileges", "not set"),
    (REDUCED, Layer.SECCOMP, (), "no_socket", "family"),
    (REDUCED, Layer.SECCOMP, (), "pair_reaches_nobody", "sendto"),
    (REDUCED, Layer.SECCOMP, (), "no_other_process", "pidfd of"),
    (REDUCED, Layer.SECCOMP, (), "terminal_calls", "TIOCSTI"),
    (REDUCED, Layer.LANDLOCK, (), "canaries_unreadable", "/canary"),
    (REDUCED, Layer.LANDLOCK, (), "nothing_written_outside", "make"),
    (REDUCED, Layer.LANDLOCK, (), "no_process_seen", "/proc/"),
    (REDUCED, Layer.RLIMITS, (), "limits_stay", "has no limit"),
    (REDUCED, Layer.CGROUP, (Layer.RLIMITS,), "bounded_memory", "MiB"),
    (REDUCED, Layer.CLOSED_DESCRIPTORS, (), "no_open_descriptor", "read"),
    (REDUCED, Layer.DEATH_WITH_PARENT, (), "dies_with_its_worker", "still ran"),
]
ROOT_ONLY = {Layer.USER_NAMESPACE, Layer.OWN_UID}


@functools.cache
def _results(level: Isolation, without: frozenset[Layer]) -> dict[str, ProbeResult]:
    """Run, once, all probes that some case wants of a sandbox that lacks exactly these layers."""
    names = set()
    for case_level, layer, covering, name, _words in CASES:
        if case_level is level and without in (frozenset(covering), frozenset({layer, *covering})):
            names.add(name)
    results = {result.name: result for result in run_conformance(level, without=without, only=names)}
    assert results["open_cell"].held, results["open_cell"].detail
    return results


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the sandbox needs Linux")
@pytest.mark.parametrize(
    ("level", "layer", "covering", "name", "words"),
    CASES,
    ids=[f"{case[0].value}-{case[1].value}-{case[3]}" for case in CASES],
)
def test_a_layer_left_out_is_seen_by_its_probe(
    level: Isolation, layer: Layer, covering: tuple[Layer, ...], name: str, words: str
) -> None:
    machine = probe()
    if level.value in machine.faults:
        pytest.skip(f"this machine does not give {level.value}: {machine.faults[level.value]}")
    if layer is Layer.CGROUP and machine.cgroup == "none":
        pytest.skip("no control group can be made on this machine")
    if layer is Layer.LANDLOCK and not machine.landlock:
        pytest.skip("this kernel has no Landlock")
    if layer in ROOT_ONLY and os.geteuid() != 0:
        pytest.skip(f"only root can do without {layer.value}")
    standing = _results(level, frozenset(covering))[name]
    assert words not in standing.detail
    gone = _results(level, frozenset({layer, *covering}))[name]
    assert not gone.held
    assert words in gone.detail


def test_every_layer_has_a_case() -> None:
    assert {case[1] for case in CASES} == set(Layer)


def test_each_level_says_what_it_promises() -> None:
    assert len(guarantees(FULL)) > len([g for g in guarantees(REDUCED) if not g.startswith("(weaker)")])
    assert any(line.startswith("(weaker)") for line in guarantees(REDUCED))
    assert len(guarantees(Isolation.NONE)) == 1
