"""Every hostile program fails, every honest but odd one passes, and the host is as it was."""

from __future__ import annotations

import json
import os
import socket
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from lm_eval_strict.sandbox.records import CodeVerdict, Exam, Isolation, Limits, Submission, Suite
from lm_eval_strict.sandbox.session import Sandbox

pytestmark = [pytest.mark.hostile, pytest.mark.real_data]

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cases" / "hostile.jsonl").read_text().splitlines()
]
SUITES = (Suite.BASE, Suite.PLUS, Suite.PLUS_STRICT)
LIMITS = Limits(cpu_s=3.0, wall_s=8.0)
# The published base test has no input that shows these; every other suite has.
BASE_CANNOT_TELL = {"hst-063", "hst-067", "hst-121", "hst-122", "hst-223"}


def traces() -> dict[str, object]:
    """What a program that got out could have changed on the host."""
    site_packages = Path(sysconfig.get_paths()["purelib"])
    return {
        "mounts": Path("/proc/self/mountinfo").read_text(),
        "root": sorted(os.listdir("/")),
        "tmp": sorted(name for name in os.listdir("/tmp") if "pwn" in name),
        "shared memory": sorted(n for n in os.listdir("/dev/shm") if not n.startswith("lm-eval-strict-")),
        "messages": Path("/proc/sysvipc/msg").read_text() + Path("/proc/sysvipc/shm").read_text(),
        "site-packages": sorted(path.name for path in site_packages.glob("*.pth")),
        "abstract sockets": "pwn" in Path("/proc/net/unix").read_text(),
        "host name": socket.gethostname(),
        "descriptors": len(os.listdir("/proc/self/fd")),
    }


@pytest.fixture(scope="module", params=[Isolation.FULL, Isolation.REDUCED], ids=lambda level: level.value)
def verdicts(
    request: pytest.FixtureRequest, published: dict[str, Exam]
) -> Iterator[dict[str, dict[Suite, CodeVerdict]]]:
    asked = [Submission(row["task_id"], row["program"], SUITES, LIMITS) for row in ROWS]
    with Sandbox(isolation=request.param, workers=2) as sandbox:
        sandbox.grade({}, [])
        before = traces()
        results = sandbox.grade(published, asked)
        after = traces()
    assert after == before
    yield {
        row["id"]: {suite.suite: suite.verdict for suite in result.suites}
        for row, result in zip(ROWS, results, strict=True)
    }


def test_every_case_has_its_required_verdict(verdicts: dict[str, dict[Suite, CodeVerdict]]) -> None:
    wrong = {}
    for row in ROWS:
        found = verdicts[row["id"]]
        if row["required_verdict"] == "pass":
            good = found[Suite(row["graded_on"])] is CodeVerdict.PASSED
        else:
            passed = {suite for suite, verdict in found.items() if verdict is CodeVerdict.PASSED}
            good = passed <= ({Suite.BASE} if row["id"] in BASE_CANNOT_TELL else set())
        if not good or CodeVerdict.HARNESS_ERROR in found.values():
            wrong[row["id"]] = (row["note"], found)
    assert wrong == {}


def test_no_hostile_program_left_a_process(verdicts: dict[str, dict[Suite, CodeVerdict]]) -> None:
    commands = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                commands.append((entry / "cmdline").read_bytes())
            except OSError:
                continue  # it has ended in between
    assert not [command for command in commands if b"pwn" in command]
