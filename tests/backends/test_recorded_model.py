from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from lm_eval_strict.backends.recorded_model import ReplyFile, recorded
from lm_eval_strict.backends.replies import ReplyText


class Echo:
    """A model that reports each reply to its cache hook and fails at the prompt ``stop``."""

    rank = 0
    cache_hook = None

    def __init__(self) -> None:
        self.asked: list[str] = []

    def set_cache_hook(self, cache_hook: object) -> None:
        self.cache_hook = cache_hook

    def generate_until(self, requests: list) -> list[str]:
        replies = []
        for request in requests:
            context, settings = request.args
            if context == "stop":
                raise KeyboardInterrupt
            self.asked.append(context)
            replies.append(f"{context}!{len(self.asked)}")
            if self.cache_hook is not None:
                self.cache_hook.add_partial("generate_until", (context, settings), replies[-1])
        return replies


def request(context: str, **settings: object) -> SimpleNamespace:
    return SimpleNamespace(args=(context, settings))


def test_killed_run_asks_only_for_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    first = recorded(Echo, lambda _: ReplyFile(path))()
    with pytest.raises(KeyboardInterrupt):
        first.generate_until([request("a"), request("b"), request("stop")])
    second = recorded(Echo, lambda _: ReplyFile(path))()
    assert second.generate_until([request("a"), request("b"), request("c")]) == ["a!1", "b!2", "c!1"]
    assert second.asked == ["c"]


def test_repeats_of_a_request_are_kept_apart(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    model = recorded(Echo, lambda _: ReplyFile(path))()
    assert model.generate_until([request("a")] * 3) == ["a!1", "a!2", "a!3"]
    again = recorded(Echo, lambda _: ReplyFile(path))()
    assert again.generate_until([request("a")] * 4) == ["a!1", "a!2", "a!3", "a!1"]


def test_settings_belong_to_the_request(tmp_path: Path) -> None:
    model = recorded(Echo, lambda _: ReplyFile(tmp_path / "replies.jsonl"))()
    model.generate_until([request("a", temperature=0.0)])
    model.generate_until([request("a", temperature=1.0)])
    assert model.asked == ["a", "a"]


def test_half_written_line_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    file = ReplyFile(path)
    file.put(("r", 0), "whole")
    with path.open("a") as broken:
        broken.write('{"request": "r", "repeat": 1, "rep')
    reopened = ReplyFile(path)
    assert reopened.replies == {("r", 0): "whole"}
    reopened.put(("r", 1), "new")
    assert ReplyFile(path).replies == {("r", 0): "whole", ("r", 1): "new"}


def test_facts_of_a_reply_outlive_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    file = ReplyFile(path)
    file.put(("r", 0), "text")
    file.put(("r", 0), ReplyText("text", {"truncated": "yes"}))
    assert ReplyFile(path).replies["r", 0].facts == {"truncated": "yes"}


def test_lm_evals_own_hook_still_hears(tmp_path: Path) -> None:
    heard = []
    model = recorded(Echo, lambda _: ReplyFile(tmp_path / "replies.jsonl"))()
    model.generate_until([request("a")])
    model.set_cache_hook(SimpleNamespace(add_partial=lambda *args: heard.append(args)))
    model.generate_until([request("b")])
    assert [args[2] for args in heard] == ["b!2"]


def test_recorded_model_keeps_the_name_of_the_class(tmp_path: Path) -> None:
    assert recorded(Echo, lambda _: ReplyFile(tmp_path / "x")).__name__ == "Echo"
