"""The settings about developers: defaults, meanings, and the sentence when one is wrong."""

from decimal import Decimal

import pytest

from printreach.rules.apps.registration import AppPolicy
from printreach.rules.detection.usage import DEFAULT_TIERS, Plan, Tier
from printreach.run.settings import Settings, SettingsError, settings_from


def read(**given: str) -> Settings:
    return settings_from({f"PRINTREACH_{name}": value for name, value in given.items()})


def test_by_default_anybody_registers_apps_and_nobody_is_billed() -> None:
    settings = read()

    assert settings.app_registration is AppPolicy.OPEN
    assert settings.detector_plan == Plan(
        free_calls=5000, free_only=True, offers_billing=False, tiers=DEFAULT_TIERS
    )


def test_every_setting_about_developers_can_be_given() -> None:
    settings = read(
        APP_REGISTRATION="Operators",
        DETECTOR_FREE_CALLS="10",
        DETECTOR_FREE_ONLY="off",
        DETECTOR_BILLING="on",
        DETECTOR_PRICES="100:0.1,\t200:0.05 0.000000001",
    )

    assert settings.app_registration is AppPolicy.OPERATORS
    assert settings.detector_plan == Plan(
        free_calls=10,
        free_only=False,
        offers_billing=True,
        tiers=(
            Tier(100, Decimal("0.1")),
            Tier(200, Decimal("0.05")),
            Tier(None, Decimal("0.000000001")),
        ),
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("APP_REGISTRATION", "everybody"),
        ("DETECTOR_FREE_ONLY", "maybe"),
        ("DETECTOR_BILLING", "2"),
        *[
            ("DETECTOR_PRICES", text)
            for text in ("x", "100:0.1", "0.1 100:0.1", "200:0.1 100:0.1 0.1", "-1", "1e9", "NaN")
        ],
    ],
)
def test_a_wrong_setting_is_named(name: str, text: str) -> None:
    with pytest.raises(SettingsError, match=f"PRINTREACH_{name} "):
        read(**{name: text})
