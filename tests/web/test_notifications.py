"""The pages where a person chooses events and destinations."""

import re

import pytest

from printreach.ports.notifications import NotSent, SendFailure
from printreach.rules.notifications import Destination
from printreach.rules.printers import Printer
from tests.fakes.clock import NOON
from tests.web.conftest import MakeWorld
from tests.web.world import ADA, BASE_URL, Browser, WebWorld, run, send, sign_in

BOB = "bob@example.org"
TOPIC = "ntfys://tk_secret@ntfy.sh/my-printers?mode=private&auth=token"
FORMS = [
    ("/notifications/events", {"event-1": "yes"}),
    ("/notifications/quiet", {"zone": "UTC"}),
    ("/notifications/add", {"way": "ntfy", "topic": "t"}),
    ("/notifications/printers/p1", {"choice": "own"}),
    ("/notifications/{destination}/test", {}),
    ("/notifications/{destination}/remove", {}),
]


@pytest.fixture
def ada(world: WebWorld, browser: Browser) -> Browser:
    """Ada's browser, signed in; she has a printer."""
    account = world.add_account(browser)
    sign_in(browser)
    printer = Printer(
        printer_id="p1",
        account_id=account.account_id,
        name="Workshop <b>1</b>",
        public_key=b"k" * 32,
        linked_at=NOON,
    )
    world.link(browser, printer)
    return browser


def add_ntfy(browser: Browser) -> str:
    """A place of the person who is signed in; its id."""
    added = send(
        browser,
        "/notifications/add",
        way="ntfy",
        topic="my-printers",
        token="tk_secret",
        server="",
    )
    assert added.headers["location"] == "/notifications"
    found = re.search(r"/notifications/([a-z0-9]+)/test", browser.get("/notifications").text)
    assert found is not None
    return found[1]


def destinations_of(world: WebWorld, browser: Browser, email: str = ADA) -> list[Destination]:
    async def look() -> list[Destination]:
        account = await world.store.read(lambda records: records.accounts.with_email(email))
        assert account is not None
        return await world.store.read(
            lambda records: records.notifications.destinations(account.account_id)
        )

    return run(browser, look)


def test_a_place_is_added_and_its_secret_never_shown_again(world: WebWorld, ada: Browser) -> None:
    destination = add_ntfy(ada)
    shown = ada.get("/notifications").text + ada.get(f"/notifications/{destination}/remove").text

    assert "my-printers on ntfy.sh" in shown
    assert "tk_secret" not in shown
    assert b"tk_secret" not in destinations_of(world, ada)[0].sealed


def test_a_secret_that_was_typed_wrongly_is_not_sent_back(ada: Browser) -> None:
    answer = send(ada, "/notifications/add", way="ntfy", topic="a b", token="tk_secret", server="")

    assert answer.status_code == 400
    assert "Use letters, digits" in answer.text
    assert 'value="a b"' in answer.text
    assert "tk_secret" not in answer.text


def test_a_test_is_sent_at_once_and_its_answer_told(world: WebWorld, ada: Browser) -> None:
    destination = add_ntfy(ada)

    sent = send(ada, f"/notifications/{destination}/test")
    world.messenger.answer = NotSent(SendFailure.REFUSED, 401)
    refused = send(ada, f"/notifications/{destination}/test")

    assert sent.headers["location"] == "/notifications"
    assert [one.url for one in world.messenger.sent] == [TOPIC, TOPIC]
    assert refused.status_code == 400
    assert "The service refused the key or token." in refused.text


def test_tests_are_limited(world: WebWorld, ada: Browser) -> None:
    destination = add_ntfy(ada)
    answers = [send(ada, f"/notifications/{destination}/test") for _ in range(6)]

    assert [one.status_code for one in answers] == [303] * 5 + [429]
    assert int(answers[-1].headers["retry-after"]) > 0
    assert len(world.messenger.sent) == 5


def test_a_mail_goes_to_the_accounts_own_address_alone(world_with: MakeWorld) -> None:
    with world_with(SMTP_URL="smtp://mail.example") as (world, browser):
        world.add_account(browser)
        sign_in(browser)
        again = send(browser, "/notifications/add", way="mail", to="victim@example.org")
        [destination] = destinations_of(world, browser)
        send(browser, f"/notifications/{destination.destination_id}/test")

        assert again.status_code == 400
        assert {mail.to for mail in world.mailer.sent} == {ADA}


@pytest.mark.parametrize(
    "url",
    [
        *("syslog://", "json://169.254.169.254/latest", "file:///etc/passwd", "ntfy://10.0.0.1/t"),
        *("dbus://", "exec://id", "workflows://h/w/s?template=/etc/passwd"),
    ],
)
def test_a_service_that_is_not_on_the_list_is_refused(
    world: WebWorld, ada: Browser, url: str
) -> None:
    answer = send(ada, "/notifications/add", way="apprise", url=url)

    assert answer.status_code == 400
    assert destinations_of(world, ada) == []


