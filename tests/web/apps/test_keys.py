"""Keys of the failure-detection API on their pages: shown once, disabled, and nobody else's."""

import re

import pytest

from printreach.hub.detection.keys import MadeKey
from tests.web.apps.conftest import DeveloperSite
from tests.web.world import BASE_URL, PASSWORD, run, send

KEY = re.compile(r"prk_[a-z2-7]{32}")


def test_a_key_is_shown_once(site: DeveloperSite) -> None:
    where = site.make_key()
    first, again = site.browser.get(where), site.browser.get(where)

    assert KEY.search(first.text)
    assert first.headers["cache-control"] == "no-store"
    assert "shown only once" in again.text
    assert not KEY.search(again.text)
    assert not KEY.search(site.browser.get("/developer").text)


def test_keys_are_listed_with_when_they_were_made_and_used(site: DeveloperSite) -> None:
    site.make_key("Farm <b>")
    page = site.browser.get("/developer").text

    assert "Farm &lt;b&gt;" in page
    assert "1 May 2026" in page
    assert "not used yet" in page


def test_a_key_just_made_opens_the_api_at_the_address_that_the_page_says(
    site: DeveloperSite,
) -> None:
    key = KEY.search(site.browser.get(site.make_key()).text)
    address = re.search(r"<span>(https:[^<]+)</span>", site.browser.get("/developer").text)

    assert key
    assert address
    answer = site.browser.post(
        address[1], headers={"x-api-key": key[0], "origin": BASE_URL}, content=b"{}"
    )
    assert answer.status_code == 200


def test_a_key_is_disabled_after_a_question(site: DeveloperSite) -> None:
    where = site.make_key()
    assert "Disable Farm?" in site.browser.get(f"{where}/disable").text
    assert "Disabled keys" not in site.browser.get("/developer").text

    answer = send(site.browser, f"{where}/disable")
    assert answer.headers["location"] == "/developer"
    assert "Disabled keys (1)" in site.browser.get("/developer").text
    assert "Farm is disabled" in site.browser.get(f"{where}/disable").text


@pytest.mark.parametrize("name", ["x" * 61, "a\u202eb"])
def test_a_name_that_cannot_be_makes_no_key(site: DeveloperSite, name: str) -> None:
    answer = send(site.browser, "/developer/new-key", name=name, password=PASSWORD)

    assert answer.status_code == 400
    assert 'id="name-fault"' in answer.text
    assert run(site.browser, lambda: _keys(site)) == 0


@pytest.mark.parametrize("typed", ["", "a guess"])
def test_a_stolen_browser_makes_no_key_that_outlives_it(site: DeveloperSite, typed: str) -> None:
    answer = send(site.browser, "/developer/new-key", name="Thief's", password=typed)

    assert answer.status_code == 400
    assert 'id="password-fault"' in answer.text
    assert run(site.browser, lambda: _keys(site)) == 0


async def _keys(site: DeveloperSite) -> int:
    return len(await site.world.services.detection_keys.all(site.ada.account_id))


@pytest.mark.parametrize(
    ("method", "page"), [("GET", ""), ("GET", "/disable"), ("POST", "/disable")]
)
def test_another_accounts_key_is_as_one_that_does_not_exist(
    site: DeveloperSite, bobs_key: MadeKey, method: str, page: str
) -> None:
    def ask(key_id: str) -> tuple[int, str]:
        answer = site.browser.request(
            method, f"/developer/keys/{key_id}{page}", headers={"origin": BASE_URL}
        )
        return answer.status_code, answer.text

    assert ask(bobs_key.key.key_id) == ask("unknown")
    assert ask(bobs_key.key.key_id)[0] == 404
    keys = site.world.services.detection_keys
    [key] = run(site.browser, lambda: keys.all(site.bob.account_id))
    assert not key.is_disabled


def test_nobody_else_is_shown_a_key_that_waits_for_its_owner(
    site: DeveloperSite, bobs_key: MadeKey
) -> None:
    shown, key_id = site.world.services.shown_keys, bobs_key.key.key_id
    run(site.browser, lambda: shown.put(site.bob.account_id, key_id, bobs_key))
    answer = site.browser.get(f"/developer/keys/{key_id}")

    assert answer.status_code == 404
    assert run(site.browser, lambda: shown.take(site.bob.account_id, key_id)) == bobs_key


@pytest.mark.parametrize("origin", [None, "null", "https://own-abc.tunnel.example"])
def test_a_form_of_another_page_makes_and_disables_no_key(
    site: DeveloperSite, origin: str | None
) -> None:
    where = site.make_key()
    headers = {"origin": origin} if origin else {}
    for path in ("/developer/new-key", f"{where}/disable"):
        assert site.browser.post(path, data={"name": "Evil"}, headers=headers).status_code == 403

    page = site.browser.get("/developer").text
    assert "Evil" not in page
    assert "Disabled keys" not in page


def test_no_key_is_made_by_looking(site: DeveloperSite) -> None:
    site.browser.get("/developer/new-key")
    site.browser.get("/developer/keys/done")

    assert run(site.browser, lambda: _keys(site)) == 0
