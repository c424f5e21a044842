"""lm-eval's side of the pack: documents out, replies in, rows and scores out.

lm-eval hands every reply of a task to the filters and later asks for one document's score at a time. The
filters journal the replies, extract, and return rows that are not graded yet; the first question for a score
grades all of them at once, in parallel, for all pipelines. So ``--predict_only``, which asks for no score,
executes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .grading import Row
from .pass_at_k import pass_at_k
from .preflight import check, read_settings
from .problems import load_problems
from .published import PUBLISHED
from .rows import AT_LIMIT, PASSING, MathVerdict
from .session import sessions
from .task_spec import read_task

if TYPE_CHECKING:
    from datasets import Dataset


def load_documents(
    *,
    strict_task: str,
    strict_replies: int,
    isolation: object = None,
    grade: object = None,
    **_other_settings: object,
) -> dict[str, Dataset]:
    """Return the documents of a task for lm-eval's ``custom_dataset``, after the preflight.

    lm-eval passes the YAML's ``dataset_kwargs`` and ``metadata``, all of ``--model_args`` and ``--metadata``;
    everything but the task's own keys, ``isolation`` and ``grade`` belongs to others and is ignored.
    Raises ``PreflightFailure``, whose message is one line, before any token is generated.
    """
    from datasets import Dataset

    spec = read_task(strict_task)
    settings = read_settings(isolation, grade)
    check(spec, settings)
    key_name = "task_id" if spec.kind == "code" else "unique_id"
    about = {
        "task": spec.frozen_name,
        "replies": strict_replies,
        "isolation": settings.isolation.value,
        "grade": "later" if settings.grade_later else "now",
    }
    documents = [
        {key_name: problem.key}
        | {field: problem[field] for field in PUBLISHED[spec.dataset].shown}
        | {"row_hash": problem.row_hash, "strict": about}
        for problem in load_problems(spec.dataset)
    ]
    return {"test": Dataset.from_list(documents)}


class _Pipeline:
    """A row of lm-eval's table: a filter that turns replies into rows of one pipeline."""

    def __init__(self, pipeline: str, version: str) -> None:
        """Take the pipeline's name; ``version`` is read from the task's YAML by ``read_task``."""
        self.pipeline = pipeline

    def apply(self, resps: Iterable[Sequence[str]], docs: Sequence[Mapping[str, Any]]) -> list[list[Row]]:
        """Return one row per reply, still ``not_graded``, in the order of ``resps``.

        ``resps`` holds the replies of each document. Of a rank's last document lm-eval may pass two or three
        times as many as were asked for; the surplus is dropped.
        """
        return sessions.open_rows(self.pipeline, [list(replies) for replies in resps], docs)


class GradePrograms(_Pipeline):
    """The pipeline ``pipeline`` (a suite's name) of a code task."""


class GradeAnswers(_Pipeline):
    """The pipeline ``pipeline`` (a grader's name) of a math task."""


def score_document(doc: Mapping[str, Any], results: Sequence[Sequence[Row]]) -> dict[str, float]:
    """Return the metrics of one document: pass@1, pass@n for n replies, then what went wrong, as counts.

    The same keys for every document of a task. pass@k is NaN where fewer than k replies came, where nothing
    was graded (``grade=later``), and where a reply met an error of ours, which must not count as a fail.
    """
    rows = results[0]
    sessions.grade_pending(doc["strict"]["task"])
    verdicts = [row["verdict"] for row in rows]
    graded = not {MathVerdict.NOT_GRADED.value, MathVerdict.HARNESS_ERROR.value} & set(verdicts)
    passes = sum(verdict in PASSING for verdict in verdicts)
    nothing = "replies_no_program" if "task_id" in doc else "replies_no_answer"
    ks = sorted({1, doc["strict"]["replies"]})
    return {f"pass@{k}": pass_at_k(len(rows), passes, k) if graded else math.nan for k in ks} | {
        "replies_at_limit": sum(verdict in AT_LIMIT for verdict in verdicts),
        "replies_harness_error": verdicts.count("harness_error"),
        nothing: verdicts.count(nothing.removeprefix("replies_")),
    }


def total(values: Iterable[float]) -> float:
    """Return the sum of a count over documents: an aggregation for lm-eval's ``metric_list``."""
    return sum(values)
