"""A call to the API goes in, its answer comes out, however often network or server failed in between."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

import anthropic
import httpx2

from .faults import BackendFault

T = TypeVar("T")

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 60.0


class Failure(Enum):
    """What a failed call says about the server's state."""

    REFUSED = "refused"  # answered, nothing was started, asking again is useless
    BUSY = "busy"  # answered, nothing was started, ask again later
    UNKNOWN = "unknown"  # it may have been carried out


# A truncated body with status 200 surfaces as a JSON error (a ValueError) or as an error of the HTTP library.
CALL_ERRORS: tuple[type[Exception], ...] = (anthropic.AnthropicError, httpx2.HTTPError, ValueError)


def classify(error: Exception) -> Failure:
    """Sort a failed call: 429 and 529 refuse before any work; other 5xx, 408 and 409 may come after it."""
    if isinstance(error, anthropic.APIStatusError):
        if error.status_code in (429, 529):
            return Failure.BUSY
        if error.status_code in (408, 409) or error.status_code >= 500:
            return Failure.UNKNOWN
        return Failure.REFUSED
    if isinstance(error, anthropic.APIConnectionError | httpx2.HTTPError | ValueError):
        return Failure.UNKNOWN
    if isinstance(error, anthropic.APIResponseValidationError):
        return Failure.UNKNOWN
    return Failure.REFUSED


def asked_wait_s(error: Exception) -> float | None:
    """The seconds that the server's ``retry-after`` header asks for."""
    if not isinstance(error, anthropic.APIStatusError):
        return None
    try:
        return max(0.0, float(error.response.headers.get("retry-after", "")))
    except ValueError:
        return None


@dataclass
class Backoff:
    """Waits that double, from half a second to a minute, and start again after ``reset``."""

    sleep: Callable[[float], None] = time.sleep
    tries: int = 0

    def wait(self, asked_s: float | None = None) -> None:
        """Sleep: what the server asked for, or the next step of the backoff with up to a quarter less."""
        step = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2.0 ** min(self.tries, 20))
        self.tries += 1
        self.sleep(asked_s if asked_s is not None else step * (1 - 0.25 * random.random()))

    def reset(self) -> None:
        """Begin again with the short waits."""
        self.tries = 0


def insist(what: str, call: Callable[[], T], *, patience_s: float, backoff: Backoff | None = None) -> T:
    """Make a call that may safely be repeated until it succeeds.

    Raises BackendFault when the API refuses it, or when it has failed for ``patience_s`` seconds on end.
    """
    backoff = backoff or Backoff()
    since = time.monotonic()
    while True:
        try:
            return call()
        except CALL_ERRORS as error:
            if classify(error) is Failure.REFUSED:
                raise BackendFault(f"{what}: {one_line(error)}") from error
            if time.monotonic() - since > patience_s:
                raise BackendFault(
                    f"{what} has failed for {patience_s:.0f} s ({one_line(error)}); "
                    "nothing is lost, the same command goes on from here"
                ) from error
            backoff.wait(asked_wait_s(error))


def one_line(error: Exception) -> str:
    """An error as one line without the request's body."""
    if isinstance(error, anthropic.APIStatusError):
        message = error.api_message or "no message"
        return f"HTTP {error.status_code} {error.type or ''}: {message}".replace("\n", " ")
    return (str(error) or type(error).__name__).splitlines()[0]
