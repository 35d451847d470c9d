"""Ada, signed in, with a printer that prints; and Bob, who has no access to it."""

from dataclasses import dataclass

import pytest
from httpx import Response

from printreach.contract.materials import MaterialSystem
from printreach.contract.status import (
    Adjustments,
    CurrentPrint,
    DetectorStatus,
    JobStatus,
    Light,
    ServiceStatus,
    State,
    StatusResult,
    Temps,
    WebcamEntry,
    WebcamList,
)
from printreach.contract.unset import UNSET, UnsetType
from printreach.rules.connections.credentials import printer_id_of
from printreach.rules.printers import Printer
from tests.fakes.printer_http import Ordered
from tests.web.world import Browser, WebWorld, send, sign_in

BOB = "bob@example.org"


def printing(
    *,
    state: State = State.PRINTING,
    file_name: str = "vase.gcode",
    features: int = 63,
    detector: DetectorStatus | None = None,
    webcams: int = 1,
    material_system: MaterialSystem | None = None,
    bed_c: float = 60,
    adjustments: Adjustments | UnsetType = UNSET,
) -> StatusResult:
    """What a printer says in the middle of a print."""
    return StatusResult(
        job_status=JobStatus(
            state=state,
            material_system=material_system,
            adjustments=adjustments,
            lights=[Light(name="case", on=True)],
            current_print=CurrentPrint(
                progress=62.4,
                duration_sec=7020,
                time_left_sec=4320,
                file_name=file_name,
                current_layer=148,
                total_layers=240,
                temps=Temps(
                    hotend_actual=215.2, hotend_target=215, bed_actual=60, bed_target=bed_c
                ),
            ),
        ),
        service_status=ServiceStatus(detector=detector or DetectorStatus()),
        platform_version="1.0",
        features=features,
        list_webcams=WebcamList(webcams=[WebcamEntry(name=f"cam{n}") for n in range(webcams)]),
    )


@dataclass
class Home:
    """browser: Ada's. printer_id: of her printer, which is online."""

    world: WebWorld
    browser: Browser
    account_id: str
    printer_id: str

    @property
    def path(self) -> str:
        return f"/printers/{self.printer_id}"

    def add_printer(
        self,
        name: str,
        *,
        account_id: str = "",
        is_online: bool = True,
        agent_version: str | None = None,
    ) -> str:
        """Another printer of Ada's, or of that account."""
        printer_id = printer_id_of(name.encode().ljust(32, b"."))
        at = self.world.clock.now()
        printer = Printer(
            printer_id=printer_id,
            account_id=account_id or self.account_id,
            name=name,
            public_key=b"k" * 32,
            linked_at=at,
            platform="octoprint",
        )
        self.world.link(self.browser, printer, is_online=is_online, agent_version=agent_version)
        return printer_id

    def says(self, status: StatusResult) -> None:
        self.world.printers.statuses[self.printer_id] = status

    def get(self, path: str = "") -> Response:
        return self.browser.get(self.path + path, follow_redirects=False)

    def send(self, path: str, /, **fields: str) -> Response:
        return send(self.browser, self.path + path, **fields)

    @property
    def orders(self) -> list[Ordered]:
        return self.world.printers.orders


@pytest.fixture
def home(world: WebWorld, browser: Browser) -> Home:
    account = world.add_account(browser)
    assert sign_in(browser).status_code == 303
    here = Home(world, browser, account.account_id, "")
    here.printer_id = here.add_printer("Workbench")
    here.says(printing())
    return here


@pytest.fixture
def bobs_printer(home: Home) -> str:
    """The id of a printer of another account, which is online."""
    bob = home.world.add_account(home.browser, BOB)
    printer_id = home.add_printer("Bobs", account_id=bob.account_id)
    home.world.printers.statuses[printer_id] = printing()
    return printer_id
