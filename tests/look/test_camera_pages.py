"""The picture of a printer's camera: whole, enlarged, on the whole screen, in a small window."""

import json
import re
from dataclasses import replace

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from printreach.contract.status import State, WebcamEntry
from printreach.hub.connections.live_links import LiveWish
from tests.fakes.printer_http import OFFLINE
from tests.look.camera_pages import (
    ON_ITS_SIDE,
    PICTURE,
    SMALL_PHONE,
    home,
    show,
    with_cameras,
)
from tests.look.test_narrow_pages import broken_words
from tests.rigs.looks import DESKTOP, PHONE, Size
from tests.web.connections.conftest import at_print, make_link
from tests.web.printers.conftest import Home, printing
from tests.web.world import run

__all__ = ["home"]

pytestmark = [pytest.mark.slow, pytest.mark.browser]

SIZES = (PHONE, SMALL_PHONE, ON_ITS_SIDE, DESKTOP)
NO_SMALL_WINDOWS = "Object.defineProperty(window, 'documentPictureInPicture', {value: undefined})"
NO_FULL_SCREEN = "delete Element.prototype.requestFullscreen"
IS_INERT = "element => element.closest('[inert]') !== null"
SCALE = "image => Number(getComputedStyle(image).scale) || 1"


def send_events(route: Route, said: list[str]) -> None:
    """Send what was said until now; the browser soon asks again."""
    route.fulfill(body="retry: 200\n\n" + "".join(said), content_type="text/event-stream")


def scale_of(section: Locator) -> float:
    return float(section.locator("[data-zooms] img").first.evaluate(SCALE))


def note_picture(home: Home) -> None:
    """Somebody has seen a picture of the printer's camera."""
    snapshots = home.world.services.snapshots
    run(home.browser, lambda: snapshots.note(home.account_id, home.printer_id, PICTURE))


def apart_and_within(section: Locator, size: Size) -> bool:
    """Whether the age of the picture is whole, and shares no place with the buttons."""
    age, corner, frame = (
        section.locator(css).bounding_box() for css in (".age", ".corner", ".webcam")
    )
    assert age is not None
    assert corner is not None
    assert frame is not None
    is_whole = age["x"] >= frame["x"] and age["x"] + age["width"] <= frame["x"] + frame["width"]
    is_beside = age["x"] + age["width"] <= corner["x"]
    is_below = age["y"] >= corner["y"] + corner["height"]
    return is_whole and (is_beside or is_below)


def test_nothing_of_a_picture_is_cut_off_on_a_card(page: Page, home: Home) -> None:
    show(page, home, "/..")

    fits = page.locator(".printer .webcam img").evaluate_all(
        "images => images.map(image => getComputedStyle(image).objectFit)"
    )

    assert fits == ["contain"]


@pytest.mark.parametrize("path", ["", "/control"])
def test_the_picture_fills_the_whole_screen_and_gives_it_back(
    page: Page, home: Home, path: str
) -> None:
    section = show(page, home, path)

    section.get_by_role("button", name="Full screen").click()

    expect(section.get_by_role("button", name="Leave full screen")).to_be_focused()
    assert page.evaluate("document.fullscreenElement.id") == "part-picture"
    section.get_by_role("button", name="Leave full screen").click()
    expect(section.get_by_role("button", name="Full screen")).to_be_focused()
    assert page.evaluate("document.fullscreenElement") is None


@pytest.mark.parametrize("way_out", ["button", "key"])
def test_where_only_videos_get_the_screen_the_picture_covers_the_page(
    page: Page, home: Home, way_out: str
) -> None:
    page.add_init_script(NO_FULL_SCREEN)
    section = show(page, home)

    section.get_by_role("button", name="Full screen").click()

    assert section.bounding_box() == {"x": 0, "y": 0, "width": PHONE.width, "height": PHONE.height}
    pause = page.get_by_role("button", name="Pause")
    assert pause.evaluate(IS_INERT)
    if way_out == "key":
        page.keyboard.press("Escape")
    else:
        section.get_by_role("button", name="Leave full screen").click()
    assert not pause.evaluate(IS_INERT)


