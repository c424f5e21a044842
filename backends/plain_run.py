"""Requests and a ledger go in; each is sent as a plain Messages request, its result on disk at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

from .batch_ledger import BatchLedger
from .faults import BackendFault
from .patience import CALL_ERRORS, Backoff, Failure, asked_wait_s, classify, one_line
from .replies import SUCCEEDED
from .requests import Request
from .settings import Settings

if TYPE_CHECKING:
    import anthropic

# An hour of generation for 128,000 tokens is what the SDK itself assumes.
SECONDS_PER_TOKEN = 3600 / 128_000

# Errors of the key or the account: every other request would meet them too.
RUN_ENDING_STATUS = frozenset({401, 402, 403, 404})


class PlainRun:
    """Sends requests one by one over ``concurrency`` threads (``batch=false``).

    A kill loses at most the replies that were on their way, which the API may have billed: a plain request
    leaves nothing behind that could be found again. That is what batches are for.
    """

    def __init__(
        self,
        client: anthropic.Anthropic,
        settings: Settings,
        ledger: BatchLedger,
        *,
        on_result: Callable[[str], None] = lambda custom_id: None,
    ) -> None:
        self._client = client
        self._settings = settings
        self._ledger = ledger
        self._on_result = on_result
        self._stopping = threading.Event()

    def finish(self, requests: Sequence[Request]) -> None:
        """Answer every request, or record why it has no answer."""
        todo = iter(requests)
        running: set[Future[None]] = set()
        with ThreadPoolExecutor(max_workers=self._settings.concurrency) as pool:
            try:
                while True:
                    while len(running) < self._settings.concurrency:
                        request = next(todo, None)
                        if request is None:
                            break
                        running.add(pool.submit(self._answer, request))
                    if not running:
                        break
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    for future in done:
                        future.result()
            finally:
                # What is on its way is still waited for and kept; what waits for another try gives up.
                self._stopping.set()
                pool.shutdown(wait=False, cancel_futures=True)
        self._ledger.sync_results()

    def _answer(self, request: Request) -> None:
        backoff = Backoff(self._wait)
        since = time.monotonic()
        failures = 0
        while not self._stopping.is_set():
            try:
                message = self._create(request)
            except CALL_ERRORS as error:
                failure = classify(error)
                if getattr(error, "status_code", None) in RUN_ENDING_STATUS:
                    raise BackendFault(f"the API refused a request: {one_line(error)}") from error
                # A refusal for load is no attempt: only patience bounds it. Anything else counts.
                failures += failure is not Failure.BUSY
                spent = failures >= self._settings.attempts
                impatient = time.monotonic() - since > self._settings.patience_s
                if failure is Failure.REFUSED or spent or impatient:
                    self._record(request, "errored", error=error_facts(error))
                    return
                backoff.wait(asked_wait_s(error))
            else:
                self._record(request, SUCCEEDED, message=message)
                return

    def _wait(self, seconds: float) -> None:
        self._stopping.wait(seconds)

    def _create(self, request: Request) -> dict[str, Any]:
        params = dict(request.params)
        # The SDK's method has no such argument; the API version that is asked for with it has the field.
        extra = {"temperature": params.pop("temperature")} if "temperature" in params else None
        timeout_s = max(self._settings.timeout_s, params["max_tokens"] * SECONDS_PER_TOKEN)
        message = self._client.messages.create(**params, extra_body=extra, timeout=timeout_s)
        facts: dict[str, Any] = message.to_dict(mode="json")
        if not isinstance(facts.get("content"), list):
            raise ValueError("a message without content")
        return facts

    def _record(self, request: Request, outcome: str, **facts: Any) -> None:
        self._ledger.add_result({"custom_id": request.custom_id, "batch": None, "outcome": outcome, **facts})
        self._on_result(request.custom_id)


def error_facts(error: Exception) -> dict[str, Any]:
    """An error as the ledger keeps it: the API's own type and message where it gave one."""
    kind = getattr(error, "type", None) or type(error).__name__
    return {"type": str(kind), "message": one_line(error)}
