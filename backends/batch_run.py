"""Requests and a ledger go in; every request ends with a result in the ledger, each paid for once."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from .batch_events import Intent
from .batch_ledger import BatchLedger
from .batch_search import BatchSearch, retrieve
from .chunking import chunks
from .faults import BackendFault
from .patience import CALL_ERRORS, Backoff, Failure, asked_wait_s, classify, insist, one_line
from .replies import SUCCEEDED, is_lasting
from .requests import Request
from .settings import Settings

if TYPE_CHECKING:
    import anthropic
    from anthropic.types.messages import MessageBatch

FIRST_POLL_S = 1.0
POLL_GROWTH = 1.5
BYTES_PER_MB = 1_000_000
# A results stream that breaks this often in a row without one new result is given up, to be resumed later.
STALLED_STREAMS = 8


class BatchRun:
    """Takes requests through Message Batches: submit, wait, collect, send failures again."""

    def __init__(
        self,
        client: anthropic.Anthropic,
        settings: Settings,
        ledger: BatchLedger,
        requests: Sequence[Request],
        *,
        on_result: Callable[[str], None] = lambda custom_id: None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client = client
        self._settings = settings
        self._ledger = ledger
        self._requests = {request.custom_id: request for request in requests}
        self._on_result = on_result
        self._sleep = sleep
        self._search = BatchSearch(
            client,
            ledger,
            settle_s=settings.settle_s,
            patience_s=settings.patience_s,
            resend_lost=settings.resend_lost,
        )
        # With retry_failed the failures of earlier processes do not count.
        self._forgiven = {
            custom_id: len(ledger.lines(custom_id)) if settings.retry_failed else 0
            for custom_id in self._requests
        }

    def finish(self, *, submit: bool = True) -> None:
        """Work until every request has its final result.

        With ``submit=False`` nothing new is sent: only what is under way already is waited for and collected.
        """
        poll_s = min(FIRST_POLL_S, self._settings.poll_s)
        while True:
            moved = self._settle_open()
            moved |= self._collect_ended()
            if submit:
                moved |= self._submit_pending()
            if not self._ledger.events.open_intents and not self._ledger.events.outstanding:
                return
            poll_s = min(FIRST_POLL_S, self._settings.poll_s) if moved else poll_s
            self._sleep(poll_s)
            poll_s = min(self._settings.poll_s, poll_s * POLL_GROWTH)

    def pending(self) -> list[Request]:
        """The requests that have no final result and are in no batch under way."""
        in_flight = self._ledger.events.in_flight()
        return [
            request
            for custom_id, request in self._requests.items()
            if custom_id not in in_flight and not self.is_final(custom_id)
        ]

    def is_final(self, custom_id: str) -> bool:
        """Whether a request is answered, or has failed for good."""
        lines = self._ledger.lines(custom_id)
        if any(line["outcome"] == SUCCEEDED for line in lines):
            return True
        failures = lines[self._forgiven[custom_id] :]
        return len(failures) >= self._settings.attempts or any(is_lasting(line) for line in failures)

    # ---- steps

    def _settle_open(self) -> bool:
        settled = [self._search.settle(intent) for intent in self._ledger.events.open_intents]
        return any(settled)

    def _submit_pending(self) -> bool:
        pending = self.pending()
        for chunk in chunks(
            pending,
            max_requests=self._settings.batch_requests,
            max_bytes=int(self._settings.batch_mb * BYTES_PER_MB),
        ):
            self._submit(chunk)
        return bool(pending)

    def _submit(self, chunk: Sequence[Request]) -> None:
        """Submit one chunk; where the answer is lost the intent stays open, to be settled later."""
        backoff = Backoff(self._sleep)
        since = time.monotonic()
        body = [{"custom_id": request.custom_id, "params": dict(request.params)} for request in chunk]
        while True:
            intent = self._ledger.intend([request.custom_id for request in chunk], mark=self._search.newest())
            try:
                # The client never retries by itself (max_retries=0): a repeated POST could be a second batch.
                batch = self._client.messages.batches.create(requests=cast(Any, body))
            except CALL_ERRORS as error:
                failure = classify(error)
                if failure is Failure.UNKNOWN:
                    return
                self._ledger.reject(intent, one_line(error))
                if failure is Failure.REFUSED:
                    raise BackendFault(f"the API refused a batch: {one_line(error)}") from error
                if time.monotonic() - since > self._settings.patience_s:
                    raise BackendFault(
                        f"no batch was taken for {self._settings.patience_s:.0f} s ({one_line(error)})"
                    ) from error
                backoff.wait(asked_wait_s(error))
            else:
                # An answer without an id says no more than no answer.
                if getattr(batch, "id", None):
                    self._ledger.accept(intent, batch.id)
                return

    def _collect_ended(self) -> bool:
        moved = False
        for batch, intent in self._ledger.events.outstanding.items():
            state = self._state(batch)
            if state is None:
                self._lost(batch, f"this workspace does not know {batch}")
                continue
            if state.processing_status != "ended":
                continue
            if state.archived_at is not None:
                self._lost(batch, f"{batch} is archived, its results are gone")
                continue
            self._collect(batch, intent)
            moved = True
        return moved

    def _state(self, batch: str) -> MessageBatch | None:
        """The batch as the API describes it now; None when this workspace has no such batch."""
        return insist(
            f"polling {batch}", lambda: retrieve(self._client, batch), patience_s=self._settings.patience_s
        )

    def _lost(self, batch: str, reason: str) -> None:
        """A batch that the API no longer gives out: paid for, and only the user may decide to pay again."""
        if not self._settings.resend_lost:
            raise BackendFault(f"{reason}; resend_lost=true gives this batch up and sends its requests again")
        self._ledger.collect(batch)

    def _collect(self, batch: str, intent: Intent) -> None:
        """Stream the results until each request of the batch has one, reading again where a stream broke."""
        expected = set(intent.custom_ids)
        recorded = self._ledger.recorded_of(batch, intent.custom_ids)
        backoff = Backoff(self._sleep)
        while recorded != expected:
            before = len(recorded)
            reason = self._read_stream(batch, expected, recorded)
            if recorded == expected:
                break
            if len(recorded) > before:
                backoff.reset()
            if backoff.tries >= STALLED_STREAMS:
                raise BackendFault(
                    f"{batch}: {len(expected - recorded)} of {len(expected)} results cannot be read "
                    f"({reason}); nothing is lost, the same command goes on from here"
                )
            backoff.wait()
        self._ledger.collect(batch)

    def _read_stream(self, batch: str, expected: set[str], recorded: set[str]) -> str:
        """Read one results stream into the ledger; returns why it ended."""
        try:
            results = self._client.messages.batches.results(batch)
            try:
                for item in results:
                    line = result_line(item.to_dict(mode="json"), batch)
                    if line["custom_id"] in expected and line["custom_id"] not in recorded:
                        self._ledger.add_result(line)
                        recorded.add(line["custom_id"])
                        self._on_result(line["custom_id"])
            finally:
                results.close()
        except CALL_ERRORS as error:
            if classify(error) is Failure.REFUSED:
                raise BackendFault(f"reading the results of {batch}: {one_line(error)}") from error
            return one_line(error)
        return "the stream ended early"


def result_line(item: Mapping[str, Any], batch: str) -> dict[str, Any]:
    """A line of a results stream as the ledger keeps it. Raises ValueError for a line that is none."""
    result = item.get("result")
    if not isinstance(item.get("custom_id"), str) or not isinstance(result, Mapping) or "type" not in result:
        raise ValueError("a results line without custom_id or result")
    line: dict[str, Any] = {"custom_id": item["custom_id"], "batch": batch, "outcome": result["type"]}
    if result["type"] == SUCCEEDED:
        line["message"] = result["message"]
    elif result.get("error") is not None:
        line["error"] = result["error"].get("error", result["error"])
    return line
