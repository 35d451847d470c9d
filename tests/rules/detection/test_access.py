"""Calls of the failure-detection API: admitted ones, and the reasons of refusals."""

from dataclasses import replace
from datetime import timedelta

import pytest

from printreach.contract.detection_api import HTTP_STATUSES, DetectionError
from printreach.rules.detection.access import (
    CallAdmitted,
    CallKind,
    CallRefused,
    DetectionCaller,
    DetectionKey,
    decide,
    digest_of_api_key,
    new_api_key,
    parse_key_name,
)
from printreach.rules.detection.address_claims import CLAIM_LIFETIME, AddressClaim
from printreach.rules.detection.usage import Billing, Plan, Switches
from tests.fakes.clock import NOON

PLAN = Plan(free_calls=10)
KEY = DetectionKey(key_id="k", account_id="ada", name="Key", created_at=NOON)
CALLER = DetectionCaller(key=KEY, switches=Switches(), claim=None, calls_so_far=0)
BOBS = AddressClaim(network="8.8.8.8", account_id="bob", claimed_at=NOON, used_at=NOON)
PAYING = Switches(free_only=False, billing=Billing.ON)


def error_of(
    caller: DetectionCaller | None, kind: CallKind = CallKind.PROCESS
) -> DetectionError | None:
    decision = decide(caller, PLAN, kind, NOON)
    return decision.error if isinstance(decision, CallRefused) else None


@pytest.mark.parametrize("kind", CallKind)
def test_a_key_that_works_is_admitted(kind: CallKind) -> None:
    assert decide(CALLER, PLAN, kind, NOON) == CallAdmitted(key=KEY, kind=kind, is_paid=False)


@pytest.mark.parametrize("kind", CallKind)
def test_an_unknown_key_a_disabled_one_and_an_unpaid_one_are_told_apart(kind: CallKind) -> None:
    disabled = replace(CALLER, key=replace(KEY, disabled_at=NOON))
    unpaid = replace(CALLER, switches=Switches(billing=Billing.BLOCKED))

    assert error_of(None, kind) is DetectionError.INVALID_API_KEY
    assert error_of(disabled, kind) is DetectionError.API_KEY_DISABLED
    assert error_of(unpaid, kind) is DetectionError.API_KEY_BLOCKED_PAYMENT_FAILED


@pytest.mark.parametrize("kind", CallKind)
def test_an_address_of_another_account_is_refused_until_its_claim_lapses(kind: CallKind) -> None:
    caller = replace(CALLER, claim=BOBS)

    assert error_of(caller, kind) is DetectionError.API_KEY_IP_RESTRICTED
    assert isinstance(decide(caller, PLAN, kind, NOON + CLAIM_LIFETIME), CallAdmitted)


@pytest.mark.parametrize(
    ("so_far", "error"),
    [
        (9, None),
        (10, DetectionError.FREE_USAGE_LIMIT_REACHED),
        (11, DetectionError.FREE_USAGE_LIMIT_REACHED),
    ],
)
def test_the_call_after_the_last_free_one_is_refused(
    so_far: int, error: DetectionError | None
) -> None:
    assert error_of(replace(CALLER, calls_so_far=so_far)) is error


@pytest.mark.parametrize("so_far", [9, 10, 1000])
def test_a_context_is_made_whatever_was_used(so_far: int) -> None:
    assert error_of(replace(CALLER, calls_so_far=so_far), CallKind.CREATE_CONTEXT) is None


@pytest.mark.parametrize(("so_far", "is_paid"), [(9, False), (10, True)])
def test_with_billing_calls_beyond_the_allowance_are_paid(so_far: int, is_paid: bool) -> None:
    caller = replace(CALLER, switches=PAYING, calls_so_far=so_far)
    decision = decide(caller, PLAN, CallKind.PROCESS, NOON)

    assert isinstance(decision, CallAdmitted)
    assert decision.is_paid is is_paid


