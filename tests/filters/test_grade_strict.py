"""The strict grader on labelled pairs, on real golds, on written rules and on hostile text."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lm_eval_strict.filters.debatable_rules import DEBATABLE_RULES
from lm_eval_strict.filters.grade_strict import grade
from lm_eval_strict.filters.rows import MathVerdict

CASES = Path(__file__).parents[1] / "cases"
TASKS = Path(__file__).parents[2] / "tasks"


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CASES / name).read_text(encoding="utf-8").splitlines()]


PAIRS = rows("math_pairs.jsonl") + rows("math_pairs_own.jsonl")
DEBATABLE = rows("math_pairs_debatable.jsonl")
RULES = rows("math_debatable_rules.jsonl")
# Pairs whose verdict is known not to be the label; every one needs a reason beside it.
KNOWN_EXCEPTIONS: frozenset[str] = frozenset()
GOLDS = [
    "42", "-\\frac{3}{8}", "3, 5, 7", "(2,4)", "x^2", "(3,4]", "\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}",
    "\\text{even}", "2\\sqrt{5}", "y = 2x + 3", "2516_8", "\\text{(C)}", "5:30", "\\$36", "x<-2",
    "1\\frac{4}{5}", "40\\%", "90^\\circ", "1 \\pm \\sqrt{19}", "2:3",
    "15\\mbox{ cm}^2", "p - q", "6 - 5i",
]  # fmt: skip
HOSTILE = {
    "tower of powers": "9^{9^{9^{9}}}",
    "long tower": "2^{" * 30 + "2" + "}" * 30,
    "factorial of 10^8": "100000000!",
    "60 nested parentheses": "(" * 60 + "1" + ")" * 60,
    "a million digits": "9" * 1_000_000,
    "200 kB of noise": "\\frac{x_" * 25_000,
    "nested sums": "\\sum_{n=1}^{2000}\\sum_{m=1}^{2000} n",
    "power of a sum": "((x+y+z)^{500})^{500}",
    "huge binomial": "\\binom{1000000}{500000}",
    "huge angle": "\\sin(10^{10^8})",
    "huge exponent": "1.5e99999",
    "many plus-minus": "(" + "\\pm 1," * 40 + "1)",
    "a set of 400": "\\{" + ",".join(map(str, range(400))) + "\\}",
    "open braces": "{" * 3900,
    "bars": "|" * 3900,
    "backslashes": "\\" * 3900,
    "blanks": " " * 3900 + "1",
    "code": "__import__('os').system('true')",
    "division by zero": "\\frac{1}{0}",
}


@pytest.mark.parametrize("category", sorted({row["category"] for row in PAIRS}))
def test_labelled_pairs_get_their_verdicts(category: str) -> None:
    misjudged = {
        row["id"]: (row["prediction"][:80], row["gold"])
        for row in PAIRS
        if row["category"] == category
        and (grade(row["prediction"], row["gold"]).verdict is MathVerdict.RIGHT) != row["expected"]
    }
    known = {row["id"] for row in PAIRS if row["category"] == category} & KNOWN_EXCEPTIONS
    assert {name: pair for name, pair in misjudged.items() if name not in known} == {}
    assert known <= set(misjudged)


@pytest.mark.parametrize(
    "row", RULES, ids=lambda row: f"{row['rule']}: {row['prediction']} for {row['gold']}"
)
def test_debatable_pair_names_the_rule_that_decided(row: dict[str, Any]) -> None:
    judgement = grade(row["prediction"], row["gold"])
    assert (judgement.debatable, judgement.verdict.value) == (row["rule"], row["verdict"])
    other = {MathVerdict.RIGHT: MathVerdict.WRONG, MathVerdict.WRONG: MathVerdict.RIGHT}
    assert judgement.verdict_otherwise is other[judgement.verdict]


def test_every_written_rule_has_a_case() -> None:
    assert {row["rule"] for row in RULES} == set(DEBATABLE_RULES)


def test_every_written_rule_stands_in_the_readme_of_the_tasks() -> None:
    readme = (TASKS / "README.md").read_text(encoding="utf-8")
    assert [name for name, rule in DEBATABLE_RULES.items() if f"| `{name}` | {rule} |" not in readme] == []


def test_judgements_name_only_written_rules() -> None:
    named = Counter(grade(row["prediction"], row["gold"]).debatable for row in PAIRS + DEBATABLE)
    assert set(named) - {""} <= set(DEBATABLE_RULES)
    assert sum(bool(grade(row["prediction"], row["gold"]).debatable) for row in DEBATABLE) >= 185


def test_a_judgement_tells_kind_comparison_and_both_readings() -> None:
    judgement = grade("**x = 2√5**", "2 \\sqrt{5}")
    assert judgement.verdict is MathVerdict.RIGHT
    assert (judgement.kind, judgement.comparison) == ("number", "same value")
    assert (judgement.read_answer, judgement.read_gold) == ("x = 2·√5", "2·√5")


def test_an_empty_gold_is_a_fault_of_ours_and_an_empty_answer_is_unreadable() -> None:
    assert grade("5", " ").verdict is MathVerdict.HARNESS_ERROR
    assert grade("", "5").verdict is MathVerdict.UNREADABLE


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_never_right_and_always_ends(name: str) -> None:
    verdicts = {grade(HOSTILE[name], gold).verdict for gold in GOLDS}
    assert verdicts <= {MathVerdict.WRONG, MathVerdict.UNREADABLE}


def test_model_text_is_never_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("text was run")

    for name in ("eval", "exec", "compile"):
        monkeypatch.setattr(f"builtins.{name}", refuse)
    for gold in GOLDS:
        assert grade("__import__('os').getpid()", gold).verdict is not MathVerdict.RIGHT


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=80), st.sampled_from(GOLDS))
def test_any_text_gets_a_verdict(answer: str, gold: str) -> None:
    assert grade(answer, gold).verdict in (MathVerdict.RIGHT, MathVerdict.WRONG, MathVerdict.UNREADABLE)


PIECES = [
    "\\frac", "\\sqrt", "{", "}", "(", ")", "[", "]", "\\{", "\\}", "1", "2", "0", ".", ",", "x", "n",
    "\\pi", "+", "-", "^", "_", "=", "<", "\\le", "\\pm", "\\cup", "\\infty", "\\text{ cm}",
    "\\text{ or }", "|", "!", "%", "^\\circ", "\\sin", "\\log", "i", "e", "/", "\\cdot", ":", "\\in",
    "\\begin{pmatrix}", "&", "\\\\", "\\end{pmatrix}", " ",
]  # fmt: skip


@settings(max_examples=500, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join), st.sampled_from(GOLDS))
def test_any_mix_of_math_gets_a_verdict(answer: str, gold: str) -> None:
    assert grade(answer, gold).verdict in (MathVerdict.RIGHT, MathVerdict.WRONG, MathVerdict.UNREADABLE)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=10).map("".join))
def test_any_gold_that_is_not_blank_is_right_against_itself(text: str) -> None:
    if text.strip():
        assert grade(text, text).verdict is MathVerdict.RIGHT


@settings(max_examples=200, deadline=None)
@given(st.integers(-(10**9), 10**9), st.integers(1, 10**6))
def test_a_fraction_is_right_in_every_spelling_and_its_neighbour_wrong(above: int, below: int) -> None:
    for spelling in (
        f"\\frac{{{above}}}{{{below}}}",
        f"{above}/{below}",
        f"x = \\dfrac{{{above}}}{{{below}}}",
    ):
        assert grade(spelling, f"\\frac{{{above}}}{{{below}}}").verdict is MathVerdict.RIGHT
        assert grade(spelling, f"\\frac{{{above + 1}}}{{{below}}}").verdict is not MathVerdict.RIGHT


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(-99, 99), min_size=2, max_size=6, unique=True), st.randoms(use_true_random=False))
def test_a_list_is_right_in_any_order_and_wrong_with_one_value_less(values: list[int], random: Any) -> None:
    gold = ", ".join(map(str, values))
    random.shuffle(values)
    assert grade(", ".join(map(str, values)), gold).verdict is MathVerdict.RIGHT
    assert grade(", ".join(map(str, values[1:])), gold).verdict is not MathVerdict.RIGHT


def test_verdicts_do_not_depend_on_the_order_of_the_rows() -> None:
    forward = {row["id"]: grade(row["prediction"], row["gold"]) for row in PAIRS[:400]}
    backward = {row["id"]: grade(row["prediction"], row["gold"]) for row in reversed(PAIRS[:400])}
    assert forward == backward


@pytest.fixture(scope="module")
def math500(data_folder: Path) -> list[str]:
    with gzip.open(data_folder / "MATH-500.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line)["answer"] for line in lines]


@pytest.mark.real_data
def test_every_math500_gold_is_right_against_itself(math500: list[str]) -> None:
    assert len(math500) == 500
    assert [gold for gold in math500 if grade(gold, gold).verdict is not MathVerdict.RIGHT] == []


@pytest.mark.real_data
@pytest.mark.parametrize("constant", ["2", "\\frac{1}{2}", "x", "\\text{even}", "(0,1)", "\\pi", "yes"])
def test_a_constant_answer_is_right_exactly_where_it_is_the_gold(constant: str, math500: list[str]) -> None:
    right = [gold for gold in math500 if grade(constant, gold).verdict is MathVerdict.RIGHT]
    assert right == [gold for gold in math500 if gold == constant]


@pytest.mark.real_data
def test_published_right_and_wrong_answer_strings_are_told_apart(replies_folder: Path) -> None:
    with gzip.open(replies_folder / "math_answers_tinyv.jsonl.gz", "rt", encoding="utf-8") as lines:
        answers = [json.loads(line) for line in lines]
    right = Counter(
        row["label"] for row in answers if grade(row["reply"], row["gold"]).verdict is MathVerdict.RIGHT
    )
    assert right[True] >= 202
    assert right[False] <= 3
