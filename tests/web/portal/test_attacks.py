"""Attacks on the portal by strangers, hostile apps and hostile pages."""

import html
from datetime import timedelta

import pytest

from printreach.rules.printers import WRONG_TRIES_ALLOWED
from tests.web.portal.people import (
    APP,
    RETURN_URL,
    START,
    Person,
    add_app,
    connections,
    link_printer,
    show_code,
    told,
)
from tests.web.world import BASE_URL, Browser, WebWorld, send

SCRIPT = "<script>alert(1)</script>"
ACTS = ["allow", "refuse", "choose", "link", "name", "own", "key"]
FORGED = [
    "https://evil.example/",
    "https://layerlark.example.evil.example/done",
    "https://layerlark.example@evil.example/done",
    "https://layerlark.example\\@evil.example/done",
    "https://evil.example\\.layerlark.example/done",
    "https://layerlark.example/done/../evil",
    "https://layerlark.example/done/%2e%2e/evil",
    "https://layerlark.example/doneevil",
    "https:layerlark.example/done",
    "https:///evil.example/done",
    "//evil.example/done",
    "/done",
    "http://layerlark.example/done",
    "javascript:alert(1)",
    "javascript://layerlark.example/done%0aalert(1)",
    "JAVASCRIPT://layerlark.example/done",
    "data:text/html,<script>alert(1)</script>",
    "https://layerlark.example/done\r\nSet-Cookie: a=b",
    "https://layerlark.example/done\tx",
    "\thttps://layerlark.example/done",
    "https://layerlark.example/done\x00",
    "https://l\u0430yerlark.example/done",
    "https://layerlark\u3002example/done",
    "https://layerlark.example/done\u202egnp",
]


@pytest.mark.parametrize("url", FORGED)
def test_a_forged_return_address_ends_on_an_error_page_and_nothing_is_made(
    person: Person, url: str
) -> None:
    answers = [
        person.start(returnUrl=url),
        person.browser.post(
            START,
            params={"appId": APP, "returnUrl": url},
            headers={"origin": BASE_URL},
            follow_redirects=False,
        ),
    ]

    for answer in answers:
        assert answer.status_code == 400
        assert "location" not in answer.headers
        assert "set-cookie" not in answer.headers
        assert "refresh" not in answer.text
        assert "href=" not in answer.text.partition("<body")[2]
        assert "evil" not in answer.text


@pytest.mark.parametrize("query", [{}, {"appId": "other"}, {"appId": [APP, "other"]}])
def test_an_unknown_app_ends_on_an_error_page(
    person: Person, query: dict[str, str | list[str]]
) -> None:
    answer = person.browser.get(START, params={**query, "returnUrl": RETURN_URL})

    assert answer.status_code == 400
    assert RETURN_URL not in answer.text


def test_two_return_addresses_end_on_an_error_page_that_says_so(person: Person) -> None:
    answer = person.start(RETURNURL=RETURN_URL + "/other")

    assert answer.status_code == 400
    assert "it has <code>returnUrl</code> twice" in answer.text


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({}, "<code>appId</code> is missing"),
        ({"appId": [APP, "other"]}, "it has <code>appId</code> twice"),
        ({"appId": "other"}, "An app must be registered"),
    ],
)
def test_an_app_that_is_missing_sent_twice_or_unknown_is_told_as_that(
    person: Person, query: dict[str, str | list[str]], words: str
) -> None:
    assert words in person.browser.get(START, params=query).text


def test_a_thousand_parameters_are_not_looked_at(person: Person) -> None:
    answer = person.browser.get(START + "?" + "&".join(f"a{i}=1" for i in range(1000)))

    assert answer.status_code == 400


def test_script_in_names_is_text(world: WebWorld, browser: Browser) -> None:
    add_app(world, browser, name=SCRIPT)
    ada = Person(world, browser)
    world.add_account(browser)
    ada.sign_in()
    printer_id = link_printer(world, browser, "<img src=x onerror=alert(1)>")
    pages = [ada.start(), ada.begin(hostApiKeyAppName=SCRIPT), ada.allow(printer_id)]
    pages.append(ada.press("key", printer=printer_id, answer="no"))

    for page in pages:
        assert SCRIPT not in page.text
        assert "<img src=x" not in page.text
    assert html.escape(SCRIPT) in pages[0].text


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "data:image/svg+xml,<svg onload=alert(1)>",
        "http://layerlark.example/logo.png",
        'https://layerlark.example"onerror="alert(1)',
        "https://layerlark.example;script-src */logo.png",
        "https://*/logo.png",
    ],
)
def test_a_hostile_logo_is_not_shown_nor_let_in(person: Person, url: str) -> None:
    page = person.start(appLogoUrl=url)

    assert page.status_code == 200
    assert "<img" not in page.text
    assert "img-src 'self';" in page.headers["content-security-policy"]


def test_a_logo_is_let_in_from_its_origin_alone_and_asked_for_without_referrer(
    person: Person,
) -> None:
    page = person.start(appLogoUrl='https://cdn.layerlark.example/logo.png?a="><script>')

    policy = page.headers["content-security-policy"]
    assert "img-src 'self' https://cdn.layerlark.example;" in policy
    assert "script-src 'self';" in policy
    assert 'referrerpolicy="no-referrer"' in page.text
    assert 'src="https://cdn.layerlark.example/logo.png?a=%22' in page.text or (
        "logo.png?a=&#34;&gt;&lt;script&gt;" in page.text
    )


