"""The log of deliveries: for the printer's owner, and for the app's developer."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.languages import N_
from printreach.rules.apps import App
from printreach.rules.connections import Connection, ConnectionKind, has_ended
from printreach.rules.webhooks import LoggedDelivery, Webhook, is_active, is_live
from printreach.rules.webhooks.urls import place_to_show
from printreach.store.store import Records

MAX_SHOWN: Final = 100
MAX_ID: Final = 2**63 - 1
"""A URL may contain any number; the store has none above this."""
_NO_CONNECTION: Final = Denied(
    Reason.NO_SUCH_CONNECTION, N_("There is no such connection in your account.")
)
_NO_DELIVERY: Final = Denied(
    Reason.INVALID, N_("That delivery is no longer kept, or the app has no webhook any more.")
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownWebhook:
    """A connection with its webhook. name: of the app, or the kind of connection.

    webhook: None where the app has set none. place: its URL, without what is secret.

    can_send_again: the webhook is open now.
    """

    connection: Connection
    name: str
    printer_name: str
    webhook: Webhook | None
    place: str
    is_live: bool
    can_send_again: bool
    deliveries: Sequence[LoggedDelivery]


@dataclass(frozen=True, kw_only=True, slots=True)
class WebhookLog:
    """The use cases of those who read it."""

    core: Core

    async def of_connection(self, account_id: str, connection_id: str) -> ShownWebhook | Denied:
        """Return a connection of the account, its webhook and its last deliveries."""
        at = self.core.clock.now()

        async def look(records: Records) -> ShownWebhook | Denied:
            connection = await _own(records, account_id, connection_id)
            if connection is None or has_ended(connection, at):
                return _NO_CONNECTION
            app = await records.apps.get(connection.app_id) if connection.app_id else None
            printer_id = connection.printer_id
            printer = await records.printers.linked(printer_id) if printer_id else None
            webhook = await records.webhooks.get(connection_id)
            return ShownWebhook(
                connection=connection,
                name=_name_of(connection, app),
                printer_name=printer.name if printer is not None else "",
                webhook=webhook,
                place=place_to_show(webhook.url) if webhook is not None else "",
                is_live=webhook is not None and is_live(webhook, at),
                can_send_again=webhook is not None and is_active(webhook, at),
                deliveries=await records.deliveries.log_of_connection(connection_id, MAX_SHOWN),
            )

        return await self.core.store.read(look)

    async def of_app(self, app_id: str) -> Sequence[LoggedDelivery]:
        """Return the last deliveries of all connections of an app.

        The caller has checked access.
        """
        return await self.core.store.read(
            lambda records: records.deliveries.log_of_app(app_id, MAX_SHOWN)
        )

    async def send_again(
        self, account_id: str, connection_id: str, delivery_id: int
    ) -> Denied | None:
        """Queue a delivery of the account's connection again, with the same event id."""
        at = self.core.clock.now()

        async def send(records: Records) -> Denied | None:
            connection = await _own(records, account_id, connection_id)
            return await _send_again(records, connection, delivery_id, at)

        return await self.core.store.write(send)

    async def send_again_for_app(
        self, app_id: str, connection_id: str, delivery_id: int
    ) -> Denied | None:
        """Queue a delivery of the app's connection again. The caller has checked access."""
        at = self.core.clock.now()

        async def send(records: Records) -> Denied | None:
            found = await records.connections.get(connection_id)
            connection = found if found is not None and found.app_id == app_id else None
            return await _send_again(records, connection, delivery_id, at)

        return await self.core.store.write(send)


async def _own(records: Records, account_id: str, connection_id: str) -> Connection | None:
    connection = await records.connections.get(connection_id)
    if connection is None or connection.account_id != account_id:
        return None
    return connection if connection.kind in (ConnectionKind.APP, ConnectionKind.SHARED) else None


def _name_of(connection: Connection, app: App | None) -> str:
    if connection.kind is ConnectionKind.SHARED:
        return connection.name or N_("Shared access")
    return app.name if app is not None else N_("An app")


async def _send_again(
    records: Records, connection: Connection | None, delivery_id: int, at: datetime
) -> Denied | None:
    if connection is None or has_ended(connection, at):
        return _NO_CONNECTION
    connection_id = connection.connection_id
    webhook = await records.webhooks.get(connection_id)
    if webhook is None or not is_active(webhook, at) or delivery_id > MAX_ID:
        return _NO_DELIVERY
    is_queued = await records.deliveries.send_again(connection_id, delivery_id, at)
    return None if is_queued else _NO_DELIVERY
