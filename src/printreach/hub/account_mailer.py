"""Mails about accounts: each is stored in the unit of work that it reports.

So none is lost in a crash, and none reports what was not done. A link is stored as a digest, and
its mail is sealed: a copy of the database alone opens nothing.
"""

import logging
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

import msgspec

from printreach.contract.codec import BAD_JSON
from printreach.ports import Notice, Topic
from printreach.ports.notifications import Sealer
from printreach.rules.accounts import Account
from printreach.rules.accounts.mails import (
    LIFETIMES,
    NEWS_LASTS,
    Mail,
    MailLink,
    MailPurpose,
    Mails,
)
from printreach.rules.connections.credentials import (
    CredentialKind,
    TokenBytes,
    digest,
    new_record_id,
    new_session_token,
)
from printreach.store.accounts.mails import WaitingMail
from printreach.store.store import Records

log = logging.getLogger(__name__)

_PATHS: Final = {
    MailPurpose.CONFIRM: "/confirm",
    MailPurpose.RESET: "/reset/new",
    MailPurpose.CHANGE: "/account/mail/confirm",
}
_mails: Final = msgspec.json.Decoder(Mail)


class Outbox(Protocol):
    """Where mails wait for the mail server."""

    async def put(self, records: Records, mail: Mail, at: datetime, until: datetime) -> None:
        """Store the mail for delivery, in this unit of work. until: it is of no use after that."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class SealedOutbox:
    """The outbox in the store; hub.accounts.mail_queue delivers its mails."""

    sealer: Sealer
    token_bytes: TokenBytes

    async def put(self, records: Records, mail: Mail, at: datetime, until: datetime) -> None:
        mail_id = new_record_id(self.token_bytes)
        sealed = self.sealer.seal(msgspec.json.encode(mail).decode(), mail_id)
        waiting = WaitingMail(mail_id=mail_id, sealed=sealed, due_at=at, until=until)
        if await records.mails.add(waiting):
            await records.notify(Notice(Topic.MAIL, ""), at)
        else:
            log.error("an e-mail was dropped: too many wait for the mail server")

    def open(self, waiting: WaitingMail) -> Mail | None:
        """Return the mail; None if no key of ours opens it, or another version wrote it."""
        text = self.sealer.unseal(waiting.sealed, waiting.mail_id)
        try:
            return None if text is None else _mails.decode(text)
        except BAD_JSON:
            return None


@dataclass(frozen=True, kw_only=True, slots=True)
class AccountMailer:
    """Writes mails about accounts and puts them into the outbox. mails: the texts."""

    outbox: Outbox
    mails: Mails
    token_bytes: TokenBytes

    def mails_to(self, account: Account) -> Mails:
        """Return the mails in the language of the account."""
        return self.mails.in_language(account.language_of_messages)

    async def put_link(
        self,
        records: Records,
        purpose: MailPurpose,
        account: Account,
        at: datetime,
        *,
        email: str | None = None,
        next_path: str = "/",
    ) -> str:
        """Store a link for the account and return its token, for an operator to hand over."""
        token = new_session_token(self.token_bytes)
        link = MailLink(
            purpose=purpose,
            account_id=account.account_id,
            email=email or account.email,
            next_path=next_path,
            expires_at=at + LIFETIMES[purpose],
        )
        await records.mail_links.put(link, mail_link_digest(token), at)
        return token

    async def mail_link(
        self,
        records: Records,
        purpose: MailPurpose,
        account: Account,
        at: datetime,
        *,
        email: str | None = None,
        next_path: str = "/",
    ) -> str:
        """Store a link and mail it: to that address, or to the account's. Returns its token."""
        token = await self.put_link(records, purpose, account, at, email=email, next_path=next_path)
        mails = self.mails_to(account)
        write = {
            MailPurpose.CONFIRM: mails.confirm_address,
            MailPurpose.RESET: mails.reset_password,
            MailPurpose.CHANGE: mails.confirm_change,
        }[purpose]
        mail = write(email or account.email, self.link(purpose, token))
        await self.outbox.put(records, mail, at, at + LIFETIMES[purpose])
        return token

    async def tell(self, records: Records, mail: Mail, at: datetime) -> None:
        """Mail what was done."""
        await self.outbox.put(records, mail, at, at + NEWS_LASTS)

    async def tell_of_security(
        self, records: Records, account: Account, what: str, at: datetime
    ) -> None:
        """Mail that the account's sign-in methods have changed. what: a sentence."""
        await self.tell(records, self.mails_to(account).security_changed(account.email, what), at)

    def link(self, purpose: MailPurpose, token: str) -> str:
        """Return the URL that carries the token."""
        return f"{self.mails.base_url}{_PATHS[purpose]}?token={token}"


def mail_link_digest(token: str) -> bytes:
    """Return the digest of a link that is stored."""
    return digest(CredentialKind.MAIL_LINK, token.encode())
