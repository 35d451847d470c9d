"""The operators' overview of the whole service."""

from datetime import timedelta

import pytest

from printreach.hub.accounts.sessions import Visitor
from printreach.rules.detection.detector import DetectorOff
from printreach.rules.payments import PaymentState, Subscription
from printreach.store.store import Records
from printreach.web import signed_in
from printreach.web.wording import typeset
from tests.fakes.clock import NOON
from tests.web.operators.conftest import Office
from tests.web.world import run


def test_payments_while_nothing_is_sold_are_reported(office: Office) -> None:
    assert "at the payment provider" not in office.browser.get("/operator").text
    subscription = Subscription(
        subscription_id="sub_1",
        customer_id="cus_1",
        account_id=office.ada.account_id,
        state=PaymentState.PAID,
        begun_at=NOON,
        period_begins_at=NOON,
        period_ends_at=NOON + timedelta(days=30),
        ends_at=None,
    )

    async def put(records: Records) -> None:
        await records.payments.put(office.ada.account_id, subscription, NOON)

    run(office.browser, lambda: office.world.store.write(put))
    page = office.browser.get("/operator").text

    assert "1 subscription goes on at the payment provider" in page
    assert "31 May 2026" in page


@pytest.mark.parametrize(
    ("address", "is_unproven", "is_told"),
    [
        ("127.0.0.1", True, True),
        ("172.18.0.5", True, True),
        ("fd00::5", True, True),
        ("127.0.0.1", False, False),
        ("8.8.8.8", True, False),
        ("", True, False),
    ],
)
def test_an_operator_who_comes_through_an_untrusted_proxy_reads_what_to_set(
    office: Office,
    monkeypatch: pytest.MonkeyPatch,
    address: str,
    is_unproven: bool,
    is_told: bool,
) -> None:
    monkeypatch.setattr(signed_in, "visitor_of", lambda _: Visitor(address=address, browser=""))
    headers = {signed_in.UNPROVEN: "1"} if is_unproven else {}

    page = office.browser.get("/operator", headers=headers).text

    assert (f"PRINTREACH_TRUSTED_PROXIES={address}<" in page) is is_told


def test_the_number_of_supporters_does_not_contradict_who_is_one(office: Office) -> None:
    page = office.browser.get("/operator").text

    assert "every account" in page
    assert "Active connections of apps and shares" in page
    assert "Living" not in page


@pytest.mark.parametrize("why", [*DetectorOff, None])
def test_the_overview_says_whether_failure_detection_runs(
    office: Office, why: DetectorOff | None
) -> None:
    office.world.scorer.off = why
    page = office.browser.get("/operator").text

    assert ("off: see above" in page) == (why is not None)
    if why is not None:
        assert typeset(why.value) in page
