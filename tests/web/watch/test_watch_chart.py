"""Quality over time as bars, and evidence as squares."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.rules.detection.scene import ViewCondition
from printreach.rules.watch.choices import Look
from printreach.web.watch.chart import (
    MAX_BARS,
    MAX_SQUARES,
    evidence_map,
    quality_chart,
)

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def look(at_s: float, score: int = 5, **of_it: object) -> Look:
    known: dict[str, object] = {
        "at": NOON + timedelta(seconds=at_s),
        "probability": score / 100,
        "score": score,
        "quality": 10 - min(9, score // 10),
        "view": ViewCondition.CLEAR,
    }
    return Look(**(known | of_it))  # type: ignore[arg-type]  # a test names the fields


def test_a_print_that_nobody_looked_at_has_no_chart() -> None:
    assert quality_chart([], ends_at=NOON) is None


def test_bars_stand_where_the_looks_were_between_start_and_end() -> None:
    looks = [look(at_s) for at_s in range(0, 1801, 20)]
    chart = quality_chart(looks, begins_at=NOON, ends_at=NOON + HOUR)

    assert chart is not None
    assert chart.bars[0].x == 0.0
    assert 48 <= chart.bars[-1].x <= 51


@pytest.mark.parametrize("lasted_s", [30, 90, 180, 599, 4_000])
def test_the_bars_of_a_print_reach_its_end_however_short_it_was(lasted_s: int) -> None:
    looks = [look(at_s) for at_s in range(0, lasted_s + 1, 10)]
    chart = quality_chart(looks, begins_at=NOON, ends_at=looks[-1].at)

    assert chart is not None
    assert (chart.begins_at, chart.ends_at) == (NOON, looks[-1].at)
    assert chart.bars[-1].x + chart.bars[-1].width == pytest.approx(100.0)


def test_where_little_is_printed_few_bars_are_as_wide_as_many_are_later() -> None:
    looks = [look(20 * n) for n in range(1_000)]
    early, late = quality_chart(looks, progress=10.0), quality_chart(looks, progress=100.0)

    assert early is not None
    assert late is not None
    assert 0.10 * early.bars[0].width == pytest.approx(late.bars[0].width, rel=0.1)


def test_one_bad_look_among_thousands_is_seen() -> None:
    looks = [look(20 * n, 95 if n == 5000 else 3) for n in range(10_000)]
    chart = quality_chart(looks)

    assert chart is not None
    assert len(chart.bars) <= MAX_BARS
    assert chart.worst is not None
    assert chart.worst.score == 95
    assert chart.worst.at == looks[5000].at


def test_calm_looks_that_are_kept_one_a_minute_are_a_bar_each() -> None:
    chart = quality_chart([look(60 * n) for n in range(60)], ends_at=NOON + HOUR)

    assert chart is not None
    apart = [b.x - a.x for a, b in zip(chart.bars, chart.bars[1:], strict=False)]
    assert len(chart.bars) == 60
    assert max(apart) == pytest.approx(min(apart))


def test_a_look_is_one_bar_where_it_was_and_one_row() -> None:
    ends_at = NOON + timedelta(seconds=300)
    chart = quality_chart([look(90), look(240)], begins_at=NOON, ends_at=ends_at, progress=40.0)

    assert chart is not None
    assert [bar.at for bar in chart.bars] == [
        NOON + timedelta(seconds=90),
        NOON + timedelta(seconds=240),
    ]
    for bar, share in zip(chart.bars, (30, 80), strict=True):
        assert bar.x <= share <= bar.x + bar.width


def test_what_stands_still_after_a_pause_has_no_bars_and_one_row_says_so() -> None:
    looks = [look(20 * n, 90) for n in range(6)]
    looks += [look(120, 95, paused=True), look(400, 5), look(420, 5)]
    chart = quality_chart(looks, begins_at=NOON, ends_at=NOON + timedelta(seconds=600))

    assert chart is not None
    assert len(chart.bars) == len(looks) == chart.look_count
    assert [bar.note for bar in chart.bars if bar.note] == ["Paused the print."]
    paused_x = chart.marks[0].x
    assert not [bar for bar in chart.bars if paused_x < bar.x < 60]


def test_looks_too_near_each_other_for_a_bar_each_are_counted_in_its_row() -> None:
    looks = [look(0), look(1800, 80, warned=True), look(1805, 90, paused=True), look(1810, 85)]
    chart = quality_chart(looks, begins_at=NOON, ends_at=NOON + HOUR)

    assert chart is not None
    assert [bar.note for bar in chart.bars] == [
        "",
        "Paused the print. Warned. The worst of 3 looks.",
    ]
    assert chart.bars[1].score == 90


def test_what_nobody_looked_at_is_a_gap() -> None:
    chart = quality_chart([look(0), look(60), look(3000), look(3060)], ends_at=NOON + HOUR)

    assert chart is not None
    apart = [b.x - a.x for a, b in zip(chart.bars, chart.bars[1:], strict=False)]
    assert max(apart) > 50


def test_warnings_and_pauses_are_marked_where_they_were() -> None:
    looks = [look(0), look(900, 80, warned=True), look(1800, 90, paused=True), look(3600)]
    chart = quality_chart(looks)

    assert chart is not None
    assert [(mark.x, mark.is_pause) for mark in chart.marks] == [(25.0, False), (50.0, True)]
    assert "Warned." in {bar.note for bar in chart.bars}


@pytest.mark.parametrize("view", [ViewCondition.DARK, ViewCondition.BLOCKED, ViewCondition.FROZEN])
def test_what_could_not_be_seen_is_no_bar_and_no_verdict(view: ViewCondition) -> None:
    unseen = [look(600 + 60 * n, 95, view=view) for n in range(5)]
    chart = quality_chart([look(0, 12), look(60, 7), *unseen])
    blind = quality_chart(unseen)

    assert chart is not None
    assert chart.worst is not None
    assert chart.newest is not None
    assert (chart.worst.score, chart.newest.score) == (12, 7)
    assert {bar.quality for bar in chart.bars if bar.at >= unseen[0].at} == {None}
    assert blind is not None
    assert (blind.worst, blind.newest) == (None, None)


def test_a_changed_view_is_said_in_the_table() -> None:
    chart = quality_chart([look(0, view=ViewCondition.MOVED)])

    assert chart is not None
    assert chart.bars[0].note == "The camera was moved."


@given(
    st.lists(
        st.builds(look, st.floats(-1e9, 1e9), st.integers(-1000, 1000)), min_size=1, max_size=50
    )
)
def test_whatever_the_clock_did_bars_stay_within_the_chart(looks: list[Look]) -> None:
    chart = quality_chart(looks, begins_at=NOON, ends_at=NOON)

    assert chart is not None
    assert len(chart.bars) <= MAX_BARS
    assert all(0 <= bar.x < 100 and 0 <= bar.score <= 100 for bar in chart.bars)
    assert len(chart.bars) <= len(looks)
    for bar, following in zip(chart.bars, chart.bars[1:], strict=False):
        assert following.x >= bar.x + bar.width - 0.01


# --- evidence -------------------------------------------------------------------------------------


def test_places_that_look_alike_are_one_square() -> None:
    drawn = evidence_map([[0.0, 0.9, 0.9], [0.0, 0.0, 0.5]])

    assert drawn is not None
    assert (drawn.columns, drawn.rows) == (3, 2)
    assert [(one.x, one.y, one.width) for one in drawn.squares] == [(1, 0, 2), (2, 1, 1)]
    assert drawn.squares[0].strength > drawn.squares[1].strength


@pytest.mark.parametrize("evidence", [[], [[]], [[0.0, 0.1]], [[float("nan")]]])
def test_where_nothing_stands_out_there_is_no_map(evidence: list[list[float]]) -> None:
    assert evidence_map(evidence) is None


@given(st.lists(st.lists(st.floats(), max_size=80), max_size=80))
def test_a_map_of_anything_is_small_and_within_its_grid(evidence: list[list[float]]) -> None:
    drawn = evidence_map(evidence)

    if drawn is not None:
        assert drawn.columns <= MAX_SQUARES
        assert drawn.rows <= MAX_SQUARES
        assert all(one.x + one.width <= drawn.columns for one in drawn.squares)
        assert all(one.y < drawn.rows and 1 <= one.strength <= 4 for one in drawn.squares)
