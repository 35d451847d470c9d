"""Operators see everybody's keys of the failure-detection API, and disable them."""

import pytest

from printreach.hub.detection.keys import MadeKey
from tests.web.operators.conftest import GRACE, Office
from tests.web.world import ADA, PASSWORD, Browser, run, send, sign_in


@pytest.fixture
def made(office: Office) -> MadeKey:
    keys = office.world.services.detection_keys
    key = run(office.browser, lambda: keys.make(office.ada.account_id, "Farm <b>camera</b>"))
    assert isinstance(key, MadeKey)
    return key


def test_every_key_is_listed_with_its_owner_and_none_can_be_read(
    office: Office, made: MadeKey
) -> None:
    page = office.browser.get("/operator/keys").text

    assert "Farm &lt;b&gt;camera&lt;/b&gt;" in page
    assert ADA in page
    assert "never" in page
    assert made.api_key not in page


def test_keys_are_found_by_owner_and_name(office: Office, made: MadeKey) -> None:
    assert made.key.key_id in office.browser.get("/operator/keys?q=farm").text
    assert made.key.key_id in office.browser.get("/operator/keys?q=ada@").text
    assert made.key.key_id not in office.browser.get("/operator/keys?q=larkspur").text


def test_a_key_is_disabled_for_good(office: Office, made: MadeKey) -> None:
    path = f"/operator/keys/{made.key.key_id}/disable"
    assert "stop working, for good" in office.browser.get(path).text

    answer = send(office.browser, path, password=PASSWORD)

    assert answer.headers["location"] == "/operator/keys"
    assert "disabled, " in office.browser.get("/operator/keys").text
    assert "is disabled" in office.browser.get(path).text
    assert office.last_act() == (GRACE, "key-disabled", made.key.key_id, made.key.name)


def test_disabling_needs_the_password_again(office: Office, made: MadeKey) -> None:
    path = f"/operator/keys/{made.key.key_id}/disable"

    assert send(office.browser, path, password="a guess").status_code == 400
    assert path in office.browser.get("/operator/keys").text


def test_a_key_that_is_not_there_is_404(office: Office) -> None:
    assert office.browser.get("/operator/keys/none/disable").status_code == 404


def test_nobody_else_disables_a_key_there(office: Office, made: MadeKey, other: Browser) -> None:
    sign_in(other, ADA)
    path = f"/operator/keys/{made.key.key_id}/disable"

    assert other.get("/operator/keys").status_code == 404
    assert send(other, path, password=PASSWORD).status_code == 404
    assert path in office.browser.get("/operator/keys").text
