"""Cookies of ours: as narrow as they can be, and never one that somebody else planted."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from litestar.datastructures import Cookie

SESSION: Final = "printreach_session"
STEP: Final = "printreach_step"
DEVICE: Final = "printreach_device"
"""Of a browser that signed in before: see `rules.devices`."""


@dataclass(frozen=True, slots=True)
class Cookies:
    """How this installation names and sets its cookies. is_https: of the base URL."""

    is_https: bool

    def name_of(self, name: str) -> str:
        """With the prefix by which a browser keeps other hosts from planting it, on https."""
        return f"__Host-{name}" if self.is_https else name

    def set(self, name: str, value: str, lifetime: timedelta) -> Cookie:
        """A cookie for this host alone, which no script reads."""
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
        """Have the browser forget it."""
        return self.set(name, "", timedelta(0))

    def read(self, header: str, name: str) -> str | None:
        """The value in a `Cookie` header.

        None also where it stands there twice: then one was planted, on http by a printer's page
        for the domain above, and nobody can say which.
        """
        ours = self.name_of(name)
        rows = [row.strip().partition("=") for row in header.split(";")]
        values = [value for key, _, value in rows if key == ours]
        return values[0] or None if len(values) == 1 else None
