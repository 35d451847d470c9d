"""Sends messages to browsers, with a picture and with buttons that act without a page."""

import logging
from dataclasses import dataclass, replace
from datetime import datetime

from printreach.hub.core import Core
from printreach.hub.printers.access import role_at_event
from printreach.languages import translate
from printreach.ports.notifications import NotSent, PushSender, Sealer, SendFailure
from printreach.rules.connections.credentials import CredentialKind, digest, new_secret
from printreach.rules.notifications import Destination, QueuedMessage
from printreach.rules.notifications.push import (
    ACT_LIFETIME,
    NEEDED_ROLE,
    ActButton,
    ActOffer,
    PushMessage,
    acts_of,
    parse_subscription,
    topic_of,
    ttl_of,
    urgency_of,
)
from printreach.rules.notifications.words import TEST_TEXT, TEST_TITLE, words_for
from printreach.rules.printers.members import Role
from printreach.store.prints.events import StoredEvent
from printreach.store.store import Records

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class PushNotifier:
    """Sends to destinations of the channel PUSH."""

    core: Core
    sealer: Sealer
    sender: PushSender

    async def send(self, destination: Destination, message: QueuedMessage) -> NotSent | None:
        """Send a queued message. None if the push service accepted it."""
        seq = message.event_seq
        known = await self.core.store.read(lambda records: _event_of(records, destination, seq))
        if known is None:
            url = f"{self.core.addresses.base_url}/printers"
            return await self._send(
                destination, PushMessage(title=message.title, text=message.text, url=url)
            )
        push = self._message(known.event, message.title)
        buttons = await self._offer(destination, known)
        return await self._send(destination, replace(push, buttons=buttons))

    async def send_test(self, destination: Destination) -> NotSent | None:
        url = f"{self.core.addresses.base_url}/notifications"
        return await self._send(
            destination,
            PushMessage(
                title=translate(TEST_TITLE), text=translate(TEST_TEXT), url=url, topic="test"
            ),
        )

    def _message(self, stored: StoredEvent, title: str) -> PushMessage:
        event, addresses = stored.event, self.core.addresses
        picture = stored.snapshot_id
        return PushMessage(
            title=title,
            # Without addresses: a click opens the page, and the picture is shown.
            text=words_for(event, "", "").text,
            url=addresses.of_printer_page(stored.printer_id),
            picture="" if picture is None else addresses.of_turned_snapshot(picture),
            topic=topic_of(stored.printer_id, event.print_id, event.event_type),
            urgency=urgency_of(event.event_type),
            ttl=ttl_of(event.event_type),
        )

    async def _offer(self, destination: Destination, known: "_KnownEvent") -> list[ActButton]:
        """Make the buttons of a message, each with a token that is good for one act, once."""
        stored = known.event
        acts = acts_of(stored.event.event_type) if stored.event.print_id else ()
        acts = tuple(act for act in acts if known.role.includes(NEEDED_ROLE[act]))
        buttons = [ActButton(act=act, token=new_secret(self.core.token_bytes)) for act in acts]
        if not buttons:
            return []
        expires_at = self.core.clock.now() + ACT_LIFETIME

        async def offer(records: Records) -> None:
            for button in buttons:
                await records.pushes.offer(
                    _offered(destination, stored, button, expires_at), act_digest(button.token)
                )

        await self.core.store.write(offer)
        return buttons

    async def _send(self, destination: Destination, message: PushMessage) -> NotSent | None:
        sealed = self.sealer.unseal(destination.sealed, destination.destination_id)
        subscription = None if sealed is None else parse_subscription(sealed)
        if subscription is None:
            return NotSent(SendFailure.NOT_ALLOWED)
        try:
            return await self.sender.send(subscription, message)
        except Exception as error:  # noqa: BLE001  # what a browser named must not hold up the queue
            # The exception's text may contain an address; its type does not.
            log.error("a message could not be pushed: %s", type(error).__name__)
            return NotSent(SendFailure.UNREACHABLE)


@dataclass(frozen=True, slots=True)
class _KnownEvent:
    """An event, and what the person who is told of it may do with its printer."""

    event: StoredEvent
    role: Role


async def _event_of(
    records: Records, destination: Destination, seq: int | None
) -> _KnownEvent | None:
    """Return the event that a message tells of, if it is still kept."""
    stored = None if seq is None else await records.events.at(seq)
    if stored is None:
        return None
    role = await role_at_event(records, destination.account_id, stored)
    return None if role is None else _KnownEvent(stored, role)


def act_digest(token: str) -> bytes:
    """Return the digest of a button's token that is stored."""
    return digest(CredentialKind.PUSH_ACT, token.encode())


def _offered(
    destination: Destination, stored: StoredEvent, button: ActButton, expires_at: datetime
) -> ActOffer:
    return ActOffer(
        account_id=destination.account_id,
        destination_id=destination.destination_id,
        device=destination.label,
        printer_id=stored.printer_id,
        print_id=stored.event.print_id,
        act=button.act,
        expires_at=expires_at,
    )
