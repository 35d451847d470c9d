"""Our cookies: as restricted as possible, and never one that another site planted."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from litestar.datastructures import Cookie

SESSION: Final = "printreach_session"
STEP: Final = "printreach_step"
FLASH: Final = "printreach_flash"
MAILED: Final = "printreach_mailed"
"""Keeps the address that a form sent a mail to, for the page that the form leads to."""
DEVICE: Final = "printreach_device"
"""The cookie of a browser that signed in before; see `rules.accounts.sessions`."""


@dataclass(frozen=True, slots=True)
class Cookies:
    """The names and attributes of this installation's cookies. is_https: whether the base URL is
    https.
    """

    is_https: bool

    def name_of(self, name: str) -> str:
        """Return the name, on https with the prefix that keeps other hosts from planting the
        cookie.
        """
        return f"__Host-{name}" if self.is_https else name

    def set(self, name: str, value: str, lifetime: timedelta) -> Cookie:
        """Create a cookie for this host alone that scripts can't read."""
        return Cookie(
            key=self.name_of(name),
            value=value,
            path="/",
            httponly=True,
            secure=self.is_https,
            samesite="lax",
            max_age=int(lifetime.total_seconds()),
        )

    def end(self, name: str) -> Cookie:
        """Create the cookie that deletes it."""
        return self.set(name, "", timedelta(0))

    def read(self, header: str, name: str) -> str | None:
        """Return the value in a `Cookie` header; None if it is absent or repeated.

        A repeated one means that one was planted, on http by a printer's page for the parent
        domain, and it can't be told which.
        """
        ours = self.name_of(name)
        rows = [row.strip().partition("=") for row in header.split(";")]
        values = [value for key, _, value in rows if key == ours]
        return values[0] or None if len(values) == 1 else None
