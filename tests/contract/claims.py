"""Claims of tests that they provoke error codes, as `@pytest.mark.provokes(785)`.

Failure detection names its errors: `@pytest.mark.provokes("OE_BAD_ARGS")`.

Claims are read off the source. One is borne out when the test's own lines, or a table of its module
that they name, speak of the code, so that nobody claims by mistake. Tests of `make faults` don't
count: they run too seldom.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

from printreach.contract.commands import CommandStatus
from printreach.contract.detection_api import DetectionError
from printreach.contract.errors import ErrorCode

MARK: Final = "pytest.mark.provokes"
ENUMS: Final[tuple[type[Enum], ...]] = (ErrorCode, CommandStatus, DetectionError)
SELDOM: Final = "faults"

Test = ast.FunctionDef | ast.AsyncFunctionDef
Code = int | str


@dataclass(frozen=True, slots=True)
class Claim:
    """test: where it stands. is_borne_out: its own lines speak of the code."""

    code: Code
    test: str
    is_borne_out: bool


def claims_below(folder: Path) -> list[Claim]:
    """Every claim in the tests of a folder."""
    return [
        claim
        for path in sorted(folder.rglob("test_*.py"))
        if SELDOM not in path.relative_to(folder).parts
        for claim in claims_in(path.read_text(encoding="utf-8"), path.relative_to(folder))
    ]


def claims_in(source: str, path: Path) -> Iterator[Claim]:
    """Every claim in this source; most tests make none, and are not read further."""
    if MARK.rpartition(".")[2] not in source:
        return
    tree = ast.parse(source)
    known = _constants(tree)
    for node in ast.walk(tree):
        if not isinstance(node, Test):
            continue
        codes, rest = _split(node)
        if not codes:
            continue
        spoken = {code for part in rest for code in _codes(part, known)}
        for code in codes:
            yield Claim(code, f"{path}::{node.name}", code in spoken)


def _split(test: Test) -> tuple[list[Code], list[ast.AST]]:
    """The codes it claims, and all of it but the claim."""
    claimed: list[Code] = []
    rest: list[ast.AST] = [*test.body]
    for decorator in test.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == MARK:
            claimed.extend(ast.literal_eval(argument) for argument in decorator.args)
        else:
            rest.append(decorator)
    return claimed, rest


def _constants(tree: ast.Module) -> dict[str, set[Code]]:
    """The codes that names of the module stand for, tables of them included."""
    known: dict[str, set[Code]] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign):
            codes = set(_codes(node.value, known))
            for target in node.targets:
                for name in ast.walk(target):
                    if isinstance(name, ast.Name):
                        known[name.id] = codes
    return known


def _codes(tree: ast.AST, known: Mapping[str, set[Code]]) -> Iterator[Code]:
    """Every number, member of ENUMS and known name in a piece of code."""
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=int(value)):
                yield value
            case ast.Attribute(value=ast.Name(id=enum_name), attr=member):
                for enum in ENUMS:
                    if enum.__name__ == enum_name and member in enum.__members__:
                        yield enum[member].value
            case ast.Name(id=name):
                yield from known.get(name, ())
