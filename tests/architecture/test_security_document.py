"""docs/security.md names a test for each defence, and each of these tests exists."""

import ast
import re
from functools import cache

from tests.architecture.test_documents import REPOSITORY

DOCUMENT = REPOSITORY / "docs" / "security.md"
NAMED_TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
ATTACKERS = re.compile(r"^## Attackers.*?(?=^## )", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| (?!What (?:they|it) tr)(?!-).*\|$", re.MULTILINE)


@cache
def names_of_tests_in(path: str) -> frozenset[str]:
    """The names of the tests in a file, those in classes too; none where there is no such file."""
    file = REPOSITORY / path
    if not file.is_file():
        return frozenset()
    tree = ast.walk(ast.parse(file.read_bytes()))
    functions = (one for one in tree if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset(one.name for one in functions if one.name.startswith("test_"))


def missing_tests(text: str) -> list[str]:
    """What a text names as a test and the repository lacks."""
    return [
        f"{path}::{name}"
        for path, name in NAMED_TEST.findall(text)
        if name not in names_of_tests_in(path)
    ]


def test_every_test_that_the_security_document_names_exists() -> None:
    text = DOCUMENT.read_text()

    assert len(NAMED_TEST.findall(text)) > 50
    assert missing_tests(text) == []


def test_every_defence_in_the_security_document_has_a_test() -> None:
    attackers = ATTACKERS.search(DOCUMENT.read_text())
    assert attackers is not None

    rows = ROW.findall(attackers[0])

    assert len(rows) > 50
    assert [row for row in rows if not NAMED_TEST.search(row)] == []


def test_a_test_that_does_not_exist_is_found() -> None:
    here = "tests/architecture/test_security_document.py"
    other = names_of_tests_in.__name__
    text = f"`{here}::test_nothing`, `tests/no_such.py::test_it` and `{here}::{other}`"

    assert missing_tests(text) == [
        f"{here}::test_nothing",
        "tests/no_such.py::test_it",
        f"{here}::names_of_tests_in",
    ]
