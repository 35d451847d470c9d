"""The forms that control a printer: what they order, and the page that follows."""

import json

import pytest

from printreach.contract.status import State
from tests.fakes.printer import EVERY_FEATURE
from tests.web.printers.conftest import Home, printing

EFFECTS = {
    "/pause": printing(state=State.PAUSED),
    "/cancel": printing(state=State.CANCELLED),
    "/set-temp": printing(bed_c=0),
}


@pytest.mark.parametrize(
    ("path", "fields", "command", "arguments"),
    [
        ("/pause", {}, "/pause", {"SmartPause": False}),
        ("/resume", {}, "/resume", {}),
        ("/stop", {}, "/cancel", {}),
        ("/heat", {"bed": "0"}, "/set-temp", {"BedC": 0.0}),
        ("/heat", {"hotend": "215", "sure": "yes"}, "/set-temp", {"ToolC": 215.0}),
        ("/move", {"step": "Z-0.1"}, "/move-axis", {"Axis": "Z", "DistanceMm": -0.1}),
        ("/home", {}, "/home", {}),
        ("/home", {"axis": "Z"}, "/home", {"Axes": ["Z"]}),
        (
            "/preset",
            {"preset": "PLA", "sure": "hotend 210°, bed 60°"},
            "/set-temp",
            {"ToolC": 210.0, "BedC": 60.0},
        ),
        ("/cool", {}, "/set-temp", {"ToolC": 0.0, "BedC": 0.0}),
        ("/adjust", {"what": "fan", "fan": "40"}, "/adjust", {"FanPercent": 40}),
        ("/adjust", {"what": "speed", "speed": "120 %"}, "/adjust", {"SpeedPercent": 120}),
        ("/adjust", {"level": "sport"}, "/adjust", {"SpeedLevel": "sport"}),
        ("/adjust", {"z": "-0.05"}, "/adjust", {"ZOffsetByMm": -0.05}),
        ("/emergency-stop", {}, "/emergency-stop", {}),
        ("/restart-firmware", {}, "/restart-firmware", {}),
        ("/extrude", {"length": "5"}, "/extrude", {"Extruder": 0, "DistanceMm": 5.0}),
        ("/extrude", {"length": "5", "way": "back"}, "/extrude", {"DistanceMm": -5.0}),
        ("/light", {"name": "case", "on": "yes"}, "/set-light", {"Name": "case", "On": True}),
    ],
)
def test_a_form_orders_what_it_says(
    home: Home, path: str, fields: dict[str, str], command: str, arguments: dict[str, object]
) -> None:
    home.world.printers.effects = EFFECTS
    answer = home.send(path, **fields)
    (ordered,) = home.orders

    assert answer.status_code == 303
    assert answer.headers["location"].startswith(home.path)
    assert (ordered.printer_id, ordered.command) == (home.printer_id, command)
    assert arguments.items() <= json.loads(ordered.arguments or b"{}").items()


def test_after_a_form_the_printer_is_shown_as_it_is_now(home: Home) -> None:
    home.get()
    home.says(printing(state=State.PAUSED))
    page = home.browser.get(home.send("/pause").headers["location"]).text

    assert "Paused." in page
    assert f'action="{home.path}/resume"' in page


def test_the_page_after_an_order_waits_for_a_printer_that_takes_a_moment(home: Home) -> None:
    printers = home.world.printers

    def pause_late() -> None:
        if home.orders and printers.asks[home.printer_id] > asked + 3:
            home.says(printing(state=State.PAUSED))

    home.get()
    asked = printers.asks[home.printer_id]
    printers.before_answer = pause_late
    page = home.browser.get(home.send("/pause").headers["location"]).text

    assert f'action="{home.path}/resume"' in page


@pytest.mark.parametrize("state", [State.COMPLETE, State.CANCELLED])
def test_after_a_print_only_a_move_that_could_hit_it_asks_whether_the_plate_is_clear(
    home: Home, state: State
) -> None:
    home.says(printing(state=state, features=EVERY_FEATURE))
    asking = [("/move", {"step": step}) for step in ("Z-0.1", "X+10", "X-10", "Y+10")]
    for path, fields in [*asking, ("/home", {}), ("/home", {"axis": "Z"})]:
        assert "Make sure the plate is clear." in home.send(path, **fields).text, fields
    assert home.orders == []

    assert home.send("/move", step="Z+10").status_code == 303
    assert [json.loads(order.arguments) for order in home.orders] == [
        {"Axis": "Z", "DistanceMm": 10.0}
    ]


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (State.RESUMING, "Resuming. It may take a moment."),
        (State.WARMING_UP, "Resuming. It may take a moment."),
        (State.PRINTING, "Resumed."),
    ],
)
def test_a_print_is_resumed_once_it_prints(home: Home, state: State, words: str) -> None:
    home.says(printing(state=State.PAUSED))
    home.world.printers.effects = {"/resume": printing(state=state)}
    page = home.browser.get(home.send("/resume").headers["location"]).text

    assert f'<p class="toast">{words}</p>' in page
