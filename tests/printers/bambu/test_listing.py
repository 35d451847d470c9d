"""Lists of folders as FTP servers write them."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.printers.bambu.ftps import ListedEntry, read_list, read_mlsd

NOW_S = datetime(2026, 3, 1, tzinfo=UTC).timestamp()


def at(*date: int) -> float:
    return datetime(*date, tzinfo=UTC).timestamp()  # type: ignore[arg-type,misc]  # date and time


@pytest.mark.parametrize(
    ("line", "listed"),
    [
        (
            "type=file;size=1234;modify=20260102030405;perm=r; two words; and a sign.3mf",
            ListedEntry(
                name="two words; and a sign.3mf",
                is_folder=False,
                size=1234,
                modified_s=at(2026, 1, 2, 3, 4, 5),
            ),
        ),
        ("Type=dir;Modify=nonsense; parts", ListedEntry(name="parts", is_folder=True)),
        ("type=cdir;modify=20260102030405; .", None),
        ("type=file;size=1; a/b", None),
        ("type=file;size=x; Würfel", ListedEntry(name="Würfel", is_folder=False)),
        ("nonsense", None),
    ],
)
def test_a_line_of_facts(line: str, listed: ListedEntry | None) -> None:
    assert read_mlsd(line) == listed


@pytest.mark.parametrize(
    ("line", "listed"),
    [
        (
            "-rw-rw-rw-   1 root  root   1234 Jan 02 03:04 two words.3mf",
            ListedEntry(
                name="two words.3mf",
                is_folder=False,
                size=1234,
                modified_s=at(2026, 1, 2, 3, 4),
            ),
        ),
        (
            "-rw-r--r-- 1 0 0 5 Dec 24 18:00 of last year",
            ListedEntry(
                name="of last year", is_folder=False, size=5, modified_s=at(2025, 12, 24, 18, 0)
            ),
        ),
        (
            "drwxr-xr-x 2 root root 4096 May 7 2024 parts",
            ListedEntry(name="parts", is_folder=True, size=4096, modified_s=at(2024, 5, 7)),
        ),
        (
            "-rw-r--r-- 1 0 0 5 Feb 31 2024 no such day",
            ListedEntry(name="no such day", is_folder=False, size=5),
        ),
        ("lrwxrwxrwx 1 0 0 5 Jan 1 2024 a -> b", None),
        ("total 12", None),
        ("drwxr-xr-x 2 root root 4096 May 7 2024 ..", None),
    ],
)
def test_a_line_as_ls_writes_it(line: str, listed: ListedEntry | None) -> None:
    assert read_list(line, NOW_S) == listed


@given(st.text(max_size=80))
def test_no_line_does_worse_than_being_skipped(line: str) -> None:
    for listed in (read_mlsd(line), read_mlsd(f"type=file; {line}"), read_list(line, NOW_S)):
        assert listed is None or "/" not in listed.name
