"""Decisions posted by the review page in, lines on disk out; on loopback, under a secret path."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

from .decisions import Decision, DecisionFile, check_decision

LOOPBACK = "127.0.0.1"
BODY_MOST = 65_536


class ReviewServer(ThreadingHTTPServer):
    """Serve one page under a secret path and take its decisions.

    ``page`` gives the page as of now, from the decisions so far. A request with another Host is refused, so
    that no page of the web can reach the desk under a name of its own.
    """

    daemon_threads = True

    def __init__(
        self,
        port: int,
        page: Callable[[dict[str, Decision], str], str],
        file: DecisionFile,
        known: dict[str, Decision],
    ) -> None:
        """Bind to ``port`` on loopback; 0 takes a free one. Raises OSError if the port is taken."""
        super().__init__((LOOPBACK, port), _Handler)
        self.path = f"/{secrets.token_urlsafe(16)}/"
        self.known = known
        self._page = page
        self._file = file
        self._lock = Lock()

    @property
    def url(self) -> str:
        """Give the address to open."""
        return f"http://{LOOPBACK}:{self.server_port}{self.path}"

    def page(self) -> bytes:
        """Write the page with every decision so far."""
        with self._lock:
            known = dict(self.known)
        return self._page(known, "decision").encode()

    def take(self, decision: Decision) -> None:
        """Put one decision on disk."""
        with self._lock:
            self._file.add(decision)
            self.known[decision.key] = decision


class _Handler(BaseHTTPRequestHandler):
    server: ReviewServer
    protocol_version = "HTTP/1.1"

    def _allowed(self) -> bool:
        host = self.headers.get("Host", "")
        port = self.server.server_port
        return host in (f"{LOOPBACK}:{port}", f"localhost:{port}") and self.path.startswith(self.server.path)

    def _answer(self, status: HTTPStatus, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Content-Security-Policy", "frame-ancestors 'none'")
        self.end_headers()
        self.wfile.write(body)

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        self.close_connection = True
        self._answer(status, why.encode(), "text/plain; charset=utf-8")

    def do_GET(self) -> None:
        """Send the page."""
        if not self._allowed() or self.path != self.server.path:
            self._refuse(HTTPStatus.NOT_FOUND, "not here")
            return
        self._answer(HTTPStatus.OK, self.server.page(), "text/html; charset=utf-8")

    def do_POST(self) -> None:
        """Take one decision."""
        if not self._allowed() or self.path != self.server.path + "decision":
            self._refuse(HTTPStatus.NOT_FOUND, "not here")
            return
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > BODY_MOST:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too large")
            return
        try:
            record = json.loads(self.rfile.read(int(length)))
            if not isinstance(record, dict):
                raise ValueError("not an object")
            self.server.take(check_decision(record))
        except ValueError as fault:
            self._refuse(HTTPStatus.BAD_REQUEST, str(fault))
            return
        except OSError as fault:
            self._refuse(HTTPStatus.INSUFFICIENT_STORAGE, f"not on disk: {fault}")
            return
        self._answer(HTTPStatus.OK, b'{"saved":true}', "application/json")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the terminal belongs to the command."""
