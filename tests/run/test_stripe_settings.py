"""What has to be set to sell supporter status, and that nothing repeats its secrets."""

import asyncio
import sys

import pytest

from printreach.backends.clock import SystemClock
from printreach.run.dependencies import payments_of
from printreach.run.settings import Settings, SettingsError, settings_from

GIVEN = {
    "PRINTREACH_STRIPE_SECRET_KEY": "sk_test_abcdefgh12345678",
    "PRINTREACH_STRIPE_WEBHOOK_SECRET": "whsec_abcdefgh12345678",
    "PRINTREACH_STRIPE_PRICE": "price_yearly, price_monthly",
}


def sentence(**changed: str) -> str:
    with pytest.raises(SettingsError) as refused:
        settings_from(GIVEN | {f"PRINTREACH_STRIPE_{name}": text for name, text in changed.items()})
    return str(refused.value)


def test_nothing_is_sold_unless_the_operator_says_so() -> None:
    assert settings_from({}).stripe is None


def test_all_of_it_makes_a_shop() -> None:
    account = settings_from(GIVEN).stripe

    assert account is not None
    assert account.prices == ("price_yearly", "price_monthly")
    assert account.api_url == "https://api.stripe.com"


def test_secrets_stand_in_no_repr() -> None:
    settings = repr(settings_from(GIVEN))

    assert "sk_test" not in settings
    assert "whsec" not in settings


@pytest.mark.parametrize("name", ["SECRET_KEY", "WEBHOOK_SECRET", "PRICE"])
def test_what_is_missing_is_named(name: str) -> None:
    assert sentence(**{name: ""}) == f"Payment by Stripe also needs PRINTREACH_STRIPE_{name}."


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("SECRET_KEY", "pk_test_published"),
        ("WEBHOOK_SECRET", "sk_test_abcdefgh12345678"),
        ("PRICE", "prod_abcdefgh"),
    ],
)
def test_what_is_something_else_is_refused(name: str, text: str) -> None:
    assert sentence(**{name: text}).startswith(f"PRINTREACH_STRIPE_{name} ")


@pytest.mark.parametrize("name", ["SECRET_KEY", "WEBHOOK_SECRET"])
def test_a_wrong_secret_is_not_repeated(name: str) -> None:
    assert "mistyped" not in sentence(**{name: "mistyped secret"})


async def _opened(settings: Settings) -> bool:
    async with payments_of(settings, SystemClock()) as payments:
        return payments is not None


def test_without_settings_no_library_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "stripe", None)

    assert not asyncio.run(_opened(settings_from({})))


def test_with_them_its_lack_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "stripe", None)
    monkeypatch.delitem(sys.modules, "printreach.backends.pay_stripe", raising=False)

    with pytest.raises(SettingsError, match="stripe"):
        asyncio.run(_opened(settings_from(GIVEN)))


def test_with_both_there_is_a_shop() -> None:
    assert asyncio.run(_opened(settings_from(GIVEN)))
