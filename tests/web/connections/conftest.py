"""Ada's printer at work, and a stranger who has the address of a Live Link to it."""

from dataclasses import dataclass

import pytest
from httpx import Response

from printreach.contract.status import ServiceStatus, State, StatusResult
from printreach.hub.connections.live_links import LiveWish
from printreach.rules.connections.live_links import LiveLink
from tests.rules.detection.test_jpeg import picture
from tests.web.connections.calling_app import app_call
from tests.web.printers.conftest import Home, bobs_printer, home, printing
from tests.web.world import run, send

__all__ = ["app_call", "bobs_printer", "home"]

SNAPSHOT = "/webcam/snapshot"


def at_print(
    print_id: str, state: State = State.PRINTING, file_name: str = "vase.gcode"
) -> StatusResult:
    """What a printer says of the print with that id."""
    said = printing(state=state, file_name=file_name)
    return StatusResult(
        job_status=said.job_status,
        service_status=ServiceStatus(most_recent_print_id_str=print_id),
        platform_version=said.platform_version,
        features=said.features,
        list_webcams=said.list_webcams,
    )


@dataclass
class Shown:
    """home: where the printer is. Whoever gets its page has no cookie of ours."""

    home: Home
    link: LiveLink

    @property
    def path(self) -> str:
        return f"/live/{self.link.live_id}"

    def get(self, path: str = "") -> Response:
        return self.ask(self.path + path)

    def ask(self, path: str, method: str = "GET") -> Response:
        """As a stranger."""
        request = self.home.browser.build_request(method, path)
        request.headers.pop("cookie", None)
        return self.home.browser.send(request, follow_redirects=False)

    def end(self) -> None:
        """As its owner does."""
        answer = send(self.home.browser, f"/connections{self.path}/end")
        assert answer.headers["location"] == "/connections"


def make_link(home: Home, wish: LiveWish | None = None) -> LiveLink:
    async def make() -> LiveLink:
        links = home.world.services.live_links
        made = await links.make(home.account_id, home.printer_id, wish or LiveWish())
        assert isinstance(made, LiveLink)
        return made

    return run(home.browser, make)


@pytest.fixture
def shown(home: Home) -> Shown:
    home.says(at_print("print-1"))
    home.world.printers.raw[SNAPSHOT] = ("image/jpeg", picture())
    return Shown(home, make_link(home))
