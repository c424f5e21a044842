"""Published tests are read as data only where their form is the known one."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_strict.sandbox import prepared
from lm_eval_strict.sandbox.kept_bytes import KeptBytes
from lm_eval_strict.sandbox.literals import read_literal
from lm_eval_strict.sandbox.prepared import Calls, prepare
from lm_eval_strict.sandbox.records import Exam, Suite, SuiteResult
from lm_eval_strict.sandbox.suites import read_plus_test

LITERALS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text(), inner),
)


def typed(value: Any) -> str:
    """Tell values apart that are equal: 1, 1.0 and True; their ``repr`` does."""
    return repr(value)


@given(LITERALS)
def test_a_literal_is_read_as_the_compiler_reads_it(value: Any) -> None:
    assert typed(read_literal(repr(value))) == typed(ast.literal_eval(repr(value)))


@pytest.mark.parametrize(
    "text", ["[1,]", "[1, 'a' 'b']", "['\\x41\\u00e9']", "[1e400]", "[-0.0]", "[0x10]", "[1_000]", "(1,)"]
)
def test_an_odd_literal_is_read_as_the_compiler_reads_it(text: str) -> None:
    assert typed(read_literal(text)) == typed(ast.literal_eval(text))


@pytest.mark.parametrize("text", ["[f()]", "[1 + x]", "__import__('os')"])
def test_what_is_no_literal_is_refused(text: str) -> None:
    with pytest.raises((ValueError, SyntaxError)):
        read_literal(text)


def test_a_test_of_the_known_form_is_read_as_data(exam_of: Callable[..., Exam]) -> None:
    source = exam_of(lambda x: x / 2, [[1], [2.5]], atol=1e-06).plus_test
    assert source is not None
    read = read_plus_test(source, "candidate")
    assert read is not None
    assert (read.inputs, read.results, read.atol) == ([[1], [2.5]], [0.5, 1.25], 1e-06)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("exact_match = out == exp", "exact_match = True"),
        ("rtol=1e-07", "rtol=1e-01"),
        ("enumerate(zip(inputs, results))", "enumerate(zip(inputs[1:], results))"),
        ("assertion(candidate(*inp), exp, 0)", "assertion(candidate(*inp), exp, 0) or 1"),
        ("    inputs = ", "    extra = 1\n    inputs = "),
        ("def check(candidate):", "def check(candidate, more=0):\n    more += 1"),
    ],
)
def test_any_other_form_is_not_taken_for_the_known_one(
    exam_of: Callable[..., Exam], old: str, new: str
) -> None:
    source = exam_of().plus_test
    assert source is not None and old in source
    assert read_plus_test(source.replace(old, new), "candidate") is None


def test_a_plus_test_of_no_known_form_is_our_fault_and_never_judged_by_the_base_test(
    exam_of: Callable[..., Exam], grade: Callable[..., dict[Suite, SuiteResult]]
) -> None:
    exam = exam_of()
    assert exam.plus_test is not None
    exam = replace(exam, plus_test=exam.plus_test.replace("rtol=1e-07", "rtol=1e-01"))
    judged = grade(exam, "def f(x):\n    return x + 1\n", Suite.BASE, Suite.PLUS, Suite.PLUS_STRICT)
    assert [judged[suite].verdict.value for suite in judged] == ["passed", "harness_error", "harness_error"]


def test_a_kept_exam_equals_the_one_it_was_made_from(exam_of: Callable[..., Exam], tmp_path: Path) -> None:
    exam = exam_of(
        lambda x: [x, str(x), x / 3], [[n] for n in range(30)], body="    return [x, str(x), x / 3]\n"
    )
    made = prepare(exam, str(tmp_path))
    assert [path.suffix for path in tmp_path.iterdir()] != [".partial"]
    assert prepare(exam, str(tmp_path)) == made == prepare(exam, None)


def test_a_damaged_cache_file_is_made_again(exam_of: Callable[..., Exam], tmp_path: Path) -> None:
    made = prepare(exam_of(), str(tmp_path))
    (kept,) = tmp_path.iterdir()
    for content in (b"", b"nonsense", kept.read_bytes()[:50]):
        kept.write_bytes(content)
        assert prepare(exam_of(), str(tmp_path)) == made


def test_another_exam_never_gets_a_kept_one(exam_of: Callable[..., Exam], tmp_path: Path) -> None:
    prepare(exam_of(), str(tmp_path))
    other = prepare(exam_of(lambda x: x + 1, [[n] for n in range(41)]), str(tmp_path))
    assert other.plus is not None and len(other.plus.arguments) == 41


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(
    exam_of: Callable[..., Exam], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("not a folder")
    assert prepare(exam_of(), str(tmp_path / "file")).plus is not None


def test_a_test_that_its_reference_fails_is_not_recorded(exam_of: Callable[..., Exam]) -> None:
    assert (
        prepare(exam_of(base_test="def check(candidate):\n    assert candidate(1) == 99\n"), None).base
        is None
    )


def test_a_check_with_unseeded_random_inputs_is_recorded_once_and_for_all(
    exam_of: Callable[..., Exam],
) -> None:
    source = (
        "import random\ndef check(candidate):\n    n = random.random()\n    assert candidate(n) == n + 1\n"
    )
    first, second = (prepare(exam_of(base_test=source), None).base for _ in range(2))
    assert first is not None and first == second


@pytest.mark.real_data
def test_every_published_plus_test_but_the_overridden_one_is_of_the_known_form(
    published: dict[str, Exam],
) -> None:
    unknown = [
        exam.task_id
        for exam in published.values()
        if exam.plus_test is not None and read_plus_test(exam.plus_test, exam.entry_point) is None
    ]
    assert unknown == []


@pytest.mark.real_data
def test_the_quick_reader_reads_published_data_as_the_compiler_does(published: dict[str, Exam]) -> None:
    for number in (0, 20, 33, 51, 80, 87, 148, 161):
        source = published[f"HumanEval/{number}"].plus_test
        assert source is not None
        for text in re.findall(r"^    (?:inputs|results) = (\[.*\])$", source, re.MULTILINE):
            assert typed(read_literal(text)) == typed(ast.literal_eval(text))


@pytest.mark.real_data
def test_every_published_base_test_can_be_answered_ahead(published: dict[str, Exam]) -> None:
    live = [
        exam.task_id
        for exam in published.values()
        if exam.base_test is None or prepared.record_calls(exam, exam.base_test) is None
    ]
    assert live == []


def test_a_frame_is_found_from_any_position_within_it() -> None:
    calls = Calls([b"", b"", b""], *prepared.joined([b"ab", b"c", b"def"]))
    assert [calls.index_at(position) for position in range(6)] == [0, 0, 1, 2, 2, 2]
    assert [calls.frame(index) for index in range(3)] == [b"ab", b"c", b"def"]


def test_long_answers_stay_in_the_file_and_read_the_same(
    exam_of: Callable[..., Exam], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exam = exam_of(lambda x: "a" * x, [[0], [100], [5000]], body='    return "a" * x\n')
    held = prepare(exam, None)
    monkeypatch.setattr(prepared, "HELD_BYTES", 1000)
    for kept in (prepare(exam, str(tmp_path)), prepare(exam, str(tmp_path))):
        assert held.plus is not None and kept.plus is not None
        assert isinstance(kept.plus.stream, KeptBytes)
        assert [kept.plus.expected(i) for i in range(3)] == [held.plus.expected(i) for i in range(3)]
        assert kept == held


def test_a_file_of_long_answers_that_was_cut_is_made_again_and_never_misread(
    exam_of: Callable[..., Exam], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exam = exam_of(lambda x: "a" * x, [[5000]], body='    return "a" * x\n')
    monkeypatch.setattr(prepared, "HELD_BYTES", 1000)
    in_use = prepare(exam, str(tmp_path))
    (file,) = tmp_path.iterdir()
    os.truncate(file, file.stat().st_size - 1)
    assert in_use.plus is not None
    with pytest.raises(OSError, match="was cut"):
        in_use.plus.expected(0)
    assert prepare(exam, str(tmp_path)) == prepare(exam, None)
