"""Grading of many answers in worker processes: order, equal pairs, progress, killed calls."""

from __future__ import annotations

import threading

import pytest

from lm_eval_strict.filters import grade_answers as grading
from lm_eval_strict.filters import grade_exact
from lm_eval_strict.filters.grade_answers import grade_answers, grade_batch
from lm_eval_strict.filters.math_graders import GRADERS
from lm_eval_strict.filters.rows import Judgement, MathVerdict

PAIRS: list[tuple[str | None, str]] = [
    ("\\frac12", "0.5"),
    ("3", "4"),
    (None, "4"),
    ("\\frac12", "0.5"),
    ("(2,4]", "(2,4)"),
    ("2516", "2516_8"),
]


def test_results_come_in_input_order_and_equal_single_calls() -> None:
    judged = grade_answers(PAIRS, list(GRADERS), workers=1)
    for (answer, gold), by_grader in zip(PAIRS, judged, strict=True):
        assert list(by_grader) == list(GRADERS)
        for name, judgement in by_grader.items():
            expected = GRADERS[name](answer, gold) if answer is not None else Judgement(MathVerdict.NO_ANSWER)
            assert judgement == expected


def test_every_pair_is_told_done_exactly_once() -> None:
    done: list[int] = []
    grade_answers(PAIRS, ["exact", "strict"], workers=1, on_done=done.append)
    assert sorted(done) == list(range(len(PAIRS)))


def test_equal_pairs_are_graded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, str]] = []

    def count(answer: str, gold: str) -> Judgement:
        seen.append((answer, gold))
        return Judgement(MathVerdict.RIGHT)

    monkeypatch.setattr(grade_exact, "grade", count)
    grade_answers([("1", "1"), ("1", "1"), ("2", "1"), (None, "1")], ["exact"])
    assert seen == [("1", "1"), ("2", "1")]


def test_no_pairs_and_no_graders_give_empty_results() -> None:
    assert grade_answers([], ["strict"]) == []
    assert grade_answers([("1", "1")], []) == [{}]


def test_an_unknown_grader_is_named_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="exact, normalized, symbolic, strict"):
        grade_answers([("1", "1")], ["strictest"])


def test_a_call_beyond_its_limit_is_timed_out_and_leaves_the_pool_alive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(grading, "CALL_WALL_S", 2.0)
    grading._pool.cache_clear()
    try:
        judged = grade_answers([("9^{9^{9^{9}}}", "42"), ("42", "42")], ["symbolic", "strict"], workers=1)
        again = grade_answers([("\\frac{84}{2}", "42")], ["symbolic"], workers=1)
    finally:
        grading._pool.cache_clear()
    assert judged[0]["symbolic"].verdict is MathVerdict.TIMED_OUT
    assert judged[0]["strict"].verdict in (MathVerdict.WRONG, MathVerdict.UNREADABLE)
    assert judged[1]["symbolic"].verdict is MathVerdict.RIGHT
    assert again[0]["symbolic"].verdict is MathVerdict.RIGHT


def test_a_worker_that_breaks_is_a_fault_of_ours_and_exhaustion_is_not() -> None:
    outcome = grading.PoolOutcome
    assert grading._failed(outcome("crashed", None, "signal 11")).verdict is MathVerdict.HARNESS_ERROR
    assert grading._failed(outcome("raised", None, "KeyError: 'x'")).verdict is MathVerdict.HARNESS_ERROR
    assert grading._failed(outcome("raised", None, "RecursionError: deep")).verdict is MathVerdict.UNREADABLE
    assert (
        grading._failed(outcome("crashed", None, "out of memory (9 MiB)")).verdict is MathVerdict.UNREADABLE
    )
    assert grading._failed(outcome("timed_out")).verdict is MathVerdict.TIMED_OUT


def test_grading_works_in_a_thread() -> None:
    found: list[MathVerdict] = []

    def work() -> None:
        found.append(grade_answers([("0.5", "\\frac12")], ["strict"], workers=1)[0]["strict"].verdict)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [MathVerdict.RIGHT]


def test_a_batch_carries_every_field_through_json() -> None:
    answer, gold = "2516", "2516_8"
    (fields,) = grade_batch({"grader": ["strict", "1"], "pairs": [[answer, gold]]})
    assert grading._judgement(fields) == GRADERS["strict"](answer, gold)
