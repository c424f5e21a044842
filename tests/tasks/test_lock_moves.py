"""What moves a digest of ``tasks.lock`` and what does not, on a copy of the tasks' folder."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from lm_eval_strict.filters import grade_exact, lock, task_spec, versions
from lm_eval_strict.filters.lock import LockRefused, check_lock, frozen_names, make_lock
from lm_eval_strict.filters.lock_file import read_lock, read_verdicts
from lm_eval_strict.filters.preflight import PreflightFailure
from lm_eval_strict.filters.published import PUBLISHED
from lm_eval_strict.filters.rows import Judgement, MathVerdict
from lm_eval_strict.filters.task_spec import tasks_folder

MATH = "math500_strict_v1"
CHAT = "math500_strict_v1.yaml"
SAMPLED = "humaneval_plus_strict_10_v1.yaml"
PLUS = "humaneval_plus_strict_v1.yaml"
LIMITS = "humaneval_plus_cpu_limits.json"
QUIRKS = "humaneval_plus_quirks.jsonl"

MOVES = {
    "one character of a prompt": (CHAT, "Put your final", "put your final"),
    "one blank at the end of a prompt": (PLUS, '```"\n', '``` "\n'),
    "a stop string": ("humaneval_strict_base_v1.yaml", r'"\nprint("', r'"\nprint"'),
    "the order of stop strings": (
        "humaneval_strict_base_v1.yaml",
        r'"\nclass ", "\ndef "',
        r'"\ndef ", "\nclass "',
    ),
    "the longest reply": (CHAT, "max_gen_toks: 4096", "max_gen_toks: 4095"),
    "the temperature": (SAMPLED, "temperature: 0.8", "temperature: 0.7"),
    "the number of replies": (SAMPLED, "repeats: 10", "repeats: 11"),
    "the mode of extraction": (CHAT, "strict_mode: chat", "strict_mode: base"),
    "the version of extraction": (CHAT, 'strict_extraction: "1"', 'strict_extraction: "2"'),
    "the version of a grader": (
        CHAT,
        'pipeline: strict\n        version: "1"',
        'pipeline: strict\n        version: "2"',
    ),
    "the data set": (
        "humaneval_strict_v1.yaml",
        "strict_dataset: humaneval",
        "strict_dataset: humanevalplus",
    ),
    "an override": (PLUS, "strict_overrides: {HumanEval/32: base}", "strict_overrides: {}"),
    "a limit": (LIMITS, '"HumanEval/36": 15', '"HumanEval/36": 16'),
    "a quirk's value": (QUIRKS, '"careful_output": "False"', '"careful_output": "True"'),
    "a quirk's problem": (QUIRKS, '"task_id": "HumanEval/0"', '"task_id": "HumanEval/1"'),
    "an unknown setting": (CHAT, "num_fewshot: 0", 'num_fewshot: 0\ndescription: "Think first."'),
    "the aggregation of a metric": (CHAT, "aggregation: mean", "aggregation: median"),
}

STAYS = {
    "a comment": (CHAT, "output_type:", "# What the model is asked for.\noutput_type:"),
    "the order of keys": (CHAT, "test_split: test\nnum_fewshot: 0\n", "num_fewshot: 0\ntest_split: test\n"),
    "blank lines": (CHAT, "repeats: 1\n", "\nrepeats: 1\n\n\n"),
    "the layout of a list": (CHAT, 'until: ["<|endoftext|>"]', 'until:\n    - "<|endoftext|>"'),
    "quotes": (CHAT, "strict_mode: chat", "strict_mode: 'chat'"),
    "the module of a function": (CHAT, "filters.glue.", "filters.elsewhere."),
    "a minor version": (CHAT, 'version: "1.0.0"', 'version: "1.1.0"'),
    "the reason of a quirk": (QUIRKS, '"why": "', '"why": "Read with care: '),
    "the machine on which limits were recorded": (LIMITS, "x86_64", "another"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the tasks' folder."""
    return Path(shutil.copytree(tasks_folder(), tmp_path / "tasks"))


