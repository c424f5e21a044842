"""A submission whose answer never arrived goes in; the batch it became, or that it became none, comes out.

The Messages API gives a batch no name, note or idempotency key of ours, and the SDK sends none. What it
does give, and what is relied on here: the workspace's batches are listed newest first; each says when it
was created (server clock), how many requests it has, and, once it has ended, the custom_id of every result.
Our custom_ids carry run key, body hash and sample, so one of them proves a batch to be ours. So the batches
newer than the one that was newest before the submission are looked through for one with as many requests;
while such a batch is still being processed nothing is decided, and so nothing is sent twice.
"""

from __future__ import annotations

import time
from datetime import datetime
from typing import TYPE_CHECKING

from .batch_events import Intent
from .batch_ledger import BatchLedger
from .faults import BackendFault
from .patience import insist

if TYPE_CHECKING:
    import anthropic
    from anthropic.types.messages import MessageBatch

PAGE = 100


class BatchSearch:
    """Settles open intents against the list of batches that the API keeps."""

    def __init__(
        self,
        client: anthropic.Anthropic,
        ledger: BatchLedger,
        *,
        settle_s: float,
        patience_s: float,
        resend_lost: bool = False,
    ) -> None:
        self._client = client
        self._ledger = ledger
        self._settle_s = settle_s
        self._patience_s = patience_s
        self._resend_lost = resend_lost
        self._first_looks: dict[int, float] = {}  # intent -> time.monotonic

    def newest(self) -> tuple[str, str] | None:
        """The workspace's newest batch as (id, created_at); None when there is none."""
        page = insist(
            "listing batches",
            lambda: self._client.messages.batches.list(limit=1),
            patience_s=self._patience_s,
        )
        return (page.data[0].id, page.data[0].created_at.isoformat()) if page.data else None

    def settle(self, intent: Intent) -> bool:
        """Try to find out what became of an intent; False while that cannot be known yet.

        A submission can still be on its way to the API after its sender died. So "there is no such batch"
        counts only when it is still so ``settle_s`` seconds after this process looked first.
        """
        now = time.monotonic()
        quiet = now - self._first_looks.setdefault(intent.number, now) >= self._settle_s
        undecided = False
        for batch in self._suspects(intent):
            if batch.processing_status != "ended":
                undecided = True
                continue
            if self._is_ours(batch, intent):
                self._ledger.accept(intent, batch.id, found=True)
                return True
            self._ledger.disown(batch.id)
        if undecided or not quiet:
            return False
        self._check_workspace(intent)
        self._ledger.reject(intent, "the workspace has no such batch")
        return True

    def _suspects(self, intent: Intent) -> list[MessageBatch]:
        """Batches newer than the intent's mark, with its number of requests, that nobody has claimed."""
        return insist("listing batches", lambda: self._list(intent), patience_s=self._patience_s)

    def _list(self, intent: Intent) -> list[MessageBatch]:
        oldest = datetime.fromisoformat(intent.mark_created_at) if intent.mark_created_at else None
        known = self._ledger.events.known_batches
        suspects = []
        for batch in self._client.messages.batches.list(limit=PAGE):
            if oldest is not None and batch.created_at < oldest:
                break
            counts = batch.request_counts
            total = counts.processing + counts.succeeded + counts.errored + counts.canceled + counts.expired
            if batch.id not in known and batch.id != intent.mark_id and total == len(intent.custom_ids):
                suspects.append(batch)
        return suspects

    def _is_ours(self, batch: MessageBatch, intent: Intent) -> bool:
        """Whether the first result of an ended batch answers a request of the intent."""
        if batch.archived_at is not None or batch.results_url is None:
            return False
        return insist(
            f"reading the results of {batch.id}",
            lambda: self._first_custom_id(batch.id) in set(intent.custom_ids),
            patience_s=self._patience_s,
        )

    def _first_custom_id(self, batch: str) -> str | None:
        results = self._client.messages.batches.results(batch)
        try:
            for item in results:
                return item.custom_id
            return None
        finally:
            results.close()

    def _check_workspace(self, intent: Intent) -> None:
        """Conclude nothing from a workspace that does not know the batch seen before the submission."""
        if intent.mark_id is None or self._resend_lost:
            return
        mark = intent.mark_id
        known = insist(
            f"looking up {mark}", lambda: retrieve(self._client, mark), patience_s=self._patience_s
        )
        if known is None:
            raise BackendFault(
                f"a batch of {len(intent.custom_ids)} requests may have been sent, but this workspace does "
                f"not know {mark}, the batch before it; use the API key of the same workspace, or "
                "resend_lost=true to send them again"
            )


def retrieve(client: anthropic.Anthropic, batch: str) -> MessageBatch | None:
    """The batch as the API describes it; None when the workspace of the key has no such batch."""
    import anthropic

    try:
        return client.messages.batches.retrieve(batch)
    except anthropic.NotFoundError:
        return None
