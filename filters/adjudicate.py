"""A reply's rows and its task's quirk list come in; what a failure on HumanEval+ or MBPP+ says goes out.

A program that passes the benchmark's own test and fails ``plus_strict`` fails in one of four ways:

reference_quirk    it passes ``plus_adjudicated``: on each input that it fails, the list says how the
                   reference departs from a careful reading, and the program gave the careful value
timed_out          its first failure is a limit of time
outside_docstring  its first failing input is a value of which the docstring does not speak
bug                else
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from lm_eval_strict.sandbox.records import CodeVerdict, Suite
from lm_eval_strict.sandbox.texts import shorten_arguments

from .input_domains import inside_domain

Row = Mapping[str, Any]

_SHORTENED = re.compile(r",? ?\.\.\. \(\d+ (?:in all|long)\)")


class FailureClass(str, Enum):
    """What a failure on the added tests says of a program that passes the benchmark's own."""

    REFERENCE_QUIRK = "reference_quirk"
    OUTSIDE_DOCSTRING = "outside_docstring"
    TIMED_OUT = "timed_out"
    BUG = "bug"


@dataclass(frozen=True)
class Adjudication:
    """The class of one failure, the input that decided and why; texts are shortened as in the rows."""

    task_id: str
    failure_class: FailureClass
    input: str
    expected: str
    got: str
    why: str


def adjudicate(rows: Mapping[str, Row], quirks: Sequence[Mapping[str, str]]) -> Adjudication | None:
    """Say what the failure of one reply is, from its ``rows`` by pipeline name.

    None where there is nothing to say: the reply fails the benchmark's own test, passes ``plus_strict``, or
    was not graded by these pipelines.
    """
    base, strict = rows.get(Suite.BASE.value), rows.get(Suite.PLUS_STRICT.value)
    if base is None or strict is None or base["verdict"] != CodeVerdict.PASSED.value:
        return None
    if strict["verdict"] in (CodeVerdict.PASSED.value, "harness_error", "not_graded"):
        return None
    task_id = strict["task_id"]
    listed = [quirk for quirk in quirks if quirk["task_id"] == task_id]
    adjudicated = rows.get(Suite.PLUS_ADJUDICATED.value)
    if adjudicated is not None and adjudicated["verdict"] == CodeVerdict.PASSED.value:
        return _adjudication(strict, FailureClass.REFERENCE_QUIRK, _quirk_of(strict, listed))
    deciding = adjudicated or strict
    if deciding["verdict"] == CodeVerdict.TIMED_OUT.value:
        return _adjudication(deciding, FailureClass.TIMED_OUT, deciding.get("detail") or "a limit of time")
    silent = _silence(deciding, listed)
    if silent:
        return _adjudication(deciding, FailureClass.OUTSIDE_DOCSTRING, silent)
    quirk = _quirk_of(deciding, listed)
    why = f"not the careful value: {quirk}" if quirk else deciding.get("detail") or deciding["verdict"]
    return _adjudication(deciding, FailureClass.BUG, why)


def _adjudication(row: Row, failure_class: FailureClass, why: str) -> Adjudication:
    first = row.get("first_failure") or {}
    return Adjudication(
        row["task_id"],
        failure_class,
        first.get("input", ""),
        first.get("expected", ""),
        first.get("got", "") or row["verdict"],
        why,
    )


def _first_input(row: Row) -> str:
    return str((row.get("first_failure") or {}).get("input", ""))


def _quirk_of(row: Row, listed: Sequence[Mapping[str, str]]) -> str:
    """Return why the reference departs on the row's first failing input; empty where no quirk names it."""
    failing = _first_input(row)
    for quirk in listed:
        if quirk["input"] and shorten_arguments(ast.literal_eval(quirk["input"])) == failing:
            return quirk["why"]
    return ""


def _silence(row: Row, listed: Sequence[Mapping[str, str]]) -> str:
    """Return which silence of the docstring covers the first failing input; empty where none does.

    Of a shortened input only what is left is read: a part that is outside puts the whole outside.
    """
    try:
        arguments = ast.literal_eval(f"[{_SHORTENED.sub('', _first_input(row))}]")
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return ""
    for quirk in listed:
        domain = quirk.get("domain")
        if domain and not inside_domain(arguments, domain):
            return quirk["why"]
    return ""


def adjudicate_rows(
    rows: Iterable[Row], quirks: Sequence[Mapping[str, str]]
) -> list[tuple[str, Adjudication]]:
    """Adjudicate every reply of ``rows``; give (reply id, adjudication) for those that fail so, in order."""
    replies: dict[str, dict[str, Row]] = {}
    for row in rows:
        if "task_id" in row:
            key = json.dumps([row.get("task"), row.get("id"), row["task_id"], row.get("sample")])
            replies.setdefault(key, {})[row["pipeline"]] = row
    found = []
    for by_pipeline in replies.values():
        one = adjudicate(by_pipeline, quirks)
        if one is not None:
            found.append((str(next(iter(by_pipeline.values())).get("id")), one))
    return found


def count_by_class(found: Iterable[Adjudication]) -> dict[str, int]:
    """Count adjudications by class, each class named, in the order of ``FailureClass``."""
    counts = Counter(one.failure_class for one in found)
    return {kind.value: counts[kind] for kind in FailureClass}
