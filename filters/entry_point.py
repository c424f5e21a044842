"""A module-level statement and the asked name come in; how fully it defines that function goes out."""

from __future__ import annotations

import ast
from enum import Enum

from .name_scopes import run_now
from .statements import Statement

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# Modules whose functions a reply may hand in as they are; `from solution import f` is a test's import.
_LENDERS = frozenset({"operator", "statistics", "math", "functools", "itertools", "builtins"})


class Definition(Enum):
    """How fully a statement defines a name."""

    NONE = 0
    STUB = 1
    FULL = 2


def is_stub(node: ast.AST) -> bool:
    """Tell whether a function's body only holds the place: docstring, pass, return None, a raised error."""
    if not isinstance(node, _FUNCTIONS):
        return False
    if any(not _is_overload(decorator) for decorator in node.decorator_list):
        return False  # a decorator may give it a body, as singledispatch does
    if any(_is_ellipsis(statement) for statement in node.body):
        return True  # an excerpt: "..." stands for lines that are left out
    return all(_is_placeholder(statement) for statement in node.body)


def _is_ellipsis(statement: ast.stmt) -> bool:
    value = getattr(statement, "value", None) if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and value.value is ...


def _is_overload(decorator: ast.expr) -> bool:
    return getattr(decorator, "id", getattr(decorator, "attr", "")) == "overload"


def _is_placeholder(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Pass):
        return True
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    if isinstance(statement, ast.Return):
        value = statement.value
        return value is None or (isinstance(value, ast.Constant) and value.value in (None, ...))
    if isinstance(statement, ast.Raise) and statement.exc is not None:
        fault = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
        return isinstance(fault, ast.Name) and fault.id in ("NotImplementedError", "NotImplemented")
    return False


def definition_of(statement: Statement, name: str) -> Definition:
    """Say whether ``statement`` makes ``name`` a function of the module."""
    node = statement.node
    if isinstance(node, _FUNCTIONS):
        if node.name != name:
            return Definition.NONE
        return Definition.STUB if is_stub(node) else Definition.FULL
    if name not in statement.names.binds:
        return Definition.NONE
    if isinstance(node, ast.ClassDef):
        return Definition.FULL
    if isinstance(node, ast.ImportFrom):
        lent = node.module in _LENDERS and not node.level
        return Definition.FULL if lent or _renames(node, name) else Definition.NONE
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.Expr)):
        return Definition.FULL if _may_be_function(node, name) else Definition.NONE
    if isinstance(node, (ast.If, ast.Try, ast.With)):
        return _inner_definition(node, name)
    return Definition.NONE


def _renames(node: ast.ImportFrom, name: str) -> bool:
    """Tell ``from functools import reduce as f`` from a test's ``from solution import f``."""
    return any(alias.asname == name and alias.name != name for alias in node.names)


def _may_be_function(node: ast.Assign | ast.AnnAssign | ast.Expr, name: str) -> bool:
    """Tell a function's assignment from a placeholder (``f = None``) and a use (``f = f(3)``)."""
    value = node.value
    if value is None or isinstance(value, ast.Constant):
        return False
    return not (isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == name)


def _targets(node: ast.Assign) -> set[str]:
    return {getattr(target, "id", "") for target in node.targets}


def _inner_definition(node: ast.stmt, name: str) -> Definition:
    best = Definition.NONE
    for inner in run_now(node):
        if isinstance(inner, _FUNCTIONS) and inner.name == name:
            if not is_stub(inner):
                return Definition.FULL
            best = Definition.STUB
        elif isinstance(inner, ast.Assign) and name in _targets(inner) and _may_be_function(inner, name):
            return Definition.FULL
    return best


def method_binding(statement: Statement, name: str) -> str | None:
    """Return the line that makes a class's method ``name`` a function of the module; None without one."""
    node = statement.node
    if not isinstance(node, ast.ClassDef):
        return None
    for method in node.body:
        if isinstance(method, _FUNCTIONS) and method.name == name and not is_stub(method):
            decorators = {getattr(decorator, "id", "") for decorator in method.decorator_list}
            first = next((arg.arg for arg in [*method.args.posonlyargs, *method.args.args]), "")
            on_class = decorators & {"staticmethod", "classmethod"} or first not in ("self", "this", "_")
            return f"{name} = {node.name}{'' if on_class else '()'}.{name}"
    return None
