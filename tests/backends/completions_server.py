"""A loopback server for OpenAI's chat and text completions, strict about fields; it echoes the prompt."""

from __future__ import annotations

import json
import threading
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SHARED = {"model": str, "max_tokens": int, "temperature": int | float, "seed": int, "stop": list}
FIELDS = {
    "/v1/chat/completions": {**SHARED, "messages": list},
    "/v1/completions": {**SHARED, "prompt": str},
}
MOST_STOPS = 4


class CompletionsServer:
    """Answers ``echo(PROMPT) seed SEED``; ``faults`` are statuses to answer first."""

    def __init__(self) -> None:
        self.bodies: list[tuple[str, dict[str, Any]]] = []
        self.faults: deque[int] = deque()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def stop(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def answer(self, path: str, body: Any) -> tuple[int, dict[str, Any]]:
        """The status and the body of the answer."""
        if self.faults:
            return self.faults.popleft(), {"error": {"message": "fault"}}
        said = _problem(path, body)
        if said:
            return 400, {"error": {"message": said}}
        self.bodies.append((path, body))
        chat = path == "/v1/chat/completions"
        prompt = body["messages"][-1]["content"] if chat else body["prompt"]
        text = f"echo({prompt}) seed {body['seed']}"
        choice: dict[str, Any] = {"index": 0, "finish_reason": "stop"}
        choice |= {"message": {"role": "assistant", "content": text}} if chat else {"text": text}
        return 200, {"id": "cmpl-1", "object": "completion", "model": body["model"], "choices": [choice]}


def _problem(path: str, body: Any) -> str | None:
    if path not in FIELDS:
        return f"no such path {path}"
    for name, value in body.items():
        if name not in FIELDS[path]:
            return f"{name}: unknown field"
        if not isinstance(value, FIELDS[path][name]):
            return f"{name}: wrong type"
    missing = {"model", "messages" if "chat" in path else "prompt"} - set(body)
    if missing:
        return f"{missing}: missing"
    stops = body.get("stop", [])
    if len(stops) > MOST_STOPS or not all(isinstance(stop, str) for stop in stops):
        return f"stop: at most {MOST_STOPS} texts"
    return None


def _handler(server: CompletionsServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            """Be quiet."""

        def do_GET(self) -> None:
            self._send(404, {"error": {"message": "not found"}})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            self._send(*server.answer(self.path, body))

        def _send(self, status: int, answer: dict[str, Any]) -> None:
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return Handler
