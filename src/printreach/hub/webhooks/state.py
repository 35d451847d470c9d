"""Why nothing is sent to a webhook, whatever is queued for it."""

from datetime import datetime

from printreach.ports.webhooks import AppWebhook
from printreach.rules.accounts import Account, SupporterPolicy, may_connect_apps
from printreach.rules.connections import has_ended
from printreach.rules.webhooks import LIFETIME, is_live

ENDED = "The App Connection has ended."


def why_closed(
    hook: AppWebhook, account: Account | None, supporters: SupporterPolicy, at: datetime
) -> str | None:
    """A sentence; None while it is sent what it wants. account: that of its connection."""
    if account is None or hook.connection.printer_id is None or has_ended(hook.connection, at):
        return ENDED
    if account.is_blocked:
        return "The account of the printer's owner is blocked."
    if not may_connect_apps(supporters, account, at):
        return "The printer's owner is not a supporter, so the App Connection is paused."
    if not is_live(hook.webhook, at):
        return f"The app has not set its webhook anew for {LIFETIME.days} days."
    if hook.webhook.disabled_at is not None:
        return hook.webhook.disabled_reason or "The webhook is disabled."
    return None


def is_closed_by_clock(
    hook: AppWebhook, account: Account | None, supporters: SupporterPolicy
) -> bool:
    """Of one that is closed: whether it would not be, had no time passed since it was set."""
    return why_closed(hook, account, supporters, hook.webhook.set_at) is None


def is_unconfirmed(
    hook: AppWebhook,
    account: Account | None,
    supporters: SupporterPolicy,
    confirmed_at: datetime | None,
) -> bool:
    """Of one that is closed: whether only a clock says so that may be wrong.

    believed_at: what ClockDoubt believes of it.
    """
    if not is_closed_by_clock(hook, account, supporters):
        return False
    return confirmed_at is None or why_closed(hook, account, supporters, confirmed_at) is None
