"""Finds texts marked by `N_` that a module puts into another text without a translation."""

import ast
from collections.abc import Iterator
from typing import Final

_MARKERS: Final = frozenset({"N_", "N_ngettext"})
_TEXTS: Final = frozenset({"_", "ngettext", "pgettext"})


def untranslated_values(source: str) -> list[str]:
    """Return the names of marked texts that become part of another text as they are: in English.

    A name that is made of a marked constant of the module, such as the variable of a loop over it,
    counts like the constant.
    """
    module = ast.parse(source)
    marked = {
        name
        for node in module.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value and _has_marker(node.value)
        for target in _targets(node)
        for name in _names(target)
    }
    found: list[str] = []
    for function in ast.walk(module):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            found += _in_function(function, marked)
    return found


def _in_function(function: ast.AST, constants: set[str]) -> Iterator[str]:
    english, before = set(constants), -1
    while len(english) != before:
        before = len(english)
        for node in ast.walk(function):
            if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) and node.value:
                if _is_english(node.value, english):
                    english.update(*(_names(target) for target in _targets(node)))
            elif isinstance(node, ast.For | ast.comprehension) and _is_english(node.iter, english):
                english.update(_names(_of_values(node)))
    for node in ast.walk(function):
        for value in _values(node):
            if _is_english(value, english):
                yield ast.unparse(value)


def _values(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what becomes part of a text."""
    if isinstance(node, ast.FormattedValue):
        yield node.value
    elif isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id in _TEXTS:
            yield from (keyword.value for keyword in node.keywords)
        elif isinstance(node.func, ast.Attribute) and node.func.attr == "join":
            yield from node.args


def _of_values(loop: ast.For | ast.comprehension) -> ast.expr:
    """Return the target of a loop; over the items of a mapping, the part for the values."""
    match loop:
        case (
            ast.For(target=ast.Tuple(elts=[_, values]), iter=items)
            | ast.comprehension(target=ast.Tuple(elts=[_, values]), iter=items)
        ) if isinstance(items, ast.Call) and isinstance(items.func, ast.Attribute):
            return values
    return loop.target


def _is_english(value: ast.expr, english: set[str]) -> bool:
    """Whether a value may be one of these texts, or hold them."""
    match value:
        case ast.Name():
            return value.id in english
        case ast.Starred() | ast.Subscript():
            return _is_english(value.value, english)
        case ast.Call(func=ast.Attribute() as method) if method.attr in {"items", "values", "get"}:
            return _is_english(method.value, english)
        case ast.ListComp() | ast.GeneratorExp() | ast.SetComp():
            return _is_english(value.elt, english)
        case ast.List() | ast.Tuple():
            return any(_is_english(item, english) for item in value.elts)
        case ast.IfExp():
            return _is_english(value.body, english) or _is_english(value.orelse, english)
        case ast.BoolOp():
            return any(_is_english(item, english) for item in value.values)
    return False


def _has_marker(value: ast.expr) -> bool:
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _MARKERS
        for node in ast.walk(value)
    )


def _targets(node: ast.Assign | ast.AnnAssign | ast.NamedExpr) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def _names(target: ast.AST) -> set[str]:
    return {
        node.id
        for node in ast.walk(target)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
