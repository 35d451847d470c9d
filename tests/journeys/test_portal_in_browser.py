"""People take an app through the portal, in a real browser, with a real service and agent."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.rigs.calls import call
from tests.rigs.chromium import chromium, screenshot, watch
from tests.rigs.portal import (
    LOGO_URL,
    NOWHERE,
    RETURN_URL,
    Shop,
    answer_as_app,
    answer_with_logo,
    come_as,
    heard,
    mailed_link,
    sign_in,
)
from tests.rigs.service import APP, OWNER, PASSWORD, Agent, Connection
from tests.rigs.sites import heading, phone, press, site
from tests.rigs.timed_walks import BeginWalk
from tests.rigs.waiting import TIMEOUT_S, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.browser]

PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1440, "height": 900}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("portal")


@pytest.fixture(scope="module")
def shop(folder: Path) -> Iterator[Shop]:
    with site(folder, SUPPORTERS="granted") as running:
        operator = ("operator@example.com", "--admin")
        running.admin("account", "add", *operator, stdin=PASSWORD + "\n")
        yield Shop(running)


@pytest.fixture(scope="module")
def workbench(shop: Shop) -> Iterator[str]:
    """The owner's printer."""
    with shop.running.printer("Workbench", NOWHERE, platform="simulated") as linked:
        yield linked.id


@pytest.fixture
def unlinked(shop: Shop, request: pytest.FixtureRequest) -> Iterator[Agent]:
    """An agent that shows a code."""
    name = re.sub(r"\W", "-", request.node.name)
    with shop.running.agent(name, NOWHERE, platform="simulated") as agent:
        yield agent


@pytest.fixture(scope="module")
def browser(folder: Path) -> Iterator[BrowserContext]:
    with chromium(folder / "profile") as context:
        context.route("https://app.example.com/**", answer_as_app)
        context.route(LOGO_URL, answer_with_logo)
        yield context


@pytest.fixture
def page(browser: BrowserContext) -> Iterator[Page]:
    with phone(browser) as opened:
        yield opened


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_a_new_person_goes_from_sign_up_to_an_authorised_app(
    shop: Shop, page: Page, unlinked: Agent, size: dict[str, int], begin_walk: BeginWalk
) -> None:
    walk = begin_walk(f"from sign-up to an authorised app, {size['width']} pixels wide", 120)
    name, email = f"{size['width']}", f"new{size['width']}@example.com"
    page.set_viewport_size({"width": size["width"], "height": size["height"]})
    seen = watch(page)
    shop.open(page)
    heading(page, "Journeys wants to reach your printer")
    screenshot(page, f"portal-welcome-{name}")
    press(page, "Continue")
    heading(page, "Sign in to Printreach")
    screenshot(page, f"portal-account-{name}")
    press(page, "Create an account")
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    press(page, "Create account")
    heading(page, "Ask the operator for your link")
    page.goto(mailed_link(shop, email))
    press(page, "Confirm")

    heading(page, "Link your printer")
    screenshot(page, f"portal-link-{name}")
    page.get_by_label("Link code").fill("WRONGONE")
    press(page, "Link printer")
    expect(page.get_by_role("alert")).to_be_focused()
    page.get_by_label("Link code").fill(unlinked.event("link-code")["LinkCode"])
    press(page, "Link printer")
    heading(page, "Your printer is linked")
    screenshot(page, f"portal-name-{name}")
    page.get_by_label("Name").fill("Attic")
    press(page, "Continue")
    heading(page, "Apps need supporter status")
    screenshot(page, f"portal-supporter-{name}")
    shop.running.admin("account", "supporter", email, "on")
    press(page, "Check again")

    heading(page, "Let Journeys use Attic?")
    logo = page.locator("img.app-logo")
    for width in ("naturalWidth", "clientWidth"):
        expect(logo).to_have_js_property(width, 100)
    screenshot(page, f"portal-permit-{name}")
    unlinked.event("connected")
    press(page, "Allow Journeys")
    heading(page, "Done")
    screenshot(page, f"portal-done-{name}")

    told = heard(page)
    walk.end()
    assert (told["success"], told["printername"]) == ("true", "Attic")
    way = shop.running.way(Connection.of(told))
    assert call(way, "/service-command-api/status").status == 200
    assert [error for error in seen.errors if "400 (Bad Request)" not in error] == []


