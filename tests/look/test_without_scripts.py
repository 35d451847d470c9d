"""Pages are links, forms and stills; without scripts only updates are missing."""

from collections.abc import Iterator

import pytest
from litestar.testing import TestClient
from playwright.sync_api import Browser, Page, expect

from tests.look.gallery import HOST, answer_in_process, gallery_app
from tests.rigs.chromium import fresh_profile

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@pytest.fixture
def page(shared_browser: Browser) -> Iterator[Page]:
    """A phone that runs no script."""
    with fresh_profile(shared_browser, scripts=False) as context, TestClient(gallery_app()) as app:
        answer_in_process(context, app)
        opened = context.new_page()
        opened.set_viewport_size({"width": 390, "height": 844})
        yield opened


def test_a_question_is_a_page_of_its_own(page: Page) -> None:
    page.goto(f"{HOST}/live")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("link", name="Stop print").click()

    expect(page).to_have_url(f"{HOST}/decision")
    expect(page.get_by_role("button", name="Stop print")).to_be_visible()
    expect(page.get_by_role("link", name="Don\u2019t stop")).to_be_visible()


def test_what_only_scripts_can_do_is_not_offered(page: Page) -> None:
    page.goto(f"{HOST}/live")

    expect(page.locator("#once-3")).to_be_visible()
    expect(page.get_by_role("button", name="Copy")).to_have_count(0)
    expect(page.get_by_role("button", name="Save as text file")).to_have_count(0)


def test_a_time_of_day_says_its_zone(page: Page) -> None:
    page.goto(f"{HOST}/live")

    expect(page.locator("#part time")).to_have_text("14:02 UTC")


def test_the_field_that_sets_a_heater_opens(page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{HOST}/printer")
    field = page.get_by_label("Bed, in °C")
    expect(field).to_be_hidden()
    page.locator("summary", has_text="Set Bed").click()

    expect(field).to_be_visible()
