"""The look of the portal's pages, step by step."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from httpx import Response
from litestar import Litestar
from litestar.testing import TestClient
from playwright.sync_api import Page, expect

from printreach.store.store import Records
from tests.fakes.clock import FakeClock
from tests.hub.portal.portal_world import FakeHostKeys
from tests.look.gallery import forward
from tests.rigs.chromium import watch
from tests.rigs.looks import look_at
from tests.web.portal.people import (
    APP,
    RETURN_URL,
    START,
    Person,
    add_app,
    link_printer,
    show_code,
)
from tests.web.world import BASE_URL, PASSWORD, WebWorld, run, send

pytestmark = [pytest.mark.slow, pytest.mark.browser]

EVERYWHERE = f"{START}?appId={APP}&returnUrl={RETURN_URL}"
WITHOUT_A_FLOW = {
    "welcome": EVERYWHERE,
    "unknown-app": START,
    "forged": f"{START}?appId={APP}&returnUrl=https://evil.example/",
    "no-such-flow": f"{START}/flow/x",
    "complete": f"{START}/complete?success=true",
    "no-supporter-perks": f"{START}/nosupporterperks?appId={APP}",
}


def reach_link(person: Person) -> None:
    person.begin()


def reach_name(person: Person) -> None:
    person.begin()
    person.press("link", code=show_code(person.world, person.browser))


def reach_choose(person: Person) -> None:
    for name in ("Attic", "Workbench", "A name that is about as long as one can be, and no longer"):
        link_printer(person.world, person.browser, name)
    person.begin()


def reach_permit(person: Person) -> None:
    link_printer(person.world, person.browser, "Workbench")
    person.begin()


def reach_key(person: Person) -> None:
    printer_id = link_printer(person.world, person.browser, "Workbench")
    person.begin(hostApiKeyAppName="Lark of the left hand")
    person.allow(printer_id)


def reach_already_done(person: Person) -> None:
    printer_id = link_printer(person.world, person.browser, "Workbench")
    person.begin()
    person.allow(printer_id)


STEPS: dict[str, Callable[[Person], None]] = {
    "link": reach_link,
    "name": reach_name,
    "choose": reach_choose,
    "permit": reach_permit,
    "key": reach_key,
    "already-done": reach_already_done,
}


@pytest.fixture
def supporters() -> str:
    return "everyone"


@pytest.fixture
def person(database: Path, supporters: str) -> Iterator[Person]:
    """Somebody with an account, and an app that is registered."""
    world = WebWorld(database, FakeClock(), None, FakeHostKeys(), SUPPORTERS=supporters)
    with TestClient(world.app, base_url=BASE_URL) as opened:
        add_app(world, opened)
        world.add_account(opened)
        yield Person(world, opened)


@pytest.fixture
def own_page(page: Page, person: Person) -> Page:
    """A page of the installation, in this process. Leaving for the app is not possible."""
    client: TestClient[Litestar] = person.browser
    page.route(f"{BASE_URL}/**", lambda route: forward(route, client))
    page.route(f"{RETURN_URL}**", lambda route: route.fulfill(status=204))
    return page


@pytest.mark.parametrize(("step", "height"), [("permit", 844), ("link", 390), ("choose", 390)])
def test_the_buttons_cover_nothing_that_is_to_be_read_first(
    own_page: Page, person: Person, step: str, height: int
) -> None:
    person.sign_in()
    STEPS[step](person)
    own_page.set_viewport_size({"width": 1234 - height, "height": height})
    own_page.goto(BASE_URL + person.address())

    assert own_page.evaluate("getComputedStyle(document.querySelector('.foot')).position") == (
        "static"
    )


@pytest.mark.parametrize("name", WITHOUT_A_FLOW)
def test_a_page_without_a_flow_is_accessible_and_fits(own_page: Page, name: str) -> None:
    own_page.goto(BASE_URL + WITHOUT_A_FLOW[name])

    look_at(own_page, f"appportal-{name}")


def test_the_question_who_it_is_is_accessible_and_fits(own_page: Page, person: Person) -> None:
    person.begin()
    own_page.goto(BASE_URL + person.address())

    look_at(own_page, "appportal-account")


@pytest.mark.parametrize("name", ["signin", "signup"])
def test_the_account_pages_are_the_portals_own_on_the_way(
    own_page: Page, person: Person, name: str
) -> None:
    person.begin()
    own_page.goto(f"{BASE_URL}/{name}?next={person.path}")

    expect(own_page.get_by_role("list", name="Stages")).to_be_visible()
    look_at(own_page, f"appportal-{name}")
    own_page.get_by_role("link", name="Back").click()
    expect(own_page.get_by_role("heading", level=1)).to_have_text("Sign in to Printreach")


def test_the_agents_installation_is_a_page_of_the_flow_that_leads_back(
    own_page: Page, person: Person
) -> None:
    person.sign_in()
    STEPS["link"](person)
    own_page.goto(BASE_URL + person.address())
    own_page.get_by_role("link", name="No agent yet? Install it").click()
    look_at(own_page, "appportal-install")
    own_page.get_by_role("link", name="Back").click()
    expect(own_page.get_by_role("heading", level=1)).to_have_text("Link your printer")


@pytest.mark.parametrize("name", STEPS)
def test_a_step_is_accessible_and_fits(own_page: Page, person: Person, name: str) -> None:
    seen = watch(own_page)
    person.sign_in()
    STEPS[name](person)
    own_page.goto(BASE_URL + person.address())

    look_at(own_page, f"appportal-{name}")

    assert seen.errors == []


@pytest.mark.parametrize("supporters", ["granted"])
def test_the_step_for_supporters_is_accessible_and_fits(own_page: Page, person: Person) -> None:
    person.sign_in()
    reach_permit(person)
    own_page.goto(BASE_URL + person.address())

    look_at(own_page, "appportal-supporter")


@pytest.mark.parametrize(("act", "name"), [("allow", "done"), ("refuse", "refused")])
def test_the_way_back_is_accessible_and_fits(
    own_page: Page, person: Person, act: str, name: str
) -> None:
    person.sign_in()
    printer_id = link_printer(person.world, person.browser, "Workbench")
    person.begin()
    show(own_page, person.press(act, printer=printer_id))

    # It goes on by itself after a second, which axe holds against it; there is a button, too.
    look_at(own_page, f"appportal-{name}", besides={"meta-refresh"})


def test_what_an_unknown_developer_registered_is_shown_as_such_accessibly(
    own_page: Page, person: Person
) -> None:
    person.sign_in()
    bob = person.world.add_account(person.browser, "bob@example.org")

    async def registered_by_bob(records: Records) -> None:
        app = await records.apps.get(APP)
        assert app is not None
        await records.apps.put(replace(app, owner_id=bob.account_id))

    run(person.browser, lambda: person.world.store.write(registered_by_bob))
    reach_permit(person)
    own_page.goto(BASE_URL + person.address())
    look_at(own_page, "appportal-permit-unchecked")
    own_page.goto(f"{BASE_URL}{START}?appId={APP}&returnUrl={RETURN_URL}")
    look_at(own_page, "appportal-welcome-unchecked")
    own_page.goto(f"{BASE_URL}{START}?appId={APP}&returnUrl={RETURN_URL}&printerId=a&PrinterId=b")
    look_at(own_page, "appportal-error-before-sign-in")
    own_page.get_by_role("link", name="Go to layerlark.example").wait_for()


def test_a_logo_that_cannot_be_loaded_gives_way_to_a_letter(own_page: Page) -> None:
    own_page.route("https://layerlark.example/logo.png", lambda route: route.abort())
    logo = "https://layerlark.example/logo.png"
    own_page.goto(f"{BASE_URL}{START}?appId={APP}&returnUrl={RETURN_URL}&appLogoUrl={logo}")

    expect(own_page.locator("span.app-logo")).to_have_text("L")
    expect(own_page.locator("img.app-logo")).to_have_count(0)


def test_the_page_that_waits_for_a_mail_loads_itself_again(own_page: Page, person: Person) -> None:
    person.world.add_account(person.browser, "operator@example.org", is_admin=True)
    person.begin()
    mail = {"email": "new@example.org", "password": PASSWORD}
    send(person.browser, "/signup", next=person.path, **mail)
    own_page.goto(f"{BASE_URL}/signup/sent?next={person.path}")
    look_at(own_page, "appportal-mail-sent")
    link = urlsplit(person.world.mailer.link())
    token = parse_qs(link.query)["token"][0]
    elsewhere = TestClient(person.world.app, base_url=BASE_URL)
    elsewhere.blocking_portal = person.browser.blocking_portal
    with own_page.expect_request(lambda asked: asked.is_navigation_request()):
        send(elsewhere, "/confirm", token=token, password=PASSWORD)


def show(page: Page, answer: Response) -> None:
    """A page that can be had once."""
    page.route(
        f"{BASE_URL}/once",
        lambda route: route.fulfill(status=200, headers=dict(answer.headers), body=answer.content),
    )
    page.goto(f"{BASE_URL}/once")
