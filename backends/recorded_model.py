"""Any lm-eval model class in, the same model out with each reply on disk as it comes.

lm-eval asks for all replies at once and has them only when the last is there. A model reports each reply to
its *cache hook* as it comes; the recorder listens there, and takes from the returned list what a model did
not report. A run that was killed finds its replies in the file and asks only for the rest.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .replies import ReplyText

RequestKey = tuple[str, int]


class ReplyFile:
    """Replies on disk, by request and repeat; a half-written last line is dropped on opening."""

    def __init__(self, path: Path) -> None:
        """Open or create ``path`` (JSONL: ``request``, ``repeat``, ``reply``)."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.replies: dict[RequestKey, str] = {}
        whole = path.read_bytes().rpartition(b"\n")[0] + b"\n" if path.is_file() else b""
        for line in whole.decode("utf-8").split("\n"):
            if line:
                entry = json.loads(line)
                self.replies[entry["request"], entry["repeat"]] = _with_facts(entry)
        self._file = path.open("w" if not self.replies else "r+", encoding="utf-8")
        self._file.truncate(len(whole) if self.replies else 0)
        self._file.seek(0, os.SEEK_END)

    def put(self, key: RequestKey, reply: str) -> None:
        """Keep ``reply`` and return once it is on the disk; an equal one is not written twice."""
        known = self.replies.get(key)
        if known == reply and (isinstance(known, ReplyText) or not isinstance(reply, ReplyText)):
            return
        self.replies[key] = reply
        facts = {"facts": reply.facts} if isinstance(reply, ReplyText) else {}
        self._file.write(json.dumps({"request": key[0], "repeat": key[1], "reply": reply, **facts}) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def finish(self) -> None:
        """Remove the file: the run has ended and its replies went on."""
        self._file.close()
        self.path.unlink(missing_ok=True)


class _Recorder:
    """The cache hook that hears of each reply, in front of the hook that lm-eval may have set."""

    def __init__(self, replies: ReplyFile) -> None:
        self.replies = replies
        self.inner: Any = None
        self.expected: dict[str, deque[RequestKey]] = defaultdict(deque)

    def add_partial(self, attr: str, request: Any, reply: Any) -> None:
        if attr == "generate_until" and isinstance(reply, str):
            waiting = self.expected.get(_request_hash(request[0], request[1] if len(request) > 1 else None))
            waiting = waiting or self.expected.get(_request_hash(request[0], None))
            if waiting:
                self.replies.put(waiting.popleft(), reply)
        if self.inner is not None:
            self.inner.add_partial(attr, request, reply)


def recorded(model_class: type, open_replies: Callable[[int], ReplyFile]) -> type:
    """Return a subclass of the lm-eval model ``model_class`` that records its replies.

    ``open_replies`` gets the model's rank and returns the file; it is called with the first request. The name
    and module of the class stay, so that lm-eval reports the model as itself.
    """

    class Recorded(model_class):  # type: ignore[misc]
        _recorder: _Recorder | None = None
        _seen: Counter[str]

        def generate_until(self, requests: Sequence[Any], *args: Any, **kwargs: Any) -> list[str]:
            if self._recorder is None:
                self._recorder, self._seen = _Recorder(open_replies(self.rank)), Counter()
                self.set_cache_hook(self.cache_hook)
            keys = [self._next_key(request) for request in requests]
            kept = self._recorder.replies.replies
            missing = [index for index, key in enumerate(keys) if key not in kept]
            for index in missing:
                context, settings = requests[index].args[:2]
                self._recorder.expected[_request_hash(context, settings)].append(keys[index])
            asked = [requests[index] for index in missing]
            fresh = super().generate_until(asked, *args, **kwargs) if asked else []
            for index, reply in zip(missing, fresh, strict=True):
                self._recorder.replies.put(keys[index], reply)
            return [kept[key] for key in keys]

        def set_cache_hook(self, cache_hook: Any) -> None:
            if self._recorder is None or cache_hook is self._recorder:
                super().set_cache_hook(cache_hook)
            else:
                self._recorder.inner = cache_hook
                super().set_cache_hook(self._recorder)

        def _next_key(self, request: Any) -> RequestKey:
            hashed = _request_hash(*request.args[:2])
            self._seen[hashed] += 1
            return hashed, self._seen[hashed] - 1

    Recorded.__name__, Recorded.__qualname__ = model_class.__name__, model_class.__qualname__
    Recorded.__module__ = model_class.__module__
    return Recorded


def _with_facts(entry: Mapping[str, Any]) -> str:
    reply: str = entry["reply"]
    return ReplyText(reply, entry["facts"]) if "facts" in entry else reply


def _request_hash(context: Any, settings: Any) -> str:
    """Return what identifies a request: its prompt and, where they are known, its generation settings."""
    text = json.dumps([str(context), settings], sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
