"""The look of the developer pages."""

from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest
from litestar import Litestar
from litestar.testing import TestClient
from playwright.sync_api import Page, expect

from printreach.hub.detection.keys import MadeKey
from printreach.rules.detection.usage import Calls
from printreach.rules.operators import COMMAND_LINE
from printreach.store.store import Records
from tests.fakes.clock import NOON, FakeClock
from tests.look.gallery import forward
from tests.rigs.chromium import watch
from tests.rigs.looks import look_at
from tests.web.apps.conftest import BOB, DeveloperSite
from tests.web.world import ADA, BASE_URL, PASSWORD, WebWorld, run, sign_in

pytestmark = [pytest.mark.slow, pytest.mark.browser]

PAGES = {
    "developer": "/developer",
    "developer-register": "/developer/register",
    "developer-app": "/developer/apps/layerlark",
    "developer-remove-app": "/developer/apps/layerlark/remove",
    "developer-try": "/developer/apps/layerlark/try",
    "developer-new-key": "/developer/new-key",
    "usage": "/usage",
}
ARRIVED = (
    "/appportal/v1/test?success=true&id=k7qf4mxyk7qf4mxyk7qf4mxyk7"
    "&url=https%3A%2F%2Fapp-k7qf4mxy.tunnel.example&printername=Workbench"
    "&userPrinterAccessUrl=https%3A%2F%2Fprintreach.example%2Fprinters%2Fab"
    "&authBasicHttpUser=abcdefgh&authBasicHttpPassword=abcdefgh&authBearerToken=abcdefgh"
)


@pytest.fixture
def client(database: Path) -> Iterator[TestClient[Litestar]]:
    world = WebWorld(database, FakeClock(NOON + timedelta(days=27)), DETECTOR_BILLING="true")
    with TestClient(world.app, base_url=BASE_URL) as opened:
        site = DeveloperSite(
            world, opened, world.add_account(opened), world.add_account(opened, BOB)
        )
        sign_in(opened)
        _fill(site)
        yield opened


@pytest.fixture
def own_page(page: Page, client: TestClient[Litestar]) -> Page:
    """A page of the installation, in this process."""
    page.route(f"{BASE_URL}/**", lambda route: forward(route, client))
    return page


@pytest.mark.parametrize("name", PAGES)
def test_a_developers_page_is_accessible_and_fits(own_page: Page, name: str) -> None:
    seen = watch(own_page)
    own_page.goto(BASE_URL + PAGES[name])

    look_at(own_page, name)

    assert seen.errors == []


def test_the_page_of_a_new_key_is_accessible_and_fits(own_page: Page) -> None:
    own_page.goto(f"{BASE_URL}/developer/new-key")
    own_page.get_by_label("Name").fill("Night watch")
    own_page.get_by_label("Your password").fill(PASSWORD)
    own_page.get_by_role("button", name="Create the key").click()
    expect(own_page.get_by_text("Save this now. It is shown only once.")).to_be_visible()

    look_at(own_page, "developer-key")


def test_the_question_before_anybody_pays_is_accessible_and_fits(own_page: Page) -> None:
    own_page.goto(f"{BASE_URL}/usage")
    own_page.locator("#billing").get_by_role("button", name="Switch on").click()
    expect(own_page.get_by_role("heading", name="Switch billing on?")).to_be_visible()

    look_at(own_page, "developer-paying")


def test_the_page_where_a_try_of_the_portal_ends_is_accessible_and_fits(
    own_page: Page, client: TestClient[Litestar]
) -> None:
    # A browser whose requests are answered by a test follows redirects to the network.
    own_page.goto(BASE_URL + client.get(ARRIVED, follow_redirects=False).headers["location"])
    own_page.get_by_role("heading", level=1).wait_for()

    look_at(own_page, "developer-arrived")


def test_what_is_wrong_with_an_app_is_told_and_the_page_fits(own_page: Page) -> None:
    own_page.goto(f"{BASE_URL}/developer/register")
    own_page.get_by_label("Name", exact=True).fill("Layerlark")
    own_page.get_by_label("App id").fill("layerlark")
    own_page.get_by_label("Return addresses").fill("http://layerlark.example/")
    own_page.get_by_label("Your password").fill(PASSWORD)
    own_page.get_by_role("button", name="Register").click()
    expect(own_page.get_by_role("alert")).to_be_visible()

    look_at(own_page, "developer-register-wrong")


def test_the_table_behind_the_chart_says_the_same(own_page: Page) -> None:
    own_page.goto(f"{BASE_URL}/usage")
    own_page.get_by_text("Show as table").click()

    expect(own_page.get_by_role("row", name="2 May 420 2.3")).to_be_visible()


def _fill(site: DeveloperSite) -> None:
    site.register(returns="https://layerlark.example/done\ncom.layerlark://done", lan="yes")
    site.register("spoolwatch", name="Spool watch")
    services = site.world.services

    async def use() -> None:
        farm = await services.detection_keys.make_for(ADA, "Farm", COMMAND_LINE)
        desk_key = await services.detection_keys.make_for(ADA, "A printer on my desk", COMMAND_LINE)
        old = await services.detection_keys.make_for(ADA, "Tried in April", COMMAND_LINE)
        assert isinstance(farm, MadeKey)
        assert isinstance(desk_key, MadeKey)
        assert isinstance(old, MadeKey)

        async def write(records: Records) -> None:
            for number in range(2, 28):
                day = date(2026, 5, number)
                calls = 0 if number % 7 == 3 else 60 + number * number * 37 % 400
                await records.detection_usage.add(farm.key.key_id, day, Calls(all=calls))
            more = Calls(all=212, paid=212)
            await records.detection_usage.add(desk_key.key.key_id, date(2026, 5, 2), more)
            await records.detection_usage.add(old.key.key_id, date(2026, 4, 2), Calls(all=9))
            await records.detection_keys.note_use(farm.key.key_id, site.world.clock.now())
            await records.detection_keys.disable(old.key.key_id, NOON)

        await site.world.store.write(write)

    run(site.browser, use)
