"""Pages on a phone of 320 CSS pixels: words stay whole, and the current section is in view."""

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from printreach.contract.files import FileList
from printreach.contract.status import State
from tests.look.gallery import HOST, forward, stay
from tests.look.test_operator_pages import office
from tests.look.test_webhook_pages import home
from tests.web.printers.conftest import Home, printing
from tests.web.printers.test_files import entry
from tests.web.watch.watching import failing, saw, under_watch
from tests.web.world import BASE_URL, Browser, send

__all__ = ["home", "office"]

pytestmark = [pytest.mark.slow, pytest.mark.browser]

NARROW: ViewportSize = {"width": 320, "height": 568}
BROKEN_WORDS = """selector => [...document.querySelectorAll(selector)].flatMap(element => {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT), broken = [];
    for (let text = walker.nextNode(); text; text = walker.nextNode()) {
        if (!text.parentElement.getClientRects().length) continue;
        for (const word of text.data.matchAll(/[\\p{L}\\d.]+/gu)) {
            const range = document.createRange();
            range.setStart(text, word.index);
            range.setEnd(text, word.index + word[0].length);
            const tops = new Set([...range.getClientRects()].map(box => Math.round(box.top)));
            if (tops.size > 1) broken.push(word[0]);
        }
    }
    return broken;
})"""
CURRENT_IN_VIEW = """() => {
    const current = document.querySelector(".subsections [aria-current]").getBoundingClientRect();
    return current.left >= 0 && current.right <= document.documentElement.clientWidth;
}"""


ALL_IN_VIEW = """() => [...document.querySelectorAll(".printer-head .subsections a")].every(
    section => section.getBoundingClientRect().right <= document.documentElement.clientWidth
)"""


BUTTONS_IN_THEIR_CARD = """() => {
    const right = element => element.getBoundingClientRect().right;
    return [...document.querySelectorAll(".card .buttons .button")].every(
        button => right(button) <= right(button.closest(".card"))
    );
}"""


def broken_words(page: Page, selector: str) -> object:
    return page.evaluate(BROKEN_WORDS, selector)


def opened(page: Page, browser: Browser, path: str) -> Page:
    page.set_viewport_size(NARROW)
    page.route(f"{BASE_URL}/**", lambda route: forward(route, browser))
    for endless in ("**/events*", "**/webcam/**"):
        page.route(endless, stay)
    page.goto(BASE_URL + path)
    return page


def test_the_picture_beside_the_controls_has_the_whole_width(page: Page, home: Home) -> None:
    home.says(printing())
    shown = opened(page, home.browser, f"{home.path}/control")

    box = shown.locator(".picture .webcam").bounding_box()
    assert box is not None
    assert (box["x"], box["width"]) == (0, NARROW["width"])


def test_the_times_of_a_print_are_covered_by_nothing(page: Page, home: Home) -> None:
    home.says(under_watch(5, 6))
    saw(home, *failing(home)[:60])
    shown = opened(page, home.browser, home.path)

    expect(shown.locator(".this-print .axis")).to_contain_text("expected")
    expect(shown.locator(".this-print .axis text")).to_be_hidden()
    shown.set_viewport_size({"width": 820, "height": 568})
    expect(shown.locator(".this-print .axis text")).to_be_visible()


@pytest.mark.parametrize("width", [1024, 1280])
def test_buttons_that_find_no_room_beside_each_other_stay_in_their_card(
    page: Page, home: Home, width: int
) -> None:
    home.says(printing())

    opened(page, home.browser, home.path).set_viewport_size({"width": width, "height": 800})

    page.get_by_role("button", name="Switch light off").wait_for()
    assert page.evaluate(BUTTONS_IN_THEIR_CARD)


@pytest.mark.parametrize("path", ["", "/control", "/files", "/history", "/settings"])
def test_words_of_a_printers_pages_stay_whole(page: Page, home: Home, path: str) -> None:
    home.says(printing(state=State.IDLE))
    files = [entry("cube.gcode"), entry("twisted vase.gcode")]
    home.world.printers.answers["/files/list"] = FileList(root=files)

    opened(page, home.browser, home.path + path)

    for selector in (".tabs a", "h1", ".heater > p", ".of-file", ".buttons"):
        assert broken_words(page, selector) == []
    assert page.evaluate(CURRENT_IN_VIEW)


@pytest.mark.parametrize(
    ("name", "selector"), [("dashboard", ".heating p"), ("permission", ".picked h2")]
)
def test_words_of_parts_stay_whole(page: Page, name: str, selector: str) -> None:
    page.set_viewport_size(NARROW)
    page.goto(f"{HOST}/{name}")

    assert page.locator(selector).count() > 0
    assert broken_words(page, selector) == []


