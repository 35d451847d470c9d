"""The chart of temperatures: its axes, its lines and their gaps."""

from datetime import timedelta
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.contract.status import Temps
from printreach.hub.printers.readings import TemperatureReading
from printreach.web.printers.temperature_chart import (
    MAX_C,
    MAX_POINTS,
    TemperatureChart,
    temperature_chart,
)
from tests.fakes.clock import NOON


def reading(ago_s: float, **temps: float) -> TemperatureReading:
    return TemperatureReading(NOON - timedelta(seconds=ago_s), Temps(**temps))


def chart_of(*readings: TemperatureReading) -> TemperatureChart:
    chart = temperature_chart(readings, NOON)
    assert chart is not None
    return chart


def test_one_reading_makes_no_chart() -> None:
    assert temperature_chart([], NOON) is None
    assert temperature_chart([reading(10)], NOON) is None
    assert temperature_chart([reading(10_000), reading(10)], NOON) is None


def test_readings_of_one_moment_make_no_chart_and_no_failure() -> None:
    """A printer that has just connected was asked twice within seconds."""
    assert temperature_chart([reading(4), reading(3)], NOON) is None


@given(st.lists(st.floats(0, 8000), max_size=30))
def test_readings_may_come_at_any_time(ages_s: list[float]) -> None:
    readings = [reading(ago_s, hotend_actual=200) for ago_s in sorted(ages_s, reverse=True)]

    chart = temperature_chart(readings, NOON)

    assert chart is None or chart.rows[0].at == readings[-1].at


@pytest.mark.parametrize(
    ("oldest_s", "labels"),
    [
        (50, ["10 min", "5 min", "now"]),
        (1200, ["30 min", "20 min", "10 min", "now"]),
        (3000, ["60 min", "45 min", "30 min", "15 min", "now"]),
        (7000, ["2 h", "90 min", "60 min", "30 min", "now"]),
    ],
)
def test_the_time_axis_holds_what_is_known(oldest_s: float, labels: list[str]) -> None:
    chart = chart_of(reading(oldest_s), reading(0))

    assert [tick.text for tick in chart.times] == labels
    assert (chart.times[0].share, chart.times[-1].share) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("highest_c", "labels"),
    [
        (22.0, ["0°", "50°", "100°"]),
        (160.0, ["0°", "50°", "100°", "150°", "200°"]),
        (215.0, ["0°", "100°", "200°"]),
        (300.0, ["0°", "100°", "200°", "300°"]),
        (10_000.0, ["0°", "100°", "200°", "300°", "400°", "500°"]),
    ],
)
def test_the_degrees_hold_the_highest_temperature(highest_c: float, labels: list[str]) -> None:
    chart = chart_of(reading(20), reading(0, hotend_actual=highest_c))

    assert [tick.text for tick in chart.degrees] == labels


def test_targets_count_for_the_axis_and_are_drawn_while_a_heater_is_on() -> None:
    chart = chart_of(
        reading(30),
        reading(20, hotend_actual=20, hotend_target=240),
        reading(10, hotend_actual=30, hotend_target=240),
        reading(0, hotend_actual=40),
    )

    hotend = chart.lines[0]
    assert chart.degrees[-1].text == "200°"
    assert [[y for _, y in piece] for piece in hotend.target] == [[240 / 250, 240 / 250]]
    assert (hotend.now_c, hotend.lowest_c, hotend.highest_c) == (40, 0, 40)
    assert chart.lines[1].target == []


def test_a_gap_breaks_the_line() -> None:
    chart = chart_of(*(reading(ago_s) for ago_s in (500, 490, 480, 30, 20, 10)))

    assert [len(piece) for piece in chart.lines[0].actual] == [3, 3]


def test_a_chamber_has_a_line_only_where_there_is_one() -> None:
    assert [line.name for line in chart_of(reading(10), reading(0)).lines] == ["hotend", "bed"]
    chart = chart_of(reading(10), reading(0, chamber_actual=40))
    assert [line.name for line in chart.lines] == ["hotend", "bed", "chamber"]
    assert len(chart.lines[2].actual[0]) == 1


def test_two_hours_have_no_more_points_than_can_be_told_apart() -> None:
    chart = chart_of(*(reading(7200 - 10 * number) for number in range(720)))

    assert len(chart.lines[0].actual) == 1
    assert len(chart.lines[0].actual[0]) <= MAX_POINTS + 1
    assert 5 <= len(chart.rows) <= 14
    assert chart.rows[0].at > chart.rows[-1].at


def test_the_table_says_what_is_drawn() -> None:
    chart = chart_of(reading(10, bed_actual=20), reading(0, hotend_actual=50, hotend_target=60))

    assert chart.rows[0].values == [(50, 60), (0, None)]


@pytest.mark.parametrize("strange", [nan, inf, -inf, -300.0, 1e300])
def test_what_no_heater_has_is_never_drawn(strange: float) -> None:
    chart = chart_of(
        reading(20, hotend_actual=strange, hotend_target=strange),
        reading(10, hotend_actual=20, bed_actual=strange),
        reading(0, chamber_actual=strange),
    )

    points = [point for line in chart.lines for piece in line.actual for point in piece]
    assert all(0 <= x <= 1 and 0 <= y <= 1 for x, y in points)
    assert all(line.highest_c <= MAX_C for line in chart.lines)
