"""What the routes about notifications work with: whose they are, and the pages that show them."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException
from litestar.params import FromQuery
from litestar.response import Redirect, Template

from printreach.hub.notify.choices import Notifications, WrongField
from printreach.hub.notify.sending import NO_MAIL_SERVER
from printreach.ports.notifications import NotifyTarget
from printreach.rules.accounts import Account
from printreach.rules.notifications import CHOICES, Events
from printreach.rules.notify_ways import WAY_BY_NAME, WAYS
from printreach.web.accounts.forms import FAULT_STATUS, Fields
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn

PAGE: Final = "/notifications"
SAID: Final[Mapping[str, str]] = MappingProxyType(
    {
        "added": "Added. Send a test to see whether it works.",
        "removed": "Removed.",
        "tested": "The test was sent.",
        "saved": "Saved.",
    }
)
"""What the page says once after a form, by the word in its address; no other text gets in."""
_BOX: Final = "event-"


@dataclass(frozen=True, kw_only=True, slots=True)
class Desk:
    """One person before one page. said: what it says once, behind a form."""

    hub: Notifications
    account: Account
    said: str = ""

    async def overview(
        self, wrong: WrongField | None = None, status: int = FAULT_STATUS
    ) -> Template:
        """Everything that was chosen."""
        chosen = await self.hub.chosen(self.account.account_id)
        return _page(
            "notifications.html",
            wrong,
            status,
            chosen=chosen,
            settings=chosen.settings,
            choices=_choices(chosen.settings.events),
            zones=[(name, name.replace("_", " ")) for name in self.hub.zones.names()],
            ways=WAY_BY_NAME,
            limit=self.hub.daily_limit,
            said=self.said,
            no_mail_server=NO_MAIL_SERVER,
        )

    def adding(
        self, way: str, typed: Fields | None = None, wrong: WrongField | None = None
    ) -> Template:
        """The ways to be told; then what one of them has to know."""
        return _page(
            "add.html",
            wrong,
            ways=WAYS,
            way=WAY_BY_NAME.get(way),
            email=self.account.email,
            typed=typed or Fields({}),
        )

    async def of_printer(self, printer_id: str, wrong: WrongField | None = None) -> Template:
        """What is told of one printer. Raises NotFoundException for another's."""
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
            choices=_choices(chosen.settings.events if own is None else own),
        )

    async def place(self, target_id: str) -> NotifyTarget:
        """Where this person is told. Raises NotFoundException for another's."""
        target = await self.hub.target(self.account.account_id, target_id)
        if target is None:
            raise NotFoundException("There is no such place")
        return target


async def provide_desk(
    services: NamedDependency[Services],
    signed_in: NamedDependency[SignedIn],
    said: FromQuery[str | None] = None,
) -> Desk:
    return Desk(
        hub=services.notifications, account=signed_in.account, said=SAID.get(said or "", "")
    )


def ticked(fields: Fields) -> list[str]:
    """The kinds of events whose boxes came with a form."""
    return [name.removeprefix(_BOX) for name in fields.values if name.startswith(_BOX)]


def back(said: str) -> Redirect:
    """Lead on after a form. said: a key of SAID."""
    return Redirect(f"{PAGE}?said={said}", status_code=303)


def _page(
    template: str, wrong: WrongField | None, status: int = FAULT_STATUS, **context: Any
) -> Template:
    """A page with a form. status: of the one that says what is wrong at a field."""
    errors = {} if wrong is None else {wrong.field: wrong.sentence}
    return Template(
        f"notifications/{template}",
        context={"errors": errors, **context},
        status_code=200 if wrong is None else status,
    )


def _choices(chosen: Events) -> list[tuple[str, str, bool]]:
    """Each box: its field's name, its words, and whether it is ticked."""
    return [(f"{_BOX}{kind.value}", text, kind in chosen) for kind, text in CHOICES]
