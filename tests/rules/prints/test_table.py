"""Prints as files, readable for spreadsheets and programs, without formulas."""

import csv
import io
import json
from dataclasses import replace

import pytest

from printreach.rules.prints.history import COLUMNS, Print, csv_head, csv_line, json_line
from tests.rules.prints.test_history import COMPLETE, STARTED, seen

PRINT = seen(STARTED, COMPLETE)


def read_csv(*prints: Print) -> list[dict[str, str]]:
    text = csv_head() + "".join(csv_line(one) for one in prints)
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_a_print_is_a_line() -> None:
    [row] = read_csv(PRINT)

    assert row["FileName"] == "vase.gcode"
    assert row["StartedAt"] == "2026-05-01T12:00:00Z"
    assert (row["Result"], row["DurationSec"], row["FilamentMm"]) == ("complete", "1150", "4100")
    assert list(row) == list(COLUMNS)


@pytest.mark.parametrize(
    "name",
    [
        "=cmd|' /C calc'!A0",
        "+1+1",
        "-2+3",
        "@SUM(A1)",
        "\t=1+1",
        "\r=1",
        " =1+1",
        "\u3000=1+1",
        "\ufeff=1+1",
        "|x",
        '=HYPERLINK("https://evil.example","Open")',
    ],
)
def test_a_name_that_begins_like_a_formula_is_a_text(name: str) -> None:
    hostile = replace(PRINT, file_name=name, error=name, printer_name=name)
    [row] = read_csv(hostile)

    assert row["FileName"] == row["Error"] == row["Printer"] == f"'{name}"


@pytest.mark.parametrize("name", ['a"b,c', "two\r\nlines", "a;b", "ünï.gcode", "a\0b"])
def test_a_name_stays_in_its_cell(name: str) -> None:
    rows = read_csv(replace(PRINT, file_name=name), PRINT)

    assert [row["FileName"] for row in rows] == [name.replace("\0", ""), "vase.gcode"]


@pytest.mark.parametrize("name", ["=1+1", 'a"b', "two\nlines", "</script>", "ünï"])
def test_json_says_what_was_heard(name: str) -> None:
    line = json_line(replace(PRINT, file_name=name))

    assert "\n" not in line
    assert json.loads(line)["FileName"] == name
