"""The documents name files that exist and link to places that exist."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PACKAGE = REPOSITORY / "src" / "printreach"
DOCUMENTS = sorted([*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")])

# `relay/front.py`, `store/`: code that names a file or a folder of ours.
NAMED_PATH = re.compile(r"`((?:[\w.-]+/)+|(?:[\w.-]+/)*[\w-]+\.(?:py|toml|txt))`")
MADE = "build/"
"""What commands make is there only once they have run."""
LINK = re.compile(r"\[[^]]+\]\(([^)\s]+)\)")
BLOCK = re.compile(r"```.*?```", re.DOTALL)

# The page that a newcomer follows to the letter is held to more: `PrinterRig`, `make()`,
# `has_camera`, and what its blocks of commands run.
WALK_THROUGH = REPOSITORY / "docs" / "adding-a-printer.md"
NAME = re.compile(r"`([A-Z][a-z]\w+|[A-Z]+_[A-Z_]+|[a-z]+_[a-z_]+|[a-z_]+(?=\(\)`))(?:\(\))?`")
COMMAND_PATH = re.compile(r"\b(?:tests|src|docs)/[\w./-]+")


def dangling(document: Path) -> Iterator[str]:
    """Name what the document speaks of and the repository lacks."""
    text = BLOCK.sub("", document.read_text())
    for name in NAMED_PATH.findall(text):
        if name.startswith(MADE):
            continue
        if not any((place / name).exists() for place in (REPOSITORY, PACKAGE, document.parent)):
            yield name
    for target in LINK.findall(text):
        path = target.partition("#")[0]
        if "://" not in target and path and not (document.parent / path).exists():
            yield target


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_a_document_names_only_what_exists(document: Path) -> None:
    assert list(dangling(document)) == []


def test_a_dangling_name_or_link_is_found(tmp_path: Path) -> None:
    document = tmp_path / "page.md"
    document.write_text("See `relay/nowhere.py`, `attic/` and [there](nowhere.md#top).")

    assert list(dangling(document)) == ["relay/nowhere.py", "attic/", "nowhere.md#top"]


def undefined(document: Path) -> Iterator[str]:
    """Name what a document takes for names and paths of our code, and are none."""
    text = document.read_text()
    known = names_defined_in(PACKAGE, REPOSITORY / "tests")
    yield from (name for name in NAME.findall(BLOCK.sub("", text)) if name not in known)
    for block in BLOCK.findall(text):
        yield from (
            path for path in COMMAND_PATH.findall(block) if not (REPOSITORY / path).exists()
        )


@cache
def names_defined_in(*folders: Path) -> set[str]:
    """Classes, functions, and what is assigned."""
    names: set[str] = set()
    for path in (path for folder in folders for path in folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                names.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
    return names


@pytest.mark.slow
def test_the_walk_through_speaks_only_of_names_that_the_code_has() -> None:
    assert list(undefined(WALK_THROUGH)) == []


@pytest.mark.slow
def test_a_name_that_no_code_has_is_found(tmp_path: Path) -> None:
    document = tmp_path / "page.md"
    document.write_text("Use `NoSuchRig` and `no_such_call()`.\n```\npytest tests/nowhere\n```\n")

    assert list(undefined(document)) == ["NoSuchRig", "no_such_call", "tests/nowhere"]


# `rules.accounts.sessions`, `hub.prints.fanout.Consumer`: a docstring that names a place.
DOTTED_PLACE = re.compile(
    r"(?<![\w./])(?:contract|hub|ports|relay|rules|store|tunnel|web|wire)(?:\.[A-Za-z_]\w*)+"
)


def lost_places(text: str) -> Iterator[str]:
    """Name the modules and members of modules that docstrings speak of and the package lacks."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for place in DOTTED_PLACE.findall(ast.get_docstring(node) or ""):
            if not place.endswith((".py", ".md")) and not _is_place(place):
                yield place


@cache
def _is_place(dotted: str) -> bool:
    """Whether a dotted name is a module of the package, or a name that a module there defines."""
    *folder, name = dotted.split(".")
    path = PACKAGE.joinpath(*folder, name)
    if path.is_dir() or path.with_suffix(".py").is_file():
        return True
    module = PACKAGE.joinpath(*folder)
    files = [module.with_suffix(".py"), *module.rglob("*.py")]
    defined = re.compile(rf"^ *(?:class |(?:async )?def )?{name}\b *[(:=]", re.MULTILINE)
    return any(file.is_file() and defined.search(file.read_text()) for file in files)


@pytest.mark.slow
def test_docstrings_name_places_that_exist() -> None:
    lost = {
        f"{path.relative_to(PACKAGE)}: {place}"
        for path in PACKAGE.rglob("*.py")
        for place in lost_places(path.read_text())
    }

    assert lost == set()


def test_the_search_for_lost_places_finds_them() -> None:
    text = 'def f():\n    """See rules.devices, rules.turns and hub.core.Core."""'

    assert list(lost_places(text)) == ["rules.devices"]
