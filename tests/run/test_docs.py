"""The documents made from the code."""

import re
from pathlib import Path

import pytest

from printreach.contract.commands import CommandStatus
from printreach.contract.errors import ErrorCode
from printreach.contract.platforms import PLATFORM_FACTS
from printreach.printers.operations import Operation, Platform
from printreach.run.docs import DOCUMENTS, error_table, main, platform_table, platforms

REPOSITORY = Path(__file__).parents[2]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_committed_document_is_what_the_code_says(name: str) -> None:
    committed = REPOSITORY.joinpath(name).read_text(encoding="utf-8")

    assert committed == DOCUMENTS[name](), f"run: python -m printreach.run.docs ({name})"


@pytest.mark.slow
def test_the_command_writes_every_document_into_the_named_repository(tmp_path: Path) -> None:
    for name in DOCUMENTS:
        tmp_path.joinpath(name).parent.mkdir(parents=True, exist_ok=True)

    main([str(tmp_path)])

    written = {path for path in tmp_path.rglob("*") if path.is_file()}
    assert written == {tmp_path / name for name in DOCUMENTS}


def test_every_error_code_has_a_row() -> None:
    tables = error_table().partition("## Not in use yet")[0]
    rows = [line for line in tables.splitlines() if re.match(r"\| \d", line)]
    failures = [status for status in CommandStatus if status is not CommandStatus.OK]

    assert [int(row.split("|")[1]) for row in rows] == [*ErrorCode, *failures]


def test_every_kind_with_an_adapter_has_its_column() -> None:
    header = next(line for line in platform_table().splitlines() if line.startswith("| |"))
    titles = [title.strip() for title in header.strip("|").split("|")[1:]]

    assert titles == [platform.title for platform in platforms()]
    assert all(
        any(title.startswith(kind.title) for title in titles) for kind in PLATFORM_FACTS.values()
    )


@pytest.mark.parametrize("platform", platforms(), ids=lambda platform: platform.title)
def test_reasons_are_sentences_and_conditions_end_one(platform: Platform) -> None:
    assert all(reason.endswith(".") for reason in platform.cannot.values())
    assert not any(condition.endswith(".") for condition in platform.only_where.values())


def test_no_row_is_left_without_a_platform_that_can() -> None:
    nobody = [
        operation
        for operation in Operation
        if all(operation in platform.cannot for platform in platforms())
    ]

    assert nobody == []
