"""The look and the use of a printer's controls: adjustments, presets and the emergency stop."""

import json

import pytest
from playwright.sync_api import Page, expect

from printreach.contract.commands import SpeedLevel
from printreach.contract.status import Adjustments, State
from printreach.ports.printer_http import PrinterRefusal
from tests.fakes.printer import EVERY_FEATURE
from tests.look.camera_pages import ON_ITS_SIDE, SMALL_PHONE, show
from tests.look.camera_pages import home as home
from tests.rigs.looks import DESKTOP, PHONE, Size, look_at
from tests.web.printers.conftest import Home, printing
from tests.web.printers.test_smart_pause import paused

pytestmark = [pytest.mark.slow, pytest.mark.browser]

SIZES = (PHONE, SMALL_PHONE, ON_ITS_SIDE, DESKTOP)
TOLD = Adjustments(
    speed_percent=100,
    flow_percent=100,
    fan_percent=35,
    z_offset_mm=-0.05,
    speed_level=SpeedLevel.STANDARD,
)
STOPPED = PrinterRefusal(785, "Klipper has shut down: Shutdown due to webhooks request.", 1 << 29)
IN_REACH = """button => {
    const place = button.getBoundingClientRect();
    const top = document.elementFromPoint(place.x + place.width / 2, place.y + place.height / 2);
    return place.bottom <= innerHeight && place.right <= innerWidth && button.contains(top);
}"""

STANDS_ON_GROUND_OF_ITS_OWN = """width => {
    const bar = document.querySelector(width < 820 ? ".emergency" : ".printer-head");
    const { left, right } = bar.getBoundingClientRect();
    const ground = getComputedStyle(bar).backgroundColor;
    return left <= 0 && right >= document.documentElement.clientWidth
        && !["transparent", "rgba(0, 0, 0, 0)"].includes(ground);
}"""
# What of the page's contents shares its place.
LIES_BENEATH = """() => {
    const stop = document.querySelector(".emergency .button").getBoundingClientRect();
    return [...document.querySelectorAll("main .card :is(a, button, input, p), .picture .webcam")]
        .filter((each) => each.checkVisibility() && !each.closest(".thumb"))
        .filter((each) => {
            const box = each.getBoundingClientRect();
            return box.width && box.left < stop.right && box.right > stop.left
                && box.top < stop.bottom && box.bottom > stop.top;
        })
        .map((each) => each.outerHTML.slice(0, 100));
}"""
COLOUR = "element => getComputedStyle(element).color"


def says_everything(home: Home, state: State = State.PRINTING) -> None:
    home.says(printing(state=state, features=EVERY_FEATURE, adjustments=TOLD))


@pytest.mark.parametrize("state", [State.PRINTING, State.IDLE])
def test_the_controls_look_as_they_should(page: Page, home: Home, state: State) -> None:
    says_everything(home, state)
    show(page, home, "/control")

    look_at(page, f"controls-{state}", sizes=SIZES)


def test_a_printers_own_presets_stand_apart(page: Page, home: Home) -> None:
    told = [{"Name": "PLA", "ToolC": 205.0, "BedC": 55.0}, {"Name": "Dry box", "BedC": 45.0}]
    home.world.printers.answers["/presets"] = {"Presets": told}
    says_everything(home, State.IDLE)
    show(page, home, "/control")
    expect(page.get_by_role("form", name="Presets of the printer")).to_be_visible()

    look_at(page, "controls-presets", sizes=SIZES)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
@pytest.mark.parametrize("path", ["", "/control"])
def test_an_emergency_stop_is_in_reach_asks_once_and_is_given_at_once(
    page: Page, home: Home, path: str, size: Size
) -> None:
    says_everything(home)
    show(page, home, path, size)
    button = page.get_by_role("link", name="Emergency stop")
    assert button.evaluate(IN_REACH)
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    assert button.evaluate(IN_REACH)
    button.click()

    dialog = page.get_by_role("dialog", name="Stop Workbench at once?")
    expect(dialog.get_by_role("button", name="stop it")).to_be_focused()
    assert home.orders == []
    dialog.get_by_role("button", name="Stop at once").click()
    expect(page.get_by_text("The emergency stop was sent.")).to_be_visible()
    assert [order.command for order in home.orders] == ["/emergency-stop"]


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
@pytest.mark.parametrize("path", ["", "/control"])
def test_an_emergency_stop_covers_nothing(page: Page, home: Home, path: str, size: Size) -> None:
    says_everything(home, State.IDLE if path else State.PRINTING)
    show(page, home, path, size)
    page.get_by_role("link", name="Emergency stop").wait_for()

    assert page.evaluate(STANDS_ON_GROUND_OF_ITS_OWN, size.width)
    if size.width < 820:
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
    assert page.evaluate(LIES_BENEATH) == []