def test_a_double_tap_enlarges_the_picture_and_shows_it_whole_again(page: Page, home: Home) -> None:
    section = show(page, home)

    section.locator("[data-zooms]").dblclick(position={"x": 40, "y": 120})

    assert scale_of(section) > 2
    page.wait_for_timeout(400)  # two taps that are farther apart are two taps
    section.locator("[data-zooms]").dblclick(position={"x": 40, "y": 120})
    assert scale_of(section) == 1


def test_two_fingers_enlarge_the_picture_and_one_moves_it(page: Page, home: Home) -> None:
    section = show(page, home)
    box = section.locator("[data-zooms]").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    devtools = page.context.new_cdp_session(page)

    def touch(kind: str, *fingers: tuple[float, float]) -> None:
        points = [{"x": at_x, "y": at_y, "id": n} for n, (at_x, at_y) in enumerate(fingers)]
        devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", (x - 20, y), (x + 20, y))
    touch("touchMove", (x - 30, y), (x + 30, y))
    touch("touchMove", (x - 60, y), (x + 60, y))
    touch("touchEnd")

    assert scale_of(section) == pytest.approx(3, abs=0.5)
    image = section.locator("[data-zooms] img")
    before = image.bounding_box()
    touch("touchStart", (x, y))
    touch("touchMove", (x + 15, y))
    touch("touchMove", (x + 30, y))
    touch("touchEnd")
    after = image.bounding_box()
    assert before is not None
    assert after is not None
    assert after["x"] - before["x"] == pytest.approx(30, abs=2)


def test_the_wheel_with_ctrl_enlarges_the_picture_and_not_the_page(page: Page, home: Home) -> None:
    section = show(page, home, size=DESKTOP)
    section.locator("[data-zooms]").hover()

    page.mouse.wheel(0, -100)
    assert scale_of(section) == 1
    page.keyboard.down("Control")
    page.mouse.wheel(0, -100)

    assert scale_of(section) > 2
    assert page.evaluate("visualViewport.scale") == 1


def test_keys_enlarge_move_and_reset_the_picture_while_the_focus_is_beside_it(
    page: Page, home: Home
) -> None:
    section = show(page, home, size=DESKTOP)
    page.keyboard.press("+")
    assert scale_of(section) == 1

    section.get_by_role("button", name="Full screen").focus()
    page.keyboard.press("+")
    page.keyboard.press("+")
    assert scale_of(section) == pytest.approx(2.25)
    before = section.locator("[data-zooms] img").bounding_box()
    page.keyboard.press("ArrowLeft")
    after = section.locator("[data-zooms] img").bounding_box()
    assert before is not None
    assert after is not None
    assert after["x"] > before["x"]
    page.keyboard.press("-")
    assert scale_of(section) == pytest.approx(1.5)
    page.keyboard.press("0")
    assert scale_of(section) == 1


def test_buttons_enlarge_the_picture_and_show_it_whole_again(page: Page, home: Home) -> None:
    section = show(page, home)
    expect(section.get_by_role("button", name="Zoom out")).to_be_hidden()

    section.get_by_role("button", name="Zoom in").click()

    assert scale_of(section) == 1.5
    section.get_by_role("button", name="Zoom out").click()
    assert scale_of(section) == 1


def test_a_picture_stays_enlarged_while_the_page_is_brought_up_to_date(
    page: Page, home: Home
) -> None:
    said: list[str] = []
    section = show(page, home, events=lambda route: send_events(route, said))
    section.get_by_role("button", name="Zoom in").click()

    part = section.evaluate("section => section.outerHTML").replace("Workbench, webcam", "Renamed")
    unstyled = re.sub(r' style="[^"]*"', "", part)
    said.append(f"event: part\ndata: {json.dumps({'id': 'part-picture', 'html': unstyled})}\n\n")

    expect(section.get_by_role("img", name="Renamed")).to_be_visible()
    assert scale_of(section) == 1.5


