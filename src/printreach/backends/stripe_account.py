"""The operator's account at Stripe; separate from what needs Stripe's library."""

from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True, slots=True)
class StripeAccount:
    """prices: ids of recurring ones, in the order of the pages. api_url: another one for tests."""

    secret_key: str = field(repr=False)
    webhook_secret: str = field(repr=False)
    prices: tuple[str, ...]
    api_url: str
