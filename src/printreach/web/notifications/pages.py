"""The pages about one account's notifications, for the routes."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException
from litestar.params import FromQuery
from litestar.response import Template

from printreach.hub.notifications.choices import Notifications, WrongField
from printreach.hub.notifications.sending import NO_MAIL_SERVER
from printreach.rules.accounts import Account
from printreach.rules.notifications import CHOICES, Destination, Events
from printreach.rules.notifications.channels import CHANNEL_BY_NAME, CHANNELS
from printreach.web.forms import ERROR_STATUS, Fields
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn

PAGE: Final = "/notifications"
FLASH_MESSAGES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "added": "Added. Send a test to see whether it works.",
        "removed": "Removed.",
        "tested": "The test was sent.",
        "saved": "Saved.",
    }
)
"""Flash messages by their key in the query parameter `said`; no other text gets in."""
_BOX: Final = "event-"


@dataclass(frozen=True, kw_only=True, slots=True)
class NotificationPages:
    """The pages of one account. flash_message: shown once, after a form; may be empty.

    off: why no print is looked at for failures on this service; "" if failure detection runs.
    """

    hub: Notifications
    account: Account
    off: str = ""
    flash_message: str = ""

    async def overview(
        self, wrong: WrongField | None = None, status: int = ERROR_STATUS
    ) -> Template:
        """Render all settings."""
        chosen = await self.hub.chosen(self.account.account_id)
        return _page(
            "notifications.html",
            wrong,
            status,
            chosen=chosen,
            settings=chosen.settings,
            choices=_choices(chosen.settings.events),
            off=self.off,
            zones=[(name, name.replace("_", " ")) for name in self.hub.zones.names()],
            channels=CHANNEL_BY_NAME,
            limit=self.hub.daily_limit,
            flash_message=self.flash_message,
            no_mail_server=NO_MAIL_SERVER,
        )

    def adding(
        self, channel: str, typed: Fields | None = None, wrong: WrongField | None = None
    ) -> Template:
        """Render the list of channels, or the form of the chosen one."""
        return _page(
            "add.html",
            wrong,
            channels=CHANNELS,
            channel=CHANNEL_BY_NAME.get(channel),
            email=self.account.email,
            typed=typed or Fields({}),
        )

    async def of_printer(self, printer_id: str, wrong: WrongField | None = None) -> Template:
        """Render one printer's choice. Raises NotFoundException for another account's printer."""
        chosen = await self.hub.chosen(self.account.account_id)
        mine = [one for one in chosen.printers if one.printer_id == printer_id]
        if not mine:
            raise NotFoundException("There is no such printer in your account.")
        own = chosen.settings.of_printers.get(printer_id)
        return _page(
            "printer.html",
            wrong,
            printer=mine[0],
            has_own=own is not None,
            off=self.off,
            choices=_choices(chosen.settings.events if own is None else own),
        )

    async def destination(self, destination_id: str) -> Destination:
        """Return a destination of this account. Raises NotFoundException for another's."""
        destination = await self.hub.destination(self.account.account_id, destination_id)
        if destination is None:
            raise NotFoundException("There is no such place")
        return destination


async def provide_pages(
    services: NamedDependency[Services],
    signed_in: NamedDependency[SignedIn],
    said: FromQuery[str | None] = None,
) -> NotificationPages:
    off = services.dashboard.watched.why_off()
    return NotificationPages(
        hub=services.notifications,
        account=signed_in.account,
        off="" if off is None else off.value,
        flash_message=FLASH_MESSAGES.get(said or "", ""),
    )


def ticked(fields: Fields) -> list[str]:
    """Return the kinds of events whose boxes are ticked in a form."""
    return [name.removeprefix(_BOX) for name in fields.values if name.startswith(_BOX)]


def _page(
    template: str, wrong: WrongField | None, status: int = ERROR_STATUS, **context: Any
) -> Template:
    """Render a page with a form. status: of the page if a field is wrong."""
    errors = {} if wrong is None else {wrong.field: wrong.sentence}
    return Template(
        f"notifications/{template}",
        context={"errors": errors, **context},
        status_code=200 if wrong is None else status,
    )


def _choices(chosen: Events) -> list[tuple[str, str, bool]]:
    """Return a box for each kind of event: field name, label, whether it is ticked."""
    return [(f"{_BOX}{kind.value}", text, kind in chosen) for kind, text in CHOICES]
