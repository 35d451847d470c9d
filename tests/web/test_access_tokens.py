"""Tokens of a person's own programs: made, shown once, ended."""

import re

import pytest

from printreach.ports import Notice, Topic
from tests.hub.world import stored_notices
from tests.web.world import ADA, BASE_URL, PASSWORD, Browser, WebWorld, run, send, sign_in

BOB = "bob@example.org"
SCOPE = {"scope-events:read": "yes"}
PROOF = {"password": PASSWORD}


@pytest.fixture
def ada(world: WebWorld, browser: Browser) -> Browser:
    world.add_account(browser)
    sign_in(browser)
    return browser


def make(browser: Browser) -> tuple[str, str]:
    """A token's id and its secret."""
    page = send(browser, "/account/tokens", name="My <script>", **SCOPE, **PROOF).headers[
        "location"
    ]
    shown = browser.get(page)
    secret = re.search(r"prt_[a-z2-7]+", shown.text)
    assert secret is not None
    assert shown.headers["cache-control"] == "no-store"
    return page.split("/")[3], secret[0]


def test_a_token_is_shown_once_and_kept_as_a_digest(world: WebWorld, ada: Browser) -> None:
    token_id, secret = make(ada)

    async def on_disk() -> bytes:
        folder = world.settings.data_dir
        return b"".join(file.read_bytes() for file in folder.iterdir() if file.is_file())

    assert "Already shown" in ada.get(f"/account/tokens/{token_id}/secret").text
    assert secret not in ada.get("/account/tokens").text
    assert secret.encode() not in run(ada, on_disk)


@pytest.mark.parametrize(
    "path", ["/account/tokens", "/account", "/account/security", "/account/delete"]
)
def test_a_password_stands_below_the_name_of_its_account(ada: Browser, path: str) -> None:
    forms = re.findall(r"<form.*?</form>", ada.get(path).text, re.DOTALL)
    with_password = [form for form in forms if "current-password" in form]

    assert with_password
    for form in with_password:
        above = form.partition("current-password")[0]
        assert f'autocomplete="username" value="{ADA}"' in above


def test_a_stolen_browser_makes_no_token_that_outlives_it(world: WebWorld, ada: Browser) -> None:
    answer = send(ada, "/account/tokens", name="x", password="guess", **SCOPE)

    assert answer.status_code == 400
    assert "not your password" in answer.text
    assert world.mailer.sent == []
    make(ada)
    assert "An access token was made" in world.mailer.sent[-1].text


def test_script_in_a_tokens_name_stays_text(ada: Browser) -> None:
    token_id, _ = make(ada)

    for path in ("/account/tokens", f"/account/tokens/{token_id}/end"):
        assert "My &lt;script&gt;" in ada.get(path).text


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "x"},
        {"name": "", **SCOPE},
        {"name": "x" * 61, **SCOPE},
        {"name": "x", "scope-all": "y"},
    ],
)
def test_a_token_needs_a_name_and_what_it_may_do(ada: Browser, fields: dict[str, str]) -> None:
    answer = send(ada, "/account/tokens", **fields, **PROOF)

    assert answer.status_code == 400


def test_a_token_ends_after_a_question(ada: Browser) -> None:
    token_id, _ = make(ada)
    asked = ada.get(f"/account/tokens/{token_id}/end").text
    send(ada, f"/account/tokens/{token_id}/end")

    assert "This can" in asked
    assert token_id not in ada.get("/account/tokens").text


def test_what_a_token_opened_hears_at_once_that_it_ended(world: WebWorld, ada: Browser) -> None:
    token_id, _ = make(ada)

    async def of_account() -> int:
        made = await world.store.read(lambda records: records.accounts.with_email(ADA))
        assert made is not None
        given = await stored_notices(world.store)
        return given.count(Notice(Topic.ACCOUNT, made.account_id))

    before = run(ada, of_account)
    assert send(ada, "/account/tokens/unknown/end").status_code == 404
    assert run(ada, of_account) == before

    send(ada, f"/account/tokens/{token_id}/end")

    assert run(ada, of_account) == before + 1


def test_nobody_sees_or_ends_anothers_token(world: WebWorld, ada: Browser) -> None:
    token_id, _ = make(ada)
    send(ada, "/signout")
    world.add_account(ada, BOB)
    sign_in(ada, BOB)

    assert ada.get(f"/account/tokens/{token_id}/end").status_code == 404
    assert send(ada, f"/account/tokens/{token_id}/end").status_code == 404
    assert "Already shown" in ada.get(f"/account/tokens/{token_id}/secret").text


@pytest.mark.parametrize("path", ["/account/tokens", "/account/tokens/x/end"])
def test_no_form_of_tokens_works_from_another_origin(ada: Browser, path: str) -> None:
    answer = ada.post(
        path, data={"name": "x", **SCOPE}, headers={"origin": BASE_URL + ".evil.example"}
    )

    assert answer.status_code == 403


def test_an_account_has_so_many_tokens_and_no_more(ada: Browser) -> None:
    fields = SCOPE | PROOF
    answers = [send(ada, "/account/tokens", name=f"t{number}", **fields) for number in range(51)]

    assert [one.status_code for one in answers] == [303] * 50 + [400]
