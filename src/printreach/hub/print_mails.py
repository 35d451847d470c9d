"""News of prints by mail: where a new account hears of them first, and how that is stopped.

Who has just come knows of no page where places are added, and would learn of a failing print by
nothing. So a confirmed address is a place from the beginning, and each mail says how to end it.
"""

import base64
import binascii
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from printreach.ports import Records, Store
from printreach.ports.notifications import Destination, Sealer
from printreach.rules.credentials import TokenBytes, new_record_id
from printreach.rules.notify_channels import CHANNEL_BY_NAME, MAIL, InvalidField, parse_destination

_ABOUT: Final = "an end of mails"
_LONGEST_TOKEN: Final = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class DefaultMailDestination:
    """Where an account is told before anybody chose.

    has_mail_server: where there is none, mails are lines of the log, and nobody asked for these.
    """

    token_bytes: TokenBytes
    has_mail_server: bool

    async def address_confirmed(self, records: Records, account_id: str, at: datetime) -> None:
        """Note it. Only the first time: who took the place off the list has chosen."""
        account = await records.accounts.get(account_id)
        if account is None or account.verified_at is not None:
            return
        await records.accounts.set_verified(account_id, at)
        await self.put(records, account_id, at)

    async def put(self, records: Records, account_id: str, at: datetime) -> None:
        """The place of an account that is new, and whose address is confirmed."""
        if self.has_mail_server:
            await records.notifications.add_destination(
                mail_destination(self.token_bytes, account_id, at)
            )


def mail_destination(token_bytes: TokenBytes, account_id: str, at: datetime) -> Destination:
    """The account's own address, whatever it is when something is to be told."""
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
    """What ends the mails to a place, for whoever has one of them. It is good for nothing else."""
    return base64.urlsafe_b64encode(sealer.seal(destination_id, _ABOUT)).decode().rstrip("=")


@dataclass(frozen=True, kw_only=True, slots=True)
class MailUnsubscribe:
    """The use case of the link in each of them."""

    store: Store
    sealer: Sealer

    def destination_of(self, token: str) -> str | None:
        """Its target_id; None for what no mail of ours said. It may be off the list by now."""
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
        """Take the place off its owner's list, with what waits for it; False for a wrong token."""
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
