"""Rules of program extraction that hold for any reply."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lm_eval_strict.filters.problems import load_problems
from lm_eval_strict.filters.program_extraction import MODES, extract_program
from lm_eval_strict.filters.rows import Truncated

PROMPT = (
    "from typing import List\n\n\ndef total(values: List[int]) -> int:\n"
    '    """Add the values.\n\n    >>> total([1, 2])\n    3\n    """\n'
)
ANSWER = "def total(values):\n    return sum(values)\n"
PIECES = (
    *(
        "```",
        "```python\n",
        "~~~\n",
        '"""',
        "'",
        "(",
        "]",
        "> ",
        "- ",
        ">>> ",
        "... ",
        "1 | ",
        "+",
        "\n",
        "\\n",
    ),
    *("def total(values):\n", "    return sum(values)\n", "    pass\n", "class Solution:\n", "total = "),
    *(
        "    def total(self, values):\n",
        "import math\n",
        "@cache\n",
        "lambda values: 0\n",
        "if x:\n",
        "else:\n",
    ),
    *("<think>", "</think>", "<|im_end|>", "Human: ", "### Instruction:\n", '{"code": "', '"}', "&lt;"),
    *("\u00a0", "\u200b", "\t", "\r\n", "\x00", "\ud800", "\x0c", "# note\n", "print(total([1]))\n"),
)


def _extract(reply: str, mode: str = "chat"):  # type: ignore[no-untyped-def]
    return extract_program(reply, prompt=PROMPT, entry_point="total", mode=mode)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join), st.sampled_from(MODES))
def test_no_text_makes_extraction_raise(reply: str, mode: str) -> None:
    found = _extract(reply, mode)
    assert found.program is None or isinstance(found.program, str)
    assert found.rule


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=300), st.sampled_from(MODES))
def test_no_characters_make_extraction_raise(reply: str, mode: str) -> None:
    assert _extract(reply, mode).truncated in Truncated


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_same_reply_gives_the_same_program(reply: str) -> None:
    assert _extract(reply) == _extract(reply)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_a_program_of_a_defining_rule_parses(reply: str) -> None:
    found = _extract(reply)
    if found.rule in ("fenced_block", "unfenced_code", "continuation", "body_only"):
        ast.parse(found.program or "")


def test_a_program_in_a_fence_comes_out_as_it_went_in() -> None:
    assert _extract(f"```python\n{ANSWER}```").program == ANSWER


def test_extraction_of_an_extracted_program_changes_nothing() -> None:
    once = _extract(f"First:\n\n```python\nprint(1)\n{ANSWER}\nassert total([1]) == 2\n```").program
    assert once is not None
    assert _extract(once).program == once


def test_model_code_is_never_run(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    _extract(f"```python\nopen({str(mark)!r}, 'w')\n{ANSWER}```")
    assert not mark.exists()


def test_unknown_mode_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match="mode='chatty' is not one of chat, base, gen_prefix"):
        _extract("", "chatty")


def test_twenty_thousand_marks_end_with_nothing() -> None:
    for piece in ("`", "```\n", '"""', "(", "{", "[INST]", "<think>", ">>> x\n", "> "):
        assert _extract(piece * (20_000 // len(piece))).program is None


def test_no_warning_of_a_program_reaches_the_host(recwarn: pytest.WarningsRecorder) -> None:
    _extract("```python\ndef total(values):\n    return sum(values) if '\\d' else 0\n```")
    assert not list(recwarn)


@pytest.mark.parametrize(
    ("reply", "truncated"),
    [
        (f"```python\n{ANSWER}```", Truncated.NO),
        (f"```python\n{ANSWER}", Truncated.LIKELY),
        ("<think>\nlet me see", Truncated.LIKELY),
        ("```python\ndef total(values):\n    result = 0\n    for v in val", Truncated.LIKELY),
        (ANSWER, Truncated.NO),
    ],
)
def test_a_reply_that_stops_inside_something_is_likely_cut_off(reply: str, truncated: Truncated) -> None:
    assert _extract(reply).truncated is truncated


@pytest.mark.parametrize(
    ("reply", "rule"),
    [
        (f"```python\n{ANSWER}```", "fenced_block"),
        (ANSWER, "unfenced_code"),
        ("```python\n    return sum(values)\n```", "body_only"),
        ('{"code": "def total(values):\\n    return sum(values)\\n"}', "written_string"),
        ("```python\ndef total(values):\n    return sum(values\n```", "broken_code"),
        ("```python\ndef total(values):\n    pass\n```", "stub"),
        ("```python\ndef add(values):\n    return 0\n```", "other_code"),
        ("No.", "nothing"),
    ],
)
def test_rule_says_where_the_program_was_found(reply: str, rule: str) -> None:
    assert _extract(reply).rule == rule


@pytest.mark.parametrize(
    ("reply", "repair"),
    [
        (f"```python\n{ANSWER}print(total([]))\n```", "left_out_statements"),
        ("```python\ndef total(values: List[int]):\n    return 0\n```", "prompt_imports"),
        ("```python\nclass Solution:\n    def total(self, values):\n        return 0\n```", "bound_method"),
        ("```python\ndef total(values):\n\u00a0\u00a0return 0\n```", "odd_spaces"),
        ("```python\ndef total(values):\n    return 0 &lt; 1\n```", "html_entities"),
        ("def total\\(values\\):\n    return 0\n", "markdown_escapes"),
    ],
)
def test_repair_is_named(reply: str, repair: str) -> None:
    assert repair in _extract(reply).repairs


@pytest.mark.real_data
@pytest.mark.parametrize("name", ["humaneval", "humanevalplus"])
def test_every_reference_is_handed_on_whole_in_every_mode(name: str, data_folder: Path) -> None:
    lost = []
    for problem in load_problems(name, folder=data_folder):
        prompt, body, entry = problem["prompt"], problem["canonical_solution"], problem["entry_point"]
        replies = {
            "chat": f"```python\n{prompt}{body}\n```",
            "base": body,
            "gen_prefix": f"{body}\n```\nDone.",
        }
        for mode, reply in replies.items():
            found = extract_program(reply, prompt=prompt, entry_point=entry, mode=mode)
            if _dump(found.program or "", entry) != _dump(prompt + body, entry):
                lost.append((problem.key, mode, found.rule))
    assert lost == []


def _dump(program: str, name: str) -> str:
    tree = ast.parse(program)
    return "".join(ast.dump(n) for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name)


def test_the_oldest_python_of_the_pack_can_parse_the_package() -> None:
    folder = Path(sys.modules[extract_program.__module__].__file__ or "").parent
    for path in sorted(folder.glob("*.py")):
        ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 10))
