"""A loopback server that speaks the wire of Messages and Message Batches, as strict as the SDK's types.

``World`` is what the API would remember (batches, what was paid); it outlives the HTTP server, so that a
server can be stopped and started again. ``Faults`` says what goes wrong next: each queue is used up one
entry a request.
"""

from __future__ import annotations

import hashlib
import json
import re
import socket
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from message_rules import MAX_OUTPUT_TOKENS, MODELS, VERSIONS, problem, thinks

KEY = "sk-test-not-a-real-key"
CUSTOM_ID = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")
MAX_BATCH_REQUESTS = 100_000
MAX_BATCH_BYTES = 256_000_000

ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    503: "api_error",
    529: "overloaded_error",
}


@dataclass
class Faults:
    """What goes wrong, in the order of the requests; "ok" in a queue lets one request pass."""

    create: deque[Any] = field(
        default_factory=deque
    )  # status | drop_before | drop_after | 500_after | garbage_after
    poll: deque[Any] = field(default_factory=deque)  # status | drop_before
    plain: deque[Any] = field(default_factory=deque)  # status | drop_before
    results: deque[Any] = field(default_factory=deque)  # (lines, "mid_line" | "line_end" | "reset")
    slow_s: float = 0.0
    retry_after: str | None = "0.01"


@dataclass
class Batch:
    """One Message Batch as the server keeps it."""

    id: str
    created_at: datetime
    requests: list[dict[str, Any]]
    version: str
    ends_at: float  # time.monotonic
    results: list[dict[str, Any]] | None = None  # None: still processing
    archived: bool = False

    def public(self, address: str) -> dict[str, Any]:
        counts = Counter(line["result"]["type"] for line in self.results or [])
        ended = self.results is not None
        return {
            "id": self.id,
            "type": "message_batch",
            "created_at": self.created_at.isoformat(),
            "expires_at": (self.created_at + timedelta(hours=24)).isoformat(),
            "ended_at": self.created_at.isoformat() if ended else None,
            "archived_at": self.created_at.isoformat() if self.archived else None,
            "cancel_initiated_at": None,
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": {
                "processing": 0 if ended else len(self.requests),
                **{kind: counts[kind] for kind in ("succeeded", "errored", "canceled", "expired")},
            },
            "results_url": f"{address}/v1/messages/batches/{self.id}/results"
            if ended and not self.archived
            else None,
        }


