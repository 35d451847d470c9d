"""The mails that the service sends: plain and short."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

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
_SIGNATURE = "\n\nPrintreach at {base_url}\n"
_NOT_YOU = "If this wasn't you, {remedy}"


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
    """The mails of one installation. base_url: its public address."""

    base_url: str

    def confirm_address(self, to: str, link: str) -> Mail:
        """Return the mail for somebody who signed up."""
        return self._mail(
            to,
            "Confirm your address",
            f"Open this link to complete your account:\n\n{link}\n\n"
            "The link works once, within a day. If you didn't sign up, ignore this e-mail and no "
            "account is created.",
        )

    def has_account_already(self, to: str) -> Mail:
        """Return the mail for somebody whose address was used to sign up again."""
        return self._mail(
            to,
            "You already have an account",
            "Somebody, probably you, tried to create an account with this address. You already "
            f"have one: sign in at {self.base_url}/signin, or reset your password at "
            f"{self.base_url}/reset if you have forgotten it.",
        )

    def reset_password(self, to: str, link: str) -> Mail:
        """Return the mail for somebody who forgot their password."""
        return self._mail(
            to,
            "Reset your password",
            f"Open this link to set a new password:\n\n{link}\n\n"
            "The link works once, within an hour. If you didn't ask for this, ignore this e-mail "
            "and your password stays the same.",
        )

    def confirm_change(self, to: str, link: str) -> Mail:
        """Return the mail to the address that an account is to have."""
        return self._mail(
            to,
            "Confirm your new address",
            f"Open this link to use this address for your account:\n\n{link}\n\n"
            "The link works once, within an hour.",
        )

    def address_changed(self, to: str, new: str) -> Mail:
        """Return the mail to the address that an account had."""
        return self._mail(
            to,
            "Your account's address was changed",
            f"From now on, sign in as {new}. "
            + _NOT_YOU.format(remedy="contact the operator of this service at once."),
        )

    def password_changed(self, to: str) -> Mail:
        """Return the mail for somebody whose password was changed."""
        remedy = f"set a new one at {self.base_url}/reset at once."
        return self._mail(
            to,
            "Your password was changed",
            "The password of your account was changed, and every other browser was signed out. "
            + _NOT_YOU.format(remedy=remedy),
        )

    def security_changed(self, to: str, what: str) -> Mail:
        """Return the mail about a change of the ways to sign in. what: a sentence."""
        remedy = (
            f"set a new password at {self.base_url}/reset and check "
            f"{self.base_url}/account/security."
        )
        return self._mail(
            to,
            "The security settings of your account were changed",
            f"{what} " + _NOT_YOU.format(remedy=remedy),
        )

    def account_deleted(self, to: str) -> Mail:
        """Return the mail for somebody who deleted their account."""
        return self._mail(
            to,
            "Your account was deleted",
            "Your account and everything stored about it were deleted, as you asked.",
        )

    def printer_shared(self, to: str, owner_email: str, link: str) -> Mail:
        """Return the mail for somebody whom a printer's owner lets in.

        It says no word that the owner chose, or the service would send anybody's texts to anybody.
        """
        return self._mail(
            to,
            "A 3D printer is shared with you",
            f"{owner_email} shares a 3D printer with you. Open this link to see which one, and to "
            f"accept or decline:\n\n{link}\n\n"
            "The link works for a week, and for the account with this e-mail address alone. If you "
            "don't know who this is, ignore this e-mail.",
        )

    def about_print(self, to: str, subject: str, text: str, stop_url: str) -> Mail:
        """Return the mail about a print."""
        choose = f"Change your notifications: {self.base_url}/notifications"
        mail = self._mail(to, subject, f"{text}\n\n{choose}\nStop these e-mails: {stop_url}")
        return replace(mail, stop_url=stop_url)

    def _mail(self, to: str, subject: str, text: str) -> Mail:
        return Mail(to=to, subject=subject, text=text + _SIGNATURE.format(base_url=self.base_url))


def next_mail_try(failures: int, at: datetime) -> datetime:
    """Return when a mail that was not accepted is tried again; failures: from 1."""
    return at + _RETRY.pause(failures)