def test_a_returning_person_may_mistype_the_password_and_reload_everything(
    shop: Shop, page: Page, workbench: str
) -> None:
    shop.open(page, printerId=workbench)
    page.reload()
    press(page, "Continue")
    heading(page, "Sign in to Printreach")
    page.reload()
    press(page, "Sign in")
    sign_in(page, password="not the passphrase")
    expect(page.get_by_role("alert")).to_be_visible()
    page.reload()
    sign_in(page)
    heading(page, "Let Journeys use Workbench?")
    page.reload()
    heading(page, "Let Journeys use Workbench?")
    press(page, "Allow Journeys")

    assert heard(page)["success"] == "true"


def test_after_it_is_done_the_back_button_shows_no_secret(
    shop: Shop, page: Page, workbench: str
) -> None:
    come_as(page, shop)
    flow_url = page.url
    press(page, "Allow Journeys")
    secret = heard(page)["authBearerToken"]

    page.go_back()
    page.wait_for_load_state()
    assert secret not in page.content()
    page.goto(flow_url)
    heading(page, "Already done")
    page.reload()
    heading(page, "Already done")
    assert page.url == flow_url
    screenshot(page, "portal-already-done")


def test_the_back_button_in_the_middle_does_no_harm(shop: Shop, page: Page, workbench: str) -> None:
    come_as(page, shop)
    heading(page, "Let Journeys use Workbench?")
    page.go_back()
    page.go_back()
    page.go_forward()
    page.go_forward()

    heading(page, "Let Journeys use Workbench?")
    press(page, "Allow Journeys")
    assert heard(page)["success"] == "true"


def test_a_foreign_printer_starts_linking_and_an_own_one_will_do(
    shop: Shop, page: Page, workbench: str
) -> None:
    come_as(page, shop, printerId="somebody-elses")
    heading(page, "Link your printer")
    press(page, "Use a printer I have linked")

    heading(page, "Let Journeys use Workbench?")


def test_one_of_two_printers_is_chosen(
    shop: Shop, page: Page, workbench: str, unlinked: Agent
) -> None:
    code = unlinked.event("link-code")["LinkCode"]
    second = shop.running.admin("printer", "link", code, "--account", OWNER, "--name", "Garage")
    try:
        come_as(page, shop, printerId=workbench)
        heading(page, "Which printer?")
        expect(page.get_by_role("radio", name="Workbench")).to_be_checked()
        screenshot(page, "portal-choose")
        page.get_by_role("radio", name="Garage").check()
        press(page, "Continue")
        heading(page, "Let Journeys use Garage?")
        press(page, "Choose another")
        page.get_by_role("radio", name="Workbench").check()
        press(page, "Continue")
        press(page, "Allow Journeys")
        assert heard(page)["printername"] == "Workbench"
    finally:
        shop.running.admin("printer", "remove", second["PrinterId"])


def test_a_person_without_supporter_status_returns_without_a_connection(
    shop: Shop, page: Page, unlinked: Agent
) -> None:
    email = "poor@example.com"
    shop.add_account(email)
    code = unlinked.event("link-code")["LinkCode"]
    shop.running.admin("printer", "link", code, "--account", email, "--name", "Cellar")
    come_as(page, shop, email)
    heading(page, "Apps need supporter status")
    press(page, "Not now, go back to Journeys")

    assert heard(page) == {
        "success": "false",
        "error": "not_a_supporter",
        "errorDescription": "The account lacks the supporter status that apps need.",
    }


def test_a_person_refuses(shop: Shop, page: Page, workbench: str) -> None:
    come_as(page, shop)
    press(page, "Don\u2019t allow")
    heading(page, "Journeys isn\u2019t connected")
    screenshot(page, "portal-refused")

    assert heard(page)["error"] == "access_denied"


def test_a_person_turns_back_at_the_first_page(shop: Shop, page: Page) -> None:
    shop.open(page)
    press(page, "Not now, go back to Journeys")

    assert heard(page)["error"] == "access_denied"


def test_two_tabs_of_one_flow_make_one_connection(
    shop: Shop, page: Page, browser: BrowserContext, workbench: str
) -> None:
    come_as(page, shop)
    second = browser.new_page()
    second.goto(page.url)
    heading(second, "Let Journeys use Workbench?")
    press(page, "Allow Journeys")
    assert heard(page)["success"] == "true"
    press(second, "Allow Journeys")

    heading(second, "Already done")
    second.close()


