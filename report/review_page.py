"""Cases and decisions in, the reader's desk as one page out: every text of a model escaped, no network."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources
from typing import Any

from .decisions import Decision
from .formula import mathml, text_with_formulas
from .reading_cases import Case, accepts

SHOWN_PLACES = 12


def review_page(
    title: str,
    cases: Sequence[Case],
    decisions: Mapping[str, Decision],
    *,
    save_to: str = "",
    store: str = "",
    problems: Mapping[str, str] | None = None,
) -> str:
    """Write the page. ``save_to`` is where it posts decisions; "" keeps them in the browser, under ``store``.

    ``problems`` maps a problem's name to its statement, where it is at hand.
    """
    folder = resources.files(__package__)
    style = "".join((folder / name).read_text(encoding="utf-8") for name in ("page.css", "review_page.css"))
    script = (folder / "review_page.js").read_text(encoding="utf-8")
    data = {
        "title": title,
        "saveTo": save_to,
        "store": store,
        "cases": [_case_data(case, problems or {}) for case in cases],
        "decisions": {key: {"decision": one.decision, "note": one.note} for key, one in decisions.items()},
    }
    page = (folder / "review_page.html").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    parts = {"{{style}}": style, "{{digest}}": digest, "{{script}}": script, "{{data}}": _inert(data)}
    for mark, text in parts.items():
        page = page.replace(mark, text, 1)
    return page


def _inert(data: object) -> str:
    """Write JSON that cannot end its script element or open a comment in it."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _case_data(case: Case, problems: Mapping[str, str]) -> dict[str, Any]:
    first = next(iter(case.rows.values()))
    places = [f"{problem}#{sample}" for problem, sample in case.replies[:SHOWN_PLACES]]
    data = {
        "key": case.key,
        "reason": case.reason,
        "problem": case.replies[0][0],
        "count": len(case.replies),
        "places": places,
        "rule": str(first.get("rule") or ""),
        "truncated": str(first.get("truncated") or "no"),
        "graders": [_grader(name, row) for name, row in case.rows.items()],
        "reply": case.reply,
    }
    statement = problems.get(case.replies[0][0], "")
    if case.is_code:
        program = first.get("program")
        code = highlighted(program) if program else None
        shown = highlighted(statement) if statement else ""
        return {**data, "kind": "code", "code": code, "statement": shown}
    return {
        **data,
        "kind": "math",
        "statement": text_with_formulas(statement),
        "answer": first.get("answer"),
        "gold": str(first.get("gold") or ""),
        "answerMath": mathml(str(first["answer"])) if first.get("answer") else None,
        "goldMath": mathml(str(first.get("gold") or "")),
        "subject": " ".join(str(first[name]) for name in ("subject", "level") if first.get(name)),
    }


def _grader(name: str, row: Mapping[str, Any]) -> dict[str, Any]:
    failure = row.get("first_failure") or {}
    return {
        "name": name,
        "verdict": str(row["verdict"]),
        "accepts": accepts(str(row["verdict"])),
        "read": [str(row.get("read_answer") or ""), str(row.get("read_gold") or "")],
        "how": " ".join(str(row[field]) for field in ("kind", "comparison") if row.get(field)),
        "debatable": str(row.get("debatable") or ""),
        "failure": [str(failure[field]) for field in ("input", "expected", "got")] if failure else None,
        "detail": str(row.get("detail") or ""),
    }


@lru_cache(maxsize=16_384)
def highlighted(program: str) -> str:
    """Colour a Python program; the text is escaped by the formatter."""
    from pygments import highlight
    from pygments.formatters.html import HtmlFormatter
    from pygments.lexers.python import PythonLexer

    return str(highlight(program, PythonLexer(stripnl=False), HtmlFormatter(nowrap=True)))