def test_temperatures_stand_apart_from_the_name_of_a_small_card(page: Page, home: Home) -> None:
    home.says(printing(state=State.IDLE))
    opened(page, home.browser, "/printers")
    head, temps = (
        page.locator(each).bounding_box() for each in (".is-small header", ".is-small .temps")
    )

    assert head
    assert temps
    assert temps["y"] >= head["y"] + head["height"] + 6


@pytest.mark.parametrize("size", [(844, 390), (320, 568)])
def test_the_time_left_ends_at_the_edge(page: Page, home: Home, size: tuple[int, int]) -> None:
    home.says(printing())
    opened(page, home.browser, home.path)
    page.set_viewport_size({"width": size[0], "height": size[1]})
    reading, side = (
        page.locator(each).bounding_box() for each in (".now .reading", ".now .reading .side")
    )

    assert reading
    assert side
    assert abs(side["x"] + side["width"] - reading["x"] - reading["width"]) < 1


def test_a_phone_names_the_file_that_prints(page: Page, home: Home) -> None:
    name = "a_long_name_" * 8 + ".gcode"
    home.says(printing(file_name=name))
    for path, selector in ((home.path, ".now .file"), ("/printers", ".printer .file")):
        shown = opened(page, home.browser, path).locator(selector)

        expect(shown).to_be_visible()
        expect(shown).to_have_text(name)
        box = shown.bounding_box()
        assert box is not None
        assert box["height"] < 30
        assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]


@pytest.mark.parametrize("width", [320, 360, 414, 600])
def test_all_sections_of_a_printer_are_in_view(page: Page, home: Home, width: int) -> None:
    opened(page, home.browser, home.path)
    page.set_viewport_size({"width": width, "height": 640})

    assert page.locator(".subsections a").count() == 5
    assert page.evaluate(ALL_IN_VIEW)


@pytest.mark.parametrize("width", [320, 360, 414, 600])
def test_the_steps_of_an_axis_are_equally_wide(page: Page, home: Home, width: int) -> None:
    home.says(printing(state=State.IDLE))

    opened(page, home.browser, f"{home.path}/control")
    page.set_viewport_size({"width": width, "height": 640})

    assert page.locator(".move").count() == 3
    for axis in page.locator(".move").all():
        widths = [
            place["width"]
            for step in axis.locator(".button").all()
            if (place := step.bounding_box())
        ]
        assert len(widths) == 6
        assert max(widths) - min(widths) < 1


@pytest.mark.parametrize("path", ["", "/accounts", "/printers", "/connections", "/keys", "/acts"])
def test_words_of_the_operators_pages_stay_whole(page: Page, office: Browser, path: str) -> None:
    opened(page, office, f"/operator{path}")

    for selector in (".tabs a", "h1", ".table td:not(:has(a))", ".terms dd"):
        assert broken_words(page, selector) == []
    for value in page.locator(".terms dd").all():
        place = value.bounding_box()
        assert place is not None
        assert place["width"] > 100
    assert page.evaluate(CURRENT_IN_VIEW)


def test_what_copies_a_secret_stands_below_it(page: Page, home: Home) -> None:
    made = send(home.browser, "/connections/share", printer=home.printer_id, ends="24")
    opened(page, home.browser, made.headers["location"])

    value, copy = (
        page.locator(which).bounding_box() for which in ("#once-1", ".once .act >> nth=0")
    )

    assert value is not None
    assert copy is not None
    assert copy["y"] >= value["y"] + value["height"]
    assert value["width"] > 200


def test_the_bar_of_the_operators_sections_stands_still_from_page_to_page(
    page: Page, office: Browser
) -> None:
    paths = ("", "/accounts", "/limits", "/invite", "/keys")

    assert len(places_of_bar(page, office, [f"/operator{path}" for path in paths])) == 1


def test_the_bar_of_the_accounts_sections_stands_still_from_page_to_page(
    page: Page, home: Home
) -> None:
    paths = ("", "/security", "/tokens", "/presets", "/presets/change")

    assert len(places_of_bar(page, home.browser, [f"/account{path}" for path in paths])) == 1


def places_of_bar(page: Page, browser: Browser, paths: list[str]) -> set[tuple[float, float]]:
    page.route(f"{BASE_URL}/**", lambda route: forward(route, browser))
    page.set_viewport_size({"width": 1440, "height": 900})
    places = set()
    for path in paths:
        page.goto(BASE_URL + path)
        place = page.locator(".subsections").bounding_box()
        assert place is not None, path
        places.add((place["x"], place["y"]))
    return places


def test_a_printer_is_found_on_a_phone(page: Page, home: Home) -> None:
    for name in ("Attic", "Cellar", "Garage", "Left shelf"):
        home.add_printer(name)
    shown = opened(page, home.browser, "/printers")
    field = shown.get_by_role("searchbox", name="Find a printer")
    expect(field).to_be_visible()

    field.fill("shelf")
    field.press("Enter")
    shown.wait_for_url("**/printers?q=shelf")
    expect(shown.get_by_role("heading", level=2)).to_have_text(["Left shelf"])
