"""Queries to Moonraker beside Klipper's own reports. A refusal means that a value is unknown."""

import logging

from printreach import __version__
from printreach.contract.commands import CommandStatus
from printreach.contract.status import Light
from printreach.printers import loose
from printreach.printers.loose import Json
from printreach.printers.port import PrinterRefused

from .api import MoonrakerApi
from .entries import NOTHING_KNOWN, Metadata, metadata_of
from .machine import power_lights
from .spools import Spool, spool_of

log = logging.getLogger(__name__)

ID_SPACE, ID_KEY = "service", "public.printerId"


async def identify(api: MoonrakerApi) -> None:
    """Introduce the agent, so that Moonraker's log and pages can name it."""
    client = {"client_name": "Printreach", "version": __version__, "type": "other", "url": ""}
    try:
        await api.call("server.connection.identify", client)
    except PrinterRefused as refused:
        if refused.status == CommandStatus.NOT_AUTHORIZED:
            raise
        log.debug("Moonraker wants no introduction: %s", refused)


async def publish_id(api: MoonrakerApi, printer_id: str) -> None:
    """Store the printer's id in Moonraker's database for apps on the network, if it has changed."""
    if not printer_id:
        return
    item = {"namespace": ID_SPACE, "key": ID_KEY}
    if loose.text(await _known(api, "server.database.get_item", item), "value") == printer_id:
        return
    try:
        await api.call("server.database.post_item", {**item, "value": printer_id})
    except PrinterRefused as refused:
        log.warning("The printer id could not be stored in Moonraker's database: %s", refused)


async def klipper_message(api: MoonrakerApi) -> str | None:
    """Return why Klipper isn't ready, in its own words."""
    return loose.text(await _known(api, "printer.info"), "state_message")


async def settings(api: MoonrakerApi) -> Json:
    """Return Klipper's configuration, by section."""
    query = {"objects": {"configfile": ["settings"]}}
    answer = await _known(api, "printer.objects.query", query)
    return loose.obj(answer, "status", "configfile", "settings")


async def metadata(api: MoonrakerApi, path: str) -> Metadata:
    """path: below the root of G-code files; "" for none."""
    if not path:
        return NOTHING_KNOWN
    return metadata_of(await _known(api, "server.files.metadata", {"filename": path}))


async def switched_lights(api: MoonrakerApi) -> tuple[Light, ...]:
    return power_lights(await _known(api, "machine.device_power.devices"))


async def spool_in_use(api: MoonrakerApi) -> Spool | None:
    status = await _known(api, "server.spoolman.status")
    number = loose.count(status, "spool_id")
    if number is None:
        return None
    question = {"request_method": "GET", "path": f"/v1/spool/{number}"}
    return spool_of(await _known(api, "server.spoolman.proxy", question))


async def _known(api: MoonrakerApi, method: str, params: Json = loose.EMPTY) -> object:
    """Return the answer; None where it is refused.

    Raises PrinterRefused when the connection is gone.
    """
    try:
        return await api.call(method, params)
    except PrinterRefused as refused:
        if api.rpc is None:
            raise
        log.debug("%s tells nothing: %s", method, refused)
        return None
