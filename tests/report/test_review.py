"""The reader's desk without a browser: grouping, decisions, readings, formulas, the loopback server."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lm_eval_strict.report.decisions import (
    Decision,
    DecisionFile,
    check_decision,
    default_path,
    read_decisions,
)
from lm_eval_strict.report.formula import mathml, text_with_formulas
from lm_eval_strict.report.read_run import read_run
from lm_eval_strict.report.reading_cases import Case, all_cases, case_key, cases_to_read
from lm_eval_strict.report.readings import readings_of
from lm_eval_strict.report.review_page import review_page
from lm_eval_strict.report.review_server import ReviewServer

Row = dict[str, Any]
Make = Callable[..., list[Row]]
Write = Callable[[Path, Iterable[Row]], Path]
Cases = Callable[[Iterable[Row]], list[Case]]


@pytest.fixture
def cases_of(tmp_path: Path, write: Write) -> Cases:
    return lambda rows: all_cases(read_run([write(tmp_path / "rows.jsonl", rows)], keep=True))


def math_case(answer: str | None, gold: str, problem: str, sample: int = 0, **verdicts: str) -> list[Row]:
    return [
        {
            "id": f"{problem}:{sample}",
            "task": "math500_strict",
            "version": "1.0.0",
            "pipeline": name,
            "unique_id": problem,
            "row_hash": "sha256:1",
            "sample": sample,
            "verdict": verdict,
            "rule": "boxed",
            "answer": answer,
            "gold": gold,
        }
        for name, verdict in verdicts.items()
    ]


def test_equal_answers_to_equal_keys_are_one_decision(cases_of: Cases) -> None:
    rows = [
        *math_case("1/2", "0.5", "a", exact="wrong", strict="right"),
        *math_case("1/2", "0.5", "b", exact="wrong", strict="right"),
        *math_case("1/2", "0.5", "b", 1, exact="wrong", strict="right"),
        *math_case("1/3", "0.5", "a", 1, exact="wrong", strict="wrong"),
    ]
    cases = cases_of(rows)
    assert [(len(case.replies), case.reason) for case in cases] == [(3, "disagree"), (1, "rejected")]


def test_replies_without_an_answer_are_each_their_own_decision(cases_of: Cases) -> None:
    rows = [
        *math_case(None, "0.5", "a", 0, strict="no_answer"),
        *math_case(None, "0.5", "a", 1, strict="no_answer"),
    ]
    assert len(cases_of(rows)) == 2


def test_a_harness_error_is_no_disagreement(cases_of: Cases) -> None:
    assert cases_of(math_case("1", "1", "a", exact="right", strict="harness_error"))[0].reason == "sampled"


def test_equal_programs_to_one_problem_are_one_decision_and_not_across_problems(
    cases_of: Cases, make_code: Make
) -> None:
    rows = [{**row, "program": "def f(): ..."} for row in make_code(1, problems=2, samples=3)]
    assert len(cases_of(rows)) == 2


def test_a_key_outlives_grader_versions_and_the_file(make_math: Make) -> None:
    row = make_math(1, problems=1)[0]
    assert case_key(row) == case_key({**row, "version": "2.0.0", "pipeline": "strict", "verdict": "wrong"})


def test_disagreements_come_first_and_the_sample_is_seeded(cases_of: Cases, make_math: Make) -> None:
    cases = cases_of(make_math(1))
    chosen = cases_to_read(cases, 5, np.random.default_rng(1))
    reasons = [case.reason for case in chosen]
    assert reasons == sorted(reasons, key=["disagree", "rejected", "sampled"].index)
    assert reasons.count("sampled") == 5
    assert [c.key for c in chosen] == [c.key for c in cases_to_read(cases, 5, np.random.default_rng(1))]


def test_the_last_decision_of_a_case_wins_and_survives_a_reload(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    file = DecisionFile(path)
    for decision in ("right", "wrong"):
        file.add(Decision("0123456789abcdef", decision, "é\n<b>"))
    assert read_decisions(path) == {"0123456789abcdef": Decision("0123456789abcdef", "wrong", "é\n<b>")}


def test_a_line_that_a_crash_cut_off_loses_no_other_decision(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    DecisionFile(path).add(Decision("0123456789abcdef", "right"))
    with path.open("a") as stream:
        stream.write('{"key": "fedcba98765')
    assert list(read_decisions(path)) == ["0123456789abcdef"]
    DecisionFile(path).add(Decision("fedcba9876543210", "wrong"))
    assert len(read_decisions(path)) == 2


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"key": "short", "decision": "right"},
        {"key": "0123456789abcdef", "decision": "maybe"},
        {"key": "0123456789abcdef", "decision": "right", "note": "x" * 5_000},
        {"key": 7, "decision": "right"},
    ],
)
def test_a_decision_that_is_none_is_refused(record: Row) -> None:
    with pytest.raises(ValueError, match="must be"):
        check_decision(record)


def test_decisions_lie_beside_the_run(tmp_path: Path) -> None:
    assert default_path(tmp_path / "rows.jsonl.gz") == tmp_path / "rows.decisions.jsonl"
    assert default_path(tmp_path) == tmp_path / "review.decisions.jsonl"


def test_readings_give_score_agreement_kappa_and_both_kinds_of_error(cases_of: Cases) -> None:
    rows = [
        *math_case("a", "k", "p1", symbolic="right", strict="right"),
        *math_case("b", "k", "p2", symbolic="right", strict="wrong"),
        *math_case("c", "k", "p3", symbolic="wrong", strict="wrong"),
        *math_case("d", "k", "p4", symbolic="wrong", strict="wrong"),
        *math_case("e", "k", "p5", symbolic="right", strict="right"),
    ]
    cases = cases_of(rows)
    said = {"a": "right", "b": "wrong", "c": "right", "d": "debatable"}
    decisions = {
        case.key: Decision(case.key, said[answer])
        for case in cases
        if (answer := next(iter(case.rows.values()))["answer"]) in said
    }
    made = readings_of("math500_strict", cases, decisions)
    assert (made.decided, made.debatable, made.replies) == (4, 1, 5)
    assert made.score.value == pytest.approx(3 / 5)
    assert made.score_debatable_right.value == pytest.approx(4 / 5)
    assert made.graded_score.value == pytest.approx(2 / 5)
    strict, symbolic = made.agreement["strict"], made.agreement["symbolic"]
    assert (strict.items, strict.agreed, strict.false_rejects, strict.false_accepts) == (3, 2, 1, 0)
    assert (symbolic.agreed, symbolic.false_rejects, symbolic.false_accepts) == (1, 1, 1)
    assert strict.kappa == pytest.approx(0.4)
    assert {(m.pipeline, m.answer) for m in made.false_accepts} == {("symbolic", "b")}
    assert (made.accepted_cases, made.read_accepted) == (2, 1)


@pytest.mark.parametrize("latex", ["\\frac{1}{2}", "x^2+1", "\\sqrt{3}", "(3,\\frac{\\pi}{2})", "$5$"])
def test_formulas_become_mathml(latex: str) -> None:
    made = mathml(latex)
    assert made is not None and made.startswith("<math")


@pytest.mark.parametrize(
    "latex",
    [
        "\\href{javascript:alert(1)}{x}",
        "\\text{<script>alert(1)</script>}",
        "<img src=x onerror=alert(1)>",
        "\\url{javascript:alert(1)}",
        "\\class{x}{y}",
        "\\color{red;background:url(//evil)}{x}",
        "\\style{position:fixed}{x}",
    ],
)
def test_no_formula_carries_script_link_or_style(latex: str) -> None:
    made = mathml(latex) or ""
    for bad in ("<script", "<img", "href", 'javascript:alert(1)"', "style=", "class=", 'onerror="'):
        assert bad not in made


@pytest.mark.parametrize("latex", ["", "$$", "x" * 5_000, "\\frac{", "{" * 500])
def test_what_is_no_formula_is_shown_as_text(latex: str) -> None:
    made = mathml(latex)
    assert made is None or made.startswith("<math")


@given(st.text(max_size=200))
@settings(max_examples=150, deadline=None)
def test_any_text_is_rendered_or_left_alone_and_never_raises(text: str) -> None:
    made = mathml(text)
    assert made is None or made.startswith("<math")
    assert "<script" not in text_with_formulas(text) and "<img" not in text_with_formulas(text)


@given(st.text(), st.sampled_from(["right", "wrong", "debatable", ""]))
@settings(max_examples=100, deadline=None)
def test_any_note_comes_back_from_disk_as_it_was(note: str, decision: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "d.jsonl"
        kept = Decision("0123456789abcdef", decision, note)
        DecisionFile(path).add(kept)
        assert read_decisions(path) == {kept.key: kept}


def test_a_statement_keeps_its_words_and_renders_what_stands_between_dollars() -> None:
    made = text_with_formulas("Is $x<1$ <b>so</b>, at \\[\\frac{1}{2}\\] or 5$ a piece?")
    assert made.count("<math") == 2 and "<mfrac>" in made
    assert "&lt;b&gt;so&lt;/b&gt;" in made and made.endswith(" or 5$ a piece?")


def test_the_page_cannot_be_broken_out_of_by_a_reply(cases_of: Cases) -> None:
    attack = "</script><script>alert(1)</script><!--"
    cases = cases_of(math_case(attack, attack, attack, exact="wrong", strict="right"))
    page = review_page(attack, cases, {})
    assert page.count("<script") == 2 and page.count("</script>") == 2
    assert "alert(1)</script>" not in page


@pytest.fixture
def server(tmp_path: Path, cases_of: Cases, make_math: Make) -> Iterator[ReviewServer]:
    cases = cases_of(make_math(1, problems=5))

    def page(known: dict[str, Decision], save_to: str) -> str:
        return review_page("run", cases, known, save_to=save_to)

    with ReviewServer(0, page, DecisionFile(tmp_path / "d.jsonl"), {}) as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def ask(server: ReviewServer, method: str, path: str, body: str = "", **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    connection.request(method, path, body.encode() if body else None, headers)
    answer = connection.getresponse()
    return answer.status, answer.read()


def test_the_server_saves_a_decision_before_it_answers(server: ReviewServer, tmp_path: Path) -> None:
    body = json.dumps({"key": "0123456789abcdef", "decision": "right", "note": ""})
    assert ask(server, "POST", server.path + "decision", body) == (200, b'{"saved":true}')
    assert read_decisions(tmp_path / "d.jsonl")["0123456789abcdef"].decision == "right"
    assert b'"0123456789abcdef":{"decision":"right"' in ask(server, "GET", server.path)[1]


def test_the_server_answers_only_loopback_names_and_the_secret_path(server: ReviewServer) -> None:
    body = json.dumps({"key": "0123456789abcdef", "decision": "right"})
    assert ask(server, "GET", "/")[0] == 404
    assert ask(server, "GET", server.path, Host="evil.example")[0] == 404
    assert ask(server, "POST", "/decision", body)[0] == 404
    assert ask(server, "POST", server.path + "decision", body, Host="evil.example")[0] == 404
    assert server.server_address[0] == "127.0.0.1"


def test_the_command_serves_until_interrupted_and_says_where_the_decisions_are(
    tmp_path: Path, make_math: Make, write: Write
) -> None:
    rows = make_math(1, problems=20)
    path = write(tmp_path / "run.jsonl", rows)
    code = "import typer; from lm_eval_strict.report.cli_review import review; typer.run(review)"
    words = [sys.executable, "-u", "-c", code, str(path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = re.search(r"at (http://127\.0\.0\.1:(\d+)(/\S+/))", process.stdout.readline())
        assert found is not None
        connection = http.client.HTTPConnection("127.0.0.1", int(found[2]), timeout=60)
        connection.request(
            "POST", found[3] + "decision", json.dumps({"key": case_key(rows[0]), "decision": "right"})
        )
        assert connection.getresponse().status == 200
        connection.close()
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        assert process.wait(timeout=60) == 0
    assert str(tmp_path / "run.decisions.jsonl") in rest and "1 decisions in" in rest
    assert list(read_decisions(tmp_path / "run.decisions.jsonl")) == [case_key(rows[0])]


@pytest.mark.parametrize("body", ["{", "[]", '{"key": "x"}', '{"key": "0123456789abcdef", "decision": "?"}'])
def test_the_server_refuses_what_is_no_decision(server: ReviewServer, tmp_path: Path, body: str) -> None:
    assert ask(server, "POST", server.path + "decision", body)[0] == 400
    assert read_decisions(tmp_path / "d.jsonl") == {}


def test_the_server_refuses_a_body_that_is_too_large(server: ReviewServer) -> None:
    assert ask(server, "POST", server.path + "decision", "x" * 70_000)[0] == 413
