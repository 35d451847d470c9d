"""Keys of the failure-detection API on their pages: shown once, disabled, and nobody else's."""

import re

import pytest

from printreach.hub.detection.keys import MadeKey
from tests.web.developer.conftest import Desk
from tests.web.world import BASE_URL, PASSWORD, run, send

KEY = re.compile(r"prk_[a-z2-7]{32}")


def test_a_key_is_shown_once(desk: Desk) -> None:
    where = desk.make_key()
    first, again = desk.browser.get(where), desk.browser.get(where)

    assert KEY.search(first.text)
    assert first.headers["cache-control"] == "no-store"
    assert "Already shown" in again.text
    assert not KEY.search(again.text)
    assert not KEY.search(desk.browser.get("/developer").text)


def test_keys_are_listed_with_when_they_were_made_and_used(desk: Desk) -> None:
    desk.make_key("Farm <b>")
    page = desk.browser.get("/developer").text

    assert "Farm &lt;b&gt;" in page
    assert "1 May 2026" in page
    assert "not used yet" in page


def test_a_key_just_made_opens_the_api_at_the_address_that_the_page_says(desk: Desk) -> None:
    key = KEY.search(desk.browser.get(desk.make_key()).text)
    address = re.search(r"<span>(https:[^<]+)</span>", desk.browser.get("/developer").text)

    assert key
    assert address
    answer = desk.browser.post(
        address[1], headers={"x-api-key": key[0], "origin": BASE_URL}, content=b"{}"
    )
    assert answer.status_code == 200


def test_a_key_is_disabled_after_a_question(desk: Desk) -> None:
    where = desk.make_key()
    assert "Disable Farm?" in desk.browser.get(f"{where}/disable").text
    assert "Disabled keys" not in desk.browser.get("/developer").text

    answer = send(desk.browser, f"{where}/disable")
    assert answer.headers["location"] == "/developer?said=disabled"
    assert "Disabled keys (1)" in desk.browser.get("/developer").text
    assert "Farm is disabled" in desk.browser.get(f"{where}/disable").text


@pytest.mark.parametrize("name", ["x" * 61, "a\u202eb"])
def test_a_name_that_cannot_be_makes_no_key(desk: Desk, name: str) -> None:
    answer = send(desk.browser, "/developer/new-key", name=name, password=PASSWORD)

    assert answer.status_code == 400
    assert 'id="name-fault"' in answer.text
    assert run(desk.browser, lambda: _keys(desk)) == 0


@pytest.mark.parametrize("typed", ["", "a guess"])
def test_a_stolen_browser_makes_no_key_that_outlives_it(desk: Desk, typed: str) -> None:
    answer = send(desk.browser, "/developer/new-key", name="Thief's", password=typed)

    assert answer.status_code == 400
    assert 'id="password-fault"' in answer.text
    assert run(desk.browser, lambda: _keys(desk)) == 0


async def _keys(desk: Desk) -> int:
    return len(await desk.world.services.developers.keys.all(desk.ada.account_id))


@pytest.mark.parametrize(
    ("method", "page"), [("GET", ""), ("GET", "/disable"), ("POST", "/disable")]
)
def test_another_accounts_key_is_as_one_that_does_not_exist(
    desk: Desk, bobs_key: MadeKey, method: str, page: str
) -> None:
    def ask(key_id: str) -> tuple[int, str]:
        answer = desk.browser.request(
            method, f"/developer/keys/{key_id}{page}", headers={"origin": BASE_URL}
        )
        return answer.status_code, answer.text

    assert ask(bobs_key.key.key_id) == ask("unknown")
    assert ask(bobs_key.key.key_id)[0] == 404
    keys = desk.world.services.developers.keys
    [key] = run(desk.browser, lambda: keys.all(desk.bob.account_id))
    assert not key.is_disabled


def test_nobody_else_is_shown_a_key_that_waits_for_its_owner(desk: Desk, bobs_key: MadeKey) -> None:
    shown = desk.world.services.developers.shown_once
    shown.put(desk.bob.account_id, bobs_key.key.key_id, bobs_key)
    answer = desk.browser.get(f"/developer/keys/{bobs_key.key.key_id}")

    assert answer.status_code == 404
    assert shown.take(desk.bob.account_id, bobs_key.key.key_id) == bobs_key


@pytest.mark.parametrize("origin", [None, "null", "https://own-abc.tunnel.example"])
def test_a_form_of_another_page_makes_and_disables_no_key(desk: Desk, origin: str | None) -> None:
    where = desk.make_key()
    headers = {"origin": origin} if origin else {}
    for path in ("/developer/new-key", f"{where}/disable"):
        assert desk.browser.post(path, data={"name": "Evil"}, headers=headers).status_code == 403

    page = desk.browser.get("/developer").text
    assert "Evil" not in page
    assert "Disabled keys" not in page


def test_no_key_is_made_by_looking(desk: Desk) -> None:
    desk.browser.get("/developer/new-key")
    desk.browser.get("/developer/keys/done")

    assert run(desk.browser, lambda: _keys(desk)) == 0
