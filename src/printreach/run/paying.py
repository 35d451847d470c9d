"""Composition of the payment provider, if the operator has one."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from printreach.hub.payments import Billing
from printreach.ports import Clock
from printreach.ports.payments import Payments
from printreach.run.installing import how_to_install
from printreach.run.settings import Settings, SettingsError

log = logging.getLogger(__name__)


@asynccontextmanager
async def payments_of(settings: Settings, clock: Clock) -> AsyncIterator[Payments | None]:
    """Open the provider; None if nothing is sold. Raises SettingsError if its library is
    missing.
    """
    if settings.stripe is None:
        yield None
        return
    try:
        # The library is an extra and takes half a second to import, so only installations that sell
        # load it.
        from printreach.backends.pay_stripe import stripe_payments
    except ImportError as error:
        raise SettingsError(
            f"PRINTREACH_STRIPE_SECRET_KEY needs more than is installed ({error.name}): "
            f"{how_to_install('stripe')} brings it."
        ) from None
    async with stripe_payments(settings.stripe, clock) as payments:
        yield payments


async def warn_of_unseen(billing: Billing) -> None:
    """Warn the operator at the start if people pay while nothing is sold."""
    unseen = await billing.unseen()
    if unseen:
        last = max(one.period_ends_at for one in unseen)
        log.warning(
            "%d subscriptions go on at the payment provider, and nothing is sold here. What was "
            "paid counts until %s at the latest. End them at the provider, or sell again.",
            len(unseen),
            f"{last:%Y-%m-%d}",
        )
