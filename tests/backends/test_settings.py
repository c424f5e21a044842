"""model_args in, settings or one line of refusal out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from asks import cases
from lm_eval.utils import simple_parse_args_string

from lm_eval_strict.backends.faults import BackendFault
from lm_eval_strict.backends.requests import Ask, message_params
from lm_eval_strict.backends.settings import read_settings


@pytest.mark.parametrize("case", cases("backend_refusals"), ids=lambda case: case["name"])
def test_a_refused_argument_is_one_line_that_names_it(case: dict[str, Any]) -> None:
    with pytest.raises(BackendFault) as caught:
        read_settings(case["model_args"])
    assert case["says"] in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "sk-secret" not in str(caught.value)


def test_the_text_of_a_command_line_becomes_typed_settings() -> None:
    text = (
        "model=claude-haiku-5-5,thinking=adaptive,effort=high,max_tokens=8192,batch=false,concurrency=4,run=2"
    )
    settings = read_settings({**simple_parse_args_string(text), "batch_size": 1, "device": None})
    assert (settings.thinking, settings.effort, settings.max_tokens) == ("adaptive", "high", 8192)
    assert (settings.batch, settings.concurrency, settings.run) == (False, 4, "2")


def test_a_system_prompt_can_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "system.txt"
    file.write_text("Commas, = and\nlines.", encoding="utf-8")
    assert read_settings({"model": "m", "system": f"@{file}"}).system == "Commas, = and\nlines."


@pytest.mark.parametrize(
    ("model_args", "context", "says"),
    [
        ({"thinking": "enabled", "budget_tokens": 2048}, "x", "must be below max_tokens=100"),
        (
            {"thinking": "adaptive"},
            [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}],
            "begins the assistant's reply",
        ),
        (
            {"system": "A"},
            [{"role": "system", "content": "B"}, {"role": "user", "content": "x"}],
            "exclude each other",
        ),
        ({}, [{"role": "system", "content": "B"}], "without a user turn"),
    ],
)
def test_settings_that_a_request_cannot_have_are_refused(
    model_args: dict[str, Any], context: Any, says: str
) -> None:
    settings = read_settings({"model": "m", **model_args})
    with pytest.raises(BackendFault, match=says):
        message_params(settings, Ask(context, {"max_gen_toks": 100}, task="toy"))
