"""The events of a run go in one by one; which submissions are open, under way or settled comes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Intent:
    """A submission on disk before it is made. ``mark`` is the newest batch of the workspace just before."""

    number: int
    custom_ids: tuple[str, ...]
    mark_id: str | None
    mark_created_at: str | None  # ISO, by the server's clock


class RunEvents:
    """What the events say so far."""

    def __init__(self) -> None:
        self.intents: dict[int, Intent] = {}
        self.accepted: dict[int, str] = {}
        self.rejected: set[int] = set()
        self.foreign: set[str] = set()
        self.collected: set[str] = set()

    def apply(self, event: Mapping[str, Any]) -> None:
        """Take one event in; the ledger's text lists the kinds."""
        kind = event["event"]
        if kind == "intent":
            intent = Intent(
                event["number"], tuple(event["custom_ids"]), event["mark"], event["mark_created_at"]
            )
            self.intents[intent.number] = intent
        elif kind == "accepted":
            self.accepted[event["number"]] = event["batch"]
        elif kind == "rejected":
            self.rejected.add(event["number"])
        elif kind == "foreign":
            self.foreign.add(event["batch"])
        elif kind == "collected":
            self.collected.add(event["batch"])

    @property
    def open_intents(self) -> list[Intent]:
        """Submissions of which nobody knows yet whether the API took them."""
        return [
            intent
            for number, intent in self.intents.items()
            if number not in self.accepted and number not in self.rejected
        ]

    @property
    def outstanding(self) -> dict[str, Intent]:
        """Batch id -> intent, of the batches whose results are not all here yet."""
        return {
            batch: self.intents[number]
            for number, batch in self.accepted.items()
            if batch not in self.collected
        }

    @property
    def known_batches(self) -> frozenset[str]:
        """Every batch id that is ours or was found to be somebody else's."""
        return frozenset(self.accepted.values()) | frozenset(self.foreign)

    def in_flight(self) -> set[str]:
        """Every custom_id that an open intent or an outstanding batch holds."""
        intents = [*self.open_intents, *self.outstanding.values()]
        return {custom_id for intent in intents for custom_id in intent.custom_ids}
