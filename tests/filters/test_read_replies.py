from __future__ import annotations

import json

import pytest

from lm_eval_strict.filters.read_replies import BadLine, read_replies
from lm_eval_strict.filters.replies import Reply
from lm_eval_strict.filters.rows import Truncated
from lm_eval_strict.filters.task_spec import read_task

CODE = read_task("humaneval_strict")


def read(*lines: object) -> list[Reply | BadLine]:
    return list(read_replies((line if isinstance(line, str) else json.dumps(line) for line in lines), CODE))


def test_line_of_each_form_is_read() -> None:
    (reply,) = read({"task_id": "HumanEval/0", "reply": "text", "id": 7, "mode": "base", "truncated": "yes"})
    assert reply == Reply("7", "HumanEval/0", text="text", mode="base", truncated=Truncated.YES)
    (program,) = read({"task_id": "HumanEval/0", "program": "x = 1"})
    assert (program.text, program.program) == (None, "x = 1")


def test_samples_of_a_problem_are_counted_where_the_line_does_not_number_them() -> None:
    line = {"task_id": "HumanEval/3", "reply": ""}
    assert [reply.id for reply in read(line, line, {**line, "task_id": "HumanEval/4"})] == [
        "HumanEval/3#0",
        "HumanEval/3#1",
        "HumanEval/4#0",
    ]


def test_empty_reply_is_a_reply_and_null_program_is_no_program() -> None:
    empty, null = read({"task_id": "HumanEval/0", "reply": ""}, {"task_id": "HumanEval/0", "program": None})
    assert (empty.text, empty.program) == ("", None)
    assert (null.text, null.program) == (None, None)


def test_blank_and_header_lines_are_not_inputs() -> None:
    assert read("", {"journal": 1, "task": "humaneval_strict_v1"}, "  ") == []


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{not json", "Expecting property name"),
        ("[1]", "list, not an object"),
        ({"reply": "x"}, "no task_id"),
        ({"task_id": "HumanEval/999", "reply": "x"}, "no problem of humaneval"),
        ({"task_id": "HumanEval/0"}, "needs one of reply, program"),
        ({"task_id": "HumanEval/0", "reply": "x", "program": "y"}, "needs one of reply, program"),
        ({"task_id": "HumanEval/0", "reply": 3}, "reply is int, not text"),
        ({"task_id": "HumanEval/0", "reply": "x", "mode": "instruct"}, "not one of chat, base, gen_prefix"),
        ({"task_id": "HumanEval/0", "reply": "x", "sample": "first"}, "not a whole number"),
        ("[" * 100000, ""),
    ],
)
def test_bad_line_says_why_and_the_rest_is_read(line: object, why: str) -> None:
    bad, good = read(line, {"task_id": "HumanEval/0", "reply": "x"})
    assert isinstance(bad, BadLine) and bad.number == 1 and why in bad.why and "\n" not in bad.why
    assert isinstance(good, Reply)


def test_bad_line_keeps_the_id_that_it_has() -> None:
    (bad,) = read({"id": "mine", "task_id": "HumanEval/0"})
    assert bad.id == "mine"
