"""People that Ada let in to her printer: Eve, who watches it, and Cleo, who controls it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from litestar.testing import TestClient

from printreach.hub.printers.members import MadeInvitation
from printreach.rules.accounts import Account
from printreach.rules.printers.members import Role
from tests.web.printers.conftest import Home
from tests.web.world import BASE_URL, Browser, run, sign_in

EVE: Final = "eve@example.org"
CLEO: Final = "cleo@example.org"
ROLES: Final = {EVE: Role.WATCH, CLEO: Role.CONTROL}


def invitation(home: Home, role: Role, email: str | None = None, uses: int = 1) -> MadeInvitation:
    """Make an invitation of Ada's."""

    async def invite() -> MadeInvitation:
        services = home.world.services
        owner = await services.accounts.get(home.account_id)
        assert owner is not None
        made = await services.members.invite(owner, home.printer_id, role, email, uses)
        assert isinstance(made, MadeInvitation), made
        return made

    return run(home.browser, invite)


def path_of(made: MadeInvitation) -> str:
    """Return the address of the invitation without the host."""
    return made.link.removeprefix(BASE_URL)


def let_in(home: Home, email: str, role: Role) -> Account:
    """Make an account, and let it in to Ada's printer."""
    person, made = home.world.add_account(home.browser, email), invitation(home, role, email)

    async def accept() -> None:
        token = made.link.partition("token=")[2]
        accepted = await home.world.services.members.accept(person, token)
        assert accepted == home.printer_id

    run(home.browser, accept)
    return person


@contextmanager
def browser_of(home: Home, email: str) -> Iterator[Browser]:
    """Open another browser that is signed in."""
    client = TestClient(home.world.app, base_url=BASE_URL)
    client.blocking_portal = home.browser.blocking_portal
    client.headers["accept"] = "text/html"
    assert sign_in(client, email).status_code == 303
    yield client
