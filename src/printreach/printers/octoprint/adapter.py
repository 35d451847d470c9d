"""The OctoPrint adapter: a live view, and commands over its REST API."""

from functools import partial
from urllib.parse import quote

from printreach.contract.commands import (
    Adjust,
    CommandStatus,
    Extrude,
    Home,
    MoveAxis,
    SetLight,
    SetTemp,
    StartPrint,
)
from printreach.contract.files import FileDone, JsonObject, JsonValue
from printreach.contract.temperatures import Preset
from printreach.contract.unset import UnsetType
from printreach.languages import N_
from printreach.printers import loose
from printreach.printers.camera_addresses import candidates
from printreach.printers.http_api import NotFound
from printreach.printers.http_camera import listed_camera
from printreach.printers.pausing_printer import PausingPrinter
from printreach.printers.port import (
    Camera,
    PrinterRefused,
    failed,
    no_such_file,
    not_supported,
    require_storage,
    require_tool,
    require_tools_of,
)
from printreach.printers.setup import PrinterSetup

from .api import OctoPrintApi
from .files import LOCAL, OctoPrintFiles
from .live_view import LiveView
from .pause_plan import OctoPrintPausePlan
from .profile import cameras_in, presets_in
from .translate import is_fully_paused

LOCAL_STORAGE = "local"


def make(setup: PrinterSetup) -> "OctoPrintPrinter":
    return OctoPrintPrinter(setup)


class OctoPrintPrinter(PausingPrinter[LiveView]):
    """printers.port.Printer."""

    mqtt = None

    def __init__(self, setup: PrinterSetup) -> None:
        self._setup = setup
        self._api = OctoPrintApi(setup)
        self.files = OctoPrintFiles(self._api, setup.data_dir, setup.token_bytes)
        live_view = LiveView(self._api, setup.uniform, self.files.look_for_logs)
        super().__init__(setup, live_view, OctoPrintPausePlan(self._api, live_view, setup.limits))

    async def _close(self) -> None:
        await self._api.close()

    async def cameras(self) -> list[Camera]:
        settings = await self._settings()
        setup = self._setup
        addresses = partial(candidates, host=setup.host, port=setup.port, tls=setup.tls)
        return [
            camera
            for listed in cameras_in(settings)
            for camera in listed_camera(
                listed.entry,
                stream=listed.stream,
                snapshot=listed.snapshot,
                addresses=addresses,
                hosts=setup.camera_hosts,
            )
        ]

    async def presets(self) -> list[Preset]:
        return presets_in(await self._settings())

    async def _settings(self) -> object:
        """Return OctoPrint's settings; None where the key may print, but not read them."""
        try:
            return await self._api.get("/api/settings")
        except PrinterRefused as refused:
            if refused.status != CommandStatus.NOT_AUTHORIZED:
                raise
            return None

    # --- orders -----------------------------------------------------------------------------------

    async def start(self, order: StartPrint) -> FileDone:
        require_storage(order, LOCAL_STORAGE)
        inside = order.path.partition("/")[2]
        try:
            select: JsonObject = {"command": "select", "print": True}
            await self._api.post(f"{LOCAL}/{quote(inside)}", select)
        except NotFound:
            raise no_such_file(order.path) from None
        return FileDone(virtual_path=order.path, platform_path=inside)

    async def set_light(self, order: SetLight) -> None:  # noqa: ARG002  # there is none
        raise not_supported(N_("This printer can't switch a light."))

    async def move_axis(self, order: MoveAxis) -> None:
        axis = order.axis.value.lower()
        await self._tell("printhead", {"command": "jog", axis: order.distance_mm})

    async def home(self, order: Home) -> None:
        axes: list[JsonValue] = [axis.value.lower() for axis in order.homed]
        await self._tell("printhead", {"command": "home", "axes": axes})

    async def adjust(self, order: Adjust) -> None:
        """OctoPrint sends M220, M221 and M106, and doesn't hear what is in force afterwards."""
        if not isinstance(order.speed_percent, UnsetType):
            await self._tell("printhead", {"command": "feedrate", "factor": order.speed_percent})
        if not isinstance(order.flow_percent, UnsetType):
            await self._tell("tool", {"command": "flowrate", "factor": order.flow_percent})
        if not isinstance(order.fan_percent, UnsetType):
            await self._send(f"M106 S{round(order.fan_percent * 2.55)}")

    async def emergency_stop(self) -> None:
        """OctoPrint sends it ahead of all else, and then closes the connection to the printer."""
        await self._send("M112")

    async def restart_firmware(self) -> None:
        """Connect again, by which most boards restart. A print must not be under way."""
        await self._api.post("/api/connection", {"command": "connect"})

    async def extrude(self, order: Extrude) -> None:
        require_tool("Extruder", order.extruder, range(self._live_view.profile.extruders))
        if self._live_view.profile.extruders > 1:
            await self._select_tool(order.extruder)
        await self._tell("tool", {"command": "extrude", "amount": order.distance_mm})
        known = self._live_view.known
        paused_tool = known.paused_tool if is_fully_paused(known) else None
        if paused_tool is not None and self._live_view.profile.extruders > 1:
            await self._select_tool(paused_tool)

    async def set_temp(self, order: SetTemp) -> None:
        profile = self._live_view.profile
        require_tools_of(order, range(profile.extruders))
        number = order.tool_number if isinstance(order.tool_number, int) else 0
        if not isinstance(order.bed_c, UnsetType) and not profile.has_bed:
            raise not_supported(N_("This printer can't heat a bed."))
        if not isinstance(order.chamber_c, UnsetType) and not profile.has_chamber:
            raise not_supported(N_("This printer can't heat a chamber."))
        if not isinstance(order.tool_c, UnsetType):
            targets: JsonObject = {f"tool{number}": order.tool_c}
            await self._tell("tool", {"command": "target", "targets": targets})
        if not isinstance(order.bed_c, UnsetType):
            await self._tell("bed", {"command": "target", "target": order.bed_c})
        if not isinstance(order.chamber_c, UnsetType):
            await self._tell("chamber", {"command": "target", "target": order.chamber_c})

    async def make_api_key(self, app_name: str) -> str:
        """Return a key of OctoPrint's Application Keys, where its owner finds and can revoke it.

        An app of that name keeps its key. Source: 1.11.8, the plugin appkeys.
        """
        order: JsonObject = {"command": "generate", "app": app_name}
        try:
            answer = await self._api.post("/api/plugin/appkeys", order)
        except NotFound:
            raise failed(N_("OctoPrint's Application Keys are switched off.")) from None
        key = loose.text(answer, "api_key")
        if not key:
            raise failed(N_("OctoPrint gave no key."))
        return key

    async def _select_tool(self, number: int) -> None:
        await self._tell("tool", {"command": "select", "tool": f"tool{number}"})

    async def _send(self, line: str) -> None:
        """Send the firmware a line of G-code."""
        await self._tell("command", {"commands": [line]})

    async def _tell(self, part: str, body: JsonObject) -> None:
        await self._api.post(f"/api/printer/{part}", body)
