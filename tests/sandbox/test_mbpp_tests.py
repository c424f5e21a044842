"""MBPP+'s forms of test: what each comparison accepts, in the published suite and in ours; cheats fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lm_eval_strict.sandbox import suites
from lm_eval_strict.sandbox.comparison import Rule
from lm_eval_strict.sandbox.prepared import prepare
from lm_eval_strict.sandbox.records import CodeVerdict, Exam, Suite, SuiteResult

SUITES = (Suite.BASE, Suite.PLUS, Suite.PLUS_STRICT)
ASSERTIONS = {rule: text for text, rule in suites._RULES.items()}
PASSED = CodeVerdict.PASSED
Grade = Callable[..., dict[Suite, SuiteResult]]


def mbpp_test(
    rule: Rule, inputs: list[Any], results: list[Any] | None, *, atol: float = 0, reference: str = ""
) -> str:
    """Write a test in the form of the hub's MBPP+ rows for a function ``f``."""
    data = f"inputs = {inputs!r}\n" + (f"results = {results!r}\n" if results is not None else "")
    pairs = "i, (inp, exp) in enumerate(zip(inputs, results))", "exp"
    each, expected = pairs if results is not None else ("i, inp in enumerate(inputs)", "ref_func(*inp)")
    return (
        "import numpy as np\nfrom math import inf\n\n"
        f"{suites._IS_FLOATS}\n\n{ASSERTIONS[rule]}\n\n{reference}\n{data}"
        f"for {each}:\n    assertion(f(*inp), {expected}, {atol!r})\n"
    )


def mbpp_exam(
    rule: Rule,
    body: str,
    inputs: list[Any],
    results: list[Any],
    asserts: tuple[str, ...],
    *,
    atol: float = 0,
) -> Exam:
    return Exam(
        exam_id="made-up",
        task_id="made-up/0",
        entry_point="f",
        prompt='"""\nWrite a function.\n"""\n',
        canonical_solution=f"def f(x):\n{body}",
        base_test="def check(candidate):\n" + "".join(f"    {line}\n" for line in asserts),
        plus_test=mbpp_test(rule, inputs, results, atol=atol),
    )


HALF = mbpp_exam(
    Rule.AS_WRITTEN,
    "    return [part / 2 for part in x]\n",
    [[[1.0, 3.0]], [[]], [[2.0]]],
    [[0.5, 1.5], [], [1.0]],
    ("assert f([1.0, 3.0]) == [0.5, 1.5]",),
)
LETTERS = mbpp_exam(
    Rule.AS_SETS,
    "    return sorted(set(x))\n",
    [["abca"], [""], ["zz"]],
    [["a", "b", "c"], [], ["z"]],
    ('assert set(f("abca")) == set(["a", "b", "c"])',),
)
FOUND = mbpp_exam(
    Rule.AS_MATCH,
    "    import re\n    return re.search('a', x)\n",
    [["abc"], ["xyz"], ["a"]],
    [True, False, True],
    ('assert f("abc")', 'assert not f("xyz")'),
)


@pytest.mark.parametrize(
    ("exam", "body", "base", "plus", "strict"),
    [
        (HALF, HALF.canonical_solution.partition("\n")[2], True, True, True),
        # As in the published text, numpy.allclose takes a tuple for a list, and broadcasts: any one value is
        # close to an empty list.
        (HALF, "    return tuple(part / 2 for part in x)\n", False, True, False),
        (HALF, "    return [part / 2 + 1e-9 for part in x]\n", False, True, True),
        (HALF, "    return [part / 2 for part in x] or [7.0]\n", True, True, False),
        (LETTERS, "    return set(x)\n", True, True, True),
        (LETTERS, "    return list(x)\n", True, True, True),
        (LETTERS, "    return dict.fromkeys(x)\n", True, True, False),
        (LETTERS, "    return x\n", True, True, False),
        (LETTERS, "    return []\n", False, False, False),
        (FOUND, "    import re\n    return re.search('a', x)\n", True, True, True),
        (FOUND, "    import re\n    return re.search('a', x) or False\n", True, True, True),
        (FOUND, "    return 'a' in x\n", True, True, True),
        (FOUND, "    return 'yes' if 'a' in x else None\n", True, True, False),
        (FOUND, "    return 'no'\n", False, False, False),
        (FOUND, "    return True\n", False, False, False),
        (FOUND, "    return None\n", False, False, False),
    ],
)
def test_each_suite_compares_as_it_is_declared(
    grade: Grade, exam: Exam, body: str, base: bool, plus: bool, strict: bool
) -> None:
    found = grade(exam, f"def f(x):\n{body}", *SUITES)
    assert [found[suite].verdict is PASSED for suite in SUITES] == [base, plus, strict]


