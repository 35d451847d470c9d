"""The names of browsers for people, and the cookie of a known device."""

import secrets
from dataclasses import replace

import pytest

from printreach.rules.accounts import Account
from printreach.rules.accounts.sessions import browser_in_words, device_of, new_device_token
from printreach.rules.connections.credentials import new_record_id
from tests.fakes.clock import NOON

CHROME = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"


@pytest.mark.parametrize(
    ("user_agent", "words"),
    [
        (f"Mozilla/5.0 (X11; Linux x86_64) {CHROME}", "Chrome on Linux"),
        (f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {CHROME} Edg/140.0", "Edge on Windows"),
        (f"Mozilla/5.0 (Linux; Android 16; K) {CHROME}", "Chrome on Android"),
        (
            "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
            "Firefox on Linux",
        ),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) Version/26.0 Safari/604.1",
            "Safari on an iPhone",
        ),
        ("curl/8.5.0", "curl"),
        ("", "A browser"),
    ],
)
def test_a_browser_is_called_what_people_call_it(user_agent: str, words: str) -> None:
    assert browser_in_words(user_agent) == words


ADA = Account(
    account_id=new_record_id(secrets.token_bytes),
    email="ada@example.org",
    password_hash="$argon2id$v=19$m=65536,t=3,p=4$c2FsdA$aGFzaA",
    is_admin=False,
    supporter_granted=False,
    supporter_until=None,
    created_at=NOON,
)


def test_a_device_is_known_to_the_account_that_it_signed_in_to() -> None:
    one, other = (new_device_token(ADA, secrets.token_bytes) for _ in range(2))
    devices = [device_of(token, ADA) for token in (one, other)]

    assert all(device is not None for device in devices)
    assert devices[0] != devices[1]


def test_no_other_account_knows_the_device() -> None:
    token = new_device_token(ADA, secrets.token_bytes)
    bob = replace(ADA, account_id=new_record_id(secrets.token_bytes))

    assert device_of(token, bob) is None
    assert device_of(token.replace(ADA.account_id, bob.account_id), bob) is None
    assert device_of(token, None) is None


def test_another_password_makes_every_device_unknown() -> None:
    token = new_device_token(ADA, secrets.token_bytes)

    assert device_of(token, replace(ADA, password_hash="$argon2id$another")) is None


def test_an_account_without_a_password_has_no_known_devices() -> None:
    nobody = replace(ADA, password_hash="")

    assert new_device_token(nobody, secrets.token_bytes) == ""
    assert device_of(new_device_token(ADA, secrets.token_bytes), nobody) is None


@pytest.mark.parametrize("token", ["", "a.b.c", "é" * 86, f"{'a' * 26}.{'b' * 26}.{'c' * 32}"])
def test_what_we_did_not_make_is_no_device(token: str) -> None:
    assert device_of(token, replace(ADA, account_id="a" * 26)) is None


@pytest.mark.parametrize("place", [0, 30, 60, 85])
def test_a_cookie_that_was_changed_is_no_device(place: int) -> None:
    token = new_device_token(ADA, secrets.token_bytes)
    other = "a" if token[place] != "a" else "b"

    assert device_of(token[:place] + other + token[place + 1 :], ADA) is None
