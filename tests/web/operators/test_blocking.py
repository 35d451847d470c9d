"""An operator blocks an account by its page: its owner is out at once, everywhere."""

import re
from datetime import timedelta

import pytest

from printreach.contract.errors import ErrorCode
from printreach.hub.connections.live_links import LiveWish
from printreach.rules.connections.live_links import LiveLink
from tests.fakes.authenticator import FakeAuthenticator
from tests.web.operators.conftest import GRACE, Office
from tests.web.test_passkeys import HOST, add, come_in
from tests.web.world import ADA, BASE_URL, PASSWORD, Browser, run, send, sign_in

SOON = timedelta(seconds=5)
SENTENCE = "This account is blocked. Ask whoever runs this service to let you in again."


def block(office: Office, state: str = "on", email: str = ADA) -> str:
    account = office.account(email)
    assert account is not None
    path = f"/operator/accounts/{account.account_id}/block"
    answer = send(office.browser, path, password=PASSWORD, state=state)
    return str(answer.headers.get("location", answer.text))


def test_its_browsers_are_signed_out_and_in_again_after(office: Office, other: Browser) -> None:
    sign_in(other, ADA)
    assert other.get("/account").status_code == 200

    assert block(office).endswith(office.ada.account_id)
    assert other.get("/account", follow_redirects=False).status_code == 303
    assert SENTENCE in sign_in(other, ADA).text

    assert block(office, "off").endswith(office.ada.account_id)
    assert sign_in(other, ADA).status_code == 303
    assert other.get("/account").status_code == 200


def test_only_who_knows_the_password_hears_that_it_is_blocked(
    office: Office, other: Browser
) -> None:
    block(office)

    assert sign_in(other, ADA, "a guess at it").text == (
        sign_in(other, "nobody@example.org", "a guess at it").text.replace(
            "nobody@example.org", ADA
        )
    )


def test_a_passkey_lets_nobody_in_either(office: Office, other: Browser) -> None:
    key = FakeAuthenticator(origin=BASE_URL, host=HOST)
    sign_in(other, ADA)
    assert add(other, key) == 303
    send(other, "/signout")
    assert come_in(other, key) == 303
    block(office)

    assert come_in(other, key) == 400


def test_another_password_is_no_way_around_it(office: Office, other: Browser) -> None:
    send(other, "/reset", email=ADA)
    sent_before = office.world.mailer.link().partition("token=")[2]
    block(office)
    send(other, "/reset", email=ADA)
    sent_after = office.world.mailer.link().partition("token=")[2]

    for token in (sent_before, sent_after):
        answer = send(other, "/reset/new", token=token, password="quite another passphrase")
        assert answer.status_code == 400, answer.text
    assert SENTENCE in sign_in(other, ADA).text, "the password is still the old one"


def test_signing_up_again_does_not_unblock_an_unconfirmed_account(
    office: Office, other: Browser
) -> None:
    eve = "eve@example.org"
    send(other, "/signup", email=eve, password=PASSWORD)
    block(office, email=eve)
    office.world.mailer.sent.clear()

    send(other, "/signup", email=eve, password=PASSWORD)

    now = office.account(eve)
    assert now is not None
    assert now.is_blocked
    assert all("/confirm?" not in mail.text for mail in office.world.mailer.sent)


def test_an_app_that_calls_the_service_hears_604_meanwhile(office: Office, other: Browser) -> None:
    token = {"AppToken": office.connection.secrets.app_api_token}
    statuses = []
    for state in ("on", "off"):
        block(office, state)
        statuses.append(other.get("/api/appconnection/info", headers=token).status_code)

    assert statuses == [ErrorCode.CONNECTION_ENDED, 200]


def test_a_live_link_shows_nothing_meanwhile(office: Office, other: Browser) -> None:
    links = office.world.services.live_links
    made = run(
        office.browser,
        lambda: links.make(office.ada.account_id, office.printer_id, LiveWish(shows_names=True)),
    )
    assert isinstance(made, LiveLink)
    path = f"/live/{made.live_id}"
    assert "Workbench" in other.get(path).text
    block(office)
    office.world.clock.advance(SOON)

    assert "This live view has ended" in other.get(path).text
    block(office, "off")
    office.world.clock.advance(SOON)
    assert "Workbench" in other.get(path).text


def test_its_access_tokens_open_nothing_meanwhile(office: Office, other: Browser) -> None:
    sign_in(other, ADA)
    fields = {"scope-events:read": "yes", "password": PASSWORD, "name": "mine"}
    page = send(other, "/account/tokens", **fields).headers["location"]
    secret = re.search(r"prt_[a-z2-7]+", other.get(page).text)
    assert secret is not None
    send(other, "/signout")
    block(office)
    headers = {"authorization": f"Bearer {secret[0]}", "accept": "application/json"}

    assert other.get("/api/events", headers=headers).status_code == 401


def test_an_operator_cannot_block_their_own_account(office: Office) -> None:
    assert "you would lock yourself out" in block(office, email=GRACE)


@pytest.mark.parametrize("password", ["", "not the password at all"])
def test_it_needs_the_password_again(office: Office, password: str) -> None:
    path = f"/operator/accounts/{office.ada.account_id}/block"

    answer = send(office.browser, path, password=password, state="on")

    assert answer.status_code == 400
    ada = office.account()
    assert ada is not None
    assert not ada.is_blocked


def test_the_pages_say_who_is_blocked(office: Office) -> None:
    assert "Block this account" in office.browser.get(path_of(office)).text
    block(office)

    assert "Unblock this account" in office.browser.get(path_of(office)).text
    assert ADA in office.browser.get("/operator/accounts?show=blocked").text
    assert "Blocked an account" in office.browser.get("/operator/acts").text
    block(office, "off")
    assert ADA not in office.browser.get("/operator/accounts?show=blocked").text


@pytest.mark.parametrize("page", ["", "/block", "/delete"])
def test_of_an_operator_the_pages_say_that_invitations_end_too(office: Office, page: str) -> None:
    words = "all open invitations end too"
    before = office.browser.get(path_of(office) + page).text.lower()
    send(office.browser, path_of(office) + "/operator", password=PASSWORD, state="on")

    assert words not in before
    assert words in office.browser.get(path_of(office) + page).text.lower()


def path_of(office: Office) -> str:
    return f"/operator/accounts/{office.ada.account_id}"
