"""Webhooks of apps: how an app sets one, and why one is closed and gets nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from printreach.contract.events import EventType, PrintEvent
from printreach.hub.connections.app_calls import AppCaller
from printreach.hub.core import Core
from printreach.languages import N_
from printreach.ports.webhooks import WebhookKeys, WebhookSender
from printreach.rules.accounts import Account, SupporterPolicy, may_connect_apps
from printreach.rules.connections import has_ended
from printreach.rules.connections.credentials import new_record_id
from printreach.rules.rate_limits import Limit, TooSoon
from printreach.rules.webhooks import LIFETIME, DeliveryState, Outcome, Webhook, is_live
from printreach.rules.webhooks.messages import About, SigningKey, message_body, signature_headers
from printreach.store.store import Records
from printreach.store.webhooks import AppWebhook

ENDED = N_("The App Connection has ended.")


def why_closed(
    hook: AppWebhook, account: Account | None, supporters: SupporterPolicy, at: datetime
) -> str | None:
    """Return why it is closed, as a sentence; None if it is open. account: the connection's."""
    if account is None or hook.connection.printer_id is None or has_ended(hook.connection, at):
        return ENDED
    if account.is_blocked:
        return N_("The account of the printer's owner is blocked.")
    if not may_connect_apps(supporters, account, at):
        return N_("The printer's owner is not a supporter, so the App Connection is paused.")
    if not is_live(hook.webhook, at):
        return N_("The app has not renewed its webhook for %(days)s days.", days=LIFETIME.days)
    if hook.webhook.disabled_at is not None:
        return hook.webhook.disabled_reason or N_("The webhook is disabled.")
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


TEST_BY_CONNECTION: Final = Limit(name="webhook-test", at_once=10, every=timedelta(seconds=6))
"""Each test calls a server of the app's choice."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Webhooks:
    """The use cases of an app about its connection's webhook."""

    core: Core
    sender: WebhookSender
    keys: WebhookKeys

    async def set(self, caller: AppCaller, url: str, event_filter: Sequence[int]) -> str | None:
        """Set the webhook; or return a sentence that says why it is not acceptable.

        Queued deliveries go there as well. A webhook that was disabled is enabled again.
        """
        problem = await self.sender.problem_with(url)
        if problem is not None:
            return problem
        webhook = Webhook(
            connection_id=caller.connection.connection_id,
            url=url,
            event_filter=tuple(dict.fromkeys(event_filter)),
            set_at=self.core.clock.now(),
        )
        await self.core.store.write(lambda records: records.webhooks.put(webhook))
        return None

    async def delete(self, caller: AppCaller) -> None:
        """Delete the webhook and its queue."""
        connection_id, at = caller.connection.connection_id, self.core.clock.now()

        async def delete(records: Records) -> None:
            await records.deliveries.end_all(
                connection_id, DeliveryState.DROPPED, N_("The app deleted its webhook."), at
            )
            await records.webhooks.delete(connection_id)

        await self.core.store.write(delete)

    async def test(self, caller: AppCaller) -> Outcome | TooSoon | None:
        """Make one call, whatever the filter says; None if there is no webhook.

        A disabled one is called too, so that the app learns what is wrong.
        """
        connection_id, at = caller.connection.connection_id, self.core.clock.now()
        webhook = await self.core.store.read(lambda records: records.webhooks.get(connection_id))
        if webhook is None or not is_live(webhook, at):
            return None
        refused = self.core.caller_tries.take(TEST_BY_CONNECTION, connection_id)
        if refused is not None:
            return refused
        event = PrintEvent(
            event_id=new_record_id(self.core.token_bytes),
            event_type=EventType.TEST,
            event_time_sec=int(at.timestamp()),
        )
        body = message_body(event, self._about(caller))
        headers = signature_headers(event.event_id, body, self.keys.signing(at), at)
        return await self.sender.send(webhook.url, headers, body)

    def public_keys(self) -> Sequence[SigningKey]:
        """Return the keys that verify messages now."""
        return self.keys.signing(self.core.clock.now())

    def _about(self, caller: AppCaller) -> About:
        printer = caller.row.printer
        return About(
            printer_id=printer.printer_id,
            printer_name=printer.name,
            page_url=self.core.addresses.of_printer_page(printer.printer_id),
        )
