from __future__ import annotations

import pytest
from command_lines import commands_of_ours, fault_of

GATE = "lm-eval-strict gate run/ --baseline b.json"


@pytest.mark.parametrize(
    ("shell", "found"),
    [
        ('lm-eval-strict report "$OUT" > a.txt || true', [["lm-eval-strict", "report", "1"]]),
        (".venv/bin/lm-eval-strict doctor --json", [["lm-eval-strict", "doctor", "--json"]]),
        ("A=b make test-fast # words", [["make", "test-fast"]]),
        ("lm-eval-strict doctor >> a 2>&1; make lint <b", [["lm-eval-strict", "doctor"], ["make", "lint"]]),
        ("python - <<'END'\nmake = \"it's\"\nEND\nmake lint", [["make", "lint"]]),
        ("{ make lint; }\nif make types; then\n  echo make\nfi", [["make", "lint"], ["make", "types"]]),
        (
            'lm_eval --include_path "$(lm-eval-strict tasks-dir)" \\\n  --tasks x',
            [["lm-eval-strict", "tasks-dir"], ["lm_eval", "--include_path", "1", "--tasks", "x"]],
        ),
    ],
)
def test_our_commands_are_found_wherever_they_stand(shell: str, found: list[list[str]]) -> None:
    assert commands_of_ours(shell) == found


@pytest.mark.parametrize(
    "command",
    [
        GATE,
        f"{GATE} --allow 1.0",
        "lm-eval-strict run --model hf --model_args pretrained=x --tasks y",
        "make check PYTHON=python",
        "lm-eval-strict tasks-dir --help",
    ],
)
def test_a_right_command_has_no_fault(command: str) -> None:
    assert fault_of(command.split()) == ""


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        (f"{GATE} --alow 1.0", "--alow"),
        (f"{GATE} --allow much", "number"),
        ("lm-eval-strict gate run/", "baseline"),
        ("lm-eval-strict rapport x", "no command rapport"),
        ("lm-eval-strict run --modell hf", "--modell"),
        ("lm_eval --tasks x --log_sample", "--log_sample"),
        ("make chek", "no target chek"),
    ],
)
def test_a_wrong_command_has_one(command: str, fault: str) -> None:
    assert fault in fault_of(command.split())
