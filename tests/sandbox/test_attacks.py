"""Attacks on this sandbox in particular: none passes, and each leaves a worker that judges rightly."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from lm_eval_strict.sandbox.records import CodeVerdict, Exam, Isolation, Limits, Submission, Suite
from lm_eval_strict.sandbox.session import Sandbox

pytestmark = pytest.mark.hostile

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cases" / "attacks.jsonl").read_text().splitlines()
]
RIGHT = "def f(x):\n    return x + 1\n"
LIMITS = Limits(cpu_s=2.0, wall_s=6.0)
# In order, once each, this one's answers are right: only a repeated call shows that it ignores its input.
PLUS_CANNOT_TELL = {"counts its calls to answer the plan by position"}


@pytest.mark.parametrize("level", [Isolation.FULL, Isolation.REDUCED], ids=lambda level: level.value)
def test_no_attack_passes_and_the_next_program_is_judged_rightly(
    exam_of: Callable[..., Exam], level: Isolation
) -> None:
    asked = []
    for row in ROWS:
        asked += [
            Submission("it", row["program"], tuple(Suite), LIMITS),
            Submission("it", RIGHT, tuple(Suite)),
        ]
    with Sandbox(isolation=level, workers=1) as sandbox:
        results = sandbox.grade({"it": exam_of()}, asked)
    bad = {}
    for row, attack, after in zip(ROWS, results[::2], results[1::2], strict=True):
        found = {suite.suite: suite.verdict for suite in attack.suites}
        passed = {suite for suite, verdict in found.items() if verdict is CodeVerdict.PASSED}
        allowed = {Suite.PLUS} if row["name"] in PLUS_CANNOT_TELL else set()
        if not passed <= allowed or CodeVerdict.HARNESS_ERROR in found.values():
            bad[row["id"]] = (row["name"], found)
        if {suite.verdict for suite in after.suites} != {CodeVerdict.PASSED}:
            bad[row["id"] + " after"] = (row["name"], {s.suite: s.verdict for s in after.suites})
        json.dumps([suite.detail for suite in attack.suites]).encode()
    assert bad == {}


def test_no_text_of_a_program_carries_control_codes_or_addresses(exam_of: Callable[..., Exam]) -> None:
    asked = [Submission("it", row["program"], (Suite.PLUS,), LIMITS) for row in ROWS]
    with Sandbox(workers=2) as sandbox:
        results = sandbox.grade({"it": exam_of()}, asked)
    for result in results:
        (suite,) = result.suites
        told = suite.first_failure
        for text in (suite.detail, *((told.input, told.expected, told.got) if told else ())):
            assert text.isprintable()
            assert len(text) <= 300


def test_no_text_of_an_earlier_program_is_in_a_later_ones_memory(exam_of: Callable[..., Exam]) -> None:
    secret = "CANARY" + "7319"
    first = f"{RIGHT}\nleft_behind = '{secret}' * 50\nraise ValueError(left_behind)\n"
    second = (
        "import ctypes, gc\n"
        "def found():\n"
        "    word = ''.join(['CANARY', '73', '19'])\n"
        "    objects = any(isinstance(o, str) and word in o and len(o) > 40 for o in gc.get_objects())\n"
        "    libc = ctypes.CDLL(None)\n"
        "    libc.sbrk.restype = ctypes.c_void_p\n"
        "    top = libc.sbrk(0)\n"
        "    heap = ctypes.string_at(top - (1 << 20), 1 << 20)\n"
        "    return objects or heap.count((word * 3).encode()) > 0\n"
        "def f(x):\n    return found()\n"
    )
    exam = exam_of(lambda x: False, [[0]], body="    return False\n", base_test="def check(c): pass")
    asked = [Submission("it", program, (Suite.PLUS,), LIMITS) for program in (first, second, first, second)]
    with Sandbox(workers=1) as sandbox:
        results = sandbox.grade({"it": exam}, asked)
    assert [result.suites[0].verdict for result in results] == [CodeVerdict.RAISED, CodeVerdict.PASSED] * 2
