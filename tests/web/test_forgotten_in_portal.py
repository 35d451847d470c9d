"""A password that was forgotten in the portal."""

import re

import pytest

from tests.web.portal.people import START
from tests.web.world import ADA, Browser, WebWorld, send, send_and_follow

FLOW = f"{START}/flow/abc"
NEXT = "of another kind"
STEP = "__Host-printreach_step"


@pytest.fixture(autouse=True)
def ada(world: WebWorld, browser: Browser) -> None:
    world.add_account(browser)


def reset(world: WebWorld, browser: Browser) -> str:
    """Where the link of the mail leads to in the end."""
    token = world.mailer.link().partition("token=")[2]
    answer = send(browser, "/reset/new", token=token, password=NEXT)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def test_a_password_reset_in_the_portal_leads_back_to_it(world: WebWorld, browser: Browser) -> None:
    way = browser.get(f"/signin?next={FLOW}").text
    link = re.search(r'href="(/reset[^"]*)"', way)
    assert link is not None
    assert f'name="next" value="{FLOW}"' in browser.get(link[1]).text

    sent = send_and_follow(browser, "/reset", email=ADA, next=FLOW)

    assert f'href="/signin?next={FLOW}"' in sent.text
    assert FLOW not in world.mailer.sent[-1].text
    assert reset(world, browser) == FLOW


def test_in_another_browser_the_link_leads_home(world: WebWorld, browser: Browser) -> None:
    send(browser, "/reset", email=ADA, next=FLOW)
    browser.cookies.clear()

    assert reset(world, browser) == "/"


def test_nobody_chooses_where_another_person_goes(world: WebWorld, browser: Browser) -> None:
    send(browser, "/reset", email=ADA, next="/link?code=K7QF4MXY")
    browser.cookies.clear()
    browser.cookies.set(STEP, "made-up", domain="printreach.example")

    assert reset(world, browser) == "/"


@pytest.mark.parametrize("hostile", ["https://evil.example/", "//evil.example", "/\\evil.example"])
def test_a_forgotten_password_leads_to_no_other_place(
    world: WebWorld, browser: Browser, hostile: str
) -> None:
    send(browser, "/reset", email=ADA, next=hostile)

    assert reset(world, browser) == "/"


def test_what_is_kept_of_it_is_the_same_with_and_without_an_account(browser: Browser) -> None:
    known = send(browser, "/reset", email=ADA, next=FLOW)
    unknown = send(browser, "/reset", email="eve@example.org", next=FLOW)

    assert known.headers["location"] == unknown.headers["location"]
    kept = [
        [row.partition("=")[0] for row in one.headers.get_list("set-cookie")]
        for one in (known, unknown)
    ]
    assert STEP in kept[0]
    assert kept[0] == kept[1]
