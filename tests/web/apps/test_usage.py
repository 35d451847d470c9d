"""The page of usage: a month by days, what it costs, and the switches beside it."""

import re
from collections.abc import Iterator
from datetime import date

import pytest

from printreach.hub.detection.keys import MadeKey
from printreach.rules.detection.usage import Billing, Calls, Switches
from printreach.rules.operators import COMMAND_LINE
from printreach.store.store import Records
from tests.web.apps.conftest import BOB, DeveloperSite
from tests.web.conftest import MakeWorld
from tests.web.test_languages import GERMAN
from tests.web.world import ADA, PASSWORD, run, send, sign_in

PROVED = {"asked": "yes", "password": PASSWORD}


@pytest.fixture
def paying(world_with: MakeWorld) -> Iterator[DeveloperSite]:
    """On a service that bills."""
    with world_with(DETECTOR_BILLING="true") as (world, browser):
        site = DeveloperSite(
            world, browser, world.add_account(browser), world.add_account(browser, BOB)
        )
        sign_in(browser)
        yield site


def use(site: DeveloperSite, email: str, *days: tuple[date, Calls], name: str = "Farm") -> None:
    """Calls of a new key of that account."""
    services = site.world.services

    async def write() -> None:
        made = await services.detection_keys.make_for(email, name, COMMAND_LINE)
        assert isinstance(made, MadeKey)

        async def add(records: Records) -> None:
            for day, calls in days:
                await records.detection_usage.add(made.key.key_id, day, calls)

        await site.world.store.write(add)

    run(site.browser, write)


def switches(site: DeveloperSite, email: str = ADA) -> Switches:
    services = site.world.services
    account = site.ada if email == ADA else site.bob
    month = run(site.browser, lambda: services.detection_usage.month(account.account_id))
    return month.switches


def amounts(page: str) -> dict[str, str]:
    """The numbers above the chart."""
    return dict(re.findall(r'<div class="amount"><dt>(.*?)</dt><dd>(.*?)</dd>', page))


def test_a_month_is_shown_in_calls_and_print_hours(site: DeveloperSite) -> None:
    use(site, ADA, (date(2026, 5, 1), Calls(all=180)), (date(2026, 5, 3), Calls(all=1_170)))
    page = site.browser.get("/usage").text

    assert amounts(page) == {
        "Calls": "1,350",
        "Print hours": "7.5",
        "Free calls left": "3,650",
        "Cost": "$0.00",
    }
    german = site.browser.get("/usage", headers=GERMAN).text
    assert list(amounts(german).values())[-1] == "0,00 $"
    assert '1 May</td><td class="number">180</td><td class="number">1.0</td>' in page
    assert '2 May</td><td class="number">0</td>' in page
    assert page.count("<rect") == 2
    assert "<title>3 May: 1,170</title>" in page
    assert "style=" not in page


def test_an_account_that_never_called_has_a_page_too(site: DeveloperSite) -> None:
    page = site.browser.get("/usage").text

    assert amounts(page)["Calls"] == "0"
    assert "<rect" not in page
    assert "This service doesn\N{RIGHT SINGLE QUOTATION MARK}t bill." in page
    assert "/usage/billing" not in page


def test_nobody_sees_another_accounts_usage(site: DeveloperSite) -> None:
    use(site, BOB, (date(2026, 5, 1), Calls(all=4_321)), name="Bob's key")
    page = site.browser.get("/usage").text

    assert "4,321" not in page
    assert "Bob" not in page


def test_script_in_a_keys_name_stays_text(site: DeveloperSite) -> None:
    use(site, ADA, (date(2026, 5, 1), Calls(all=1)), name="<script>alert(1)</script>")
    page = site.browser.get("/usage").text

    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_other_months_with_use_are_a_link_away(site: DeveloperSite) -> None:
    use(site, ADA, (date(2026, 3, 1), Calls(all=7)), (date(2025, 12, 31), Calls(all=3)))
    assert 'href="/usage?month=2026-03" rel="next"' in site.browser.get("/usage").text
    march = site.browser.get("/usage?month=2026-03").text

    assert amounts(march)["Calls"] == "7"
    assert 'href="/usage?month=2025-12" rel="next"' in march
    assert 'href="/usage?month=2026-05" rel="prev"' in march
    unused = site.browser.get("/usage?month=2024-02").text
    assert amounts(unused)["Calls"] == "0"
    assert 'href="/usage?month=2026-05"' in unused


