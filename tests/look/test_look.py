"""Every component, in three sizes, light and dark: nothing overflows, and all is readable."""

import pytest
from playwright.sync_api import Page, Response, expect

from tests.look.gallery import HOST, PAGES
from tests.rigs.chromium import watch
from tests.rigs.looks import look_at

pytestmark = [pytest.mark.slow, pytest.mark.browser]

MAX_BYTES = 100_000
MAX_CPU_S = 0.25


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_accessible_and_fits_its_window(page: Page, name: str) -> None:
    seen = watch(page)
    page.goto(f"{HOST}/{name}")

    look_at(page, name)

    assert seen.errors == []


@pytest.mark.parametrize("name", ["permission", "portal-link", "portal-supporter"])
def test_a_portal_page_is_light(page: Page, name: str) -> None:
    answers: list[Response] = []

    def note(answer: Response) -> None:
        answers.append(answer)

    page.on("response", note)
    page.goto(f"{HOST}/{name}", wait_until="networkidle")

    assert 0 < sum(len(answer.body()) for answer in answers) < MAX_BYTES


def test_a_portal_page_can_be_used_within_a_second(page: Page) -> None:
    """By what it makes the browser compute, which other programs that run meanwhile don't change.

    Most of the second is a phone's: it computes several times longer, and has to fetch the page.
    """
    devtools = page.context.new_cdp_session(page)
    devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(f"{HOST}/permission")

    told = devtools.send("Performance.getMetrics")["metrics"]
    assert 0 < next(each["value"] for each in told if each["name"] == "ThreadTime") < MAX_CPU_S


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

    expect(page.locator(".summary")).to_be_focused()
    page.locator(".summary a").click()
    expect(page.locator("#password")).to_be_focused()
    expect(page.locator("#password")).to_have_attribute("aria-describedby", "password-fault")


def test_a_farm_of_a_hundred_rows_is_56_pixels_a_printer(page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{HOST}/farm")

    heights = page.evaluate(
        "() => [...document.querySelectorAll('.farm li')].map((row) => row.offsetHeight)"
    )

    assert len(heights) == 100
    assert max(heights) <= 58


def test_a_row_of_a_farm_says_on_a_phone_what_the_printer_does_and_how_far_it_is(
    page: Page,
) -> None:
    page.goto(f"{HOST}/farm")
    row = page.locator(".farm li").nth(2)

    expect(row.get_by_text("twisted_vase_0.2mm_PLA.gcode")).to_be_visible()
    expect(row.get_by_role("progressbar")).to_be_visible()
    expect(row.get_by_text("1 h 12 min left")).to_be_visible()
    expect(page.get_by_text("No contact since").first).to_be_visible()


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
