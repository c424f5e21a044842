"""A run's ledger or a journal of replies goes in, tokens and dollars by task and setting come out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from .batch_ledger import read_lines
from .faults import BackendFault
from .prices import PriceTable, token_counts
from .replies import CUT_STOP_REASONS, SUCCEEDED
from .requests import Request
from .state_folder import runs_folder

# Characters of a prompt for one token, low on purpose: the estimate should rather be high.
CHARS_PER_TOKEN = 3.0


@dataclass(frozen=True)
class Paid:
    """One result of one request: whose it was, what it used, how it was sent."""

    task: str
    setting: str
    model: str
    day: str  # ISO date
    batch: bool
    outcome: str
    stop_reason: str | None
    usage: Mapping[str, Any] | None


@dataclass
class CostLine:
    """The sum over one task and setting. ``dollars`` is None when no reply has a known price."""

    task: str
    setting: str
    model: str
    replies: int = 0
    failures: int = 0  # results without a reply, which are not billed
    cut_replies: int = 0
    thinking_tokens: int = 0
    tokens: dict[str, int] = field(default_factory=dict)
    known_dollars: Decimal = Decimal(0)
    unpriced_replies: int = 0

    @property
    def dollars(self) -> Decimal | None:
        """The cost; None as soon as one reply has no known price."""
        return None if self.unpriced_replies else self.known_dollars

    def add(self, paid: Paid, prices: PriceTable) -> None:
        """Count one result."""
        if paid.outcome != SUCCEEDED:
            self.failures += 1
            return
        self.replies += 1
        self.cut_replies += paid.stop_reason in CUT_STOP_REASONS
        dollars = None
        if paid.usage is not None:
            for kind, count in token_counts(paid.usage).items():
                self.tokens[kind] = self.tokens.get(kind, 0) + count
            self.thinking_tokens += (paid.usage.get("output_tokens_details") or {}).get(
                "thinking_tokens"
            ) or 0
            dollars = prices.dollars(paid.model, paid.usage, batch=paid.batch, day=paid.day)
        if dollars is None:
            self.unpriced_replies += 1
        else:
            self.known_dollars += dollars


def cost_lines(paid: Iterable[Paid], prices: PriceTable) -> list[CostLine]:
    """Sum by task and setting, in the order of their first appearance."""
    lines: dict[tuple[str, str, str], CostLine] = {}
    for item in paid:
        key = (item.task, item.setting, item.model)
        lines.setdefault(key, CostLine(*key)).add(item, prices)
    return list(lines.values())


def paid_of_run(run: str) -> list[Paid]:
    """Read what a run used. ``run`` is a run key or its beginning, a run's folder, or a journal of replies.

    Raises BackendFault when there is no such run, or more than one.
    """
    path = Path(run)
    if path.is_file():
        return list(_paid_of_journal(path))
    return list(_paid_of_folder(path if path.is_dir() else find_run(run)))


def find_run(key: str) -> Path:
    """The folder of the one run whose key begins with ``key``."""
    folder = runs_folder()
    found = sorted(path for path in folder.glob("*") if key and path.name.startswith(key))
    if len(found) != 1:
        what = "no run" if not found else f"{len(found)} runs"
        raise BackendFault(f"RUN={key!r}: {what} of that key in {folder}, and no such folder or file")
    return found[0]


def setting_text(facts: Mapping[str, Any]) -> str:
    """A run's settings as one short text: only what was asked for."""
    names = ("thinking", "budget_tokens", "effort", "max_tokens", "temperature", "run")
    return (
        ",".join(f"{name}={facts[name]}" for name in names if facts.get(name) not in (None, "")) or "defaults"
    )


def _paid_of_folder(folder: Path) -> Iterator[Paid]:
    try:
        facts = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    except OSError:
        raise BackendFault(f"RUN={folder}: not the folder of a run (it has no run.json)") from None
    tasks = {line["custom_id"]: line["task"] for line in read_lines(folder / "requests.jsonl")}
    setting = setting_text(facts["settings"])
    for line in read_lines(folder / "replies.jsonl"):
        message = line.get("message") or {}
        yield Paid(
            task=tasks.get(line["custom_id"]) or "unknown task",
            setting=setting,
            model=message.get("model") or facts["settings"]["model"],
            day=line["received_at"][:10],
            batch=line["batch"] is not None,
            outcome=line["outcome"],
            stop_reason=message.get("stop_reason"),
            usage=message.get("usage"),
        )


def _paid_of_journal(path: Path) -> Iterator[Paid]:
    lines = read_lines(path)
    head = next(lines, {})
    if "journal" not in head:
        raise BackendFault(f"RUN={path}: not a journal of replies (its first line has no field `journal`)")
    day = str(head.get("day") or head.get("created_at") or "9999-12-31")[:10]
    for line in lines:
        if "reply" not in line:
            continue
        usage = line.get("usage")
        yield Paid(
            task=str(line.get("task") or head.get("task") or "unknown task"),
            setting=str(head.get("setting") or "journal"),
            model=str(head.get("model") or "unknown model"),
            day=day,
            batch=(usage or {}).get("service_tier") == "batch",
            outcome=SUCCEEDED,
            stop_reason=line.get("stop_reason"),
            usage=usage,
        )


@dataclass(frozen=True)
class Estimate:
    """Bounds on what requests will cost before they are sent; dollars are None where no price is known."""

    requests: int
    input_tokens: int  # by characters, rather too many than too few
    output_tokens_at_most: int  # if every reply goes to max_tokens
    least_dollars: Decimal | None  # no output at all
    most_dollars: Decimal | None

    def text(self) -> str:
        """One line for people."""
        tokens = f"about {self.input_tokens:,} tokens in, at most {self.output_tokens_at_most:,} out"
        if self.least_dollars is None or self.most_dollars is None:
            return f"{self.requests:,} requests, {tokens}; the price of this model is unknown"
        return f"{self.requests:,} requests, {tokens}; ${self.least_dollars:.2f} to ${self.most_dollars:.2f}"


def estimate(requests: Sequence[Request], prices: PriceTable, *, batch: bool, day: str) -> Estimate:
    """Estimate the cost of requests without asking the API."""
    sizes = [_prompt_tokens(request) for request in requests]
    limits = [int(request.params["max_tokens"]) for request in requests]

    def dollars(outputs: Sequence[int]) -> Decimal | None:
        parts = [
            prices.dollars(
                str(request.params["model"]),
                {"input_tokens": size, "output_tokens": out},
                batch=batch,
                day=day,
            )
            for request, size, out in zip(requests, sizes, outputs, strict=True)
        ]
        known = [part for part in parts if part is not None]
        return sum(known, Decimal(0)) if len(known) == len(parts) else None

    return Estimate(
        requests=len(requests),
        input_tokens=sum(sizes),
        output_tokens_at_most=sum(limits),
        least_dollars=dollars([0] * len(requests)),
        most_dollars=dollars(limits),
    )


def _usages(inputs: Sequence[int], outputs: Sequence[int]) -> Iterator[dict[str, int]]:
    for size, out in zip(inputs, outputs, strict=True):
        yield {"input_tokens": size, "output_tokens": out}


def _prompt_tokens(request: Request) -> int:
    texts = [str(turn["content"]) for turn in request.params["messages"]]
    texts.append(str(request.params.get("system", "")))
    return int(sum(len(text.encode("utf-8")) for text in texts) / CHARS_PER_TOKEN) + 1
