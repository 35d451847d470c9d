import json
from pathlib import Path

import pytest

from bench.floors import FLOORS
from bench.plan import Plan
from bench.report import Figure, Measurement, Reading, RowReport, summary, write_json


def row(*figures: Figure, skipped: str = "", failed: str = "") -> RowReport:
    measurement = None
    if not (skipped or failed):
        measurement = Measurement([Reading.of("nginx", "speed", "MB/s", [1.0])], figures)
    return RowReport(
        name="download",
        title="200 MB download",
        seconds=1.0,
        measurement=measurement,
        skipped=skipped,
        failed=failed,
    )


@pytest.mark.parametrize(
    ("key", "value", "verdict"),
    [
        ("download.nginx", 0.45, "ok"),
        ("download.nginx", 0.44, "below floor"),
        ("paced.p50", 60.0, "ok"),
        ("paced.p50", 60.1, "below floor"),
    ],
)
def test_a_figure_is_judged_on_the_side_of_its_floor_that_is_better(
    key: str, value: float, verdict: str
) -> None:
    assert Figure.of(key, [value]).verdict == verdict


def test_one_bad_round_of_three_does_not_decide() -> None:
    assert Figure.of("download.nginx", [0.1, 0.5, 0.6]).is_ok


def test_what_a_row_goes_for_is_better_than_its_floor() -> None:
    goals = {key: floor for key, floor in FLOORS.items() if floor.towards is not None}

    assert goals
    assert [key for key, one in goals.items() if not one.is_reached_by(one.towards or 0.0)] == []


def test_the_summary_has_a_line_a_figure_and_one_for_a_row_without() -> None:
    lines = list(summary([row(Figure.of("download.ssh", [0.5])), row(skipped="no sshd")]))

    assert len({len(line) for line in lines}) == 1
    assert "below floor" in lines[2]
    assert "skipped" in lines[3]


def test_the_compiled_builds_value_stands_beside_the_other_and_is_judged() -> None:
    figure = Figure.of("download.nginx", [0.5], [0.1, 0.2, 0.3])

    (line,) = list(summary([row(figure)]))[2:]

    cells = [cell.strip() for cell in line.split("|")]
    assert cells[3:7] == ["0.5 x", "0.5 to 0.5", "0.2 x", "0.1 to 0.3"]
    assert figure.verdict == "below floor"


def test_a_row_that_failed_says_why() -> None:
    assert "    FAILED: no answer" in row(failed="no answer").lines()


def test_everything_measured_is_kept_as_json(tmp_path: Path) -> None:
    path = tmp_path / "build" / "bench.json"
    write_json(path, Plan(rounds=2), [row(Figure.of("download.ssh", [0.5, 1.5]))])

    document = json.loads(path.read_text())
    (kept,) = document["rows"]
    assert document["plan"]["rounds"] == 2
    assert kept["readings"][0]["way"] == "nginx"
    assert (
        kept["figures"][0] | {"median": 1.0, "low": 0.5, "high": 1.5, "ok": True}
        == (kept["figures"][0])
    )
