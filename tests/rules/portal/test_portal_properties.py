"""Properties of the portal under any presses, in any order."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.rules.portal import (
    FINAL_STEPS,
    Connect,
    Facts,
    Flow,
    PortalError,
    Step,
    allow,
    answer_key,
    choose,
    connected,
    linked,
    may_link,
    named,
    refuse,
    step_of,
    take_own,
)

AT = datetime(2026, 1, 1, tzinfo=UTC)
PRINTERS = ("p1", "p2", "p3")
ACTS = ("link", "name", "take own", "choose", "allow", "with key", "without key", "refuse")

flows = st.builds(
    Flow,
    flow_id=st.just("f"),
    browser_digest=st.just(b"b"),
    app_id=st.just("app"),
    return_url=st.just("myapp://done"),
    asked_printer_id=st.sampled_from([None, *PRINTERS]),
    logo_url=st.none(),
    key_app_name=st.sampled_from([None, "My app"]),
    begun_at=st.just(AT),
)
everybody = st.builds(
    Facts,
    account_id=st.sampled_from([None, "ada", "bob"]),
    printer_ids=st.lists(st.sampled_from(PRINTERS), unique=True).map(tuple),
    is_supporter=st.booleans(),
    with_keys=st.frozensets(st.sampled_from(PRINTERS)),
)
moments = st.integers(min_value=0, max_value=70).map(
    lambda minutes: AT + timedelta(minutes=minutes)
)
presses = st.tuples(st.sampled_from(ACTS), st.sampled_from(PRINTERS), everybody, moments)


def press(
    flow: Flow, act: str, printer_id: str, facts: Facts, at: datetime
) -> Flow | Connect | None:
    match act:
        case "link":
            can = may_link(flow, facts, at) and facts.account_id
            return linked(flow, facts.account_id, printer_id) if can and facts.account_id else None
        case "name":
            return named(flow, facts, at)
        case "take own":
            return take_own(flow, facts, at)
        case "choose":
            return choose(flow, facts, printer_id, at)
        case "allow":
            return allow(flow, facts, printer_id, at)
        case "with key" | "without key":
            return answer_key(flow, facts, printer_id, at, with_key=act == "with key")
        case _:
            return refuse(flow, facts, PortalError.ACCESS_DENIED, at)


@pytest.mark.slow
@given(flows, st.lists(presses, max_size=30))
def test_a_connection_needs_a_supporters_yes_to_this_printer(
    flow: Flow, pressed: list[tuple[str, str, Facts, datetime]]
) -> None:
    yes: set[tuple[str | None, str]] = set()
    for act, printer_id, facts, at in pressed:
        outcome = press(flow, act, printer_id, facts, at)
        if act == "allow" and outcome is not None:
            yes.add((facts.account_id, printer_id))
        if isinstance(outcome, Connect):
            assert (facts.account_id, outcome.printer_id) in yes
            assert outcome.printer_id in facts.printer_ids
            assert facts.is_supporter
            assert not outcome.with_key or (flow.key_app_name and act == "with key")
            return
        flow = outcome or flow


@pytest.mark.slow
@given(flows, st.lists(presses, max_size=30))
def test_nothing_follows_the_end(
    flow: Flow, pressed: list[tuple[str, str, Facts, datetime]]
) -> None:
    done = connected(flow, "ada", Connect("p1"), "c1")

    for act, printer_id, facts, at in pressed:
        assert press(done, act, printer_id, facts, at) is None
        assert step_of(done, facts, at) is Step.DONE


@pytest.mark.slow
@given(flows, st.lists(presses, max_size=30), everybody)
def test_one_press_leads_back_from_every_step(
    flow: Flow, pressed: list[tuple[str, str, Facts, datetime]], facts: Facts
) -> None:
    for act, printer_id, others, _ in pressed:
        outcome = press(flow, act, printer_id, others, AT)
        flow = outcome if isinstance(outcome, Flow) else flow

    refused = refuse(flow, facts, PortalError.ACCESS_DENIED, AT)

    assert (refused is None) == (step_of(flow, facts, AT) in FINAL_STEPS)


@pytest.mark.slow
@given(flows, st.lists(presses, max_size=30))
def test_a_time_that_is_up_is_up_for_everybody(
    flow: Flow, pressed: list[tuple[str, str, Facts, datetime]]
) -> None:
    old = replace(flow, begun_at=AT - timedelta(hours=1))

    for act, printer_id, facts, at in pressed:
        assert press(old, act, printer_id, facts, at) is None
