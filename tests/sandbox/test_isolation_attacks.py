"""Attacks on the walls: each program is right only if it got something through, and none may be right."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lm_eval_strict.sandbox.isolation import probe
from lm_eval_strict.sandbox.records import CodeVerdict, Exam, Isolation, Limits, Submission, Suite
from lm_eval_strict.sandbox.session import Sandbox

pytestmark = [
    pytest.mark.hostile,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the sandbox needs Linux"),
]
ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cases" / "attacks_kernel.jsonl").read_text().splitlines()
]
SUITES = (Suite.BASE, Suite.PLUS_STRICT)
LIMITS = Limits(cpu_s=3.0, wall_s=8.0)
HARMLESS = {"network"}  # tried without walls too: what never gets through anywhere shows nothing
RIGHT = "def f(x):\n    return x + 1\n"


def _host() -> dict[str, object]:
    """Note what an attack could leave: mounts, System V objects, files where everybody may write."""
    tables = {name: Path(f"/proc/sysvipc/{name}").read_text().count("\n") for name in ("msg", "sem", "shm")}
    names = [name for place in ("/tmp", "/var/tmp", "/dev/shm") for name in os.listdir(place)]
    marks = [name for name in names if name in ("word", "tool", "disk", "mem", "jail", "deep")]
    return {
        "mounts": sorted(Path("/proc/self/mountinfo").read_text().splitlines()),
        "ipc": tables,
        "marks": marks,
    }


@pytest.mark.parametrize("level", [Isolation.FULL, Isolation.REDUCED], ids=lambda level: level.value)
def test_nothing_gets_through_the_walls(exam_of: Callable[..., Exam], level: Isolation) -> None:
    if level.value in probe().faults:
        pytest.skip(f"this machine does not give {level.value}: {probe().faults[level.value]}")
    before = _host()
    asked = [Submission("it", program, SUITES, LIMITS) for row in ROWS for program in (row["program"], RIGHT)]
    with Sandbox(isolation=level, workers=1) as sandbox:
        results = sandbox.grade({"it": exam_of()}, asked)
    bad = {}
    for row, attack, after in zip(ROWS, results[::2], results[1::2], strict=True):
        found = {suite.verdict for suite in attack.suites}
        if found & {CodeVerdict.PASSED, CodeVerdict.HARNESS_ERROR}:
            bad[row["id"]] = (row["note"], [(suite.verdict.value, suite.detail) for suite in attack.suites])
        if {suite.verdict for suite in after.suites} != {CodeVerdict.PASSED}:
            bad[f"after {row['id']}"] = (row["note"], [(s.verdict.value, s.detail) for s in after.suites])
    assert bad == {}
    assert _host() == before


def test_attacks_that_harm_no_host_get_through_where_there_are_no_walls(exam_of: Callable[..., Exam]) -> None:
    harmless = [row for row in ROWS if row["category"] in HARMLESS]
    asked = [Submission("it", row["program"], SUITES, LIMITS) for row in harmless]
    with Sandbox(isolation=Isolation.NONE, workers=1) as sandbox:
        results = sandbox.grade({"it": exam_of()}, asked)
    verdicts = {row["id"]: result.suites[0].verdict for row, result in zip(harmless, results, strict=True)}
    assert set(verdicts.values()) == {CodeVerdict.PASSED}
