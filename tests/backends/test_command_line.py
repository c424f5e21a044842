"""The command line over the batch backend: faults as one line, estimates first, state that is kept."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from asks import backend, instances
from messages_server import MessagesServer

from lm_eval_strict.backends.batch_ledger import BatchLedger
from lm_eval_strict.report import cli


def command(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["lm-eval-strict", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


def test_clean_keeps_a_run_whose_batch_is_not_collected(
    server: MessagesServer, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lm = backend(server.address)
    lm.generate_until(instances(["a"]))
    open_run = home / "batches" / "open"
    ledger = BatchLedger(open_run)
    ledger.intend(["x"], mark=None)
    ledger.close()
    for path in home.rglob("*"):
        os.utime(path, (0, 0))
    assert command(monkeypatch, "clean", "--older-than", "1d") == 0
    assert (open_run / "ledger.jsonl").exists()
    assert lm.ledger_path is not None
    assert not list(lm.ledger_path.iterdir())


def test_a_dry_run_of_another_backend_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["run", "--model", "dummy", "--tasks", "nothing", "--dry-run"]
    assert command(monkeypatch, *arguments) == 2
    assert "--dry-run is for --model anthropic-batches" in capsys.readouterr().err


def test_a_key_in_model_args_is_refused_before_lm_eval_logs_it(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--model_args", "model=m,api_key=sk-oops", "--tasks", "nothing"]
    assert command(monkeypatch, "run", "--model", "anthropic-batches", *arguments) == 2
    seen = capfd.readouterr()
    assert "set ANTHROPIC_API_KEY" in seen.err
    assert "sk-oops" not in seen.out + seen.err


def test_a_fault_of_the_backend_is_one_line_and_status_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(name: str) -> None:
        raise cli.BackendFault(f"RUN={name}: no such run")

    monkeypatch.setattr("lm_eval_strict.backends.cost.paid_of_run", refuse)
    assert command(monkeypatch, "cost", "x") == 2
    assert capsys.readouterr().err == "lm-eval-strict: RUN=x: no such run\n"
