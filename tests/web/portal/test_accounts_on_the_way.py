"""Signing in and up within the portal."""

from urllib.parse import parse_qs, quote, urlsplit

from tests.web.portal.people import ACCESS_DENIED, Person, told
from tests.web.world import PASSWORD, Browser, WebWorld, send, send_and_follow


def test_a_mail_that_is_opened_in_another_browser_leads_back_to_the_app(
    world: WebWorld, person: Person, other_browser: Browser
) -> None:
    """As a phone does: the app's web view signs up, the mail program opens another browser."""
    person.begin()
    sent = send_and_follow(
        person.browser, "/signup", email="new@example.org", password=PASSWORD, next=person.path
    )
    link = urlsplit(world.mailer.link())
    other_browser.get(f"{link.path}?{link.query}")
    confirmed = send(
        other_browser, "/confirm", password=PASSWORD, token=parse_qs(link.query)["token"][0]
    )

    elsewhere = other_browser.get(confirmed.headers["location"])
    assert elsewhere.status_code == 404
    assert "go back to the app and continue there" in elsewhere.text
    assert f'href="/signin?next={quote(person.path)}"' in sent.text
    assert 'data-awaits="/signup/confirmed"' in sent.text


def test_the_page_that_waits_for_a_mail_goes_on_once_its_link_was_opened_elsewhere(
    world: WebWorld, person: Person, other_browser: Browser
) -> None:
    person.begin()
    send_and_follow(
        person.browser, "/signup", email="new@example.org", password=PASSWORD, next=person.path
    )
    waiting = person.browser.get("/signup/confirmed")
    link = urlsplit(world.mailer.link())
    send(other_browser, "/confirm", password=PASSWORD, token=parse_qs(link.query)["token"][0])
    confirmed = person.browser.get("/signup/confirmed")

    page = person.browser.get("/signup/sent", params={"next": person.path})

    assert (waiting.status_code, confirmed.status_code) == (204, 200)
    assert "Link your printer" in page.text
    assert "new@example.org" in page.text


def test_pages_with_a_password_name_the_app_of_the_flow_and_let_the_person_refuse(
    person: Person,
) -> None:
    person.begin()

    for path in ("/signin", "/signup", "/reset"):
        page = person.browser.get(path, params={"next": person.path}).text
        assert "Connecting <b>Layerlark</b>" in page, path
        assert "Cancel and go back to Layerlark" in page, path
        assert f'action="{person.path}/refuse"' in page, path
    assert told(person.press("refuse")) == ACCESS_DENIED


def test_pages_with_a_password_name_no_app_of_another_browsers_flow(
    person: Person, other_browser: Browser
) -> None:
    person.begin()

    page = other_browser.get("/signup", params={"next": person.path}).text

    assert "Layerlark" not in page
