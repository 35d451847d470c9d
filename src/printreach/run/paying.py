"""The payment provider, where the operator has one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from printreach.ports import Clock
from printreach.ports.payments import Payments
from printreach.run.settings import Settings, SettingsError


@asynccontextmanager
async def payments_of(settings: Settings, clock: Clock) -> AsyncIterator[Payments | None]:
    """None where nothing is sold. Raises SettingsError where the provider's library is missing."""
    if settings.stripe is None:
        yield None
        return
    try:
        # An extra, and half a second of importing: for those alone who sell.
        from printreach.backends.pay_stripe import stripe_payments
    except ImportError as error:
        raise SettingsError(
            f"PRINTREACH_STRIPE_SECRET_KEY needs more than is installed ({error.name}): "
            "pip install 'printreach[server,stripe]'."
        ) from None
    async with stripe_payments(settings.stripe, clock) as payments:
        yield payments
