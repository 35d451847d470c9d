"""The portal's supporter step where supporter status is sold."""

import html
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from printreach.backends.pay_stripe import OFFERS_KEPT
from tests.fakes.stripe.server import MONTHLY
from tests.web.portal.people import Person, add_app, follow, link_printer, told
from tests.web.shop import Shop, open_shop


@pytest.fixture
def shop(migrated: Path, tmp_path: Path) -> Iterator[Shop]:
    with open_shop(migrated, tmp_path) as opened:
        yield opened


@pytest.fixture
def ada(shop: Shop) -> Person:
    """Signed in, with a printer, before the supporter step."""
    shop.world.add_account(shop.browser)
    add_app(shop.world, shop.browser)
    link_printer(shop.world, shop.browser, "Workbench")
    person = Person(shop.world, shop.browser)
    person.sign_in()
    person.begin()
    return person


def pay_page(ada: Person, plan: str = MONTHLY) -> str:
    page = ada.send("pay", plan=plan)
    assert page.status_code == 200, page.text
    found = re.search(r'http-equiv="refresh" content="0;url=([^"]+)"', page.text)
    assert found is not None, page.text
    return html.unescape(found[1])


def test_the_step_offers_plans_and_a_way_out(ada: Person) -> None:
    page = ada.look().text

    assert "€30" in page
    assert "Continue to payment" in page
    assert "Not now, go back to Layerlark" in page
    assert "Ask the operator" not in page


def test_paying_leads_on_in_the_same_flow(shop: Shop, ada: Person) -> None:
    url = pay_page(ada)
    [session] = shop.fake.books.sessions.values()
    shop.pay(url)

    back = session["asked"]["success_url"]
    assert back.endswith(f"{ada.path}?back=paid")
    page = follow(shop.browser, ada.look("?back=paid"))

    assert "Let Layerlark use Workbench?" in page.text


def test_leaving_the_payment_returns_to_the_step(shop: Shop, ada: Person) -> None:
    pay_page(ada)
    [session] = shop.fake.books.sessions.values()

    assert session["asked"]["cancel_url"].endswith(ada.path)
    assert "Continue to payment" in ada.look().text


def test_a_payment_that_takes_its_time_says_so(ada: Person) -> None:
    pay_page(ada)

    assert "t confirmed yet" in ada.look("?back=paid").text


def test_the_call_alone_is_enough_to_go_on(shop: Shop, ada: Person) -> None:
    subscription = shop.pay(pay_page(ada))
    shop.call("customer.subscription.created", subscription)

    assert "Let Layerlark use Workbench?" in ada.look().text


def test_a_person_who_paid_in_another_tab_is_not_sent_to_pay_again(shop: Shop, ada: Person) -> None:
    shop.pay(pay_page(ada))
    page = follow(shop.browser, ada.send("pay", plan=MONTHLY))

    assert "Let Layerlark use Workbench?" in page.text
    assert len(shop.fake.books.subscriptions) == 1


def test_not_now_tells_the_app(ada: Person) -> None:
    answer = ada.press("refuse", error="not_a_supporter")

    assert told(answer)["error"] == "not_a_supporter"


def test_a_plan_that_is_not_sold_shows_the_step_again(ada: Person) -> None:
    page = ada.send("pay", plan="price_free")

    assert "Choose one of the plans." in page.text


def test_without_the_forms_token_nobody_is_sent_to_pay(shop: Shop, ada: Person) -> None:
    answer = ada.send("pay", plan=MONTHLY, token="0" * 64)

    assert answer.status_code == 403
    assert shop.fake.books.sessions == {}


def test_where_the_provider_is_away_the_step_can_be_tried_again(shop: Shop, ada: Person) -> None:
    shop.fake.is_away = True
    shop.world.clock.advance(OFFERS_KEPT)
    page = ada.look().text

    assert "The payment provider didn&#39;t answer." in page
    assert "Check again" in page
    assert "Not now" in page


def test_the_page_about_lacking_status_leads_to_where_it_is_sold(shop: Shop, ada: Person) -> None:
    page = shop.browser.get("/appportal/v1/nosupporterperks?appId=layerlark").text

    assert "Become a supporter" in page
    assert 'href="/account/supporter"' in page
