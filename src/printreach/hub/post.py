"""The mails with a link: the link is stored as a digest, and sent."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from printreach.ports import Mailer, Records
from printreach.rules.accounts import Account
from printreach.rules.credentials import CredentialKind, TokenBytes, digest, new_session_token
from printreach.rules.mail_links import LIFETIMES, MailLink, MailPurpose
from printreach.rules.mails import Mails

_PATHS: Final = {
    MailPurpose.CONFIRM: "/confirm",
    MailPurpose.RESET: "/reset/new",
    MailPurpose.CHANGE: "/account/mail/confirm",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Post:
    """Where mails are written and handed over. base_url: of the service."""

    mailer: Mailer
    mails: Mails
    token_bytes: TokenBytes

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
        """Store a link for the account, inside a unit of work, and give its token."""
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

    def send_link(self, purpose: MailPurpose, to: str, token: str) -> None:
        """Send the mail with that link, once it is stored."""
        write = {
            MailPurpose.CONFIRM: self.mails.confirm_address,
            MailPurpose.RESET: self.mails.reset_password,
            MailPurpose.CHANGE: self.mails.confirm_change,
        }[purpose]
        self.mailer.send(write(to, self.link(purpose, token)))

    def link(self, purpose: MailPurpose, token: str) -> str:
        """The address that the token stands in."""
        return f"{self.mails.base_url}{_PATHS[purpose]}?token={token}"


def mail_link_digest(token: str) -> bytes:
    """What is stored of a link."""
    return digest(CredentialKind.MAIL_LINK, token.encode())
