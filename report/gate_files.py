"""Checks of a gate in, a JUnit file and a Markdown summary out."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from .gate_check import Check
from .shown import p_text, percent, points, span

LISTED = 20


def sentence(check: Check) -> str:
    """Say in one line how a check ended."""
    made = check.difference
    word = "FAILED" if check.failed else "passed"
    return (
        f"{word}: {check.task}, {check.pipeline}: {percent(made.first)} to {percent(made.second)} "
        f"({points(made.change.value)} points, 95% {span(made.change, signed=True)}; {made.worse} problems "
        f"lost, {made.better} gained; one-sided p {p_text(made.p_loss)}; allowed {100 * check.allowed:g})"
    )


def junit(checks: Sequence[Check], fault: str = "") -> str:
    """Write the checks as JUnit XML; ``fault`` is why nothing could be compared."""
    failures, errors = sum(check.failed for check in checks), int(bool(fault))
    suite = ElementTree.Element(
        "testsuite",
        {
            "name": "lm-eval-strict gate",
            "tests": str(len(checks) + errors),
            "failures": str(failures),
            "errors": str(errors),
        },
    )
    for check in checks:
        case = ElementTree.SubElement(suite, "testcase", {"classname": check.task, "name": check.pipeline})
        if check.failed:
            failure = ElementTree.SubElement(case, "failure", {"message": sentence(check)})
            failure.text = "\n".join(check.lost)
        ElementTree.SubElement(case, "system-out").text = sentence(check)
    if fault:
        case = ElementTree.SubElement(suite, "testcase", {"classname": "gate", "name": "comparable"})
        ElementTree.SubElement(case, "error", {"message": fault})
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def markdown(checks: Sequence[Check], fault: str = "") -> str:
    """Write the checks as a Markdown summary, as a CI job shows."""
    if fault:
        return f"## Gate: cannot compare\n\n{_cell(fault)}\n"
    word = "failed" if any(check.failed for check in checks) else "passed"
    lines = [
        f"## Gate: {word}",
        "",
        "| task | pipeline | baseline | run | points | 95% interval | lost | gained | p (loss) | |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|---|",
    ]
    for check in checks:
        made = check.difference
        cells = [
            check.task,
            check.pipeline,
            percent(made.first),
            percent(made.second),
            points(made.change.value),
            span(made.change, signed=True),
            str(made.worse),
            str(made.better),
            p_text(made.p_loss),
            "**failed**" if check.failed else "passed",
        ]
        lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
    for check in checks:
        for what, problems in (("Lost", check.lost), ("Gained", check.gained)):
            if problems:
                rest = len(problems) - LISTED
                more = f" and {rest} more" if rest > 0 else ""
                lines += ["", f"{what} in {check.pipeline}: {_cell(', '.join(problems[:LISTED]))}{more}."]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