@pytest.fixture
def unmeasured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the verdicts unchecked: here only the declarations are of interest."""

    def refuse(*_: object, **__: object) -> None:
        raise PreflightFailure("not measured")

    monkeypatch.setattr(lock, "measure", refuse)


def moved_declarations(folder: Path) -> list[str]:
    return [
        finding.task
        for finding in check_lock(folder, frozen_names(folder))
        if any(fault.startswith("what it declares has changed") for fault in finding.faults)
    ]


def change(folder: Path, file: str, old: str, new: str) -> None:
    text = (folder / file).read_text()
    assert old in text, f"{file} has no {old!r}"
    (folder / file).write_text(text.replace(old, new))


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize(("file", "old", "new"), MOVES.values(), ids=MOVES)
def test_what_can_move_a_number_moves_the_declared_digest(
    folder: Path, file: str, old: str, new: str
) -> None:
    change(folder, file, old, new)
    moved = moved_declarations(folder)
    assert moved
    with pytest.raises(LockRefused, match=r"its major has not: .* put the change into \w+_v2\.yaml$"):
        make_lock(folder, moved)


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize(("file", "old", "new"), STAYS.values(), ids=STAYS)
def test_words_and_layout_move_no_digest(folder: Path, file: str, old: str, new: str) -> None:
    change(folder, file, old, new)
    assert moved_declarations(folder) == []


@pytest.mark.usefixtures("unmeasured")
def test_order_of_quirks_moves_no_digest(folder: Path) -> None:
    lines = (folder / QUIRKS).read_text().splitlines(keepends=True)
    (folder / QUIRKS).write_text("".join(reversed(lines)))
    assert moved_declarations(folder) == []


@pytest.mark.usefixtures("unmeasured")
def test_data_hash_moves_the_declared_digest(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = {**PUBLISHED, "humaneval": replace(PUBLISHED["humaneval"], sha256="sha256:other")}
    monkeypatch.setattr(task_spec, "PUBLISHED", other)
    moved = moved_declarations(folder)
    assert {"humaneval_strict_v1", "humaneval_plus_strict_v1"} <= set(moved) and MATH not in moved


@pytest.mark.usefixtures("unmeasured")
def test_pinned_algebra_moves_the_declared_digest_of_math_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_spec, "MATH_PINS", {**task_spec.MATH_PINS, "sympy": "1.13.3"})
    moved = moved_declarations(folder)
    assert MATH in moved and "humaneval_strict_v1" not in moved


@pytest.fixture
def small(folder: Path) -> Path:
    """A folder with one task, thirty fixed answers and a lock of its own."""
    for path in folder.glob("*.yaml"):
        if path.name != CHAT:
            path.unlink()
    rows = [{"id": f"r{n:02d}", "answer": str(n % 7), "gold": str(n % 5)} for n in range(30)]
    write_rows(folder, rows)
    (folder / "tasks.lock").unlink()
    make_lock(folder, [MATH])
    return folder


def write_rows(folder: Path, rows: list[dict[str, str]]) -> None:
    (folder / "lock_math.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def fixed_rows(folder: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (folder / "lock_math.jsonl").read_text().splitlines()]


def everything_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_a_verdict_that_moved_is_a_fault_with_reply_and_both_verdicts(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [finding.faults for finding in check_lock(small, [MATH])] == [()]
    judge = grade_exact.grade

    def forgiving(answer: str, gold: str) -> Judgement:
        return Judgement(MathVerdict.RIGHT) if (answer, gold) == ("1", "3") else judge(answer, gold)

    monkeypatch.setattr(grade_exact, "grade", forgiving)
    (finding,) = check_lock(small, [MATH])
    assert finding.faults == ("1 of the verdicts on the fixed replies moved: r08 exact wrong -> right",)
    before = everything_in(small)
    with pytest.raises(LockRefused, match=r"r08 exact wrong -> right.*a version and a major of its own$"):
        make_lock(small, [MATH])
    assert everything_in(small) == before


def test_a_second_major_lives_beside_the_first_which_keeps_its_verdicts(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, block = read_verdicts(small / f"verdicts_{MATH}.jsonl"), read_lock(small)[MATH]
    second = (small / CHAT).read_text().replace("_v1", "_v2").replace('version: "1.0.0"', 'version: "2.0.0"')
    second = second.replace('pipeline: exact\n        version: "1"', 'pipeline: exact\n        version: "2"')
    (small / "math500_strict_v2.yaml").write_text(second)
    monkeypatch.setattr(versions, "FUNCTIONS", {**versions.FUNCTIONS, ("exact", "2"): "grade_exact:never"})
    monkeypatch.setattr(grade_exact, "never", lambda *_: Judgement(MathVerdict.WRONG), raising=False)
    assert "not in tasks.lock" in check_lock(small, ["math500_strict_v2"])[0].faults[0]

    make_lock(small, frozen_names(small))

    assert all(not finding.faults for finding in check_lock(small, frozen_names(small)))
    assert read_lock(small)[MATH] == block and read_verdicts(small / block.verdicts) == kept
    newer = read_verdicts(small / read_lock(small)["math500_strict_v2"].verdicts)
    assert {judged["exact"] for judged in newer.values()} == {"wrong"}
    without = {name: {**judged, "exact": ""} for name, judged in newer.items()}
    assert without == {name: {**judged, "exact": ""} for name, judged in kept.items()}


def test_replies_may_be_added_and_none_taken_away(small: Path) -> None:
    rows = fixed_rows(small)
    write_rows(small, [*rows, {"id": "r30", "answer": "x", "gold": "x"}])
    assert check_lock(small, [MATH])[0].faults == (
        "1 of the verdicts on the fixed replies moved: r30 is new",
    )  # fmt: skip
    make_lock(small, [MATH])
    assert read_lock(small)[MATH].rows == 31
    write_rows(small, rows)
    with pytest.raises(LockRefused, match="r30 exact right -> gone"):
        make_lock(small, [MATH])


def test_a_reply_that_hangs_on_the_machine_is_refused(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grade_exact, "grade", lambda *_: Judgement(MathVerdict.TIMED_OUT))
    with pytest.raises(LockRefused, match="depend on the machine"):
        make_lock(small, [MATH])


def test_old_majors_stay_in_the_pack(small: Path) -> None:
    (small / CHAT).rename(small / "math500_strict_v2.yaml")
    findings = check_lock(small, [MATH])
    assert [finding.faults for finding in findings] == [
        ("the lock has it, the pack no more: old majors stay",)
    ]


def test_kept_verdicts_that_were_edited_are_a_fault(small: Path) -> None:
    path = small / f"verdicts_{MATH}.jsonl"
    path.write_text(re.sub('"exact": "wrong"', '"exact": "right"', path.read_text(), count=1))
    (finding,) = check_lock(small, [MATH])
    assert any("is not the file that the lock was written with" in fault for fault in finding.faults)
    with pytest.raises(LockRefused, match="is not the file that the lock was written with"):
        make_lock(small, [MATH])


def test_two_equal_runs_write_equal_files(small: Path) -> None:
    before = everything_in(small)
    make_lock(small, [MATH])
    assert everything_in(small) == before
