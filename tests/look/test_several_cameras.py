"""Several cameras of a printer on its pages, and their settings."""

import pytest
from playwright.sync_api import Page, expect

from printreach.contract.status import State
from tests.look.camera_pages import ON_ITS_SIDE, SMALL_PHONE, TWO_NAMES, home, show, two_cameras
from tests.rigs.chromium import watch
from tests.rigs.looks import DESKTOP, PHONE, Size, look_at
from tests.web.printers.conftest import Home, printing

__all__ = ["home"]

pytestmark = [pytest.mark.slow, pytest.mark.browser]

SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.mark.parametrize("size", [PHONE, SMALL_PHONE, ON_ITS_SIDE], ids=lambda size: size.name)
@pytest.mark.parametrize(
    "path", ["", "?camera=1", "?camera=all", "/control", "/control?camera=all"]
)
def test_two_cameras_make_no_page_wider_than_a_phone(
    page: Page, home: Home, size: Size, path: str
) -> None:
    home.says(two_cameras(printing(state=State.IDLE)))

    show(page, home, path, size)

    expect(page.get_by_role("link", name="Side by side")).to_be_visible()
    assert page.evaluate(SIDEWAYS) == 0


@pytest.mark.parametrize("size", [PHONE, SMALL_PHONE], ids=lambda size: size.name)
@pytest.mark.parametrize("path", ["", "/control"])
def test_the_small_pictures_of_cameras_stand_off_the_edge_of_a_phone(
    page: Page, home: Home, size: Size, path: str
) -> None:
    home.says(two_cameras(printing(state=State.IDLE)))
    show(page, home, path, size)
    margin = page.locator("#part-head").evaluate(
        "e => parseFloat(getComputedStyle(e.closest('main')).paddingLeft)"
    )

    first = page.locator(".cameras a").first.bounding_box()
    assert first is not None
    assert margin > 8
    assert first["x"] >= margin - 1


@pytest.mark.parametrize("path", ["", "/control"])
def test_a_camera_is_chosen_by_its_small_picture(page: Page, home: Home, path: str) -> None:
    home.says(two_cameras())
    show(page, home, path)

    page.get_by_role("link", name="Nozzle").click()

    page.wait_for_url(f"**{home.path}{path}?camera=1")
    expect(page.get_by_role("link", name="Nozzle")).to_have_attribute("aria-current", "page")
    source = page.locator(".picture > .webcam img").get_attribute("src")
    assert source is not None
    assert source.endswith("/webcam/stream?index=1")


def test_all_cameras_are_shown_side_by_side(page: Page, home: Home) -> None:
    home.says(two_cameras())
    section = show(page, home, size=DESKTOP)

    page.get_by_role("link", name="Side by side").click()

    expect(section.locator("figcaption")).to_have_text(list(TWO_NAMES))
    boxes = [figure.bounding_box() for figure in section.locator("figure").all()]
    first, second = boxes
    assert first is not None
    assert second is not None
    assert first["y"] == second["y"]
    expect(section.get_by_role("button", name="Full screen")).to_be_visible()


@pytest.mark.parametrize("path", ["", "?camera=all"])
def test_pages_with_two_cameras_are_accessible_and_fit(page: Page, home: Home, path: str) -> None:
    home.says(two_cameras())
    seen = watch(page)
    show(page, home, path)

    name = "cameras-side-by-side" if path else "cameras"
    look_at(page, name, sizes=(PHONE, SMALL_PHONE, ON_ITS_SIDE, DESKTOP))

    assert seen.errors == []


def test_the_settings_of_cameras_are_a_step_from_the_picture_accessible_and_fit(
    page: Page, home: Home
) -> None:
    home.says(two_cameras())
    seen = watch(page)
    section = show(page, home)

    section.get_by_role("link", name="Camera settings").click()

    expect(page.get_by_role("heading", name="Cameras")).to_be_visible()
    look_at(page, "camera-settings", sizes=(PHONE, SMALL_PHONE, ON_ITS_SIDE, DESKTOP))
    assert seen.errors == []


def test_the_picture_beside_the_settings_turns_as_one_chooses(page: Page, home: Home) -> None:
    show(page, home, "/settings", DESKTOP)
    image = page.get_by_role("img", name="cam0, as it is shown")

    page.get_by_label("Rotation").select_option("270")
    page.get_by_label("Flip horizontally").check()

    assert image.evaluate("image => [...image.classList].sort()") == ["flip-h", "turn-270"]
    page.get_by_role("button", name="Save this camera").click()
    expect(page.get_by_text("The cameras are saved.")).to_be_visible()
    assert image.evaluate("image => [...image.classList].sort()") == ["flip-h", "turn-270"]
