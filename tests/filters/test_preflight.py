from __future__ import annotations

import pytest

from lm_eval_strict.filters import preflight
from lm_eval_strict.filters.task_spec import read_task
from lm_eval_strict.filters.versions import LM_EVAL_TESTED


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Versions that the preflight finds; a test changes them."""
    versions = {"lm_eval": LM_EVAL_TESTED, "math-verify": "0.9.0"}
    monkeypatch.setattr(preflight, "installed", versions.__getitem__)
    monkeypatch.setattr(preflight, "_warned", set())
    return versions


def test_another_lm_eval_is_told_once_and_never_refused(
    found: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    found["lm_eval"] = "0.4.14"
    for name in ("humaneval_strict", "math500_strict", "humaneval_strict"):
        preflight.check_versions(read_task(name))
    assert capsys.readouterr().err == (
        f"lm-eval-strict: tested with lm-eval {LM_EVAL_TESTED}, found 0.4.14\n"
    )


def test_the_tested_lm_eval_is_worth_no_word(
    found: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    preflight.check_versions(read_task("math500_strict"))
    assert capsys.readouterr() == ("", "")


def test_another_math_verify_is_refused_for_math_only(found: dict[str, str]) -> None:
    found["math-verify"] = "0.8.0"
    with pytest.raises(preflight.PreflightFailure, match=r"pip install math-verify==0\.9\.0"):
        preflight.check_versions(read_task("math500_strict"))
    preflight.check_versions(read_task("humaneval_strict"))
