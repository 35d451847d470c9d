"""What operators are told of the service as a whole."""

from datetime import timedelta

from printreach.ports import Records
from printreach.rules.payments import PaymentState, Subscription
from tests.fakes.clock import NOON
from tests.web.operator.conftest import Office
from tests.web.world import run


def test_who_pays_though_nothing_is_sold_is_said(office: Office) -> None:
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