def test_a_month_that_does_not_exist_is_not_found(site: DeveloperSite) -> None:
    for month in ("2026-13", "x", "<script>", "2026-05-01", "0000-01"):
        answer = site.browser.get("/usage", params={"month": month})

        assert answer.status_code == 404, month
        assert "<script>" not in answer.text


def test_what_was_paid_for_is_told_to_the_cent(paying: DeveloperSite) -> None:
    use(paying, ADA, (date(2026, 5, 1), Calls(all=12_345, paid=7_345)))
    page = paying.browser.get("/usage").text

    assert amounts(page)["Cost"] == "$2.938"
    assert amounts(page)["Free calls left"] == "0"
    assert "$0.00025 a call" in page


def test_the_switches_stand_beside_it_and_work(paying: DeveloperSite) -> None:
    assert switches(paying) == Switches()
    page = paying.browser.get("/usage").text
    assert "Free-only mode is on" in page
    assert "Billing is off" in page

    for path, to in (("free-only", "off"), ("billing", "on")):
        question = send(paying.browser, f"/usage/{path}", to=to).text
        assert "Your password" in question
        assert f'<input type="hidden" name="to" value="{to}">' in question
        answer = send(paying.browser, f"/usage/{path}", to=to, **PROVED)
        assert answer.headers["location"] == "/usage"
    assert switches(paying) == Switches(free_only=False, billing=Billing.ON)
    assert "You pay for calls beyond the free ones." in paying.browser.get("/usage").text
    for path, to in (("free-only", "on"), ("billing", "off")):
        send(paying.browser, f"/usage/{path}", to=to)
    assert switches(paying) == Switches()


def test_no_other_word_makes_anybody_pay(paying: DeveloperSite) -> None:
    for to in ("", "yes", "ON", "true", "<script>"):
        for path in ("free-only", "billing"):
            send(paying.browser, f"/usage/{path}", to=to, **PROVED)

        assert switches(paying) == Switches(), to


@pytest.mark.parametrize("sent", [{}, {"asked": "yes"}, {"asked": "yes", "password": "a guess"}])
def test_a_stolen_browser_makes_nobody_pay(paying: DeveloperSite, sent: dict[str, str]) -> None:
    for path, to in (("free-only", "off"), ("billing", "on")):
        answer = send(paying.browser, f"/usage/{path}", to=to, **sent)
        assert answer.status_code == (400 if sent else 200)

    assert switches(paying) == Switches()


@pytest.mark.parametrize("origin", [None, "null", "https://own-abc.tunnel.example"])
def test_a_form_of_another_page_switches_nothing(paying: DeveloperSite, origin: str | None) -> None:
    headers = {"origin": origin} if origin else {}
    for path, to in (("free-only", "off"), ("billing", "on")):
        answer = paying.browser.post(f"/usage/{path}", data={"to": to}, headers=headers)
        assert answer.status_code == 403

    assert switches(paying) == Switches()


def test_where_nothing_is_billed_billing_cannot_be_forged(site: DeveloperSite) -> None:
    answer = send(site.browser, "/usage/billing", to="on", **PROVED)

    assert answer.status_code == 400
    assert "does not bill" in answer.text
    assert switches(site) == Switches()


def test_an_account_that_has_not_paid_is_told_and_switches_nothing(paying: DeveloperSite) -> None:
    usage = paying.world.services.detection_usage
    run(paying.browser, lambda: usage.set_billing_of(ADA, Billing.BLOCKED, COMMAND_LINE))

    assert "A payment failed." in paying.browser.get("/usage").text
    assert send(paying.browser, "/usage/billing", to="on", **PROVED).status_code == 400
    assert switches(paying).billing is Billing.BLOCKED


def test_one_account_switches_for_itself_alone(paying: DeveloperSite) -> None:
    send(paying.browser, "/usage/free-only", to="off", **PROVED)

    assert switches(paying).free_only is False
    assert switches(paying, BOB) == Switches()
