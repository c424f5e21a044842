"""The loopback server, a state folder of its own and a key for each test of the backends."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# The helpers beside the tests are plain modules, imported by tests and by the processes that tests start.
sys.path.insert(0, str(Path(__file__).parent))

from messages_server import KEY, MessagesServer


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    running = MessagesServer()
    running.start()
    yield running
    running.stop()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    monkeypatch.setenv("LM_EVAL_STRICT_HOME", str(folder))
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setattr("lm_eval_strict.backends.patience.FIRST_WAIT_S", 0.02)
    for name in ("ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.delenv(name, raising=False)
    return folder
