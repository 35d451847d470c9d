"""Every component, in three sizes, light and dark: nothing sticks out, nothing is hard to read."""

import pytest
from playwright.sync_api import Page

from tests.look.gallery import HOST, PAGES
from tests.rigs.chromium import watch
from tests.rigs.looks import look_at

pytestmark = [pytest.mark.slow, pytest.mark.browser]

MOST_BYTES = 100_000


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_accessible_and_fits_its_window(page: Page, name: str) -> None:
    seen = watch(page)
    page.goto(f"{HOST}/{name}")

    look_at(page, name)

    assert seen.errors == []


@pytest.mark.parametrize("name", ["permission", "portal-link", "portal-supporter"])
def test_a_portal_page_is_light(page: Page, name: str) -> None:
    sizes: list[int] = []
    page.on("response", lambda response: sizes.append(len(response.body())))
    page.goto(f"{HOST}/{name}", wait_until="networkidle")

    assert 0 < sum(sizes) < MOST_BYTES


def test_a_portal_page_can_be_used_within_a_second(page: Page) -> None:
    def interactive_ms() -> float:
        page.goto(f"{HOST}/permission")
        return float(page.evaluate("performance.getEntriesByType('navigation')[0].domInteractive"))

    # The best of three: the machine may be busy with other tests.
    assert min(interactive_ms() for _ in range(3)) < 1000


@pytest.mark.parametrize("name", ["permission", "portal-link", "form", "dashboard", "printer"])
def test_what_is_tapped_on_a_phone_is_large_enough(page: Page, name: str) -> None:
    page.goto(f"{HOST}/{name}")

    small = page.evaluate(
        """() => [...document.querySelectorAll("button, .button, input, select, summary, .tabs a")]
            .filter((each) => each.checkVisibility() && !each.closest("label"))
            .filter((each) => each.getBoundingClientRect().height < 44)
            .map((each) => each.outerHTML.slice(0, 100))"""
    )

    assert small == []


@pytest.mark.parametrize("name", ["permission", "portal-link"])
def test_the_portals_buttons_stay_in_view_on_a_phone(page: Page, name: str) -> None:
    page.goto(f"{HOST}/{name}")

    foot = page.locator(".foot").bounding_box()

    assert foot is not None
    assert foot["y"] + foot["height"] <= 844 + 1


def test_a_wrong_form_is_told_at_once_and_at_the_field(page: Page) -> None:
    page.goto(f"{HOST}/form-wrong")

    assert page.evaluate("document.activeElement.className") == "summary"
    page.locator(".summary a").click()
    assert page.evaluate("document.activeElement.id") == "password"
    described = page.locator("#password").get_attribute("aria-describedby")
    assert described == "password-fault"


def test_a_farm_of_a_hundred_rows_is_56_pixels_a_printer(page: Page) -> None:
    page.goto(f"{HOST}/farm")

    heights = page.evaluate(
        "() => [...document.querySelectorAll('.farm li')].map((row) => row.offsetHeight)"
    )

    assert len(heights) == 100
    assert max(heights) <= 58


@pytest.mark.parametrize("name", ["form", "dashboard", "permission", "once"])
def test_what_has_the_focus_is_never_under_the_bar_at_the_foot(page: Page, name: str) -> None:
    page.goto(f"{HOST}/{name}")
    hidden: list[str] = []
    for _ in range(40):
        page.keyboard.press("Tab")
        hidden += page.evaluate(
            """() => {
                const has = document.activeElement;
                const bar = document.querySelector(".tabs, .foot").getBoundingClientRect();
                if (has === document.body || has.closest(".tabs, .foot")) return [];
                const { bottom } = has.getBoundingClientRect();
                return bottom > bar.top && bar.height ? [has.outerHTML.slice(0, 100)] : [];
            }"""
        )

    assert hidden == []