@pytest.mark.parametrize(
    "switches", [replace(PAYING, free_only=True), replace(PAYING, billing=Billing.OFF)]
)
def test_either_switch_keeps_an_account_from_paying(switches: Switches) -> None:
    caller = replace(CALLER, switches=switches, calls_so_far=10)

    assert error_of(caller) is DetectionError.FREE_USAGE_LIMIT_REACHED


@pytest.mark.parametrize(
    ("plan", "switches", "can_pay"),
    [
        (PLAN, None, False),
        (PLAN, replace(PAYING, free_only=True), True),
        (replace(PLAN, offers_billing=True), None, True),
    ],
)
def test_who_cannot_pay_is_not_told_to(
    plan: Plan, switches: Switches | None, can_pay: bool
) -> None:
    refused = decide(
        replace(CALLER, switches=switches, calls_so_far=10), plan, CallKind.PROCESS, NOON
    )

    assert isinstance(refused, CallRefused)
    assert ("billing" in refused.sentence) is can_pay


def test_who_has_several_faults_hears_of_the_first() -> None:
    caller = DetectionCaller(
        key=replace(KEY, disabled_at=NOON),
        switches=Switches(billing=Billing.BLOCKED),
        claim=BOBS,
        calls_so_far=99,
    )

    assert error_of(caller) is DetectionError.API_KEY_DISABLED
    assert error_of(replace(caller, key=KEY)) is DetectionError.API_KEY_BLOCKED_PAYMENT_FAILED
    assert (
        error_of(replace(caller, key=KEY, switches=Switches()))
        is DetectionError.API_KEY_IP_RESTRICTED
    )


def test_every_error_has_its_http_status() -> None:
    assert dict(HTTP_STATUSES) == {
        "OE_BAD_ARGS": 400,
        "OE_ARGS_PARSE_FAILED": 400,
        "OE_IMAGE_DECODE_FAILED": 400,
        "OE_INVALID_API_KEY": 401,
        "OE_API_KEY_BLOCKED_PAYMENT_FAILED": 402,
        "OE_API_KEY_DISABLED": 403,
        "OE_API_KEY_IP_RESTRICTED": 403,
        "OE_CONTEXT_NOT_FOUND": 404,
        "OE_IMAGE_TOO_LARGE": 413,
        "OE_FREE_USAGE_LIMIT_REACHED": 429,
        "OE_CONTEXT_RATE_LIMITED": 429,
        "OE_INTERNAL_ERROR": 500,
        "OE_BACKEND_THROTTLED": 503,
    }
    assert set(HTTP_STATUSES) == set(DetectionError)


def test_a_key_is_random_and_is_looked_up_by_a_digest_that_does_not_hold_it() -> None:
    key = new_api_key(lambda count: b"r" * count)

    assert key.startswith("prk_")
    assert len(key) == 36
    assert key.encode() not in digest_of_api_key(key)
    assert digest_of_api_key(key) == digest_of_api_key(key)
    assert digest_of_api_key(key) != digest_of_api_key(key.upper())


def test_whatever_comes_in_the_header_has_a_digest() -> None:
    for sent in ("", "\udcff", "\x00", "ü" * 9999):
        assert len(digest_of_api_key(sent)) == 32


@pytest.mark.parametrize(
    ("typed", "name"),
    [("", "API key"), ("  Farm   two ", "Farm two"), ("x" * 60, "x" * 60)],
)
def test_a_keys_name_is_tidied(typed: str, name: str) -> None:
    assert parse_key_name(typed) == name


@pytest.mark.parametrize("typed", ["x" * 61, "a\x07b", "a\u202eb"])
def test_a_keys_name_is_short_and_printable(typed: str) -> None:
    assert parse_key_name(typed) is None


def test_a_call_one_instant_before_the_claim_lapses_is_refused() -> None:
    caller = replace(CALLER, claim=BOBS)
    at = NOON + CLAIM_LIFETIME - timedelta(microseconds=1)

    assert isinstance(decide(caller, PLAN, CallKind.PROCESS, at), CallRefused)