def test_picture_in_picture_is_not_offered_where_the_browser_lacks_it(
    page: Page, home: Home
) -> None:
    page.add_init_script(NO_SMALL_WINDOWS)

    section = show(page, home, size=DESKTOP)

    expect(section.get_by_role("button", name="Full screen")).to_be_visible()
    expect(section.get_by_role("button", name="Picture in picture")).to_have_count(0)


def test_a_small_window_shows_the_picture_alone(page: Page, home: Home) -> None:
    section = show(page, home, size=DESKTOP)

    with page.context.expect_page() as popped:
        section.get_by_role("button", name="Picture in picture").click()

    small = popped.value
    picture = section.locator("[data-zooms] img").evaluate("image => image.src")
    expect(small.locator("body > .webcam > img")).to_have_attribute("src", picture)
    assert small.evaluate("document.body.textContent.trim()") == ""
    small.close()


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
def test_the_age_of_an_old_picture_stands_clear_of_the_buttons(
    page: Page, home: Home, size: Size, language: str
) -> None:
    note_picture(home)
    home.world.printers.statuses[home.printer_id] = OFFLINE
    home.browser.headers["accept-language"] = language
    page.set_extra_http_headers({"Accept-Language": language})
    section = show(page, home, size=size)
    if language == "en":
        expect(section.locator(".age")).to_contain_text("Last picture 1 May 2026")

    assert apart_and_within(section, size)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
def test_so_does_the_age_of_a_picture_that_no_longer_comes(
    page: Page, home: Home, size: Size
) -> None:
    section = show(page, home, size=size)
    section.locator(".webcam").evaluate(
        """frame => {
            frame.dataset.arrival = "old";
            frame.querySelector("[data-ours]").textContent = "No picture since 23 November, 23:54";
        }"""
    )

    assert apart_and_within(section, size)


@pytest.mark.parametrize("rotation", [90, 270])
def test_a_picture_on_its_side_is_whole(page: Page, home: Home, rotation: int) -> None:
    home.says(with_cameras(printing(), WebcamEntry(name="Side", rotation=rotation)))
    section = show(page, home, size=DESKTOP)

    image, frame = section.locator("img").bounding_box(), section.locator(".webcam").bounding_box()

    assert image == pytest.approx(frame)


def test_on_a_phone_on_its_side_the_picture_is_whole_and_pause_in_reach(
    page: Page, home: Home
) -> None:
    section = show(page, home, size=ON_ITS_SIDE)

    for seen in (section.locator(".webcam"), page.get_by_role("button", name="Pause")):
        box = seen.bounding_box()
        assert box is not None
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= ON_ITS_SIDE.height


def test_a_strangers_page_has_the_whole_screen_too(page: Page, home: Home) -> None:
    home.says(at_print("print-1"))
    link = make_link(home, LiveWish(ends_with_print=True))
    section = show(page, home, f"/live/{link.live_id}")

    section.get_by_role("button", name="Zoom in").click()
    assert scale_of(section) == 1.5
    section.get_by_role("button", name="Full screen").click()

    expect(section.get_by_role("button", name="Leave full screen")).to_be_visible()


@pytest.mark.parametrize("width", [320, 360, 390])
@pytest.mark.parametrize("state", [State.PRINTING, State.WARMING_UP, State.CANCELLED])
def test_a_usual_name_is_whole_beside_its_badge(
    page: Page, home: Home, width: int, state: State
) -> None:
    home.says(printing(state=state))
    show(page, home, size=replace(PHONE, width=width))

    heading = page.get_by_role("heading", name="Workbench")

    assert heading.evaluate("heading => heading.scrollWidth <= heading.clientWidth")
    assert broken_words(page, ".printer-head h1, .printer-head .badge") == []


def test_the_card_of_an_offline_printer_breaks_no_word(page: Page, home: Home) -> None:
    offline = home.add_printer("Printer in the cellar", is_online=False)
    run(home.browser, lambda: home.world.services.snapshots.note(home.account_id, offline, PICTURE))

    show(page, home, "/..", SMALL_PHONE)

    expect(page.locator(".is-small .age").first).to_contain_text("Last picture")
    assert broken_words(page, ".printer :is(.badge, .age)") == []
