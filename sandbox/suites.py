"""The text of a published test in, its inputs, expected values and tolerance out, for the forms that we
know.

A form is known only if everything but the data is, statement by statement, what the data set's generator
wrote: then our own rule may stand for the test's. For any other text the answer is None, and the test is
run as it is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .comparison import Rule
from .literals import read_literal

_DATA_LINE = re.compile(r"^( *)(inputs|results) = (\[.*\])$", re.MULTILINE)
_INFINITY = re.compile(r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|\binf\b""")
_PAIRS_LOOP = (
    "for i, (inp, exp) in enumerate(zip(inputs, results)):\n    assertion({name}(*inp), exp, {atol})"
)
_REFERENCE_LOOP = "for i, inp in enumerate(inputs):\n    assertion({name}(*inp), ref_func(*inp), {atol})"
_IS_FLOATS = """
def is_floats(x) -> bool:
    if isinstance(x, float):
        return True
    if isinstance(x, (list, tuple)):
        return all((isinstance(i, float) for i in x))
    if isinstance(x, np.ndarray):
        return x.dtype == np.float64 or x.dtype == np.float32
    return False
""".strip()
_HUMANEVAL_ASSERTION = """
def assertion(out, exp, atol):
    exact_match = out == exp
    if atol == 0 and is_floats(exp):
        atol = 1e-06
    if not exact_match and atol != 0:
        assert np.allclose(out, exp, rtol=1e-07, atol=atol)
    else:
        assert exact_match
""".strip()
_MBPP_ASSERTION = """
def assertion(out, exp, atol):
    if atol == 0 and is_floats(exp):
        atol = 1e-06
    if out != exp and atol != 0:
        assert np.allclose(out, exp, rtol=1e-07, atol=atol)
    else:
        assert out == exp, f'out: {out}, exp: {exp}'
""".strip()
_MBPP_SETS = _MBPP_ASSERTION.replace("    if out", "    out = set(out)\n    exp = set(exp)\n    if out")
_MBPP_MATCH = """
def assertion(out, exp, atol):
    if isinstance(out, bool):
        exact_match = out == exp
    else:
        exact_match = exp == (out is not None)
    assert exact_match
""".strip()
_RULES = {
    _HUMANEVAL_ASSERTION: Rule.EVALPLUS,
    _MBPP_ASSERTION: Rule.AS_WRITTEN,
    _MBPP_SETS: Rule.AS_SETS,
    _MBPP_MATCH: Rule.AS_MATCH,
}


@dataclass(frozen=True)
class PlusTest:
    """One HumanEval+ or MBPP+ test as data; where ``results`` is None, ``reference`` computes them."""

    inputs: list[list[Any]]
    results: list[Any] | None
    reference: Callable[..., Any] | None
    atol: float
    rule: Rule


def read_plus_test(source: str, entry_point: str) -> PlusTest | None:
    """Read the hub's ``test`` of a HumanEval+ or MBPP+ problem; None where its form is not a known one."""
    found = {match.group(2): match.group(3) for match in _DATA_LINE.finditer(source)}
    if "inputs" not in found:
        return None
    try:
        module = ast.parse(_DATA_LINE.sub(r"\1\2 = []", source))
    except SyntaxError:
        return None
    functions = {node.name: node for node in module.body if isinstance(node, ast.FunctionDef)}
    rule = _rule_of(functions["assertion"]) if "assertion" in functions else None
    if rule is None or (rule is not Rule.AS_MATCH and not _has_is_floats(functions)):
        return None
    name = "candidate" if rule is Rule.EVALPLUS else entry_point
    steps = _steps(module, functions, rule)
    atol = _tolerance(steps[-1]) if len(steps) == 1 + len(found) else None
    if atol is None:
        return None
    text, written = ast.unparse(steps[-1]), {"name": name, "atol": repr(atol)}
    inputs = _read(found["inputs"])
    if text == _rewritten(_PAIRS_LOOP.format(**written)) and "results" in found:
        results = _read(found["results"])
        return PlusTest(inputs[: len(results)], results[: len(inputs)], None, atol, rule)
    if text == _rewritten(_REFERENCE_LOOP.format(**written)) and "ref_func" in functions:
        scope: dict[str, Any] = {"__name__": "test"}
        exec(compile(module, "<test>", "exec"), scope)
        return PlusTest(inputs, None, scope["ref_func"], atol, rule)
    return None


def _has_is_floats(functions: Mapping[str, ast.FunctionDef]) -> bool:
    return "is_floats" in functions and ast.unparse(functions["is_floats"]) == _rewritten(_IS_FLOATS)


def _rule_of(assertion: ast.FunctionDef) -> Rule | None:
    text = ast.unparse(assertion)
    return next((rule for form, rule in _RULES.items() if text == _rewritten(form)), None)


@lru_cache(maxsize=64)
def _rewritten(text: str) -> str:
    """Write ``text`` as this Python writes it: brackets around a loop's targets differ between versions."""
    return ast.unparse(ast.parse(text))


def _steps(module: ast.Module, functions: Mapping[str, ast.FunctionDef], rule: Rule) -> list[ast.stmt]:
    """Take what a test does: HumanEval+'s ``check``; of MBPP+, all but imports and definitions."""
    if rule is Rule.EVALPLUS:
        return functions["check"].body if "check" in functions else []
    return [node for node in module.body if not isinstance(node, _DEFINES)]


_DEFINES = (ast.Import, ast.ImportFrom, ast.FunctionDef)


def _read(text: str) -> Any:
    """Read a list's literal, in which the name ``inf`` may stand."""
    return read_literal(
        _INFINITY.sub(lambda found: found.group(1) or "1e999", text) if "inf" in text else text
    )


def _tolerance(loop: ast.stmt) -> float | None:
    """Take the third argument of the loop's only call, ``assertion(..., ..., ATOL)``."""
    if not isinstance(loop, ast.For) or len(loop.body) != 1 or not isinstance(loop.body[0], ast.Expr):
        return None
    call = loop.body[0].value
    if not isinstance(call, ast.Call) or len(call.args) != 3 or not isinstance(call.args[2], ast.Constant):
        return None
    value = call.args[2].value
    return value if isinstance(value, (int, float)) else None
