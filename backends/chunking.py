"""Requests go in, lists of requests that each fit into one Message Batch come out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from .faults import BackendFault
from .requests import Request

# {"requests": [...]} and a comma for each request.
ENVELOPE_BYTES = 64
SEPARATOR_BYTES = 2


def chunks(requests: Sequence[Request], *, max_requests: int, max_bytes: int) -> Iterator[list[Request]]:
    """Cut the requests, in order, into chunks of at most ``max_requests`` requests and ``max_bytes`` bytes.

    Raises BackendFault for a request that is larger than a whole batch may be.
    """
    chunk: list[Request] = []
    size = ENVELOPE_BYTES
    for request in requests:
        own = wire_bytes(request) + SEPARATOR_BYTES
        if own + ENVELOPE_BYTES > max_bytes:
            raise BackendFault(
                f"a request of task {request.task} has {own} bytes, more than a batch may have ({max_bytes})"
            )
        if chunk and (len(chunk) >= max_requests or size + own > max_bytes):
            yield chunk
            chunk, size = [], ENVELOPE_BYTES
        chunk.append(request)
        size += own
    if chunk:
        yield chunk


def wire_bytes(request: Request) -> int:
    """An upper bound on the bytes of one request in the batch's JSON, whatever way the SDK escapes text."""
    return len(json.dumps({"custom_id": request.custom_id, "params": request.params}))
