"""Requests as lm-eval makes them, backends for a server, and case tables, for the tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lm_eval.api.instance import Instance

from lm_eval_strict.backends.anthropic_batches import AnthropicBatches

CASES = Path(__file__).parents[1] / "cases"


def cases(name: str) -> list[dict[str, Any]]:
    """The rows of tests/cases/NAME.jsonl."""
    return [json.loads(line) for line in (CASES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def instances(
    prompts: list[Any], *, task: str = "toy", repeats: int = 1, **gen_kwargs: Any
) -> list[Instance]:
    """One Instance for each prompt, repeated as lm-eval's evaluate() repeats them."""
    made = []
    for number, prompt in enumerate(prompts):
        instance = Instance(
            request_type="generate_until",
            doc={},
            arguments=(prompt, {"until": [], "max_gen_toks": 100, **gen_kwargs}),
            idx=0,
            metadata=(task, number, repeats),
        )
        made.extend([instance] * repeats)
    return made


def backend(address: str, **model_args: Any) -> AnthropicBatches:
    """The backend with the short waits of a test."""
    quick = {"model": "claude-haiku-5-5", "poll_s": 0.02, "settle_s": 0.2, "timeout_s": 20, "patience_s": 20}
    return AnthropicBatches(**{**quick, "base_url": address, **model_args})
