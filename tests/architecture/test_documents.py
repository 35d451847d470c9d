"""The documents name files that exist and link to places that exist."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PACKAGE = REPOSITORY / "src" / "printreach"
DOCUMENTS = sorted([*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")])

# `relay/front.py`, `backends/sql/`: code that names a file or a folder of ours.
NAMED_PATH = re.compile(r"`((?:[\w.-]+/)+|(?:[\w.-]+/)*[\w-]+\.(?:py|toml|txt))`")
LINK = re.compile(r"\[[^]]+\]\(([^)\s]+)\)")


def dangling(document: Path) -> Iterator[str]:
    """Name what the document speaks of and the repository lacks."""
    text = re.sub(r"```.*?```", "", document.read_text(), flags=re.DOTALL)
    for name in NAMED_PATH.findall(text):
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
