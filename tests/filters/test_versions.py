"""Versions of extractions, graders and suites: an old one can be asked for, a missing one is named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lm_eval_strict.filters import grade_exact, preflight, versions
from lm_eval_strict.filters.grade_answers import grade_answers
from lm_eval_strict.filters.math_graders import GRADERS
from lm_eval_strict.filters.rows import Judgement, MathVerdict
from lm_eval_strict.filters.task_spec import read_task, task_names


@pytest.mark.parametrize(("name", "version"), versions.FUNCTIONS)
def test_every_function_of_the_registry_is_there(name: str, version: str) -> None:
    assert callable(versions._function(name, version))


def test_graders_of_the_public_interface_are_the_newest() -> None:
    assert {name: versions.grader(name, versions.newest(name)) for name in GRADERS} == dict(GRADERS)


def test_newest_is_by_number_not_by_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    more = {("exact", str(number)): "grade_exact:grade" for number in range(1, 11)}
    monkeypatch.setattr(versions, "FUNCTIONS", more)
    assert versions.newest("exact") == "10"


def test_an_old_version_grades_beside_a_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    second = {**versions.FUNCTIONS, ("exact", "2"): "grade_exact:never"}
    monkeypatch.setattr(versions, "FUNCTIONS", second)
    monkeypatch.setattr(grade_exact, "never", lambda *_: Judgement(MathVerdict.WRONG), raising=False)
    verdicts = [
        grade_answers([("1", "1")], graders)[0]["exact"].verdict.value
        for graders in ({"exact": "1"}, {"exact": "2"}, ["exact"])
    ]
    assert verdicts == ["right", "wrong", "wrong"]


@pytest.mark.parametrize("name", ["math500_strict", "humaneval_strict"])
def test_a_version_that_the_pack_lacks_is_one_line_of_the_preflight(name: str) -> None:
    spec = read_task(name)
    pipeline = spec.pipelines[-1]
    for other in (replace(spec, versions={pipeline: "99"}), replace(spec, extraction="99")):
        with pytest.raises(
            preflight.PreflightFailure, match=f"^{name}_v1: .* version '99': this pack has 1;"
        ) as no:
            preflight.check_versions(other)
        assert "\n" not in str(no.value)


@pytest.mark.parametrize("name", task_names())
def test_every_task_stands_on_versions_that_the_pack_has(name: str) -> None:
    preflight.check_versions(read_task(name))
