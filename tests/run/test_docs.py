"""The documents made from the code."""

import re
from pathlib import Path

import pytest

from printreach.contract.commands import CommandStatus
from printreach.contract.errors import ErrorCode
from printreach.run.docs import DOCUMENTS, error_table, main

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_committed_document_is_what_the_code_says(name: str) -> None:
    committed = DOCS.joinpath(name).read_text(encoding="utf-8")

    assert committed == DOCUMENTS[name](), f"run: python -m printreach.run.docs ({name})"


def test_the_command_writes_every_document_into_the_named_folder(tmp_path: Path) -> None:
    main([str(tmp_path)])

    assert {path.name for path in tmp_path.iterdir()} == set(DOCUMENTS)


def test_every_error_code_has_a_row() -> None:
    tables = error_table().partition("## Not in use yet")[0]
    rows = [line for line in tables.splitlines() if re.match(r"\| \d", line)]
    failures = [status for status in CommandStatus if status is not CommandStatus.OK]

    assert [int(row.split("|")[1]) for row in rows] == [*ErrorCode, *failures]
