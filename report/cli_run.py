"""``run``: lm-eval's own command line, with the preflight first and each reply on disk as it comes."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from .faults import UsageFault

if TYPE_CHECKING:
    from argparse import Namespace

    from lm_eval_strict.backends.recorded_model import ReplyFile

HOW_TO_END = (
    "output_path",
    "log_samples",
    "show_config",
    "wandb_args",
    "wandb_config_args",
    "hf_hub_log_args",
)
"""Options that say where results go, not what the model is asked: they may change when a run is continued."""


DRY_RUN = "--dry-run"


def register(app: typer.Typer) -> None:
    """Add ``run`` to the command line; its options are lm-eval's."""
    app.command(
        "run",
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []},
    )(run)


def run(context: typer.Context) -> None:
    """Run lm_eval with its own options: preflight first, replies kept as they come, to be continued."""
    from unittest import mock

    from lm_eval._cli import HarnessCLI
    from lm_eval.utils import setup_logging

    from lm_eval_strict.backends import register_backends
    from lm_eval_strict.filters.task_spec import tasks_folder

    arguments = [each for each in context.args if each != DRY_RUN]
    if not any(each.split("=")[0] == "--include_path" for each in arguments):
        arguments += ["--include_path", str(tasks_folder())]
    sys.argv = ["lm_eval", "run", *arguments]
    setup_logging()
    register_backends()
    harness = HarnessCLI()
    options = harness.parse_args()
    preflight(options)
    if DRY_RUN in context.args:
        _ask_for_an_estimate(options)
    _check_batch_settings(options)
    files: list[ReplyFile] = []
    try:
        with mock.patch("lm_eval.api.registry.get_model", _recording_models(options, files)):
            harness.execute(options)
    except BaseException as error:
        _say_how_to_go_on(files, error)
        raise
    for file in files:
        file.finish()


def _ask_for_an_estimate(options: Namespace) -> None:
    if options.model != "anthropic-batches":
        raise UsageFault(
            f"{DRY_RUN} is for --model anthropic-batches, which is paid; got --model {options.model}"
        )
    options.model_args = {**(options.model_args or {}), "dry_run": True}


def _check_batch_settings(options: Namespace) -> None:
    """Refuse wrong settings before lm-eval loads anything, and a key before lm-eval logs it."""
    if options.model == "anthropic-batches":
        from lm_eval_strict.backends.settings import read_settings

        read_settings(options.model_args or {})


def preflight(options: Namespace) -> None:
    """Raise ``UsageFault`` unless each task of ours that ``options`` name can be graded here."""
    from lm_eval_strict.filters.preflight import PreflightFailure, check, read_settings
    from lm_eval_strict.filters.task_spec import read_task, task_names

    asked = getattr(options, "tasks", None) or []
    names = (
        asked.split(",") if isinstance(asked, str) else [name for each in asked for name in each.split(",")]
    )
    chosen: Mapping[str, Any] = getattr(options, "metadata", None) or {}
    try:
        settings = read_settings(chosen.get("isolation"), chosen.get("grade"))
        for name in names:
            if name in task_names():
                check(read_task(name), settings)
    except PreflightFailure as failure:
        raise UsageFault(str(failure)) from None


def _recording_models(options: Namespace, files: list[ReplyFile]) -> Any:
    """Return a stand-in for lm-eval's ``get_model`` whose models record their replies."""
    from lm_eval.api.registry import get_model

    from lm_eval_strict.backends.recorded_model import ReplyFile, recorded
    from lm_eval_strict.filters.journal import state_folder

    def open_replies(rank: int) -> ReplyFile:
        path = (
            state_folder()
            / "runs"
            / f"{_run_key(options)}-rank{rank or os.environ.get('LOCAL_RANK', 0)}.jsonl"
        )
        file = ReplyFile(Path(path))
        if file.replies:
            print(f"lm-eval-strict: going on with {len(file.replies)} replies of {path}", file=sys.stderr)
        else:
            print(f"lm-eval-strict: replies are kept in {path}", file=sys.stderr)
        files.append(file)
        return file

    return lambda name: recorded(get_model(name), open_replies)


def _run_key(options: Namespace) -> str:
    """Return what identifies a run: every option but those that say where its results go."""
    asked = {name: value for name, value in vars(options).items() if name not in (*HOW_TO_END, "func")}
    return hashlib.sha256(json.dumps(asked, sort_keys=True, default=str).encode()).hexdigest()[:16]


def _say_how_to_go_on(files: list[ReplyFile], error: BaseException) -> None:
    if isinstance(error, SystemExit) and not error.code:
        return
    for file in files:
        print(
            f"lm-eval-strict: {len(file.replies)} replies are kept in {file.path}; the same command goes on",
            file=sys.stderr,
        )