EQUAL_TO_ALL = (
    "class Equal(list):\n"
    "    def __eq__(self, other): return True\n"
    "    def __ne__(self, other): return False\n"
    "    def __len__(self): return 2\n"
    "    __hash__ = object.__hash__\n"
    "def f(x):\n    return Equal()\n"
)
CHEATS = {
    "an object equal to everything": EQUAL_TO_ALL,
    "a bare object equal to everything": EQUAL_TO_ALL.replace("(list)", ""),
    "numpy.allclose patched": "import numpy\nnumpy.allclose = lambda *a, **k: 1\ndef f(x):\n    return 1.5\n",
    "set, sorted and zip patched": (
        "import builtins\n"
        "builtins.set = builtins.sorted = lambda *a: 1\nbuiltins.zip = lambda *a: iter(())\n"
        "def f(x):\n    return 0\n"
    ),
    "expected values looked for in the callers' frames": (
        "import sys\n"
        "def f(x):\n"
        "    frame = sys._getframe()\n"
        "    while frame:\n"
        "        for names in (frame.f_locals, frame.f_globals):\n"
        "            if 'exp' in names: return names['exp']\n"
        "            if 'results' in names: return names['results'][0]\n"
        "        frame = frame.f_back\n"
    ),
    "an early exit": "import os\ndef f(x):\n    os._exit(0)\n",
    "an exit while it is imported": "import sys\nsys.exit(0)\ndef f(x):\n    return 1\n",
    "a match that claims to be none and there": (
        "class Match:\n    def __bool__(self): return True\n    def __eq__(self, other): return True\n"
        "def f(x):\n    return Match()\n"
    ),
}


@pytest.mark.parametrize("program", CHEATS.values(), ids=CHEATS)
@pytest.mark.parametrize("exam", [HALF, LETTERS, FOUND], ids=["as_written", "as_sets", "as_match"])
def test_no_cheat_passes_the_strict_suite(grade: Grade, exam: Exam, program: str) -> None:
    found = grade(exam, program, *SUITES)
    assert found[Suite.PLUS_STRICT].verdict not in (PASSED, CodeVerdict.HARNESS_ERROR)
    assert found[Suite.BASE].verdict is not PASSED


def test_a_function_called_check_is_not_taken_for_the_tests_own(grade: Grade) -> None:
    exam = Exam(
        exam_id="made-up",
        task_id="made-up/1",
        entry_point="check",
        prompt='"""\nWrite a function.\n"""\n',
        canonical_solution="def check(n):\n    return n > 0\n",
        base_test="def check(candidate):\n    assert check(3) == True\n    assert check(-3) == False\n",
    )
    good = grade(exam, exam.prompt + exam.canonical_solution, Suite.BASE)
    bad = grade(exam, "def check(n):\n    return True\n", Suite.BASE)
    assert (good[Suite.BASE].verdict, bad[Suite.BASE].verdict) == (PASSED, CodeVerdict.WRONG_ANSWER)


def test_expected_values_of_a_reference_are_computed_once() -> None:
    source = mbpp_test(Rule.AS_WRITTEN, [[1], [5]], None, reference="def ref_func(x):\n    return [x] * x\n")
    read = suites.read_plus_test(source, "f")
    assert read is not None and read.reference is not None and read.results is None
    exam = Exam("e", "t", "f", "", "def f(x):\n    return [x] * x\n", None, source)
    calls = prepare(exam, None).plus
    assert calls is not None and [calls.expected(i) for i in range(2)] == [[1], [5] * 5]


def test_infinity_is_read_where_it_is_a_name_and_not_in_a_text() -> None:
    source = mbpp_test(Rule.AS_WRITTEN, [["inf"], [float("inf")], [-float("inf")]], ["in inf", 1, -1])
    read = suites.read_plus_test(source, "f")
    assert read is not None
    assert (read.inputs, read.results) == ([["inf"], [float("inf")], [-float("inf")]], ["in inf", 1, -1])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("assertion(f(*inp)", "assertion(g(*inp)"),
        ("rtol=1e-07", "rtol=1"),
        ("for i, (inp, exp)", "inputs = inputs[1:]\nfor i, (inp, exp)"),
        ("from math import inf", "from math import inf\nzip = None"),
        ("    assert exact_match", "    exact_match"),
    ],
)
def test_another_form_is_not_taken_for_mbpps(old: str, new: str) -> None:
    for rule in (Rule.AS_WRITTEN, Rule.AS_SETS, Rule.AS_MATCH):
        source = mbpp_test(rule, [[1]], [True])
        if old in source:
            assert suites.read_plus_test(source.replace(old, new), "f") is None
