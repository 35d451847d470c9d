"""The portal's flow, step by step, and its completion parameters."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from printreach.rules.connections.credentials import AppSecrets
from printreach.rules.portal import (
    FLOW_LIFETIME,
    Connect,
    Facts,
    Flow,
    PortalError,
    Step,
    allow,
    answer_key,
    as_seen_by,
    choose,
    connected,
    linked,
    may_link,
    named,
    preselected_printer,
    refuse,
    step_of,
    take_own,
)
from printreach.rules.portal.parameters import Completion, completion_parameters, failure_parameters

AT = datetime(2026, 1, 1, tzinfo=UTC)
FLOW = Flow(
    flow_id="f",
    browser_digest=b"b",
    app_id="app",
    return_url="https://app.example/done",
    asked_printer_id=None,
    logo_url=None,
    key_app_name=None,
    begun_at=AT,
)
ADA = Facts(account_id="ada", printer_ids=("p1",), is_supporter=True)
TWO = replace(ADA, printer_ids=("p1", "p2"))
NOBODY = Facts()
KEYED = replace(FLOW, key_app_name="My app")
CAN_MAKE_KEYS = replace(ADA, with_keys=frozenset({"p1"}))


def step(flow: Flow, facts: Facts) -> Step:
    return step_of(flow, facts, AT)


def must(flow: Flow | Connect | None) -> Flow:
    assert isinstance(flow, Flow)
    return flow


def test_whoever_is_not_signed_in_is_asked_to() -> None:
    assert step(FLOW, NOBODY) is Step.ACCOUNT


def test_whoever_has_no_printer_links_one() -> None:
    assert step(FLOW, replace(ADA, printer_ids=())) is Step.LINK


def test_a_linked_printer_is_named_and_then_the_one_it_is_about() -> None:
    flow = linked(FLOW, "ada", "p2")

    assert step(flow, TWO) is Step.NAME
    flow = must(named(flow, TWO, AT))
    assert step(flow, TWO) is Step.PERMIT
    assert allow(flow, TWO, "p2", AT) == Connect("p2")


def test_a_foreign_printer_starts_linking() -> None:
    assert step(replace(FLOW, asked_printer_id="bobs"), ADA) is Step.LINK


def test_another_printer_than_the_asked_one_will_do() -> None:
    flow = must(take_own(replace(FLOW, asked_printer_id="bobs"), TWO, AT))

    assert step(flow, TWO) is Step.CHOOSE


def test_an_asked_printer_of_theirs_is_preselected() -> None:
    flow = replace(FLOW, asked_printer_id="p2")

    assert step(flow, TWO) is Step.CHOOSE
    assert preselected_printer(flow, TWO) == "p2"


def test_no_printer_is_preselected_where_none_was_asked_for() -> None:
    assert preselected_printer(FLOW, TWO) is None


def test_another_printer_is_linked_from_the_steps_in_which_one_is_chosen() -> None:
    asked_for_key = must(allow(KEYED, CAN_MAKE_KEYS, "p1", AT))

    assert may_link(FLOW, TWO, AT)
    assert may_link(FLOW, ADA, AT)
    flow = linked(asked_for_key, "ada", "p2")
    assert step(flow, TWO) is Step.NAME
    assert step(must(named(flow, TWO, AT)), TWO) is Step.PERMIT


def test_what_replaces_earlier_connections_outlasts_the_question_about_a_key() -> None:
    flow = must(allow(KEYED, CAN_MAKE_KEYS, "p1", AT, replaces_earlier=True))

    assert answer_key(flow, CAN_MAKE_KEYS, "p1", AT, with_key=True) == Connect(
        "p1", with_key=True, replaces_earlier=True
    )


def test_an_only_printer_need_not_be_chosen() -> None:
    assert step(FLOW, ADA) is Step.PERMIT


def test_supporter_status_is_asked_for_after_the_printer_and_before_permission() -> None:
    poor = replace(ADA, is_supporter=False)

    assert step(FLOW, replace(poor, printer_ids=())) is Step.LINK
    assert step(FLOW, poor) is Step.SUPPORTER
    assert allow(FLOW, poor, "p1", AT) is None


def test_permission_makes_the_connection() -> None:
    assert allow(FLOW, ADA, "p1", AT) == Connect("p1")


def test_permission_for_another_printer_than_the_chosen_one_is_none() -> None:
    flow = must(choose(FLOW, TWO, "p2", AT))

    assert allow(flow, TWO, "p1", AT) is None


def test_a_foreign_printer_cannot_be_chosen() -> None:
    assert choose(FLOW, TWO, "bobs", AT) is None


def test_a_key_needs_a_second_yes() -> None:
    flow = must(allow(KEYED, CAN_MAKE_KEYS, "p1", AT))

    assert step(flow, CAN_MAKE_KEYS) is Step.KEY
    assert answer_key(flow, CAN_MAKE_KEYS, "p1", AT, with_key=True) == Connect("p1", True)
    assert answer_key(flow, CAN_MAKE_KEYS, "p1", AT, with_key=False) == Connect("p1", False)


def test_a_key_cannot_be_had_without_permission() -> None:
    assert answer_key(KEYED, CAN_MAKE_KEYS, "p1", AT, with_key=True) is None


def test_a_printer_that_makes_no_keys_is_not_asked_for_one() -> None:
    assert allow(KEYED, ADA, "p1", AT) == Connect("p1")


def test_choosing_another_printer_takes_the_permission_back() -> None:
    facts = replace(TWO, with_keys=frozenset({"p1", "p2"}))
    allowed = must(allow(must(choose(KEYED, facts, "p1", AT)), facts, "p1", AT))

    assert step(must(choose(allowed, facts, "p2", AT)), facts) is Step.PERMIT


def test_a_removed_printer_takes_the_permission_along() -> None:
    allowed = must(allow(KEYED, CAN_MAKE_KEYS, "p1", AT))

    assert step(allowed, replace(CAN_MAKE_KEYS, printer_ids=("p2",))) is Step.PERMIT


def test_another_account_begins_anew() -> None:
    allowed = must(allow(KEYED, CAN_MAKE_KEYS, "p1", AT))
    bob = replace(CAN_MAKE_KEYS, account_id="bob")

    assert step(allowed, bob) is Step.PERMIT
    assert as_seen_by(allowed, "bob").printer_id is None
    assert answer_key(allowed, bob, "p1", AT, with_key=True) is None


@pytest.mark.parametrize("facts", [NOBODY, ADA, TWO, replace(ADA, printer_ids=())])
def test_refusing_is_always_possible(facts: Facts) -> None:
    flow = must(refuse(FLOW, facts, PortalError.ACCESS_DENIED, AT))

    assert step(flow, facts) is Step.FAILED
    assert flow.error is PortalError.ACCESS_DENIED


def test_what_has_ended_stays_so() -> None:
    done = connected(FLOW, "ada", Connect("p1"), "c1")
    failed = must(refuse(FLOW, ADA, PortalError.ACCESS_DENIED, AT))

    for flow in (done, failed):
        assert allow(flow, ADA, "p1", AT) is None
        assert refuse(flow, ADA, PortalError.ACCESS_DENIED, AT) is None
        assert choose(flow, ADA, "p1", AT) is None
        assert not may_link(flow, replace(ADA, printer_ids=()), AT)
    assert step(done, NOBODY) is Step.DONE


def test_a_flow_ends_after_an_hour() -> None:
    last = AT + FLOW_LIFETIME - timedelta(microseconds=1)

    assert step_of(FLOW, ADA, last) is Step.PERMIT
    assert step_of(FLOW, ADA, AT + FLOW_LIFETIME) is Step.EXPIRED
    assert allow(FLOW, ADA, "p1", AT + FLOW_LIFETIME) is None
    assert refuse(FLOW, ADA, PortalError.ACCESS_DENIED, AT + FLOW_LIFETIME) is None


def test_naming_is_for_a_printer_that_was_just_linked() -> None:
    assert named(FLOW, ADA, AT) is None


DONE = Completion(
    connection_id="c1",
    url="https://app-abc.tunnel.example",
    printer_name="Workshop",
    printer_page_url="https://reach.example/printers/p1",
    printer_lan_ip="192.168.1.20",
    secrets=AppSecrets(
        basic_user="user", basic_password="password", bearer_token="bearer", app_api_token="token"
    ),
)


def test_an_app_is_told_exactly_these_parameters() -> None:
    assert completion_parameters(DONE) == {
        "success": "true",
        "id": "c1",
        "url": "https://app-abc.tunnel.example",
        "appApiToken": "token",
        "printername": "Workshop",
        "userPrinterAccessUrl": "https://reach.example/printers/p1",
        "printerLastKnownLocalIp": "192.168.1.20",
        "authBasicHttpUser": "user",
        "authBasicHttpPassword": "password",
        "authbasichttpuser": "user",
        "authbasichttppassword": "password",
        "authBearerToken": "bearer",
    }


def test_an_unknown_lan_address_is_left_out() -> None:
    parameters = completion_parameters(replace(DONE, printer_lan_ip=None))

    assert "printerLastKnownLocalIp" not in parameters


def test_a_key_is_told_by_both_its_names() -> None:
    parameters = completion_parameters(replace(DONE, host_api_key="key"))

    assert (parameters["hostApiKey"], parameters["octoPrintApiKey"]) == ("key", "key")


@pytest.mark.parametrize("error", PortalError)
def test_a_failure_is_told_as_a_code_and_a_sentence_and_nothing_else(error: PortalError) -> None:
    parameters = failure_parameters(error)

    assert list(parameters) == ["success", "error", "errorDescription"]
    assert parameters["success"] == "false"
    assert parameters["error"] == error.value
    assert parameters["errorDescription"].endswith(".")
