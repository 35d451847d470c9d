"""Admission to the failure-detection API."""

from datetime import timedelta

import pytest

from printreach.contract.detection_api import DetectionError
from printreach.rules.accounts.limits import LimitChanges
from printreach.rules.detection.usage import Billing, Switches
from printreach.web import signed_in
from printreach.web.detection import api as detection
from tests.web.conftest import MakeWorld
from tests.web.detection.detecting import CREATE, DetectionClient, detecting, error_of, told
from tests.web.world import Browser, WebWorld, run


@pytest.fixture
def caller(world: WebWorld, program: Browser) -> DetectionClient:
    return detecting(world, program)


@pytest.mark.provokes("OE_INVALID_API_KEY")
def test_a_key_that_is_none_is_refused(caller: DetectionClient) -> None:
    for path in (CREATE, caller.context()):
        for key in ("", "prk_unknown", "é", "x" * 4000):
            answer = caller.program.post(path, headers={b"X-API-Key": key.encode()})

            assert error_of(answer) == told(DetectionError.INVALID_API_KEY), key


def test_a_call_without_a_key_is_refused(caller: DetectionClient) -> None:
    assert error_of(caller.program.post(CREATE)) == told(DetectionError.INVALID_API_KEY)


@pytest.mark.provokes("OE_API_KEY_DISABLED")
def test_a_disabled_key_is_refused(caller: DetectionClient) -> None:
    path = caller.context()
    keys = caller.world.services.detection_keys

    async def disable_all() -> None:
        for key in await keys.all(caller.account_id):
            await keys.disable(caller.account_id, key.key_id)

    run(caller.program, disable_all)

    assert error_of(caller.create()) == told(DetectionError.API_KEY_DISABLED)
    assert error_of(caller.process(path)) == told(DetectionError.API_KEY_DISABLED)


@pytest.mark.provokes("OE_API_KEY_BLOCKED_PAYMENT_FAILED")
def test_a_key_rests_while_its_account_does_not_pay(caller: DetectionClient) -> None:
    path = caller.context()
    chosen = Switches(free_only=False, billing=Billing.BLOCKED)
    run(
        caller.program,
        lambda: caller.world.store.write(
            lambda records: records.detection_switches.put(caller.account_id, chosen)
        ),
    )

    for answer in (caller.create(), caller.process(path)):
        assert error_of(answer) == told(DetectionError.API_KEY_BLOCKED_PAYMENT_FAILED)


@pytest.mark.provokes("OE_FREE_USAGE_LIMIT_REACHED")
def test_a_used_up_allowance_stops_images_and_no_contexts(world_with: MakeWorld) -> None:
    with world_with(DETECTOR_FREE_CALLS="1") as (world, program):
        caller = detecting(world, program)
        path, other = caller.context(), caller.context()
        assert caller.process(path).status_code == 200

        for context in (path, other, caller.context()):
            answer = caller.process(context)
            assert error_of(answer) == told(DetectionError.FREE_USAGE_LIMIT_REACHED)
            assert "retry-after" not in answer.headers


def test_an_account_that_asks_too_often_has_to_wait(caller: DetectionClient) -> None:
    path = caller.context()
    at_most = LimitChanges(requests_a_minute=3)
    store = caller.world.store
    run(
        caller.program,
        lambda: store.write(lambda records: records.limits.put_of_service(at_most)),
    )
    caller.world.clock.advance(timedelta(minutes=1))
    assert [caller.create().status_code for _ in range(3)] == [200] * 3

    for answer in (caller.create(), caller.process(path)):
        assert error_of(answer) == told(DetectionError.CONTEXT_RATE_LIMITED)
        assert answer.headers["retry-after"] == "20"


# --- addresses ------------------------------------------------------------------------------------


@pytest.fixture
def at_public_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who calls does so from there."""
    monkeypatch.setattr(detection, "_address_of", lambda _request: "8.8.8.8")


@pytest.mark.provokes("OE_API_KEY_IP_RESTRICTED")
@pytest.mark.usefixtures("at_public_address")
def test_an_address_is_that_accounts_which_was_answered_there_first(
    caller: DetectionClient,
) -> None:
    bob = detecting(caller.world, caller.program, "bob@example.org")
    assert caller.create().status_code == 200

    assert error_of(bob.create()) == told(DetectionError.API_KEY_IP_RESTRICTED)
    assert caller.create(key=caller.another_key()).status_code == 200


@pytest.mark.usefixtures("at_public_address")
def test_an_address_that_may_be_a_proxys_is_nobodys_and_the_operator_hears_of_it(
    caller: DetectionClient, caplog: pytest.LogCaptureFixture
) -> None:
    bob = detecting(caller.world, caller.program, "bob@example.org")
    unproven = {signed_in.UNPROVEN: "1"}
    for one in (caller, bob, caller):
        answer = one.program.post(CREATE, headers=one.headers() | unproven)
        assert answer.status_code == 200

    warnings = [record for record in caplog.records if "PRINTREACH_TRUSTED_PROXIES" in record.msg]
    assert len(warnings) == 1


def test_a_level_may_be_written_with_a_fraction_but_not_compressed(caller: DetectionClient) -> None:
    whole = caller.program.post(
        CREATE, content=b'{"PauseConfidenceLevel": 2.0}', headers=caller.headers()
    )
    compressed = caller.program.post(
        CREATE, content=b"\x1f\x8b", headers={**caller.headers(), "Content-Encoding": "gzip"}
    )

    assert whole.status_code == 200
    assert compressed.json()["ErrorDetails"] == "Content-Encoding: send the JSON as it is."