class World:
    """Everything the API remembers."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.faults = Faults()
        self.batches: dict[str, Batch] = {}
        self.created = 0
        # custom_id, or the message id without its number for a plain request -> generations billed
        self.paid: Counter[str] = Counter()
        self.generated: Counter[str] = Counter()  # body hash -> generations
        self.tried: Counter[str] = Counter()  # custom_id -> times processed
        self.bodies: list[tuple[str, dict[str, str], Any]] = []  # path, headers, body of every POST
        self.processing_s = 0.05
        self.reverse_results = False
        self.in_flight = 0
        self.in_flight_most = 0
        self.outcome: Callable[[str, int], str] = lambda custom_id, times: "succeeded"
        self.on_arrival: Callable[[], None] = lambda: None
        self.on_created: Callable[[Batch], None] = lambda batch: None
        self.on_result_line: Callable[[int], None] = lambda lines_sent: None

    def add_batch(self, requests: list[dict[str, Any]], version: str) -> Batch:
        with self.lock:
            self.created += 1
            number = self.created
            created = datetime(2026, 12, 1, tzinfo=timezone.utc) + timedelta(seconds=number)
            ends_at = time.monotonic() + self.processing_s
            batch = Batch(f"msgbatch_{number:04d}", created, requests, version, ends_at)
            self.batches[batch.id] = batch
            return batch

    def go_on(self) -> None:
        """End every batch whose time has come."""
        with self.lock:
            for batch in self.batches.values():
                if batch.results is None and time.monotonic() >= batch.ends_at:
                    lines = [self._process(request, batch.version) for request in batch.requests]
                    batch.results = lines[::-1] if self.reverse_results else lines

    def _process(self, request: dict[str, Any], version: str) -> dict[str, Any]:
        custom_id = request["custom_id"]
        self.tried[custom_id] += 1
        said = problem(request["params"], version)
        outcome = "errored" if said else self.outcome(custom_id, self.tried[custom_id])
        result: dict[str, Any] = {"type": outcome}
        if outcome == "succeeded":
            result["message"] = self.answer(request["params"], tier="batch")
            self.paid[custom_id] += 1
        elif outcome == "errored":
            kind = ("invalid_request_error", said) if said else ("api_error", "Internal server error")
            result["error"] = {
                "type": "error",
                "error": {"type": kind[0], "message": kind[1]},
                "request_id": None,
            }
        return {"custom_id": custom_id, "result": result}

    def answer(self, params: dict[str, Any], *, tier: str) -> dict[str, Any]:
        """Generate: a text that tells prompt and repetition, and usage that follows from the prompt."""
        with self.lock:
            body = json.dumps(params, sort_keys=True)
            digest = hashlib.sha256(body.encode()).hexdigest()
            self.generated[digest] += 1
            repetition = self.generated[digest]
        prompt = params["messages"][-1]["content"]
        cut = "CUT" in prompt
        content: list[dict[str, Any]] = []
        thinking_tokens = 0
        if thinks(params):
            omitted = params["thinking"].get("display") == "omitted"
            thinking = "" if omitted else f"I wonder about {digest[:6]}."
            content.append({"type": "thinking", "thinking": thinking, "signature": "c2ln"})
            thinking_tokens = 7
        if not (cut and thinks(params)):
            content.append({"type": "text", "text": f"answer {digest[:10]}\n\nnumber {repetition}"})
        return {
            "id": f"msg_{digest[:12]}_{repetition}",
            "type": "message",
            "role": "assistant",
            "model": params["model"],
            "content": content,
            "stop_reason": "max_tokens" if cut else "end_turn",
            "stop_sequence": None,
            "usage": {
                "input_tokens": len(prompt) // 4 + 3,
                "output_tokens": 11 + thinking_tokens + int(digest[:2], 16) % 5,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0,
                "output_tokens_details": {"thinking_tokens": thinking_tokens},
                "service_tier": tier,
            },
        }


class MessagesServer:
    """The HTTP server over a world; ``start`` after ``stop`` takes the same port again."""

    def __init__(self) -> None:
        self.world = World()
        self._port = 0
        self._http: ThreadingHTTPServer | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        self._http = _Http(("127.0.0.1", self._port), _Handler)
        self._http.world = self.world
        self._port = self._http.server_address[1]
        self._http.address = self.address
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        if self._http is not None:
            self._http.shutdown()
            self._http.server_close()
            self._http = None


class _Http(ThreadingHTTPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    world: World
    address: str

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed breaks its connection: nothing to report."""


