"""The parts of the model by themselves: lines, layers, heaters, strands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.printers.simulated.machine import ROOM_C, Strand, Strands, heaters
from printreach.printers.simulated.motion import Line, Point, parse_line
from printreach.printers.simulated.program import HeaterName, LayerCounter


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("G1 X10 Y-2.5 E.5", Line(code="G1", words={"X": 10, "Y": -2.5, "E": 0.5})),
        ("g01x10y20", Line(code="G1", words={"X": 10, "Y": 20})),
        ("N42 G28 X*97", Line(code="G28", words={"X": None})),
        ("G28 ; home", Line(code="G28", comment="home")),
        (";LAYER:3", Line(comment="LAYER:3")),
        ("M104 (hot) S200", Line(code="M104", words={"S": 200}, comment="hot")),
        ("G1 X" + "9" * 400, Line(code="G1", words={"X": None})),
        ("G1.5 X1", Line()),
        ("hello", Line()),
        ("", Line()),
    ],
)
def test_a_line_is_read_as_slicers_and_people_write_it(text: str, line: Line) -> None:
    read = parse_line(text)

    assert (read.code, read.words, read.comment) == (line.code, line.words, line.comment)


@given(st.text(max_size=100))
def test_any_text_is_a_line(text: str) -> None:
    assert parse_line(text) is not None


def layers_after(*lines: str | float) -> int:
    counter = LayerCounter()
    for one in lines:
        if isinstance(one, str):
            counter.read_comment(one)
        else:
            counter.extrude_at(one)
    return counter.current


def test_without_comments_a_new_height_is_a_new_layer() -> None:
    assert layers_after(0.2, 0.2, 0.4, 0.6, 0.4) == 3


def test_comments_count_layers_from_zero_or_one_by_one() -> None:
    assert layers_after("LAYER:0", 0.2, "LAYER:1", 0.4) == 2
    assert layers_after("LAYER_CHANGE", 0.2, "LAYER_CHANGE", 0.4) == 2


def test_a_line_to_clean_the_nozzle_before_the_first_comment_is_no_layer() -> None:
    assert layers_after(0.3, "LAYER:0", 0.2) == 1
    assert layers_after(0.3, "LAYER_CHANGE", 0.2) == 1


@pytest.mark.parametrize("comment", ["LAYER_COUNT:12", "total layer number: 12"])
def test_a_comment_may_tell_how_many_layers_there_are(comment: str) -> None:
    counter = LayerCounter()
    counter.read_comment(comment)

    assert counter.total == 12


CUTS = st.lists(st.floats(0, 50), max_size=20)
ALL_HEATERS = pytest.mark.parametrize("name", HeaterName)


@ALL_HEATERS
def test_a_heater_rises_by_ten_degrees_a_second_or_faster(name: HeaterName) -> None:
    heater = heaters()[name]
    heater.set_target(heater.max_c)
    heater.advance(2.0)

    assert heater.actual_c >= ROOM_C + 20


@ALL_HEATERS
def test_a_heater_stops_at_its_target(name: HeaterName) -> None:
    heater = heaters()[name]
    heater.set_target(60)
    heater.advance(1000.0)

    assert heater.actual_c == 60
    assert heater.is_settled


def test_a_heater_cools_the_slower_the_nearer_the_room_it_is() -> None:
    heater = heaters()[HeaterName.HOTEND]
    heater.actual_c = 200.0
    falls = []
    for _ in range(5):
        before = heater.actual_c
        heater.advance(20.0)
        falls.append(before - heater.actual_c)

    assert falls == sorted(falls, reverse=True)
    assert heater.actual_c > ROOM_C


def test_a_target_is_kept_between_off_and_the_maximum() -> None:
    heater = heaters()[HeaterName.BED]
    heater.set_target(500)
    assert heater.target_c == heater.max_c
    heater.set_target(-5)
    assert heater.target_c == 0


@given(
    target=st.floats(0, 300),
    begins=st.floats(22, 300),
    cuts=st.lists(st.floats(0, 50), max_size=20),
)
def test_heat_does_not_depend_on_how_time_is_cut(
    target: float, begins: float, cuts: list[float]
) -> None:
    whole, cut = heaters()[HeaterName.HOTEND], heaters()[HeaterName.HOTEND]
    for heater in (whole, cut):
        heater.actual_c = begins
        heater.set_target(target)
    whole.advance(sum(cuts))
    for seconds in cuts:
        cut.advance(seconds)

    assert cut.actual_c == pytest.approx(whole.actual_c, abs=0.1)


@given(target=st.floats(0, 300), begins=st.floats(22, 300))
def test_a_heater_knows_how_long_it_takes(target: float, begins: float) -> None:
    heater = heaters()[HeaterName.HOTEND]
    heater.actual_c = begins
    heater.set_target(target)
    heater.advance(heater.seconds_to_target())

    assert heater.actual_c == pytest.approx(max(target, ROOM_C), abs=0.06)


def test_a_print_with_too_many_strands_keeps_every_second_one() -> None:
    strands = Strands(at_most=100)
    for n in range(101):
        strands.add(Strand(Point(n, 0, 0), Point(n + 1, 0, 0), is_loose=False))
    kept = list(strands.between(0, 3))

    assert len(strands) == 51
    assert [strand.start.x for strand in kept] == [0, 2, 4]
    assert strands.generation == 1
