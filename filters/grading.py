"""Replies in, rows out: extraction, grading and the record of both, for code and math alike."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from lm_eval_strict.sandbox.records import CodeVerdict, ExamResult, Isolation, SuiteResult

from .problems import load_problems, sha256_of
from .replies import Reply
from .rows import ExtractedAnswer, ExtractedProgram, Judgement, MathVerdict
from .task_spec import TaskSpec
from .versions import answer_extraction, off_lock, program_extraction

if TYPE_CHECKING:
    from lm_eval_strict.sandbox.session import Sandbox


class Row(dict[str, Any]):
    """A row; its text is JSON, for lm-eval writes the ``str`` of what a filter returned into its files."""

    def __str__(self) -> str:
        return json.dumps(self)


MATH_CHUNK = 500
"""How many answers go to the graders at a time: what a kill can lose."""


@dataclass
class Graded:
    """One reply on its way: what was extracted, and one row for each pipeline of the task."""

    reply: Reply
    found: ExtractedProgram | ExtractedAnswer
    rows: dict[str, Row]


def extract(spec: TaskSpec, reply: Reply, *, isolation: Isolation = Isolation.FULL) -> Graded:
    """Take the program or the answer out of ``reply`` and open its rows, each ``not_graded``."""
    found = _program(spec, reply) if spec.kind == "code" else _answer(spec, reply)
    if isinstance(found, ExtractedProgram):
        extra = {"program": found.program, "rule": found.rule, "repairs": list(found.repairs)}
    else:
        extra = {"answer": found.answer, "rule": found.rule}
    truncated = (reply.truncated or found.truncated).value
    rows = {
        pipeline: Row(_open_row(spec, reply, pipeline, isolation) | extra | {"truncated": truncated})
        for pipeline in spec.pipelines
    }
    return Graded(reply, found, rows)


def grade(
    spec: TaskSpec,
    graded: Sequence[Graded],
    *,
    isolation: Isolation = Isolation.FULL,
    workers: int | None = None,
    sandbox: Sandbox | None = None,
    on_done: Callable[[int], None] | None = None,
) -> None:
    """Grade what was extracted and write the verdicts into the rows.

    ``sandbox`` is a warm one for programs, in place of one of this call's own with ``workers`` workers.
    ``on_done`` is called with the index of each reply as its rows are final. Never raises for a reply: what
    could not be graded through our own fault is a ``harness_error`` that says why.
    """
    if spec.kind == "code":
        _grade_code(spec, graded, isolation, workers, sandbox, on_done)
    else:
        _grade_math(spec, graded, workers, on_done)


def _program(spec: TaskSpec, reply: Reply) -> ExtractedProgram:
    if reply.text is None:
        return ExtractedProgram(reply.program, "given")
    problem = load_problems(spec.dataset).by_key[reply.key]
    return program_extraction(spec.extraction)(
        reply.text,
        prompt=problem["prompt"],
        entry_point=problem["entry_point"],
        mode=reply.mode or spec.mode,
    )


def _answer(spec: TaskSpec, reply: Reply) -> ExtractedAnswer:
    if reply.text is None:
        return ExtractedAnswer(reply.answer, "given")
    return answer_extraction(spec.extraction)(reply.text, mode=reply.mode or spec.mode)


def _open_row(spec: TaskSpec, reply: Reply, pipeline: str, isolation: Isolation) -> dict[str, Any]:
    problem = load_problems(spec.dataset).by_key.get(reply.key) if reply.key else None
    key_name = "task_id" if spec.kind == "code" else "unique_id"
    row: dict[str, Any] = {
        "id": reply.id,
        "task": spec.name,
        "version": spec.version,
        "task_digest": spec.digest,
        "pipeline": pipeline,
        key_name: reply.key,
        "row_hash": problem.row_hash if problem else sha256_of(reply.gold or ""),
        "sample": reply.sample,
        "verdict": CodeVerdict.NOT_GRADED.value,
        "detail": "",
        "measured": {},
    }
    if spec.kind == "code":
        row |= {"isolation": isolation.value, "override": spec.overrides.get(reply.key)}
    else:
        row |= {"gold": gold_of(spec, reply), "off_lock": list(off_lock())}
        if problem:
            row |= {name: problem[name] for name in ("subject", "level") if name in problem.fields}
    return row | dict(reply.facts)


def gold_of(spec: TaskSpec, reply: Reply) -> str:
    """Return the answer that ``reply`` is graded against: its own gold, else the problem's."""
    return reply.gold if reply.gold is not None else load_problems(spec.dataset).by_key[reply.key]["answer"]


def _grade_code(
    spec: TaskSpec,
    graded: Sequence[Graded],
    isolation: Isolation,
    workers: int | None,
    sandbox: Sandbox | None,
    on_done: Callable[[int], None] | None,
) -> None:
    from .grade_programs import grade_programs, suites_of

    pipelines = dict(zip(suites_of(spec), spec.pipelines, strict=True))
    programs = [(one.reply.key, getattr(one.found, "program", None)) for one in graded]

    def on_result(index: int, result: ExamResult) -> None:
        for suite in result.suites:
            graded[index].rows[pipelines[suite.suite]].update(_code_fields(suite, result))
        if on_done is not None:
            on_done(index)

    try:
        grade_programs(
            spec, programs, isolation=isolation, workers=workers, sandbox=sandbox, on_result=on_result
        )
    except Exception as error:  # a reply is never lost: the row says what of ours failed
        _mark_harness_errors(graded, error)


def _code_fields(suite: SuiteResult, result: ExamResult) -> dict[str, Any]:
    return {
        "verdict": suite.verdict.value,
        "suite": suite.suite.value,
        "tests_passed": suite.tests_passed,
        "tests_total": suite.tests_total,
        "first_failure": asdict(suite.first_failure) if suite.first_failure else None,
        "detail": suite.detail,
        "quirks_used": list(suite.quirks_used),
        "isolation": result.isolation.value,
        "limits": asdict(result.limits),
        "measured": dict(result.measured),
    }


def _grade_math(
    spec: TaskSpec,
    graded: Sequence[Graded],
    workers: int | None,
    on_done: Callable[[int], None] | None,
) -> None:
    from .grade_answers import grade_answers

    for start in range(0, len(graded), MATH_CHUNK):
        chunk = graded[start : start + MATH_CHUNK]
        pairs = [(getattr(one.found, "answer", None), gold_of(spec, one.reply)) for one in chunk]
        try:
            judgements = grade_answers(pairs, spec.versions, workers=workers)
        except Exception as error:  # a reply is never lost: the row says what of ours failed
            _mark_harness_errors(chunk, error)
            continue
        for number, (one, by_grader) in enumerate(zip(chunk, judgements, strict=True), start=start):
            for pipeline, judgement in by_grader.items():
                one.rows[pipeline].update(_math_fields(judgement))
            if on_done is not None:
                on_done(number)


def _math_fields(judgement: Judgement) -> dict[str, Any]:
    fields = asdict(judgement)
    otherwise = judgement.verdict_otherwise
    return fields | {
        "verdict": judgement.verdict.value,
        "verdict_otherwise": otherwise.value if otherwise else None,
    }


def _mark_harness_errors(graded: Sequence[Graded], error: Exception) -> None:
    """Mark the rows that are still open: ours failed, the reply did not."""
    for one in graded:
        for row in one.rows.values():
            if row["verdict"] == CodeVerdict.NOT_GRADED.value:
                row["verdict"] = MathVerdict.HARNESS_ERROR.value
                row["detail"] = f"{type(error).__name__}: {error}"
