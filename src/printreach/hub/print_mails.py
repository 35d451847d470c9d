"""Mails about prints: the destination that a new account begins with, and how to unsubscribe.

A new account has not configured notifications yet and would not learn of a failing print. So its
confirmed address becomes a destination, and each mail has a link that removes it.
"""

import base64
import binascii
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from printreach.ports.notifications import Sealer
from printreach.rules.connections.credentials import TokenBytes, new_record_id
from printreach.rules.notifications import Destination
from printreach.rules.notifications.channels import (
    CHANNEL_BY_NAME,
    MAIL,
    InvalidField,
    parse_destination,
)
from printreach.store.store import Records, Store

_ABOUT: Final = "an end of mails"
_LONGEST_TOKEN: Final = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class DefaultMailDestination:
    """Adds an account's first destination, its own mail address.

    has_mail_server: without one, mails are written to the log, so no destination is added.
    """

    token_bytes: TokenBytes
    has_mail_server: bool

    async def address_confirmed(self, records: Records, account_id: str, at: datetime) -> None:
        """Mark the address as confirmed and add it.

        Only the first time: one that was removed stays so.
        """
        account = await records.accounts.get(account_id)
        if account is None or account.verified_at is not None:
            return
        await records.accounts.set_verified(account_id, at)
        await self.put(records, account_id, at)

    async def put(self, records: Records, account_id: str, at: datetime) -> None:
        """Add the mail destination of a new account whose address is confirmed."""
        if self.has_mail_server:
            await records.notifications.add_destination(
                mail_destination(self.token_bytes, account_id, at)
            )


def mail_destination(token_bytes: TokenBytes, account_id: str, at: datetime) -> Destination:
    """Return a destination for the account's own address, whatever that is when a mail is sent."""
    destination = parse_destination(CHANNEL_BY_NAME[MAIL], {})
    assert not isinstance(destination, InvalidField), "nothing is typed for it"
    return Destination(
        destination_id=new_record_id(token_bytes),
        account_id=account_id,
        channel=MAIL,
        label=destination.label,
        sealed=b"",
        created_at=at,
    )


def stop_token(sealer: Sealer, destination_id: str) -> str:
    """Return the token that unsubscribes a destination, for anybody who has one of its mails."""
    return base64.urlsafe_b64encode(sealer.seal(destination_id, _ABOUT)).decode().rstrip("=")


@dataclass(frozen=True, kw_only=True, slots=True)
class MailUnsubscribe:
    """The use case of the unsubscribe link in each mail."""

    store: Store
    sealer: Sealer

    def destination_of(self, token: str) -> str | None:
        """Return the destination's id; None for a token that is not ours.

        It may be removed already.
        """
        if len(token) > _LONGEST_TOKEN:
            return None
        try:
            sealed = base64.b64decode(
                token + "=" * (-len(token) % 4), altchars=b"-_", validate=True
            )
        except (binascii.Error, ValueError):
            return None
        return self.sealer.unseal(sealed, _ABOUT)

    async def stop(self, token: str) -> bool:
        """Remove the destination and its queued messages; False for a wrong token."""
        destination_id = self.destination_of(token)
        if destination_id is None:
            return False

        async def remove(records: Records) -> None:
            destination = await records.notifications.destination(destination_id)
            if destination is not None:
                await records.notifications.remove_destination(
                    destination.account_id, destination_id
                )

        await self.store.write(remove)
        return True
