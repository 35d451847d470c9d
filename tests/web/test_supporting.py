"""Supporter status by payment, as a browser and the payment provider see it."""

import html
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from printreach.rules.payments import LATE_TIME
from printreach.rules.portal.parameters import Completion
from printreach.web.payments import LARGEST_CALL
from tests.fakes.clock import NOON
from tests.fakes.stripe.books import Object
from tests.fakes.stripe.server import MONTHLY, sign
from tests.web.conftest import MakeWorld
from tests.web.portal.people import APP, add_app, link_printer
from tests.web.shop import CALLS, Shop, open_shop
from tests.web.world import PASSWORD, Browser, WebWorld, run, send, sign_in

PAGE = "/account/supporter"


@pytest.fixture
def shop(migrated: Path, tmp_path: Path) -> Iterator[Shop]:
    with open_shop(migrated, tmp_path) as opened:
        opened.world.add_account(opened.browser)
        sign_in(opened.browser)
        yield opened


def buy(shop: Shop, plan: str = MONTHLY) -> str:
    """The page of the provider to which ours goes on by itself."""
    page = send(shop.browser, f"{PAGE}/pay", plan=plan)
    assert page.status_code == 200, page.text
    assert page.headers["referrer-policy"] == "no-referrer"
    found = re.search(r'http-equiv="refresh" content="0;url=([^"]+)"', page.text)
    assert found is not None
    return html.unescape(found[1])


def become_supporter(shop: Shop) -> Object:
    subscription = shop.pay(buy(shop))
    assert shop.call("customer.subscription.created", subscription).status_code == 200
    return subscription


