"""Presets, adjustments, the emergency stop and the restart after it, on a printer's pages."""

from datetime import timedelta

import pytest

from printreach.contract.commands import SpeedLevel
from printreach.contract.events import EventType
from printreach.contract.status import Adjustments, Feature, State
from printreach.ports.printer_http import PrinterRefusal
from tests.fakes.printer import EVERY_FEATURE
from tests.web.printers.conftest import Home, printing
from tests.web.prints.test_history import hear, told
from tests.web.world import send

TOLD = Adjustments(speed_percent=120, flow_percent=95, fan_percent=0, z_offset_mm=-0.075)


def says_everything(home: Home, state: State = State.PRINTING) -> None:
    home.says(printing(state=state, features=EVERY_FEATURE, adjustments=TOLD))


def test_what_is_in_force_is_shown_and_can_be_set(home: Home) -> None:
    says_everything(home)
    page = home.get("/control").text

    for shown in ("now <b>120%</b>", "now <b>95%</b>", "now <b>0%</b>", "<b data-ages>-0.075</b>"):
        assert shown in page
    assert page.count(f'action="{home.path}/adjust"') == 5


def test_numbers_of_the_controls_are_written_as_the_language_does(home: Home) -> None:
    says_everything(home)
    send(home.browser, "/account/language", language="de")
    page = home.get("/control").text

    assert "<b data-ages>-0,075</b>" in page
    assert 'value="+0.05" aria-label="Z-Versatz +0,05 mm' in page
    assert ">+0,05</button>" in page


def test_what_the_printer_does_not_tell_is_unknown_and_never_zero(home: Home) -> None:
    home.says(printing(features=EVERY_FEATURE))
    page = home.get("/control").text

    assert page.count("now unknown") == 3
    assert "now <b>" not in page
    assert 'name="fan" inputmode="numeric" maxlength="4" required value=""' in page


@pytest.mark.parametrize(
    ("feature", "gone"),
    [
        (Feature.SPEED_CONTROL, 'id="set-speed"'),
        (Feature.FLOW_CONTROL, 'id="set-flow"'),
        (Feature.FAN_CONTROL, 'id="set-fan"'),
        (Feature.Z_OFFSET_CONTROL, 'name="z"'),
        (Feature.SPEED_LEVELS, 'name="level"'),
        (Feature.AXIS_HOMING, 'name="axis"'),
        (Feature.TEMPERATURE_CONTROL, 'name="preset"'),
        (Feature.EMERGENCY_STOP, 'data-dialog="emergency"'),
    ],
)
def test_a_printer_without_the_feature_has_no_such_control(
    home: Home, feature: Feature, gone: str
) -> None:
    says_everything(home, State.IDLE)
    assert gone in home.get("/control").text
    home.world.clock.advance(timedelta(seconds=10))
    home.says(printing(state=State.IDLE, features=EVERY_FEATURE & ~feature))
    assert gone not in home.get("/control").text


def test_the_level_of_speed_in_force_is_pressed(home: Home) -> None:
    told = Adjustments(speed_level=SpeedLevel.SPORT)
    home.says(printing(features=EVERY_FEATURE, adjustments=told))
    page = home.get("/control").text

    assert 'name="level" value="sport" aria-pressed="true">Sport</button>' in page
    assert page.count('aria-pressed="false"') == 3


@pytest.mark.parametrize("typed", ["", "101", "-1", "half", "40.5", "٤٠"])
def test_a_value_out_of_range_is_told_at_its_field_and_not_ordered(home: Home, typed: str) -> None:
    says_everything(home)
    answer = home.send("/adjust", what="fan", fan=typed)

    assert answer.status_code == 400
    assert "Enter a whole number, 0 to 100." in answer.text
    assert 'aria-describedby="fan-fault" aria-invalid="true"' in answer.text
    assert home.orders == []


@pytest.mark.parametrize(
    "fields", [{"z": "2"}, {"z": "up"}, {"what": "pressure"}, {"level": "warp"}, {}]
)
def test_a_form_that_no_page_has_is_refused(home: Home, fields: dict[str, str]) -> None:
    says_everything(home)

    assert home.send("/adjust", **fields).status_code == 400
    assert home.orders == []


def test_a_preset_asks_before_it_heats(home: Home) -> None:
    says_everything(home, State.IDLE)
    asked = home.send("/preset", preset="PETG")

    assert "Set these temperatures: hotend 235°, bed 75°?" in asked.text
    assert home.orders == []


def test_an_emergency_stop_asks_once_where_the_printer_is_watched_and_controlled(
    home: Home,
) -> None:
    says_everything(home)

    for path in ("", "/control"):
        page = home.get(path).text
        assert f'<a class="button bad" href="{home.path}/emergency-stop"' in page
        assert "Stop Workbench at once?" in page
    for path in ("/files", "/history", "/settings", "/people"):
        assert "/emergency-stop" not in home.get(path).text
    assert "The print is lost." in home.get("/emergency-stop").text
    assert home.orders == []


def test_it_is_the_printer_that_stops_in_german(home: Home) -> None:
    """In German "he" would be the print."""
    says_everything(home)

    page = home.browser.get(f"{home.path}/emergency-stop", headers={"Accept-Language": "de"}).text

    assert "Der Druck ist verloren. Der Drucker hält sofort an" in page


def test_a_lock_that_came_meanwhile_does_not_keep_the_owner_from_an_emergency_stop(
    home: Home,
) -> None:
    says_everything(home)
    home.send("/emergency-stop")

    assert [order.despite_lock for order in home.orders] == [True]


def test_after_it_the_page_says_how_the_printer_comes_back(home: Home) -> None:
    says_everything(home, State.ERROR)
    page = home.get().text

    assert f'action="{home.path}/restart-firmware"' in page
    assert "After an emergency stop, restart the firmware to use the printer again." in page
    assert 'data-dialog="emergency"' not in page


def test_a_printer_that_only_a_restart_brings_back_offers_it(home: Home) -> None:
    refusal = PrinterRefusal(785, "Klipper has shut down.", features=int(Feature.FIRMWARE_RESTART))
    home.world.printers.statuses[home.printer_id] = refusal

    for path in ("", "/control"):
        page = home.get(path).text
        assert "Klipper has shut down." in page
        assert "<b>Restart the firmware to use the printer again.</b>" in page
        assert f'action="{home.path}/restart-firmware"' in page


def test_a_printer_that_is_lost_offers_no_restart(home: Home) -> None:
    home.world.printers.statuses[home.printer_id] = PrinterRefusal(785, "It can't be reached.")

    assert "/restart-firmware" not in home.get().text


def test_what_may_need_a_restart_first_is_not_offered_another_print(home: Home) -> None:
    hear(home, told(home, EventType.STARTED), told(home, EventType.COMPLETE))
    for state, is_offered in ((State.COMPLETE, True), (State.ERROR, False)):
        home.world.clock.advance(timedelta(seconds=10))
        says_everything(home, state)
        for path in ("", "/history", "/history/print?id=print-0"):
            page = home.get(path).text
            assert ("/restart-firmware" in page) != is_offered, path
            assert ("Print again" in page) == is_offered, path
