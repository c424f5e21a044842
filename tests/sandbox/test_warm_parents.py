"""A worker's two warm parents, and the one run that decides the base and the plus test."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from lm_eval_strict.sandbox.prepared import prepare
from lm_eval_strict.sandbox.program_imports import imports_more
from lm_eval_strict.sandbox.records import CodeVerdict, Exam, Limits, Suite, SuiteResult

BRIEF = Limits(cpu_s=1.0, wall_s=6.0)
Grade = Callable[..., dict[Suite, SuiteResult]]
HIDDEN = "load = vars(__builtins__)['__imp' + 'ort__'] if not isinstance(__builtins__, dict) else "
HIDDEN += "__builtins__['__imp' + 'ort__']\n"


@pytest.mark.parametrize(
    ("program", "more"),
    [
        ("def f(x):\n    return x\n", False),
        ("from typing import List, Optional\nimport math\n", False),
        ("import math, re\nfrom collections import (\n    Counter,\n)\n", False),
        ("def f(x):\n    import hashlib\n    return x\n", False),
        ("from collections.abc import Iterable\n", False),
        ("import numpy as np\n", True),
        ("from random import choice\n", True),
        ("import math, numpy\n", True),
        ("import mathematics\n", True),
        ("from collections.numpy import x\n", True),
        ("import os.path as p\n", True),
        ("try: import random\nexcept ValueError: pass\n", True),
        ("__import__('numpy')\n", True),
        ("import importlib\n", True),
        ("# an important remark\n", True),
    ],
)
def test_a_program_gets_the_full_parent_unless_all_its_imports_are_light(program: str, more: bool) -> None:
    assert imports_more(program) is more


@pytest.mark.parametrize(
    ("first_line", "loaded"),
    [("import sys", False), ("import sys, random", True), ("import sys, numpy", True)],
)
def test_the_light_parent_has_loaded_no_numpy_and_the_full_one_has(
    grade: Grade, exam_of: Callable[..., Exam], first_line: str, loaded: bool
) -> None:
    exam = exam_of(lambda x: [x, loaded, loaded])
    body = "return [x, *(name in sys.modules for name in ('decimal', 'numpy'))]"
    judged = grade(exam, f"{first_line}\ndef f(x):\n    {body}\n", Suite.PLUS_STRICT)
    assert judged[Suite.PLUS_STRICT].verdict is CodeVerdict.PASSED


@pytest.mark.parametrize(
    "answer",
    ["int(load('numpy').add(x, 1))", "load('decimal').Decimal(x + 1)", "load('fractions').Fraction(x + 1)"],
)
def test_what_is_imported_unseen_is_there_all_the_same(
    grade: Grade, exam_of: Callable[..., Exam], answer: str
) -> None:
    program = f"{HIDDEN}def f(x):\n    return {answer}\n"
    assert not imports_more(program)
    assert grade(exam_of(), program, Suite.PLUS)[Suite.PLUS].verdict is CodeVerdict.PASSED


def test_every_sample_starts_from_the_same_random_state(grade: Grade, exam_of: Callable[..., Exam]) -> None:
    exam = exam_of(lambda x: random.Random(0).random(), [[0]])
    for _ in range(2):
        judged = grade(exam, "import random\ndef f(x):\n    return random.random()\n", Suite.PLUS)
        assert judged[Suite.PLUS].verdict is CodeVerdict.PASSED


def test_numpy_starts_from_the_same_random_state(grade: Grade, exam_of: Callable[..., Exam]) -> None:
    numpy = pytest.importorskip("numpy", reason="numpy is missing")
    exam = exam_of(lambda x: float(numpy.random.RandomState(0).random_sample()), [[0]])
    for _ in range(2):
        program = "import numpy as np\ndef f(x):\n    return float(np.random.random_sample())\n"
        assert grade(exam, program, Suite.PLUS)[Suite.PLUS].verdict is CodeVerdict.PASSED


BASE_FIRST = "def check(candidate):\n    assert candidate(0) == 1\n    assert candidate(1) == 2\n"
BY_ANSWER = (
    "def check(candidate):\n    assert candidate(0) in (1, 7)\n    assert candidate(1 + candidate(0) // 7)\n"
)


@pytest.mark.parametrize(
    "body",
    [
        "return x + 1",
        "return x",
        "return x + 1 if x < 2 else x",
        "return 7 if x == 0 else x + 1",
        "return 1 / (x - 1)",
        "return 1 / (x - 30)",
        "return [x + 1]",
        "while x > 20: pass\n    return x + 1",
        "while x > 0: pass\n    return x + 1",
        "import os\n    x != 1 or os._exit(0)\n    return x + 1",
        "import os\n    x != 20 or os._exit(0)\n    return x + 1",
        "return 'a' * (3 << 20) if x else 1",
        "return x +",
    ],
)
@pytest.mark.parametrize("test", [BASE_FIRST, BY_ANSWER], ids=["base first", "by answer"])
def test_the_base_verdict_is_the_same_alone_and_on_the_way_to_plus(
    grade: Grade, exam_of: Callable[..., Exam], test: str, body: str
) -> None:
    exam = exam_of(base_test=test)
    assert prepare(exam, None).plus_begins_with_base == (test == BASE_FIRST)
    program = f"def f(x):\n    {body}\n"
    together = grade(exam, program, *Suite, limits=BRIEF)
    assert grade(exam, program, Suite.BASE, limits=BRIEF)[Suite.BASE] == together[Suite.BASE]
    plus = grade(exam, program, Suite.PLUS, Suite.PLUS_STRICT, limits=BRIEF)
    assert plus == {suite: together[suite] for suite in plus}