def test_events_are_chosen(world: WebWorld, ada: Browser) -> None:
    send(ada, "/notifications/events", **{"event-1": "yes", "event-6": "yes"})

    page = ada.get("/notifications").text
    assert re.findall(r'id="(event-\d+)"[^>]* checked', page) == ["event-1", "event-6"]


def test_a_forged_choice_is_refused(ada: Browser) -> None:
    answer = send(ada, "/notifications/events", **{"event-13": "yes"})

    assert answer.status_code == 400


def test_a_printer_has_a_choice_of_its_own_and_loses_it_again(ada: Browser) -> None:
    send(ada, "/notifications/printers/p1", choice="own", **{"event-2": "yes"})
    own = ada.get("/notifications").text
    send(ada, "/notifications/printers/p1", choice="same", **{"event-2": "yes"})

    assert "Its own settings" in own
    assert "As under “Notify me when”" in ada.get("/notifications").text


def test_script_in_a_printers_name_stays_text(ada: Browser) -> None:
    for path in ("/notifications", "/notifications/printers/p1"):
        assert "Workshop &lt;b&gt;1&lt;/b&gt;" in ada.get(path).text


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"quiet": "yes", "begins": "late", "ends": "07:00", "zone": "UTC"}, "begins"),
        ({"quiet": "yes", "begins": "22:00", "ends": "", "zone": "UTC"}, "ends"),
        ({"quiet": "yes", "begins": "07:00", "ends": "07:00", "zone": "UTC"}, "ends"),
        ({"quiet": "yes", "begins": "22:00", "ends": "07:00", "zone": "../etc/passwd"}, "zone"),
        ({"quiet": "yes", "begins": "22:00", "ends": "07:00", "zone": ""}, "zone"),
    ],
)
def test_quiet_hours_that_cannot_be_are_told_at_their_field(
    ada: Browser, fields: dict[str, str], wrong: str
) -> None:
    answer = send(ada, "/notifications/quiet", **fields)

    assert answer.status_code == 400
    assert f'id="{wrong}-fault"' in answer.text


def test_quiet_hours_are_kept_and_given_up(ada: Browser) -> None:
    hours = {"begins": "23:15", "ends": "06:45", "zone": "Europe/Berlin", "trouble": "yes"}
    send(ada, "/notifications/quiet", quiet="yes", **hours)
    kept = ada.get("/notifications").text
    send(ada, "/notifications/quiet", **hours)

    assert 'value="23:15"' in kept
    assert 'value="06:45"' in kept
    assert '<option value="Europe/Berlin" selected>' in kept
    assert 'value="23:15"' not in ada.get("/notifications").text


def test_a_place_is_removed_after_a_question(world: WebWorld, ada: Browser) -> None:
    destination = add_ntfy(ada)
    asked = ada.get(f"/notifications/{destination}/remove")
    assert len(destinations_of(world, ada)) == 1
    send(ada, f"/notifications/{destination}/remove")

    assert "Remove ntfy?" in asked.text
    assert destinations_of(world, ada) == []


def test_an_account_has_so_many_places_and_no_more(world: WebWorld, ada: Browser) -> None:
    answers = [
        send(ada, "/notifications/add", way="ntfy", topic=f"t{number}", server="", token="")
        for number in range(21)
    ]

    assert [one.status_code for one in answers] == [303] * 20 + [400]


@pytest.mark.parametrize(("path", "fields"), FORMS)
def test_no_form_works_from_another_origin(
    world: WebWorld, ada: Browser, path: str, fields: dict[str, str]
) -> None:
    destination = add_ntfy(ada)
    for origin in ("https://own-a.tunnel.example", "null", BASE_URL + ".evil.example"):
        answer = ada.post(
            path.format(destination=destination), data=fields, headers={"origin": origin}
        )
        assert answer.status_code == 403
    assert len(destinations_of(world, ada)) == 1
    assert world.messenger.sent == []


@pytest.mark.parametrize(("path", "fields"), FORMS[3:])
def test_what_is_another_accounts_is_as_if_it_were_not(
    world: WebWorld, ada: Browser, path: str, fields: dict[str, str]
) -> None:
    destination = add_ntfy(ada)
    send(ada, "/signout")
    world.add_account(ada, BOB)
    sign_in(ada, BOB)

    answer = send(ada, path.format(destination=destination), **fields)
    looked = ada.get(path.format(destination=destination).replace("/test", "/remove"))

    assert answer.status_code == 404
    assert looked.status_code == 404
    assert len(destinations_of(world, ada)) == 1
    assert world.messenger.sent == []


@pytest.mark.parametrize(("path", "fields"), FORMS)
def test_nobody_who_is_not_signed_in_chooses_anything(
    ada: Browser, path: str, fields: dict[str, str]
) -> None:
    destination = add_ntfy(ada)
    send(ada, "/signout")

    answer = send(ada, path.format(destination=destination), **fields)

    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/signin")