def test_a_double_click_loses_nothing(shop: Shop, page: Page, workbench: str) -> None:
    come_as(page, shop)
    button = page.get_by_role("button", name="Allow Journeys")
    button.evaluate("button => { button.click(); setTimeout(() => button.click(), 5) }")

    assert heard(page)["success"] == "true"


def test_a_flow_that_took_too_long_leads_back_by_a_button_that_names_the_host(
    shop: Shop, page: Page, workbench: str
) -> None:
    come_as(page, shop)
    heading(page, "Let Journeys use Workbench?")
    shop.make_old()
    press(page, "Allow Journeys")
    heading(page, "Journeys isn\u2019t connected")
    press(page, "Go to app.example.com")

    assert heard(page)["error"] == "expired"


def test_the_first_page_is_light_and_there_at_once(shop: Shop, page: Page) -> None:
    shop.open(page)
    heading(page, "Journeys wants to reach your printer")

    sizes = page.evaluate(
        "() => performance.getEntriesByType('resource').map((each) => each.transferSize)"
    )
    assert sum(sizes) + len(page.content()) < 100_000
    assert any(ready_ms(shop, page) < 1000 for _ in range(20)), (
        "a busy machine is late now and then"
    )


def ready_ms(shop: Shop, page: Page) -> float:
    """How long it takes the page to be there."""
    shop.open(page)
    heading(page, "Journeys wants to reach your printer")
    took: float = page.evaluate(
        "() => performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"
    )
    return took


def test_it_works_without_scripts(shop: Shop, page: Page, workbench: str) -> None:
    page.route("**/*.js*", lambda route: route.abort())
    come_as(page, shop)
    press(page, "Allow Journeys")

    assert heard(page)["success"] == "true"


def test_an_app_without_a_page_of_its_own_ends_on_ours(
    shop: Shop, page: Page, workbench: str
) -> None:
    come_as(page, shop, returnUrl="")
    press(page, "Allow Journeys")

    page.wait_for_url("**/appportal/v1/complete?success=true&*")
    heading(page, "Your app is connected")
    screenshot(page, "portal-complete")


def test_nobody_may_frame_the_portal(shop: Shop, page: Page) -> None:
    portal = f"{shop.running.base_url}/appportal/v1?appId={APP}"
    page.route(
        "https://evil.example.com/",
        lambda route: route.fulfill(
            content_type="text/html", body=f'<iframe src="{portal}"></iframe>'
        ),
    )
    seen = watch(page)
    page.goto("https://evil.example.com/")

    wait_for(
        "the browser's refusal",
        lambda: [x for x in seen.errors if "frame-ancestors" in x],
        TIMEOUT_S,
    )
    assert "wants to reach" not in "".join(frame.content() for frame in page.frames)


def test_a_hostile_page_cannot_allow_in_a_persons_name(
    shop: Shop, page: Page, workbench: str
) -> None:
    come_as(page, shop)
    path = urlsplit(page.url).path
    token = page.locator("input[name=token]").first.get_attribute("value")
    form = (
        f'<form method="post" action="{shop.running.base_url}{path}/allow">'
        f'<input name="token" value="{token}"><input name="printer" value="{workbench}">'
        "<button>Win a prize</button></form>"
    )
    page.route(
        "https://evil.example.com/",
        lambda route: route.fulfill(content_type="text/html", body=form),
    )
    page.goto("https://evil.example.com/")
    with page.expect_navigation() as sent:
        press(page, "Win a prize")

    assert sent.value is not None
    assert sent.value.status == 403
    page.goto(shop.running.base_url + path)
    heading(page, "Let Journeys use Workbench?")


@pytest.mark.parametrize(
    "url", ["https://evil.example.com/", "javascript:alert(1)", f"{RETURN_URL}/../evil"]
)
def test_a_forged_return_address_leads_nowhere(shop: Shop, page: Page, url: str) -> None:
    page.goto(f"{shop.running.base_url}/appportal/v1?appId={APP}&returnUrl={quote(url, safe='')}")

    heading(page, "This return address isn\u2019t registered")
    assert page.get_by_role("main").get_by_role("link").count() == 0
    screenshot(page, "portal-forged")
