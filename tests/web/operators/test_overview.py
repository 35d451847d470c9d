"""The operators' overview of the whole service."""

import re
from datetime import timedelta

import pytest

from printreach.hub.accounts.sessions import Visitor
from printreach.rules.addresses import is_encrypted
from printreach.rules.detection.detector import DetectorOff
from printreach.rules.operators import BACKUP_IS_DUE_AFTER, COMMAND_LINE, OperatorAct
from printreach.rules.payments import PaymentState, Subscription
from printreach.rules.printers import NODE_SILENCE
from printreach.store.store import Records
from printreach.web import signed_in
from printreach.web.operators import service
from printreach.web.wording import typeset
from tests.fakes.clock import NOON
from tests.web.operators.conftest import Office
from tests.web.world import BASE_URL, PASSWORD, run, send


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

    assert "1 subscription still runs at the payment provider" in page
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
    assert "Living" not in page


def test_the_overview_counts_the_connections_that_their_page_lists(office: Office) -> None:
    """An owner's own counts in both."""
    run(office.browser, lambda: office.world.services.connections.open_own(office.printer_id))
    listed = office.browser.get("/operator/connections").text.count('/end">')
    assert listed == 2

    page = office.browser.get("/operator").text

    assert f"<dt>Active connections</dt><dd>{listed}</dd>" in page


def test_a_grant_is_listed_beside_what_every_account_has(office: Office) -> None:
    path = f"/operator/accounts/{office.ada.account_id}/supporter"
    send(office.browser, path, **{"state": "on", "supporter-password": PASSWORD})

    page = office.browser.get("/operator/accounts").text

    assert re.search(r'like everyone\s*<span class="meta">granted</span>', page)


@pytest.mark.parametrize("why", [*DetectorOff, None])
def test_the_overview_says_whether_failure_detection_runs(
    office: Office, why: DetectorOff | None
) -> None:
    office.world.scorer.off = why
    page = office.browser.get("/operator").text

    assert ("off: see above" in page) == (why is not None)
    if why is not None:
        assert typeset(why.value) in page


def test_the_overview_says_what_is_open_or_missing(office: Office) -> None:
    page = office.browser.get("/operator").text

    assert "Anybody can create an account here" in page
    assert "no mail server" in page
    assert "Connections aren" not in page
    assert "The disk is almost full" not in page
    assert re.search(r"[0-9.]+ [kMGT]B free of ", page)


def test_the_overview_counts_the_printers_that_are_online(office: Office) -> None:
    page = office.browser.get("/operator").text

    office.world.clock.advance(NODE_SILENCE)

    assert "1, 1 online" in page
    assert "1, 0 online" in office.browser.get("/operator").text


def test_the_overview_warns_of_a_full_disk(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "LITTLE_SPACE", 2**62)

    assert "The disk is almost full" in office.browser.get("/operator").text


@pytest.mark.parametrize("base_url", ["http://reach.example", "https://reach.example"])
def test_an_operator_reads_that_connections_are_not_encrypted_and_what_to_do(
    office: Office, monkeypatch: pytest.MonkeyPatch, base_url: str
) -> None:
    monkeypatch.setattr(service, "is_encrypted", lambda _: is_encrypted(base_url))
    page = office.browser.get("/operator").text

    is_warned = base_url.startswith("http:")
    assert ("t encrypted.</b>" in page) is is_warned
    assert (f"{BASE_URL} has no TLS" in page) is is_warned
    assert ("set PRINTREACH_BASE_URL to its https address" in page) is is_warned


@pytest.mark.parametrize(
    ("base_url", "expected"),
    [
        ("https://reach.example", True),
        ("http://reach.example", False),
        ("http://192.168.1.5:8080", False),
        ("http://localhost:8080", True),
        ("http://[::1]:8080", True),
    ],
)
def test_an_address_without_tls_is_encrypted_on_one_machine_alone(
    base_url: str, expected: bool
) -> None:
    assert is_encrypted(base_url) is expected


def test_lists_without_rows_say_that_there_are_none_yet(office: Office) -> None:
    assert "No keys yet." in office.browser.get("/operator/keys").text
    assert "No matching apps." in office.browser.get("/operator/apps?q=nothing").text


def test_an_operator_reads_when_the_last_backup_was_made_and_how_to_make_one(
    office: Office,
) -> None:
    reminder = "printreach admin database backup FILE"
    before = office.browser.get("/operator").text

    operating = office.world.services.operating
    made = OperatorAct.BACKUP_MADE, "backup.tar.gz", COMMAND_LINE, ""
    run(office.browser, lambda: operating.note_backup(*made))
    after = office.browser.get("/operator").text
    office.world.clock.advance(BACKUP_IS_DUE_AFTER + timedelta(minutes=1))
    later = office.browser.get("/operator").text

    assert "There is no backup yet" in before
    assert reminder in before
    assert re.search(r"Last backup.*1 May 2026, 12:00 UTC", after, re.DOTALL)
    assert reminder not in after
    assert "more than a week old" in later
