"""The text of a published test in, its inputs, expected values and tolerance out, for the forms that we
know.

A form is known only if everything but the data is, statement by statement, what the data set's generator
wrote: then our own rule may stand for the test's. For any other text the answer is None, and the test is
run as it is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .literals import read_literal

_DATA_LINE = re.compile(r"^    (inputs|results) = (\[.*\])$", re.MULTILINE)
_PAIRS_LOOP = (
    "for i, (inp, exp) in enumerate(zip(inputs, results)):\n    assertion(candidate(*inp), exp, {atol})"
)
_REFERENCE_LOOP = "for i, inp in enumerate(inputs):\n    assertion(candidate(*inp), ref_func(*inp), {atol})"
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
_ASSERTION = """
def assertion(out, exp, atol):
    exact_match = out == exp
    if atol == 0 and is_floats(exp):
        atol = 1e-06
    if not exact_match and atol != 0:
        assert np.allclose(out, exp, rtol=1e-07, atol=atol)
    else:
        assert exact_match
""".strip()


@dataclass(frozen=True)
class PlusTest:
    """One HumanEval+ test as data; ``reference`` computes expected values where ``results`` is None."""

    inputs: list[list[Any]]
    results: list[Any] | None
    reference: Callable[..., Any] | None
    atol: float


def read_plus_test(source: str) -> PlusTest | None:
    """Read the hub's HumanEval+ ``test``; None where its form is not the known one."""
    found = {match.group(1): match.group(2) for match in _DATA_LINE.finditer(source)}
    if "inputs" not in found:
        return None
    frame = _DATA_LINE.sub(r"    \1 = []", source)
    try:
        module = ast.parse(frame)
    except SyntaxError:
        return None
    functions = {node.name: node for node in module.body if isinstance(node, ast.FunctionDef)}
    if not {"is_floats", "assertion", "check"} <= set(functions):
        return None
    if ast.unparse(functions["is_floats"]) != _IS_FLOATS or ast.unparse(functions["assertion"]) != _ASSERTION:
        return None
    loop = functions["check"].body[-1]
    atol = _tolerance(loop)
    if atol is None or len(functions["check"].body) != 1 + len(found):
        return None
    text = ast.unparse(loop)
    written = repr(atol)
    if text == _PAIRS_LOOP.format(atol=written) and "results" in found:
        results = read_literal(found["results"])
        inputs = read_literal(found["inputs"])
        return PlusTest(inputs[: len(results)], results[: len(inputs)], None, atol)
    if text == _REFERENCE_LOOP.format(atol=written) and "ref_func" in functions:
        scope: dict[str, Any] = {"__name__": "test"}
        exec(compile(module, "<test>", "exec"), scope)
        return PlusTest(read_literal(found["inputs"]), None, scope["ref_func"], atol)
    return None


def _tolerance(loop: ast.stmt) -> float | None:
    """Take the third argument of the loop's only call, ``assertion(..., ..., ATOL)``."""
    if not isinstance(loop, ast.For) or len(loop.body) != 1 or not isinstance(loop.body[0], ast.Expr):
        return None
    call = loop.body[0].value
    if not isinstance(call, ast.Call) or len(call.args) != 3 or not isinstance(call.args[2], ast.Constant):
        return None
    value = call.args[2].value
    return value if isinstance(value, (int, float)) else None