def test_forged_calls_fill_no_log(shop: Shop, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(50):
        assert shop.post(b"{}", "t=1,v1=0").status_code == 400

    assert len([one for one in caplog.records if "was refused" in one.message]) == 5


def test_the_page_offers_the_plans_with_their_prices(shop: Shop) -> None:
    page = shop.browser.get(PAGE).text

    assert "€30" in page
    assert "€3<" in page
    assert "Saves two months" in page
    assert "Continue to payment" in page


def test_a_person_who_returns_from_paying_is_a_supporter_at_once(shop: Shop) -> None:
    shop.pay(buy(shop))

    assert "Thank you" in shop.browser.get(f"{PAGE}?back=paid").text
    assert shop.account().paid_until == NOON + timedelta(days=30) + LATE_TIME


def test_a_head_asks_the_provider_nothing(shop: Shop) -> None:
    shop.pay(buy(shop))

    shop.browser.head(f"{PAGE}?back=paid")

    assert shop.account().paid_until is None


def test_a_person_who_returns_without_having_paid_is_told_to_wait(shop: Shop) -> None:
    buy(shop)

    page = shop.browser.get(f"{PAGE}?back=paid").text

    assert "confirmed yet" in page
    assert shop.account().paid_until is None


def test_a_call_of_the_provider_makes_a_supporter(shop: Shop) -> None:
    become_supporter(shop)

    page = shop.browser.get(PAGE).text
    assert "You are a supporter" in page
    assert "Next payment" in page
    assert "31 May 2026" in page
    assert "Continue to payment" not in page


def test_a_failed_payment_says_until_when_it_has_to_be_mended(shop: Shop) -> None:
    subscription = become_supporter(shop)
    shop.fake.books.renew(subscription, paid=False)
    shop.call("invoice.payment_failed", subscription, "evt_2")

    page = shop.browser.get(PAGE).text
    assert "The last payment failed" in page
    assert "7 June 2026" in page


def test_what_was_cancelled_can_be_bought_again(shop: Shop) -> None:
    subscription = become_supporter(shop)
    shop.fake.books.cancel_at_end(subscription)
    shop.call("customer.subscription.updated", subscription, "evt_2")

    page = shop.browser.get(PAGE).text
    assert "a supporter until" in page
    assert "Continue to payment" in page


def test_managing_leads_to_the_provider(shop: Shop) -> None:
    become_supporter(shop)

    assert f"{shop.fake.url}/portal/p" in send(shop.browser, f"{PAGE}/manage").text


def test_a_plan_that_is_not_sold_is_refused(shop: Shop) -> None:
    page = send(shop.browser, f"{PAGE}/pay", plan="price_free")

    assert page.status_code == 400
    assert "Choose one of the plans." in page.text


def test_where_the_provider_is_away_the_page_says_so(shop: Shop) -> None:
    shop.fake.is_away = True

    page = shop.browser.get(PAGE)
    assert "answer. Try again in a minute." in page.text
    assert "t available right now" in page.text


@pytest.mark.parametrize("path", [PAGE, f"{PAGE}/pay", f"{PAGE}/manage"])
def test_strangers_are_asked_to_sign_in(shop: Shop, path: str) -> None:
    send(shop.browser, "/signout")
    answer = (
        shop.browser.get(path, follow_redirects=False)
        if path == PAGE
        else send(shop.browser, path, plan=MONTHLY)
    )

    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/signin")
    assert shop.fake.books.sessions == {}


@pytest.mark.parametrize("act", ["pay", "manage"])
def test_another_sites_form_begins_no_payment(shop: Shop, act: str) -> None:
    answer = shop.browser.post(
        f"{PAGE}/{act}", data={"plan": MONTHLY}, headers={"origin": "https://evil.example"}
    )

    assert answer.status_code == 403
    assert shop.fake.books.sessions == {}


def test_a_forged_call_is_refused_and_asks_nothing(shop: Shop) -> None:
    subscription = shop.pay(buy(shop))
    asked = len(shop.fake.asked)

    answer = shop.call("invoice.paid", subscription, secret="whsec_guessed_by_somebody")

    assert answer.status_code == 400
    assert len(shop.fake.asked) == asked
    assert shop.account().paid_until is None


def test_an_old_call_played_again_is_refused(shop: Shop) -> None:
    body = shop.fake.event("invoice.paid", {"customer": "cus_1"})

    assert shop.post(body.encode(), sign(body, at=0)).status_code == 400


def test_a_call_too_long_to_be_one_is_not_read(shop: Shop) -> None:
    assert shop.post(b"x" * (LARGEST_CALL + 1), "t=1,v1=0").status_code == 413


def test_a_browser_of_somebody_who_is_signed_in_cannot_be_made_to_call(shop: Shop) -> None:
    body = shop.fake.event("invoice.paid", {"customer": "cus_1"})
    headers = {"stripe-signature": sign(body), "origin": "https://evil.example"}

    assert shop.browser.post(CALLS, content=body, headers=headers).status_code == 403


def test_a_call_has_to_come_again_where_the_provider_cannot_be_asked(shop: Shop) -> None:
    subscription = shop.pay(buy(shop))
    shop.fake.is_away = True
    answer = shop.call("invoice.paid", subscription)

    assert answer.status_code == 503
    shop.fake.is_away = False
    assert shop.call("invoice.paid", subscription).status_code == 200
    assert shop.account().paid_until is not None


def test_where_nothing_is_sold_nobody_is_heard(world: WebWorld, browser: Browser) -> None:
    body = '{"id": "evt_1"}'

    answer = browser.post(CALLS, content=body, headers={"stripe-signature": sign(body)})

    assert answer.status_code == 404


def test_without_a_provider_the_operator_is_named(world_with: MakeWorld) -> None:
    with world_with(SUPPORTERS="granted") as (world, browser):
        world.add_account(browser)
        sign_in(browser)

        page = browser.get(PAGE).text

    assert "Ask the operator" in page
    assert "payment" not in page


def test_where_everyone_is_a_supporter_nothing_is_asked(world: WebWorld, browser: Browser) -> None:
    world.add_account(browser)
    sign_in(browser)

    assert "very account on this service has it" in browser.get(PAGE).text


def test_deleting_ones_account_ends_the_payment(shop: Shop) -> None:
    subscription = become_supporter(shop)

    send(shop.browser, "/account/delete", **{"delete-password": PASSWORD})

    assert subscription["status"] == "canceled"


def test_an_account_is_kept_where_its_payment_cannot_be_ended(shop: Shop) -> None:
    become_supporter(shop)
    shop.fake.is_away = True

    answer = send(shop.browser, "/account/delete", **{"delete-password": PASSWORD})

    assert "the payment would continue" in answer.text
    assert shop.account().paid_until is not None


def test_what_was_paid_is_among_ones_data(shop: Shop) -> None:
    subscription = become_supporter(shop)

    data = shop.browser.get("/account/export").json()

    assert [one["SubscriptionId"] for one in data["Payments"]] == [subscription["id"]]


def test_apps_without_supporter_status_are_listed_as_paused(shop: Shop) -> None:
    add_app(shop.world, shop.browser)
    printer_id = link_printer(shop.world, shop.browser, "Workbench")
    connections = shop.world.services.connections
    made = run(shop.browser, lambda: connections.add_for_app(APP, printer_id))
    assert isinstance(made, Completion)
    page = f"/connections/{made.connection_id}"
    listed = shop.browser.get("/connections").text
    assert "Your apps are paused" in listed
    assert "Paused. Workbench" in listed
    assert '<li class="is-paused">' in listed
    assert "This connection is paused." in shop.browser.get(page).text

    become_supporter(shop)

    assert "paused" not in shop.browser.get("/connections").text.lower()
    assert "paused" not in shop.browser.get(page).text.lower()
