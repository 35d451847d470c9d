"""Why a webhook is closed: nothing is sent to it, whatever is queued."""

from datetime import datetime

from printreach.rules.accounts import Account, SupporterPolicy, may_connect_apps
from printreach.rules.connections import has_ended
from printreach.rules.webhooks import LIFETIME, is_live
from printreach.store.webhooks import AppWebhook

ENDED = "The App Connection has ended."


def why_closed(
    hook: AppWebhook, account: Account | None, supporters: SupporterPolicy, at: datetime
) -> str | None:
    """Return why it is closed, as a sentence; None if it is open. account: the connection's."""
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
    """Return whether a closed webhook would be open, had no time passed since it was set."""
    return why_closed(hook, account, supporters, hook.webhook.set_at) is None


def is_unconfirmed(
    hook: AppWebhook,
    account: Account | None,
    supporters: SupporterPolicy,
    confirmed_at: datetime | None,
) -> bool:
    """Return whether a webhook is closed only by a clock that may be wrong.

    confirmed_at: the time that the clock is trusted about: ClockHistory.confirmed_time.
    """
    if not is_closed_by_clock(hook, account, supporters):
        return False
    return confirmed_at is None or why_closed(hook, account, supporters, confirmed_at) is None
