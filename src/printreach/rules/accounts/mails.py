"""The mails that the service sends, plain and short, and the links in them.

An invitation is such a link, too: it allows one account, whatever the policy.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from printreach.languages import N_, speaking, translate
from printreach.rules.accounts import email_key
from printreach.rules.backoff import Backoff

NEWS_LASTS: Final = timedelta(days=1)
"""The time for which a mail about a change to an account is retried."""
_RETRY: Final = Backoff(
    (
        timedelta(seconds=10),
        timedelta(minutes=1),
        timedelta(minutes=5),
        timedelta(minutes=15),
        timedelta(hours=1),
        timedelta(hours=3),
    )
)
"""Somebody waits for a link, at first. Servers that list greys let a mail in after some minutes."""

INVITATION_LIFETIME: Final = timedelta(days=7)


class MailPurpose(StrEnum):
    """The purpose of a link in a mail."""

    CONFIRM = "confirm"
    """Confirm the address of a new account."""
    RESET = "reset"
    """Choose another password."""
    CHANGE = "change"
    """Confirm the account's next address."""


LIFETIMES: Final[Mapping[MailPurpose, timedelta]] = MappingProxyType(
    {
        MailPurpose.CONFIRM: timedelta(days=1),
        MailPurpose.RESET: timedelta(hours=1),
        MailPurpose.CHANGE: timedelta(hours=1),
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class MailLink:
    """A link that was sent; it works once. next_path: a page of ours to go on to."""

    purpose: MailPurpose
    account_id: str
    email: str
    next_path: str
    expires_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Invitation:
    """An invitation, and what the account that is made with it will be.

    email: the only address it is good for; None: any. is_setup: the link in the
    log, which works only while the service has no operator.
    """

    invitation_id: str
    email: str | None
    is_admin: bool
    supporter: bool
    is_setup: bool
    expires_at: datetime | None

    def is_for(self, email: str) -> bool:
        """Whether an account of that address may be made with it."""
        return self.email is None or email_key(self.email) == email_key(email)


def is_good(invitation: Invitation, at: datetime) -> bool:
    """Whether an account may still be made with it."""
    return invitation.expires_at is None or at < invitation.expires_at


@dataclass(frozen=True, kw_only=True, slots=True)
class Mail:
    """A mail in plain text.

    It may contain a link that signs a person in, so its text is not logged.

    stop_url: unsubscribes from mails of this kind; mail programs show a button for it.
    """

    to: str
    subject: str
    text: str
    stop_url: str | None = None


@dataclass(frozen=True, slots=True)
class Mails:
    """The mails of one installation. base_url: its public address. language: of who reads them."""

    base_url: str
    language: str = ""

    def in_language(self, language: str) -> "Mails":
        """Return the same mails in another language, of `printreach.languages`; "" is English."""
        return replace(self, language=language)

    def confirm_address(self, to: str, link: str) -> Mail:
        """Return the mail for somebody who signed up."""
        return self._mail(
            to,
            N_("Confirm your address"),
            N_("Open this link to complete your account:"),
            link,
            N_(
                "The link works once, within a day. If you didn't sign up, ignore this e-mail and "
                "no account is created."
            ),
        )

    def has_account_already(self, to: str) -> Mail:
        """Return the mail for somebody whose address was used to sign up again."""
        return self._mail(
            to,
            N_("You already have an account"),
            N_(
                "Somebody, probably you, tried to create an account with this address. You "
                "already have one: sign in at %(sign_in)s, or reset your password at %(reset)s if "
                "you have forgotten it.",
                sign_in=f"{self.base_url}/signin",
                reset=f"{self.base_url}/reset",
            ),
        )

    def reset_password(self, to: str, link: str) -> Mail:
        """Return the mail for somebody who forgot their password."""
        return self._mail(
            to,
            N_("Reset your password"),
            N_("Open this link to set a new password:"),
            link,
            N_(
                "The link works once, within an hour. If you didn't ask for this, ignore this "
                "e-mail and your password stays the same."
            ),
        )

    def confirm_change(self, to: str, link: str) -> Mail:
        """Return the mail to the address that an account is to have."""
        return self._mail(
            to,
            N_("Confirm your new address"),
            N_("Open this link to use this address for your account:"),
            link,
            N_("The link works once, within an hour."),
        )

    def address_changed(self, to: str, new: str) -> Mail:
        """Return the mail to the address that an account had."""
        return self._mail(
            to,
            N_("Your account's address was changed"),
            N_(
                "From now on, sign in as %(address)s. If this wasn't you, contact the operator of "
                "this service at once.",
                address=new,
            ),
        )

    def password_changed(self, to: str) -> Mail:
        """Return the mail for somebody whose password was changed."""
        return self._mail(
            to,
            N_("Your password was changed"),
            N_(
                "The password of your account was changed, and every other browser was signed "
                "out. If this wasn't you, set a new one at %(reset)s at once.",
                reset=f"{self.base_url}/reset",
            ),
        )

    def security_changed(self, to: str, what: str) -> Mail:
        """Return the mail about a change of the ways to sign in. what: a sentence."""
        return self._mail(
            to,
            N_("The security settings of your account were changed"),
            N_(
                "%(what)s If this wasn't you, set a new password at %(reset)s and check "
                "%(security)s.",
                what=what,
                reset=f"{self.base_url}/reset",
                security=f"{self.base_url}/account/security",
            ),
        )

    def account_deleted(self, to: str) -> Mail:
        """Return the mail for somebody who deleted their account."""
        return self._mail(
            to,
            N_("Your account was deleted"),
            N_("Your account and everything stored about it were deleted, as you asked."),
        )

    def printer_shared(self, to: str, owner_email: str, link: str) -> Mail:
        """Return the mail for somebody whom a printer's owner lets in.

        It says no word that the owner chose, or the service would send anybody's texts to anybody.
        """
        return self._mail(
            to,
            N_("A 3D printer is shared with you"),
            N_(
                "%(owner)s shares a 3D printer with you. Open this link to see which one, and to "
                "accept or decline:",
                owner=owner_email,
            ),
            link,
            N_(
                "The link works for a week, and for the account with this e-mail address alone. If "
                "you don't know who this is, ignore this e-mail."
            ),
        )

    def about_print(self, to: str, subject: str, text: str, stop_url: str) -> Mail:
        """Return the mail about a print."""
        choose = N_(
            "Change your notifications: %(address)s", address=f"{self.base_url}/notifications"
        )
        stop = N_("Stop these e-mails: %(address)s", address=stop_url)
        with speaking(self.language):
            ways = f"{translate(choose)}\n{translate(stop)}"
        return replace(self._mail(to, subject, text, ways), stop_url=stop_url)

    def _mail(self, to: str, subject: str, *paragraphs: str) -> Mail:
        signature = N_("Printreach at %(address)s", address=self.base_url)
        with speaking(self.language):
            text = "\n\n".join(translate(text) for text in (*paragraphs, signature))
            return Mail(to=to, subject=translate(subject), text=f"{text}\n")


def next_mail_try(failures: int, at: datetime) -> datetime:
    """Return when a mail that was not accepted is tried again; failures: from 1."""
    return at + _RETRY.pause(failures)
