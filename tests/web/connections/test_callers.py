"""The calling connection, by its token, and the order in which calls are refused."""

from datetime import timedelta

import pytest

from printreach.rules.accounts.limits import DEFAULT_ACCOUNT_LIMITS
from tests.web.conftest import MakeWorld
from tests.web.connections.calling_app import INFO, CallingApp, connect
from tests.web.world import ADA, Browser, run

STATUS = "/api/detector/GetStatusFromAppConnection"


@pytest.mark.parametrize("token", ["", " "])
def test_a_call_without_a_token_is_told_so(app_call: CallingApp, token: str) -> None:
    without = app_call.program.get(INFO)
    assert without.status_code == 400
    assert without.json() == {"Status": 400, "Error": "AppToken is missing."}
    assert app_call.program.post(STATUS, json={"AppToken": token.strip()}).status_code == 400


@pytest.mark.provokes(603)
def test_an_unknown_token_is_603(app_call: CallingApp) -> None:
    answer = app_call.get(INFO, token="x" * 32)
    assert answer.status_code == 603
    assert answer.json()["Status"] == 603
    assert answer.headers["x-service-error"] == "603"


def test_neither_a_bearer_token_nor_a_connections_id_is_an_app_token(app_call: CallingApp) -> None:
    world = app_call.world
    _, made = connect(world, app_call.program, app_call.account_id, "Second")
    for secret in (made.secrets.bearer_token, made.secrets.basic_password, made.connection_id):
        assert app_call.get(INFO, token=secret).status_code == 603


@pytest.mark.provokes(604)
def test_a_revoked_connection_is_604_before_all_else(app_call: CallingApp) -> None:
    services = app_call.world.services

    async def revoke() -> None:
        await services.connections.revoke(app_call.connection_id)

    run(app_call.program, revoke)
    assert app_call.get(INFO).status_code == 604


def test_a_removed_printer_ends_its_tokens(app_call: CallingApp) -> None:
    services = app_call.world.services

    async def remove() -> None:
        await services.printers.remove(app_call.printer_id)

    run(app_call.program, remove)
    assert app_call.get(INFO).status_code == 604
    connect(app_call.world, app_call.program, app_call.account_id, "Workbench")
    assert app_call.get(INFO).status_code == 604


def test_a_deleted_account_ends_its_tokens(app_call: CallingApp) -> None:
    services = app_call.world.services

    async def delete() -> None:
        await services.accounts.delete(ADA)

    run(app_call.program, delete)
    assert app_call.get(INFO).status_code == 604


@pytest.mark.provokes(605)
def test_the_app_of_somebody_who_is_no_supporter_is_605(world_with: MakeWorld) -> None:
    with world_with(SUPPORTERS="granted") as (world, program):
        account = world.add_account(program)
        _, made = connect(world, program, account.account_id, "Workbench")

        def ask() -> int:
            token = {"AppToken": made.secrets.app_api_token, "accept": "*/*"}
            return program.get(INFO, headers=token).status_code

        async def grant() -> None:
            until = world.clock.now() + timedelta(days=1)
            await world.services.accounts.set_supporter(ADA, granted=True, until=until)

        assert ask() == 605
        run(program, grant)
        assert ask() == 200
        world.clock.advance(timedelta(days=1))
        assert ask() == 605


def test_the_header_wins_over_the_body(app_call: CallingApp) -> None:
    assert app_call.program.post(STATUS, json={"AppToken": app_call.token}).status_code == 200
    assert app_call.post(STATUS, {"AppToken": "x" * 32}).status_code == 200
    wrong = app_call.post(STATUS, {"AppToken": app_call.token}, token="x" * 32)
    assert wrong.status_code == 603


def test_a_token_in_the_address_does_not_count(app_call: CallingApp) -> None:
    assert app_call.program.get(f"{INFO}?AppToken={app_call.token}").status_code == 400


@pytest.mark.parametrize("body", [b"{", b"[]", b"\xff", b'{"AppToken": 1}', b"null"])
def test_a_body_that_makes_no_sense_is_400(app_call: CallingApp, body: bytes) -> None:
    answer = app_call.program.post(STATUS, content=body)
    assert answer.status_code == 400
    assert answer.json()["Status"] == 400


def test_a_body_of_a_gigabyte_is_not_read(app_call: CallingApp) -> None:
    headers = {"AppToken": app_call.token, "content-type": "application/json"}
    answer = app_call.program.post(STATUS, content=b" " * 70_000, headers=headers)
    assert answer.status_code == 413


@pytest.mark.slow
def test_too_many_calls_for_one_account_are_asked_to_wait(app_call: CallingApp) -> None:
    most = DEFAULT_ACCOUNT_LIMITS.requests_a_minute
    codes = [app_call.get(INFO).status_code for _ in range(most + 1)]
    assert codes[:-1] == [200] * most
    last = app_call.get(INFO)
    assert last.status_code == codes[-1] == 429
    assert int(last.headers["retry-after"]) >= 1


def test_a_browser_with_a_cookie_of_somebodys_session_is_no_app(app_call: CallingApp) -> None:
    headers = {"AppToken": app_call.token, "cookie": "session=x", "origin": "https://evil.example"}
    assert app_call.program.post(STATUS, json={}, headers=headers).status_code == 403
    assert app_call.get(INFO).headers.get("set-cookie") is None


def test_every_app_api_is_described(program: Browser) -> None:
    document = program.get("/openapi.json").json()
    assert {INFO, STATUS, STATUS.replace("detector", "gadget")} <= set(document["paths"])
    [scheme] = document["paths"][INFO]["get"]["security"]
    described = document["components"]["securitySchemes"][next(iter(scheme))]
    assert (described["name"], described["in"]) == ("AppToken", "header")