def test_no_page_of_the_portal_may_be_framed(world: WebWorld, ada: Person) -> None:
    printer_id = link_printer(world, ada.browser, "Workbench")
    pages = [ada.start(), ada.begin(), ada.allow(printer_id), ada.look(), ada.start(appId="x")]
    pages += [ada.browser.get(f"{START}/{name}") for name in ("complete", "nosupporterperks")]

    for page in pages:
        assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
        assert page.headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize(
    "origin",
    [None, "null", "https://evil.example", "https://own-abc.tunnel.example", BASE_URL + ":8443"],
)
def test_forms_of_other_sites_are_refused(world: WebWorld, ada: Person, origin: str | None) -> None:
    printer_id = link_printer(world, ada.browser, "Workbench")
    ada.begin()
    fields = {"token": ada.token(), "printer": printer_id}
    headers = {"origin": origin} if origin else {}
    paths = [f"{ada.path}/{act}" for act in ACTS] + [f"{START}?appId={APP}"]

    answers = [ada.browser.post(path, data=fields, headers=headers) for path in paths]

    assert [answer.status_code for answer in answers] == [403] * len(paths)
    assert "use Workbench?" in ada.look().text
    assert connections(world, ada.browser) == []


@pytest.mark.parametrize("token", ["", "0" * 64, "x"])
def test_a_form_without_the_flows_own_token_is_refused(
    world: WebWorld, ada: Person, token: str
) -> None:
    printer_id = link_printer(world, ada.browser, "Workbench")
    ada.begin()

    answer = ada.press("allow", token=token, printer=printer_id)

    assert answer.status_code == 403
    assert connections(world, ada.browser) == []


def test_a_stolen_flow_address_is_of_no_use_in_another_browser(
    world: WebWorld, ada: Person, other_browser: Browser
) -> None:
    printer_id = link_printer(world, ada.browser, "Workbench")
    ada.begin()
    token = ada.token()
    world.add_account(ada.browser, "eve@example.org")
    eve = Person(world, other_browser)
    eve.sign_in("eve@example.org")
    eve.begin()
    eve.path = ada.path

    assert eve.look().status_code == 404
    assert "Workbench" not in eve.look().text
    for act in ("allow", "refuse", "choose"):
        answer = send(other_browser, f"{ada.path}/{act}", token=token, printer=printer_id)
        assert answer.status_code == 404
    assert "use Workbench?" in ada.look().text


def test_a_flow_that_somebody_else_began_cannot_be_pressed_on_a_person(
    world: WebWorld, ada: Person, other_browser: Browser
) -> None:
    """Fixation: Eve begins a flow and sends its address to Ada, who is signed in."""
    link_printer(world, ada.browser, "Workbench")
    eve = Person(world, other_browser)
    eve.begin()

    answer = ada.browser.get(eve.path)

    assert answer.status_code == 404
    assert "Start again in your app" in answer.text


def test_an_account_sees_and_gives_away_its_own_printers_alone(
    world: WebWorld, ada: Person
) -> None:
    world.add_account(ada.browser, "bob@example.org")
    bobs = link_printer(world, ada.browser, "Bobs", email="bob@example.org")
    link_printer(world, ada.browser, "Workbench")
    ada.begin(printerId=bobs)

    assert "Bobs" not in ada.look().text
    ada.press("own")
    ada.press("choose", printer=bobs)
    assert "use Workbench?" in ada.allow(bobs).text
    assert connections(world, ada.browser) == []


def test_link_codes_cannot_be_guessed(world: WebWorld, ada: Person) -> None:
    code = show_code(world, ada.browser)
    ada.begin()
    for _ in range(WRONG_TRIES_ALLOWED):
        assert ada.press("link", code="AAAAAAAA").status_code == 400

    assert "locked for 15 minutes" in ada.press("link", code=code).text


@pytest.mark.slow
def test_link_codes_cannot_be_guessed_from_many_accounts_either(
    world: WebWorld, person: Person
) -> None:
    answers = []
    for number in range(4):
        email = f"eve{number}@example.org"
        world.add_account(person.browser, email)
        person.sign_in(email)
        person.begin()
        answers += [person.press("link", code="AAAAAAAA").status_code for _ in range(9)]

    assert answers[:30] == [400] * 30
    assert answers[30:] == [429] * 6


def test_flows_cannot_be_begun_without_end(world: WebWorld, person: Person) -> None:
    for _ in range(60):
        person.begin()

    refused = send(person.browser, f"{START}?appId={APP}")

    assert refused.status_code == 429
    world.clock.advance(timedelta(seconds=10))
    person.begin()


def test_the_cookie_is_for_this_host_alone_and_no_script_reads_it(person: Person) -> None:
    cookie = send(person.browser, f"{START}?appId={APP}").headers["set-cookie"]

    assert cookie.startswith("__Host-printreach_portal=")
    for attribute in ("Path=/", "HttpOnly", "Secure", "SameSite=lax"):
        assert attribute in cookie
    assert "Domain" not in cookie


def test_what_an_app_hears_of_a_failure_tells_nothing_of_the_person(
    world: WebWorld, ada: Person
) -> None:
    link_printer(world, ada.browser, "Workbench")
    ada.begin()

    assert set(told(ada.press("refuse"))) == {"success", "error", "errorDescription"}
