"""An app that is connected to Ada's printer, and calls the service."""

from dataclasses import dataclass

import pytest
from httpx import Response

from printreach.contract.status import StatusResult
from printreach.hub.apps import Apps
from printreach.rules.connections.credentials import printer_id_of
from printreach.rules.portal.parameters import Completion
from printreach.rules.printers import Printer
from tests.web.world import ADA, Browser, WebWorld, run

INFO = "/api/appconnection/info"


@dataclass
class CallingApp:
    """token: of its connection."""

    world: WebWorld
    program: Browser
    account_id: str
    printer_id: str
    connection_id: str
    token: str

    def get(self, path: str, token: str | None = None) -> Response:
        return self.program.get(path, headers={"AppToken": token or self.token})

    def post(self, path: str, body: object = None, token: str | None = None) -> Response:
        headers = {"AppToken": token or self.token}
        return self.program.post(path, json={} if body is None else body, headers=headers)

    def says(self, status: StatusResult) -> None:
        """From now on the printer does that."""
        self.world.printers.statuses[self.printer_id] = status

    def connect_another(self, email: str, printer: str) -> str:
        """The token of the same app's connection to a printer of that account."""
        account = self.world.add_account(self.program, email)
        return connect(self.world, self.program, account.account_id, printer)[
            1
        ].secrets.app_api_token


def connect(
    world: WebWorld, program: Browser, account_id: str, name: str
) -> tuple[Printer, Completion]:
    """Link a printer of that name, and connect an app to it."""
    key = name.encode().ljust(32, b".")
    printer = Printer(
        printer_id=printer_id_of(key),
        account_id=account_id,
        name=name,
        public_key=key,
        linked_at=world.clock.now(),
    )
    world.link(program, printer)

    async def make() -> Completion:
        await Apps(core=world.core).add("demo", "Demo", [])
        made = await world.services.connections.add_for_app("demo", printer.printer_id)
        assert isinstance(made, Completion)
        return made

    return printer, run(program, make)


@pytest.fixture
def app_call(world: WebWorld, program: Browser) -> CallingApp:
    account = world.add_account(program, ADA)
    printer, made = connect(world, program, account.account_id, "Workbench")
    token = made.secrets.app_api_token
    return CallingApp(
        world, program, account.account_id, printer.printer_id, made.connection_id, token
    )
