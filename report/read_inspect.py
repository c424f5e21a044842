"""An Inspect log (its JSON form) in; its replies, and rows of Inspect's own verdicts, out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lm_eval_strict.filters.rows import MathVerdict, Truncated

from .run_facts import RunFacts

CUT_OFF = frozenset({"max_tokens", "model_length"})
CODE_PREFIXES = ("HumanEval", "Mbpp")


def is_inspect_log(document: object) -> bool:
    """Say whether a JSON document is an Inspect log."""
    return isinstance(document, Mapping) and {"eval", "samples", "status"} <= document.keys()


def inspect_gaps(log: Mapping[str, Any]) -> str:
    """Say what the log lacks: samples without a score, a run that did not end well; "" where nothing."""
    samples = log["samples"] or ()
    bare = sum(not sample.get("scores") for sample in samples)
    if bare:
        return f"{bare} of {len(samples)} samples have no score (the log's status is {log['status']})"
    return (
        "" if log["status"] == "success" else f"the log's status is {log['status']}: samples may be missing"
    )


def inspect_facts(log: Mapping[str, Any]) -> RunFacts:
    """Read model, generation settings and library versions of a log."""
    head = log["eval"]
    fields = {"model": str(head.get("model") or "")}
    generation = (log.get("plan") or {}).get("config")
    if generation:
        fields["generation"] = str(sorted(generation.items()))
    return RunFacts(
        model=fields["model"],
        request={"": fields},
        libraries={str(name): str(version) for name, version in (head.get("packages") or {}).items()},
    )


def _reply(sample: Mapping[str, Any]) -> tuple[str, str]:
    """Give the reply's text, and why the model stopped."""
    choices = (sample.get("output") or {}).get("choices") or []
    if not choices:
        return "", "no_output"
    content = (choices[0].get("message") or {}).get("content") or ""
    if isinstance(content, list):
        content = "".join(str(part.get("text") or "") for part in content if part.get("type") == "text")
    return str(content), str(choices[0].get("stop_reason") or "unknown")


def inspect_replies(log: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield one reply record a sample, as a journal holds it; truncation is exact here."""
    for sample in log["samples"] or ():
        reply, stopped = _reply(sample)
        yield {
            "id": f"{sample['id']}:{sample.get('epoch', 1) - 1}",
            "task_id": str(sample["id"]),
            "sample": int(sample.get("epoch", 1)) - 1,
            "mode": "chat",
            "reply": reply,
            "truncated": (Truncated.YES if stopped in CUT_OFF else Truncated.NO).value,
            "stop_reason": stopped,
        }


def _verdict(value: object, code: bool, failed: bool) -> str:
    if failed:
        return str(MathVerdict.HARNESS_ERROR.value)
    right = value == "C" or (isinstance(value, (int, float)) and float(value) == 1.0)
    if code:
        return "passed" if right else "wrong_answer"
    if right:
        return str(MathVerdict.RIGHT.value)
    return str((MathVerdict.NO_ANSWER if value == "N" else MathVerdict.WRONG).value)


def inspect_rows(log: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield one row a sample and scorer, with Inspect's own verdict; the scorer names the pipeline."""
    head = log["eval"]
    replies = inspect_replies(log)
    for sample, reply in zip(log["samples"] or (), replies, strict=True):
        code = str(sample["id"]).startswith(CODE_PREFIXES)
        for scorer, score in (sample.get("scores") or {}).items():
            yield {
                **{name: reply[name] for name in ("id", "task_id", "sample", "truncated")},
                "task": str(head.get("task") or "inspect"),
                "version": str(head.get("task_version") or ""),
                "pipeline": f"inspect:{scorer}",
                "verdict": _verdict(score.get("value"), code, bool(sample.get("error"))),
                "rule": "inspect",
                "answer": score.get("answer"),
                "gold": sample["target"] if isinstance(sample.get("target"), str) else None,
            }
