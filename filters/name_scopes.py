"""A statement of a program comes in; the names it binds, needs and changes at module level go out."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass
class _Scope:
    """Names loaded, stored and declared global in one scope; ``inner`` are free in scopes inside it."""

    loads: set[str] = field(default_factory=set)
    stores: set[str] = field(default_factory=set)
    declared: set[str] = field(default_factory=set)
    inner: set[str] = field(default_factory=set)
    inner_declared: set[str] = field(default_factory=set)


def _parameters(args: ast.arguments) -> Iterator[ast.arg]:
    yield from (*args.posonlyargs, *args.args, *args.kwonlyargs)
    yield from (arg for arg in (args.vararg, args.kwarg) if arg is not None)


def _around(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what of a function, class or lambda is evaluated in the scope around it."""
    yield from getattr(node, "decorator_list", ())
    if isinstance(node, ast.ClassDef):
        yield from (*node.bases, *(keyword.value for keyword in node.keywords))
        return
    args = node.args  # type: ignore[attr-defined]
    yield from (*args.defaults, *(default for default in args.kw_defaults if default is not None))
    yield from (arg.annotation for arg in _parameters(args) if arg.annotation is not None)
    returns = getattr(node, "returns", None)
    if returns is not None:
        yield returns


def _enter(node: ast.AST, scope: _Scope) -> None:
    """Add to ``scope`` what the scope inside ``node`` leaves free."""
    inside = _Scope()
    if isinstance(node, _COMPREHENSIONS):
        first, *rest = node.generators
        _read([first.iter], scope)
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        _read([*parts, first.target, *first.ifs, *rest], inside)
    elif isinstance(node, ast.ClassDef):
        _read(_around(node), scope)
        _read(node.body, inside)
        scope.inner |= (inside.loads - inside.stores) | inside.inner
        scope.inner_declared |= inside.declared | inside.inner_declared
        return
    else:
        _read(_around(node), scope)
        inside.stores |= {arg.arg for arg in _parameters(node.args)}  # type: ignore[attr-defined]
        body = node.body  # type: ignore[attr-defined]
        _read(body if isinstance(body, list) else [body], inside)
    inside.stores -= inside.declared
    scope.inner |= ((inside.loads | inside.inner) - inside.stores) | inside.declared
    scope.inner_declared |= inside.declared | inside.inner_declared


def _read(nodes: Iterable[ast.AST], scope: _Scope) -> None:
    """Collect the names of ``nodes`` into ``scope``, without recursion through plain nodes."""
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            scope.stores.add(node.name)
            _enter(node, scope)
        elif isinstance(node, (ast.Lambda, *_COMPREHENSIONS)):
            _enter(node, scope)
        elif isinstance(node, ast.Name):
            (scope.loads if isinstance(node.ctx, ast.Load) else scope.stores).add(node.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            scope.stores |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.Global):
            scope.declared |= set(node.names)
        elif isinstance(node, ast.Nonlocal):
            scope.loads |= set(node.names)
        else:
            _read_plain(node, scope)
            stack.extend(ast.iter_child_nodes(node))


def _read_plain(node: ast.AST, scope: _Scope) -> None:
    if isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
        scope.stores.add(node.name)
    elif isinstance(node, ast.MatchMapping) and node.rest:
        scope.stores.add(node.rest)
    elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        scope.loads.add(node.target.id)


@dataclass(frozen=True)
class Names:
    """What a module-level statement does to the module's names.

    ``binds``: defined or assigned. ``needs``: read when it runs or when what it defines is called.
    ``changes``: given an attribute, an item or a decoration. ``handles``: objects whose method is called.
    ``passes``: objects that a call is given. ``calls``: names called directly. ``sets``: names of the module
    that its functions set or change when they are called.
    """

    binds: frozenset[str]
    needs: frozenset[str]
    changes: frozenset[str]
    handles: frozenset[str]
    passes: frozenset[str]
    calls: frozenset[str]
    sets: frozenset[str]


def names_of(statement: ast.stmt) -> Names:
    """Analyse one module-level statement."""
    scope = _Scope()
    _read([statement], scope)
    changes, handles, passes, calls = _effects(statement)
    binds = (scope.stores - _loop_targets(statement)) | _dynamic_binds(statement)
    inside = _changed_inside(statement) & scope.inner
    return Names(
        frozenset(binds),
        frozenset(scope.loads | scope.inner),
        frozenset(changes),
        frozenset(handles),
        frozenset(passes),
        frozenset(calls),
        frozenset(scope.inner_declared | inside),
    )


def _loop_targets(statement: ast.stmt) -> set[str]:
    """Find names that only a loop's head binds: nobody defines a constant like that."""
    if not isinstance(statement, (ast.For, ast.AsyncFor)):
        return set()
    inside = _Scope()
    _read([*statement.body, *statement.orelse], inside)
    return {n.id for n in ast.walk(statement.target) if isinstance(n, ast.Name)} - inside.stores


def _changed_inside(statement: ast.stmt) -> set[str]:
    """Find names whose objects a function changes in its body."""
    if not isinstance(statement, _FUNCTIONS):
        return set()
    found: set[str] = set()
    for inner in statement.body:
        changes, handles, passes, _ = _effects(inner)
        found |= changes | handles | passes
    return found


def _base(node: ast.AST) -> str | None:
    """Return the name at the root of ``a.b[c].d``, None where there is none."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def run_now(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the nodes of ``statement`` that run with it, without the bodies of functions and classes."""
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            stack.extend(node.decorator_list)
        elif not isinstance(node, ast.Lambda):
            stack.extend(ast.iter_child_nodes(node))


def _effects(statement: ast.stmt) -> tuple[set[str], set[str], set[str], set[str]]:
    changes: set[str] = set()
    handles: set[str] = set()
    passes: set[str] = set()
    calls: set[str] = set()
    for node in run_now(statement):
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            changes.add(_base(node) or "")
        elif isinstance(node, ast.AugAssign):
            changes.add(_base(node.target) or "")
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                calls.add(node.func.id)
            handles.add(_base(node.func) or "")
            passes |= {_base(part) or "" for part in node.args if not isinstance(part, ast.Call)}
        elif isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            changes |= {_base(decorator) or "" for decorator in node.decorator_list}
    return changes - {""}, handles - {""}, passes - {""}, calls


def _dynamic_binds(statement: ast.stmt) -> set[str]:
    """Find names bound as ``globals()["name"] = ...``."""
    found: set[str] = set()
    for node in run_now(statement):
        if not (isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)):
            continue
        maker = getattr(getattr(node.value, "func", None), "id", "")
        if maker in ("globals", "vars", "locals") and isinstance(node.slice, ast.Constant):
            found.add(str(node.slice.value))
    return found
