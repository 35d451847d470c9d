"""Attacks during sign-in at a provider of OpenID Connect."""

from collections.abc import Iterator

import pytest
from litestar.testing import TestClient

from printreach.rules.accounts.oidc import MAX_IDENTITIES, oidc_flow_secrets
from printreach.rules.accounts.sessions import STEP_LIFETIME
from tests.web.conftest import MakeWorld
from tests.web.ways import BACK, Way, address_in, way_with
from tests.web.world import ADA, BASE_URL, PASSWORD, Browser, run, send, sign_in

EVE = "eve@example.org"


@pytest.fixture
def way(world_with: MakeWorld) -> Iterator[Way]:
    with way_with(world_with) as opened:
        opened.provider.person = {"sub": "1001", "email": ADA, "email_verified": True}
        yield opened


def another(way: Way) -> Browser:
    """Another browser."""
    client = TestClient(way.world.app, base_url=BASE_URL)
    client.blocking_portal = way.browser.blocking_portal
    client.headers["accept"] = "text/html"
    return client


def test_only_the_browser_that_went_comes_back(way: Way) -> None:
    query = way.provider.authorise(way.there())
    eve = another(way)

    answer = eve.get(f"{BACK}?{query}", follow_redirects=False)

    assert answer.status_code == 400
    assert "started in another browser" in answer.text
    assert "printreach_session" not in answer.headers.get("set-cookie", "")


def test_an_attackers_answer_signs_nobody_in_to_the_attackers_account(way: Way) -> None:
    eve = another(way)
    eves = Way(way.world, eve, way.provider)
    query = way.provider.authorise(eves.there())
    way.there()

    assert way.back(query).status_code == 400
    assert not way.is_signed_in()


def test_an_answer_counts_once(way: Way) -> None:
    query = way.provider.authorise(way.there())
    step = way.browser.cookies["__Host-printreach_step"]
    assert way.back(query).status_code == 303
    way.browser.cookies.clear()
    way.browser.cookies.set("__Host-printreach_step", step, domain="printreach.example")

    assert way.back(query).status_code == 400
    assert not way.is_signed_in()


def test_a_reload_of_the_answer_leads_home(way: Way) -> None:
    query = way.provider.authorise(way.there())
    way.back(query)

    answer = way.back(query)

    assert (answer.status_code, answer.headers["location"]) == (303, "/")


@pytest.mark.parametrize("state", ["", "x", "é", "0" * 64])
def test_a_state_that_is_made_up_is_refused_before_anybody_is_asked(way: Way, state: str) -> None:
    way.there()
    asked = len(way.provider.asked)

    assert way.browser.get(BACK, params={"state": state, "code": "c"}).status_code == 400
    assert len(way.provider.asked) == asked


def test_an_answer_comes_within_ten_minutes(way: Way) -> None:
    query = way.provider.authorise(way.there())
    way.world.clock.advance(STEP_LIFETIME)

    assert way.back(query).status_code == 400


def test_a_step_of_another_kind_is_no_way_back(way: Way) -> None:
    asked = way.browser.post("/signin/passkey/begin", headers={"origin": BASE_URL})
    assert asked.status_code == 200
    state = oidc_flow_secrets(way.browser.cookies["__Host-printreach_step"]).state

    assert way.back(f"state={state}&code=c").status_code == 400


@pytest.mark.parametrize(
    "hostile", ["https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:x"]
)
def test_nobody_is_led_to_another_place_afterwards(way: Way, hostile: str) -> None:
    assert way.go(next=hostile).headers["location"] == "/"


@pytest.mark.parametrize("headers", [{}, {"origin": "https://own-a.tunnel.example"}])
@pytest.mark.parametrize("path", ["/signin/other", "/account/other", "/account/other/remove"])
def test_a_form_from_elsewhere_sends_nobody_anywhere(
    way: Way, path: str, headers: dict[str, str]
) -> None:
    assert way.browser.post(path, headers=headers).status_code == 403


def test_nobody_is_sent_by_a_link(way: Way) -> None:
    assert way.browser.get("/signin/other").status_code == 405


def test_a_session_that_was_there_before_ends(way: Way) -> None:
    way.world.add_account(way.browser, EVE)
    there = way.there()
    step = way.browser.cookies["__Host-printreach_step"]
    token = sign_in(way.browser, email=EVE).cookies["__Host-printreach_session"]
    way.browser.cookies.set("__Host-printreach_step", step, domain="printreach.example")
    way.back(way.provider.authorise(there))

    way.browser.cookies.clear()
    way.browser.cookies.set("__Host-printreach_session", token)
    assert not way.is_signed_in()


def test_one_address_begins_no_more_than_thirty_ways_at_once(way: Way) -> None:
    answers = [send(way.browser, "/signin/other").status_code for _ in range(31)]

    assert answers == [200] * 30 + [429]


def test_many_tabs_join_no_more_than_an_account_may_have(way: Way) -> None:
    way.world.add_account(way.browser)
    sign_in(way.browser)
    tabs = []
    for _ in range(MAX_IDENTITIES + 1):
        answer = send(way.browser, "/account/other", **{"other-password": PASSWORD})
        cookies = "; ".join(f"{name}={value}" for name, value in way.browser.cookies.items())
        tabs.append((cookies, way.provider.authorise(address_in(answer))))
    way.browser.cookies.clear()
    texts = []
    for number, (cookies, query) in enumerate(tabs):
        way.provider.person = {"sub": str(number)}
        texts.append(way.browser.get(f"{BACK}?{query}", headers={"cookie": cookies}).text)

    [account] = way.world.people(way.browser)
    joined = run(
        way.browser, lambda: way.world.services.other_accounts.of_account(account.account_id)
    )
    assert len(joined) == MAX_IDENTITIES
    assert f"at most {MAX_IDENTITIES} of them" in texts[-1]


def test_script_in_what_a_provider_says_stays_text(way: Way) -> None:
    hostile = "<script>alert(1)</script>"
    answer = way.back(f"error={hostile}&state=x&code={hostile}")

    assert hostile not in answer.text