def test_the_owner_edits_presets_from_the_controls(page: Page, home: Home) -> None:
    says_everything(home, State.IDLE)
    show(page, home, "/control")
    page.get_by_role("link", name="Edit presets").click()

    page.wait_for_url("**/account/presets")


@pytest.mark.parametrize("path", ["", "/control"])
def test_a_heater_that_is_off_is_not_drawn_as_a_hot_one(page: Page, home: Home, path: str) -> None:
    home.says(paused(popup=False))
    show(page, home, path, DESKTOP)
    off, on = (
        page.locator(".heater", has_text=name).locator("p > .icon") for name in ("Hotend", "Bed")
    )

    assert off.evaluate(COLOUR) != on.evaluate(COLOUR)


def test_the_question_looks_as_it_should(page: Page, home: Home) -> None:
    says_everything(home)
    show(page, home)
    page.get_by_role("link", name="Emergency stop").click()

    look_at(page, "emergency-question", sizes=SIZES)


def test_the_page_that_asks_without_scripts_looks_as_it_should(page: Page, home: Home) -> None:
    says_everything(home)
    show(page, home)
    show(page, home, "/emergency-stop")

    look_at(page, "emergency-stop", sizes=SIZES)


@pytest.mark.parametrize("path", ["", "/control"])
def test_a_stopped_printer_is_brought_back_from_its_page(page: Page, home: Home, path: str) -> None:
    says_everything(home)
    home.world.printers.statuses[home.printer_id] = STOPPED
    show(page, home, path)
    look_at(page, f"stopped{path.replace('/', '-')}", sizes=SIZES)
    expect(page.get_by_text("Klipper has shut down").first).to_be_visible()
    says_everything(home, State.IDLE)
    with page.expect_response("**/restart-firmware"):
        page.get_by_role("button", name="Restart firmware").click()

    assert [order.command for order in home.orders] == ["/restart-firmware"]


def test_a_slider_sets_the_fan_without_leaving_the_page(page: Page, home: Home) -> None:
    says_everything(home)
    show(page, home, "/control")
    page.evaluate("document.body.dataset.same = 'yes'")
    slider = page.get_by_role("slider", name="Fan, slider")
    slider.fill("60")
    field = page.get_by_role("textbox", name="Fan, in %")
    expect(field).to_have_value("60")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(field).to_have_value("65")
    with page.expect_response("**/adjust"):
        page.locator("#set-fan").get_by_role("button", name="Set").click()

    (order,) = home.orders
    assert (order.command, json.loads(order.arguments)) == ("/adjust", {"FanPercent": 65})
    assert page.evaluate("document.body.dataset.same") == "yes"


def test_a_value_that_is_wrong_is_told_at_its_field(page: Page, home: Home) -> None:
    says_everything(home)
    show(page, home, "/control")
    field = page.get_by_role("textbox", name="Speed, in %")
    field.fill("500")
    field.press("Enter")

    expect(page.locator("#set-speed .fault")).to_have_text("Enter a whole number, 10 to 300.")
    expect(field).to_be_focused()
    assert home.orders == []


def test_a_move_after_a_print_asks_whether_the_plate_is_clear(page: Page, home: Home) -> None:
    says_everything(home, State.COMPLETE)
    show(page, home, "/control")
    page.get_by_role("button", name="Home all").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("The print may still be on the plate")
    look_at(page, "move")
    assert home.orders == []
    with page.expect_response("**/home"):
        dialog.locator("button.primary").click()

    assert [order.command for order in home.orders] == ["/home"]


def test_a_preset_heats_after_one_question(page: Page, home: Home) -> None:
    says_everything(home, State.IDLE)
    show(page, home, "/control")
    page.get_by_role("button", name="PLA").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Set these temperatures: hotend 210°, bed 60°?")
    look_at(page, "preset")
    assert home.orders == []
    with page.expect_response("**/preset"):
        dialog.get_by_role("button", name="Heat for PLA").click()

    (order,) = home.orders
    assert json.loads(order.arguments) == {"ToolC": 210.0, "BedC": 60.0}
