"""What the API gave back for one request goes in, the reply text and the facts about it come out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .requests import Request, cut_at

SUCCEEDED = "succeeded"
UNANSWERED = ("errored", "expired", "canceled")

# The reply was cut: by max_tokens, or because the context window was full.
CUT_STOP_REASONS = frozenset({"max_tokens", "model_context_window_exceeded"})

# Errors that the same request meets again: sending it once more changes nothing.
LASTING_ERRORS = frozenset(
    {"invalid_request_error", "authentication_error", "permission_error", "not_found_error", "billing_error"}
)


@dataclass(frozen=True)
class ReplyRecord:
    """One request's final state. ``reply`` is the answer text alone; thinking stays in the ledger."""

    custom_id: str
    task: str | None
    doc_id: int | None
    sample: int  # how many equal requests of the run come before this one
    reply: str
    outcome: str  # succeeded, or why there is no reply: errored, expired, canceled
    attempts: int
    truncated: str  # "yes" or "no", as rows and journals say it
    stop_reason: str | None = None
    usage: Mapping[str, Any] | None = None
    thinking_chars: int = 0
    thinking_tokens: int | None = None  # None: the API did not say
    model: str | None = None
    message_id: str | None = None
    batch: str | None = None  # None: sent as a plain request, at the full price
    error: Mapping[str, Any] | None = None
    cut_here_at: str | None = None  # a stop string the API refuses, applied on this side

    def journal_fields(self) -> dict[str, Any]:
        """The fields a journal of raw replies carries beside the text; None values are left out."""
        facts: dict[str, Any] = {
            "truncated": self.truncated,
            "model": self.model,
            "stop_reason": self.stop_reason or self.outcome,
            "usage": dict(self.usage) if self.usage is not None else None,
            "thinking_chars": self.thinking_chars or None,
            "thinking_tokens": self.thinking_tokens,
            "error": dict(self.error) if self.error is not None else None,
        }
        return {name: value for name, value in facts.items() if value is not None}

    def as_dict(self) -> dict[str, Any]:
        """All fields as plain data."""
        return asdict(self)


class ReplyText(str):
    """A reply's text as lm-eval carries it around, with what is known about it in ``facts``.

    A filter finds there, without knowing this backend, what a journal writes beside a reply (``truncated``,
    ``stop_reason``, ``usage``, ...). To everything else it is the text.
    """

    facts: Mapping[str, Any]

    def __new__(cls, text: str, facts: Mapping[str, Any] | None = None) -> ReplyText:
        """Make the text; ``facts`` are those of ``ReplyRecord.journal_fields``."""
        made = super().__new__(cls, text)
        made.facts = facts or {}
        return made


def answer_text(content: Sequence[Mapping[str, Any]]) -> str:
    """The text blocks of a message joined; thinking and any other block is no part of the answer."""
    return "".join(block["text"] for block in content if block.get("type") == "text")


def thinking_length(content: Sequence[Mapping[str, Any]]) -> int:
    """Characters of readable thinking in a message (omitted and redacted thinking has none)."""
    return sum(len(block.get("thinking") or "") for block in content if block.get("type") == "thinking")


def reply_record(request: Request, lines: Sequence[Mapping[str, Any]]) -> ReplyRecord | None:
    """Build the record of a request from the ledger's lines about it; None while there is no line.

    A success wins over every failure before it; without one, the last failure counts.
    """
    if not lines:
        return None
    line = next((entry for entry in lines if entry["outcome"] == SUCCEEDED), lines[-1])
    if line["outcome"] != SUCCEEDED:
        return ReplyRecord(
            custom_id=request.custom_id,
            task=request.task,
            doc_id=request.doc_id,
            sample=request.sample,
            reply="",
            outcome=line["outcome"],
            attempts=len(lines),
            truncated="no",
            batch=line.get("batch"),
            error=line.get("error"),
        )
    return _answered(request, line["message"], line.get("batch"), attempts=len(lines))


def _answered(
    request: Request, message: Mapping[str, Any], batch: str | None, *, attempts: int
) -> ReplyRecord:
    content = message.get("content") or []
    whole = answer_text(content)
    reply = cut_at(whole, request.local_stops)
    usage = message.get("usage")
    details = (usage or {}).get("output_tokens_details") or {}
    stop_reason = message.get("stop_reason")
    return ReplyRecord(
        custom_id=request.custom_id,
        task=request.task,
        doc_id=request.doc_id,
        sample=request.sample,
        reply=reply,
        outcome=SUCCEEDED,
        attempts=attempts,
        truncated="yes" if stop_reason in CUT_STOP_REASONS and reply == whole else "no",
        stop_reason=stop_reason,
        usage=usage,
        thinking_chars=thinking_length(content),
        thinking_tokens=details.get("thinking_tokens"),
        model=message.get("model"),
        message_id=message.get("id"),
        batch=batch,
        cut_here_at=next((stop for stop in request.local_stops if whole.startswith(reply + stop)), None),
    )


def is_lasting(line: Mapping[str, Any]) -> bool:
    """Whether a failure would only be met again."""
    return (line.get("error") or {}).get("type") in LASTING_ERRORS