class _Refusal(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class _Drop(Exception):
    """The connection ends here, without an answer."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Http

    def log_message(self, format: str, *args: Any) -> None:
        """Be quiet."""

    def do_GET(self) -> None:
        self._serve(self._get)

    def do_POST(self) -> None:
        self._serve(self._post)

    def _serve(self, method: Callable[[list[str], dict[str, list[str]]], None]) -> None:
        url = urlsplit(self.path)
        try:
            time.sleep(self.server.world.faults.slow_s)
            self._check_headers()
            method(url.path.strip("/").split("/"), parse_qs(url.query))
        except _Refusal as refusal:
            self._refuse(refusal.status, str(refusal))
        except _Drop:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)

    def _check_headers(self) -> None:
        bearer = self.headers.get("authorization", "")
        if self.headers.get("x-api-key") != KEY and bearer != f"Bearer {KEY}":
            raise _Refusal(401, "invalid x-api-key")
        if self.headers.get("anthropic-version") not in VERSIONS:
            raise _Refusal(400, "anthropic-version: header is required")

    # ---- GET

    def _get(self, parts: list[str], query: dict[str, list[str]]) -> None:
        world = self.server.world
        world.go_on()
        match parts:
            case ["v1", "models", name]:
                self._model(name)
            case ["v1", "messages", "batches"]:
                self._list(query)
            case ["v1", "messages", "batches", name]:
                self._fault(world.faults.poll)
                batch = self._batch(name)
                self._send(batch.public(self.server.address))
            case ["v1", "messages", "batches", name, "results"]:
                self._results(self._batch(name))
            case _:
                raise _Refusal(404, "Not found")

    def _batch(self, name: str) -> Batch:
        try:
            return self.server.world.batches[name]
        except KeyError:
            raise _Refusal(404, f"Message Batch with id `{name}` not found") from None

    def _list(self, query: dict[str, list[str]]) -> None:
        unknown = set(query) - {"limit", "after_id", "before_id"}
        limit = int(query.get("limit", ["20"])[0])
        if unknown or not 1 <= limit <= 1000:
            raise _Refusal(400, f"query: {unknown or limit}")
        newest_first = list(self.server.world.batches.values())[::-1]
        ids = [batch.id for batch in newest_first]
        if "after_id" in query:
            newest_first = newest_first[ids.index(query["after_id"][0]) + 1 :]
        page = newest_first[:limit]
        self._send(
            {
                "data": [batch.public(self.server.address) for batch in page],
                "has_more": len(newest_first) > limit,
                "first_id": page[0].id if page else None,
                "last_id": page[-1].id if page else None,
            }
        )

    def _model(self, name: str) -> None:
        if name not in MODELS:
            raise _Refusal(404, f"model: {name}")
        yes, no = {"supported": True}, {"supported": False}
        has = MODELS[name]
        kinds = ("adaptive", "between_tools", "disabled", "enabled")
        levels = ("low", "medium", "high", "xhigh", "max")
        self._send(
            {
                "id": name,
                "type": "model",
                "display_name": name,
                "created_at": "2026-10-07T00:00:00Z",
                "lifecycle": "active",
                "max_tokens": MAX_OUTPUT_TOKENS,
                "max_input_tokens": 1_000_000,
                "capabilities": {
                    "batch": yes,
                    "thinking": {
                        "supported": True,
                        "types": {kind: yes if kind in has["thinking"] else no for kind in kinds},
                    },
                    "effort": {
                        "supported": bool(has["effort"]),
                        **{level: yes if level in has["effort"] else no for level in levels},
                    },
                },
            }
        )

    def _results(self, batch: Batch) -> None:
        world = self.server.world
        if batch.results is None or batch.archived:
            raise _Refusal(404, "results are not available")
        lines = [json.dumps(line).encode() + b"\n" for line in batch.results]
        cut, how = (len(lines), "whole")
        if world.faults.results:
            fault = world.faults.results.popleft()
            if isinstance(fault, int):
                raise _Refusal(fault, "fault")
            cut, how = fault
        self.send_response(200)
        self.send_header("content-type", "application/x-jsonl")
        # Without a length the connection's end is the body's end, so a cut at a line looks complete.
        if how == "reset":
            self.send_header("content-length", str(sum(map(len, lines))))
        self.send_header("connection", "close")
        self.end_headers()
        for number, line in enumerate(lines[:cut], 1):
            self.wfile.write(line)
            world.on_result_line(number)
        if how == "mid_line" and cut < len(lines):
            self.wfile.write(lines[cut][: len(lines[cut]) // 2])
        self.wfile.flush()
        self.close_connection = True

    # ---- POST

    def _post(self, parts: list[str], query: dict[str, list[str]]) -> None:
        length = int(self.headers.get("content-length", "0"))
        if length > MAX_BATCH_BYTES:
            raise _Refusal(413, "Request exceeds the maximum size")
        raw = self.rfile.read(length)
        if not self.headers.get("content-type", "").startswith("application/json"):
            raise _Refusal(400, "content-type must be application/json")
        try:
            body = json.loads(raw)
        except ValueError:
            raise _Refusal(400, "The request body is not valid JSON") from None
        self.server.world.bodies.append((self.path, dict(self.headers.items()), body))
        match parts:
            case ["v1", "messages"]:
                self._message(body)
            case ["v1", "messages", "batches"]:
                self._create(body)
            case _:
                raise _Refusal(404, "Not found")

    def _message(self, body: Any) -> None:
        world = self.server.world
        with world.lock:
            world.in_flight += 1
            world.in_flight_most = max(world.in_flight_most, world.in_flight)
        try:
            self._fault(world.faults.plain)
            said = problem(body, self.headers["anthropic-version"])
            if said:
                raise _Refusal(400, said)
            message = world.answer(body, tier="standard")
            with world.lock:
                world.paid[message["id"].rsplit("_", 1)[0]] += 1
        finally:
            with world.lock:
                world.in_flight -= 1
        self._send(message)

    def _create(self, body: Any) -> None:
        world = self.server.world
        fault = self._fault(world.faults.create)
        said = _batch_problem(body)
        if said:
            raise _Refusal(400, said)
        world.on_arrival()
        batch = world.add_batch(body["requests"], self.headers["anthropic-version"])
        world.on_created(batch)
        if fault == "drop_after":
            raise _Drop
        if fault == "500_after":
            raise _Refusal(500, "Internal server error")
        if fault == "garbage_after":
            self._send_bytes(200, json.dumps(batch.public(self.server.address)).encode()[:40])
            return
        self._send(batch.public(self.server.address))

    # ---- answers

    def _fault(self, queue: deque[Any]) -> Any:
        fault = queue.popleft() if queue else "ok"
        if isinstance(fault, int):
            raise _Refusal(fault, "fault")
        if fault == "drop_before":
            raise _Drop
        return fault

    def _refuse(self, status: int, message: str) -> None:
        error = {"type": ERROR_TYPES.get(status, "api_error"), "message": message}
        body = json.dumps({"type": "error", "error": error, "request_id": "req_test"}).encode()
        self._send_bytes(status, body)

    def _send(self, body: dict[str, Any]) -> None:
        self._send_bytes(200, json.dumps(body).encode())

    def _send_bytes(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        retry_after = self.server.world.faults.retry_after
        if status in (429, 529) and retry_after is not None:
            self.send_header("retry-after", retry_after)
        # A refusal may come before the body was read: the connection cannot be used again.
        if status >= 400:
            self.send_header("connection", "close")
            self.close_connection = True
        self.end_headers()
        self.wfile.write(body)


def _batch_problem(body: Any) -> str | None:
    """Why a batch is refused as a whole; what is wrong with one request shows only in its result."""
    if not isinstance(body, dict) or set(body) != {"requests"}:
        return "requests: Field required, and no other"
    requests = body["requests"]
    if not isinstance(requests, list) or not 1 <= len(requests) <= MAX_BATCH_REQUESTS:
        return f"requests: from 1 to {MAX_BATCH_REQUESTS} are required"
    for number, request in enumerate(requests):
        if not isinstance(request, dict) or set(request) != {"custom_id", "params"}:
            return f"requests.{number}: custom_id and params are required, and no other field"
        if not isinstance(request["custom_id"], str) or not CUSTOM_ID.match(request["custom_id"]):
            return f"requests.{number}.custom_id: String should match pattern '{CUSTOM_ID.pattern}'"
        if not isinstance(request["params"], dict):
            return f"requests.{number}.params: Input should be an object"
    if len({request["custom_id"] for request in requests}) != len(requests):
        return "requests: custom_id must be unique"
    return None
