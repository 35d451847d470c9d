"""Apps set, delete and try their webhooks."""

import base64
import time
from datetime import timedelta

import pytest

from printreach.hub.clock_jumps import ClockHistory
from printreach.hub.prints.fanout import Fanout
from printreach.hub.webhooks import TEST_BY_CONNECTION
from printreach.hub.webhooks.deliveries import WebhookEnqueuer
from printreach.rules.webhooks import LIFETIME, DeliveryState, Outcome, Webhook
from tests.fakes.webhook_sender import OK, FakeKeys
from tests.hub.webhooks.world import event
from tests.web.connections.calling_app import CallingApp
from tests.web.world import run

SET = "/api/appconnection/SetNotificationWebhook"
DELETE = "/api/appconnection/DeleteNotificationWebhook"
TEST = "/api/appconnection/TestWebhook"
URL = "https://hook.example/in?printer=1&x=%20"


def stored(app: CallingApp) -> Webhook | None:
    async def look() -> Webhook | None:
        return await app.world.store.read(lambda records: records.webhooks.get(app.connection_id))

    return run(app.program, look)


def set_url(app: CallingApp, **others: object) -> None:
    assert app.post(SET, {"WebhookUrl": URL, **others}).status_code == 200


# --- setting ----------------------------------------


def test_a_webhook_is_kept_exactly_as_it_was_given(app_call: CallingApp) -> None:
    body = {"WebhookUrl": URL, "InclusiveEventTypesFilter": [6, 99, 6, -1, 3_000_000_000]}
    answer = app_call.post(SET, body)

    assert answer.status_code == 200
    assert answer.json() == {"Status": 200, "Result": {}}
    hook = stored(app_call)
    assert hook is not None
    assert (hook.url, hook.event_filter) == (URL, (6, 99, -1, 3_000_000_000))


@pytest.mark.parametrize("given", [{}, {"InclusiveEventTypesFilter": []}])
def test_an_empty_or_omitted_filter_replaces_the_one_before(
    app_call: CallingApp, given: dict[str, object]
) -> None:
    set_url(app_call, InclusiveEventTypesFilter=[1])
    set_url(app_call, **given)

    hook = stored(app_call)
    assert hook is not None
    assert hook.event_filter == ()


def test_the_180_days_count_from_the_last_successful_call(app_call: CallingApp) -> None:
    set_url(app_call)
    app_call.world.clock.advance(timedelta(days=100))
    set_url(app_call)
    set_at = app_call.world.clock.now()
    app_call.world.clock.advance(timedelta(days=1))
    app_call.world.sender.problem = "WebhookUrl can't be called."
    assert app_call.post(SET, {"WebhookUrl": "https://other.example/"}).status_code == 400

    hook = stored(app_call)
    assert hook is not None
    assert (hook.url, hook.set_at) == (URL, set_at)


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({}, "WebhookUrl"),
        ({"WebhookUrl": None}, "WebhookUrl"),
        ({"WebhookUrl": 7}, "WebhookUrl"),
        ({"webhookurl": URL}, "WebhookUrl"),
        ({"WebhookUrl": URL, "InclusiveEventTypesFilter": "6"}, "InclusiveEventTypesFilter"),
        ({"WebhookUrl": URL, "InclusiveEventTypesFilter": ["6"]}, "InclusiveEventTypesFilter"),
        ({"WebhookUrl": URL, "InclusiveEventTypesFilter": [1.5]}, "InclusiveEventTypesFilter"),
        ({"WebhookUrl": URL, "InclusiveEventTypesFilter": [True]}, "InclusiveEventTypesFilter"),
        ({"WebhookUrl": URL, "InclusiveEventTypesFilter": [2**63]}, "InclusiveEventTypesFilter"),
        ({"WebhookUrl": URL, "InclusiveEventTypesFilter": [1] * 300}, "InclusiveEventTypesFilter"),
    ],
)
def test_wrong_arguments_are_400_and_named(
    app_call: CallingApp, body: dict[str, object], named: str
) -> None:
    answer = app_call.post(SET, body)

    assert answer.status_code == 400
    assert answer.json()["Status"] == 400
    assert named in answer.json()["Error"]
    assert stored(app_call) is None


def test_a_missing_argument_is_named_in_a_sentence_of_our_own(app_call: CallingApp) -> None:
    answer = app_call.post(SET, {})

    assert answer.json() == {"Status": 400, "Error": "WebhookUrl is missing."}


def test_a_call_without_a_body_is_told_that_the_body_is_missing(app_call: CallingApp) -> None:
    answer = app_call.program.post(SET, headers={"AppToken": app_call.token})

    assert answer.status_code == 400
    assert answer.json() == {"Status": 400, "Error": "The body is missing."}


def test_a_url_that_can_not_be_called_is_400_with_the_reason(app_call: CallingApp) -> None:
    app_call.world.sender.problem = "WebhookUrl leads to an address that isn't public."
    answer = app_call.post(SET, {"WebhookUrl": "https://127.0.0.1/"})

    assert answer.status_code == 400
    assert answer.json() == {"Status": 400, "Error": app_call.world.sender.problem}
    assert stored(app_call) is None


@pytest.mark.parametrize("path", [SET, DELETE])
def test_a_token_may_come_in_the_body_and_the_header_wins(app_call: CallingApp, path: str) -> None:
    body = {"AppToken": app_call.token, "WebhookUrl": URL}

    assert app_call.program.post(path, json=body).status_code == 200
    assert app_call.post(path, {**body, "AppToken": "x" * 32}).status_code == 200
    assert app_call.post(path, body, token="x" * 32).status_code == 603
    assert app_call.program.post(path, json={"WebhookUrl": URL}).status_code == 400


