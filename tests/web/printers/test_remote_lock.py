"""Stop everything in two taps: its outcomes, their messages, and how to unlock again."""

import asyncio
import json
import re
import secrets
from dataclasses import replace
from datetime import timedelta

import pytest

from printreach.contract.status import State
from printreach.hub.printers import remote_lock
from printreach.ports import Notice, Topic
from printreach.ports.printer_http import PrinterRefusal
from printreach.rules.accounts import Account, SupporterPolicy
from printreach.rules.connections.permissions import Access
from printreach.store.relay.grants import SqlGrants
from printreach.store.store import Records
from tests.fakes.authenticator import FakeAuthenticator
from tests.fakes.grants import INTERNAL_KEY
from tests.fakes.printer_http import OFFLINE, Ordered
from tests.hub.world import stored_notices
from tests.web.printers.conftest import Home, printing
from tests.web.test_passkeys import HOST, add
from tests.web.world import BASE_URL, PASSWORD, run, send, send_and_follow, sign_in

LOCKED = "Remote control is locked"
NOTHING_TO_CANCEL = PrinterRefusal(786, "There is no print to cancel; the printer is idle.")


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first look and the last one alone."""
    monkeypatch.setattr(remote_lock, "LOOK_AGAIN_FOR_S", 0.0)


def account(home: Home) -> Account:
    async def look() -> Account:
        found = await home.world.store.read(lambda records: records.accounts.get(home.account_id))
        assert found is not None
        return found

    return run(home.browser, look)


def stop_everything(home: Home) -> str:
    """The second tap; the page that comes of it."""
    answer = send_and_follow(home.browser, "/stop-everything")
    assert answer.status_code == 200
    return answer.text


def test_loading_the_outcome_again_stops_and_locks_nothing_again(home: Home) -> None:
    answer = send(home.browser, "/stop-everything")
    outcome = answer.headers["location"]
    assert (answer.status_code, outcome) == (303, "/stop-everything/outcome")
    assert "Stopped" in home.browser.get(outcome).text
    assert send(home.browser, "/remote-lock/unlock", password=PASSWORD).status_code == 303
    stopped = len(home.orders)

    again = home.browser.get(outcome, follow_redirects=False)

    assert (again.status_code, again.headers["location"]) == (303, "/remote-lock")
    assert len(home.orders) == stopped
    assert not account(home).is_locked


@pytest.mark.parametrize("path", ["/printers", "/printers/{id}"])
def test_the_first_tap_leads_to_the_question(home: Home, path: str) -> None:
    page = home.browser.get(path.format(id=home.printer_id)).text
    assert 'href="/stop-everything"' in page

    question = home.browser.get("/stop-everything").text
    assert '<form method="post" action="/stop-everything">' in question
    assert "password" not in question.partition("<main")[0]
    assert home.orders == []
    assert not account(home).is_locked


def test_the_second_tap_cancels_every_print_cools_and_locks(home: Home) -> None:
    attic = home.add_printer("Attic")
    home.world.printers.statuses[attic] = printing(state=State.PAUSED)

    page = stop_everything(home)

    for printer_id in (home.printer_id, attic):
        given = [one for one in home.orders if one.printer_id == printer_id]
        assert [one.command for one in given] == ["/cancel", "/set-temp", "/set-temp"] * 2
        assert [json.loads(one.arguments) for one in given[1:3]] == [{"ToolC": 0.0}, {"BedC": 0.0}]
    assert all(one.despite_lock for one in home.orders)
    assert "Everything is stopped" in page
    assert page.count("Stopped.") == 2
    assert LOCKED in page
    assert account(home).is_locked


def test_stopping_everything_is_in_the_history_of_every_printer_that_accepted_it(
    home: Home,
) -> None:
    attic, away = home.add_printer("Attic"), home.add_printer("Zenith", is_online=False)
    home.world.printers.statuses[attic] = printing()

    stop_everything(home)

    for printer_id in (home.printer_id, attic):
        page = home.browser.get(f"/printers/{printer_id}/history").text
        assert page.count("<h3>Everything stopped</h3><p>by you, ") == 1
    assert "Everything stopped" not in home.browser.get(f"/printers/{away}/history").text


def test_each_browser_that_stops_sees_its_own_outcome(home: Home) -> None:
    send(home.browser, "/stop-everything")
    first = dict(home.browser.cookies)
    home.browser.cookies.clear()
    assert sign_in(home.browser).status_code == 303

    assert "Everything is stopped" in stop_everything(home)
    home.browser.cookies.clear()
    home.browser.cookies.update(first)
    assert "Everything is stopped" in home.browser.get("/stop-everything/outcome").text


def test_printers_that_were_not_reached_are_named_first(home: Home) -> None:
    home.add_printer("Zenith", is_online=False)

    page = stop_everything(home)

    assert "Not everything stopped" in page
    assert page.index("Zenith") < page.index("Workbench")
    assert "Not reached, so it may still be printing. Go and look" in page
    assert OFFLINE.sentence.partition("'")[0] in page
    assert "Try again" in page


def test_the_reason_of_a_printer_that_was_not_reached_is_readable(home: Home) -> None:
    home.add_printer("Zenith", is_online=False)

    page = stop_everything(home)

    reason = OFFLINE.sentence.replace("'", "\N{RIGHT SINGLE QUOTATION MARK}")
    assert f"Go and look. {reason}" in page
    assert "&amp;#39;" not in page


def test_a_printer_that_does_not_stop_is_said_to_go_on(home: Home) -> None:
    home.world.printers.answers["/cancel"] = PrinterRefusal(752, "The printer said no.")

    page = stop_everything(home)

    assert "Not stopped. Go and look. The printer said no." in page
    assert account(home).is_locked


def test_a_printer_that_prints_nothing_is_cooled_all_the_same(home: Home) -> None:
    home.says(printing(state=State.IDLE))
    home.world.printers.answers["/cancel"] = NOTHING_TO_CANCEL

    page = stop_everything(home)

    assert "Nothing was printing." in page
    assert "Everything is stopped" in page
    assert [one.command for one in home.orders] == ["/cancel", "/set-temp", "/set-temp"] * 2


def test_a_heater_that_can_not_be_switched_off_is_told(home: Home) -> None:
    home.world.printers.answers["/set-temp"] = PrinterRefusal(752, "The printer said no.")

    assert "Heaters: The hotend may still be on: The printer said no." in stop_everything(home)


def test_heaters_are_left_alone_where_the_platform_takes_no_temperatures(home: Home) -> None:
    home.says(printing(features=0))
    stop_everything(home)

    assert [one.command for one in home.orders] == ["/cancel"] * 2


def test_a_printer_that_hangs_keeps_nobody_waiting(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang(*_words: object, **_more: object) -> bytes:
        await asyncio.Event().wait()
        raise AssertionError("nobody sets it")

    monkeypatch.setattr(remote_lock, "STOP_WITHIN_S", 0.05)
    monkeypatch.setattr(home.world.printers, "order", hang)

    assert "It gave no answer in 20 seconds." in stop_everything(home)


def test_another_accounts_printers_go_on(home: Home, bobs_printer: str) -> None:
    stop_everything(home)

    assert bobs_printer not in {one.printer_id for one in home.orders}


def test_relays_are_told_of_lock_and_unlock(home: Home) -> None:
    store = home.world.store

    async def access() -> Access:
        await home.world.services.connections.open_own(home.printer_id)
        [own] = await store.read(lambda records: records.connections.of_printer(home.printer_id))
        grants = SqlGrants(
            store, home.world.clock, secrets.token_bytes, SupporterPolicy.EVERYONE, INTERNAL_KEY
        )
        grant = await grants.grant(own.unique_id)
        assert grant is not None
        return grant.access

    async def told() -> int:
        given = await stored_notices(store)
        return given.count(Notice(Topic.ACCOUNT, home.account_id))

    before = run(home.browser, told)
    assert not run(home.browser, access).is_locked
    stop_everything(home)
    assert run(home.browser, access).is_locked
    unlocked = send(home.browser, "/remote-lock/unlock", password=PASSWORD)

    assert unlocked.headers["location"] == "/printers"
    assert not run(home.browser, access).is_locked
    assert run(home.browser, told) == before + 2


@pytest.mark.parametrize(
    "path", ["/printers", "/connections", "/account", "/activity", "/remote-lock"]
)
def test_every_page_says_that_it_is_locked(home: Home, path: str) -> None:
    assert LOCKED not in home.browser.get(path).text.partition("<main")[0]
    stop_everything(home)

    assert LOCKED in home.browser.get(path).text.partition("<main")[0]


def test_only_the_password_unlocks(home: Home) -> None:
    stop_everything(home)
    for password in ("", "not the password"):
        refused = send(home.browser, "/remote-lock/unlock", password=password)
        assert refused.status_code == 400
        assert "not your password." in refused.text
        assert account(home).is_locked

    send(home.browser, "/remote-lock/unlock", password=PASSWORD)
    assert not account(home).is_locked
    assert "Remote control of your printers was unlocked." in home.world.mailer.sent[-1].text


def test_a_passkey_of_the_owner_unlocks(home: Home) -> None:
    key = FakeAuthenticator(origin=BASE_URL, host=HOST)
    add(home.browser, key)
    stop_everything(home)
    assert "Unlock with a passkey" in home.browser.get("/remote-lock").text

    options = send(home.browser, "/remote-lock/passkey/begin").text
    answer = send(home.browser, "/remote-lock/passkey", answer=key.sign(options))

    assert answer.headers["location"] == "/printers"
    assert not account(home).is_locked


def test_what_a_passkey_said_to_sign_in_unlocks_nothing(home: Home) -> None:
    key = FakeAuthenticator(origin=BASE_URL, host=HOST)
    add(home.browser, key)
    stop_everything(home)

    options = send(home.browser, "/signin/passkey/begin").text
    answer = send(home.browser, "/remote-lock/passkey", answer=key.sign(options))

    assert answer.status_code == 400
    assert account(home).is_locked


def test_a_passkey_of_another_account_unlocks_nothing(home: Home) -> None:
    async def give_away() -> None:
        bob = await home.world.services.accounts.add("bob@example.org", PASSWORD)
        assert isinstance(bob, Account)

        async def move(records: Records) -> None:
            [passkey] = await records.passkeys.of_account(home.account_id)
            await records.passkeys.remove(home.account_id, passkey.credential_id)
            await records.passkeys.add(replace(passkey, account_id=bob.account_id))

        await home.world.store.write(move)

    key = FakeAuthenticator(origin=BASE_URL, host=HOST)
    add(home.browser, key)
    run(home.browser, give_away)
    stop_everything(home)

    options = send(home.browser, "/remote-lock/passkey/begin").text
    answer = send(home.browser, "/remote-lock/passkey", answer=key.sign(options))

    assert answer.status_code == 400
    assert account(home).is_locked


def test_locking_again_keeps_the_time(home: Home) -> None:
    stop_everything(home)
    first = account(home).locked_at
    home.world.clock.advance(timedelta(minutes=1))
    stop_everything(home)

    assert account(home).locked_at == first


@pytest.mark.parametrize("path", ["/stop-everything", "/remote-lock/unlock"])
def test_a_form_of_another_site_does_neither(home: Home, path: str) -> None:
    answer = home.browser.post(
        path, data={"password": PASSWORD}, headers={"origin": "https://evil.example"}
    )

    assert answer.status_code == 403
    assert home.orders == []
    assert not account(home).is_locked


def test_orders_are_refused_with_the_reason_while_it_is_locked(home: Home) -> None:
    """The relay refuses; the page says what it said."""
    sentence = "Remote control is locked. The printer's owner can unlock it on the dashboard."
    home.world.printers.answers["/resume"] = PrinterRefusal(606, sentence)

    answer = home.send("/resume")

    assert answer.status_code == 409
    assert "<h1>Remote control is locked</h1>" in answer.text
    assert 'href="/remote-lock"' in answer.text
    assert "do it" not in answer.text.partition("<main")[2]


def test_pages_open_their_stream_with_what_they_say_of_the_lock(home: Home) -> None:
    pages = ["/printers", home.path, f"{home.path}/control"]
    before = [_stream_of(home, path) for path in pages]
    stop_everything(home)

    for path, address in zip(pages, before, strict=True):
        assert "locked" not in address
        assert _stream_of(home, path) in (f"{address}?locked=true", f"{address}&amp;locked=true")


def _stream_of(home: Home, path: str) -> str:
    found = re.search(r'data-live="([^"]+)"', home.browser.get(path).text)
    assert found is not None
    return found[1]


def test_the_question_knows_that_everything_was_stopped_already(home: Home) -> None:
    before = home.browser.get("/stop-everything").text
    stop_everything(home)
    after = home.browser.get("/stop-everything").text

    assert "<h1>Stop everything?</h1>" in before
    assert "<h1>Stop everything again?</h1>" in after


def test_the_owner_stops_a_print_while_it_is_locked(home: Home) -> None:
    stop_everything(home)
    home.world.printers.effects["/cancel"] = printing(state=State.CANCELLED)
    answer = home.send("/stop")

    assert answer.headers["location"] == home.path
    assert (home.orders[-1].command, home.orders[-1].despite_lock) == ("/cancel", True)


def test_stopping_orders_take_their_own_way(home: Home) -> None:
    home.says(printing(state=State.PAUSED))
    home.send("/pause")
    stop_everything(home)

    assert [(one.command, one.despite_lock) for one in home.orders] == [
        ("/pause", False),
        *[("/cancel", True), ("/set-temp", True), ("/set-temp", True)] * 2,
    ]
    assert isinstance(home.orders[0], Ordered)