def test_a_test_takes_its_token_from_the_header_alone(app_call: CallingApp) -> None:
    assert app_call.program.get(f"{TEST}?AppToken={app_call.token}").status_code == 400
    assert app_call.get(TEST, token="x" * 32).status_code == 603


@pytest.mark.parametrize("path", [SET, DELETE, TEST])
def test_a_revoked_connection_is_604(app_call: CallingApp, path: str) -> None:
    services = app_call.world.services

    async def revoke() -> None:
        await services.connections.revoke(app_call.connection_id)

    run(app_call.program, revoke)
    call = app_call.get(path) if path == TEST else app_call.post(path, {"WebhookUrl": URL})
    assert call.status_code == 604


@pytest.mark.parametrize("path", [SET, DELETE])
def test_a_large_body_is_refused(app_call: CallingApp, path: str) -> None:
    answer = app_call.post(path, {"WebhookUrl": "https://hook.example/" + "a" * 70_000})

    assert answer.status_code == 413


# --- deleting ----------------------------------------


def test_deleting_drops_what_is_queued(app_call: CallingApp) -> None:
    set_url(app_call)
    world = app_call.world

    async def states() -> list[DeliveryState]:
        log = await world.store.read(
            lambda records: records.deliveries.log_of_connection(app_call.connection_id, 9)
        )
        return [one.state for one in log]

    queue_event(app_call)
    assert run(app_call.program, states) == [DeliveryState.QUEUED]
    answer = app_call.post(DELETE)

    assert answer.json() == {"Status": 200, "Result": {}}
    assert stored(app_call) is None
    assert run(app_call.program, states) == [DeliveryState.DROPPED]


def test_deleting_what_is_not_there_is_no_failure(app_call: CallingApp) -> None:
    assert app_call.post(DELETE).status_code == 200


# --- trying ----------------------------------------


def test_a_test_is_sent_whatever_the_filter_says(app_call: CallingApp) -> None:
    set_url(app_call, InclusiveEventTypesFilter=[1])
    answer = app_call.get(TEST)

    assert answer.json() == {"Status": 200, "Result": {"HttpStatus": 200, "DurationMs": 5}}
    [sent] = app_call.world.sender.sent
    assert sent.url == URL
    assert b'"EventType":16' in sent.body
    assert b'"PrinterName":"Workbench"' in sent.body


def test_a_test_tells_what_went_wrong(app_call: CallingApp) -> None:
    set_url(app_call)
    app_call.world.sender.always(URL, Outcome(http_status=None, duration_ms=3, error="No answer."))

    assert app_call.get(TEST).json() == {
        "Status": 200,
        "Result": {"HttpStatus": None, "DurationMs": 3, "Error": "No answer."},
    }
    app_call.world.sender.always(URL, Outcome(http_status=500, duration_ms=3))
    assert app_call.get(TEST).json()["Result"] == {"HttpStatus": 500, "DurationMs": 3}


def test_a_test_makes_one_attempt_and_is_none_of_the_webhooks_health(
    app_call: CallingApp,
) -> None:
    set_url(app_call)
    before = stored(app_call)
    app_call.world.sender.always(URL, Outcome(http_status=410, duration_ms=3))
    app_call.get(TEST)

    assert len(app_call.world.sender.sent) == 1
    assert stored(app_call) == before


def test_without_a_webhook_there_is_nothing_to_try(app_call: CallingApp) -> None:
    answer = app_call.get(TEST)

    assert answer.status_code == 404
    assert answer.json()["Status"] == 404
    set_url(app_call)
    app_call.world.clock.advance(LIFETIME)
    assert app_call.get(TEST).status_code == 404


def test_a_disabled_webhook_can_still_be_tried(app_call: CallingApp) -> None:
    world = app_call.world

    async def disable() -> None:
        at = world.clock.now()
        hook = Webhook(
            connection_id=app_call.connection_id,
            url=URL,
            event_filter=(),
            set_at=at,
            disabled_at=at,
            disabled_reason="It failed.",
        )
        await world.store.write(lambda records: records.webhooks.put(hook))

    run(app_call.program, disable)
    assert app_call.get(TEST).json()["Result"]["HttpStatus"] == OK.http_status


def test_nobody_calls_others_machines_by_testing_without_end(app_call: CallingApp) -> None:
    set_url(app_call)
    codes = [app_call.get(TEST).status_code for _ in range(TEST_BY_CONNECTION.at_once + 1)]

    assert codes == [200] * TEST_BY_CONNECTION.at_once + [429]
    assert int(app_call.get(TEST).headers["retry-after"]) >= 1


# --- who verifies ----------------------------------------


def test_anybody_can_get_the_public_keys(app_call: CallingApp) -> None:
    answer = app_call.program.get("/.well-known/webhook-keys.json")

    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("application/json")
    public = base64.b64encode(FakeKeys.key.public).decode()
    assert answer.json() == {"Keys": [{"KeyId": "k1", "PublicKey": public, "NotAfter": None}]}


def test_the_webhook_apis_are_described(app_call: CallingApp) -> None:
    paths = app_call.program.get("/openapi.json").json()["paths"]

    assert {SET, DELETE, TEST, "/.well-known/webhook-keys.json"} <= set(paths)


def queue_event(app: CallingApp) -> None:
    """An event of the printer, as fan-out hands it out."""
    world = app.world

    async def happens() -> None:
        at = world.clock.now()
        await world.store.write(
            lambda records: records.events.append(app.printer_id, [event()], at)
        )
        enqueuer = WebhookEnqueuer(core=world.core, clock_history=ClockHistory(time.monotonic))
        await Fanout(world.core, [enqueuer]).fan_out_due()

    run(app.program, happens)
