"""The rows of the table, in the order in which they run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from bench.report import Measurement
from bench.rows import (
    events,
    get,
    growth,
    idle,
    live,
    mjpeg,
    own_host,
    paced,
    printing,
    process,
    processes,
    second_node,
    simulated,
    start,
    status,
    transfers,
    webhooks,
    websocket,
)
from bench.world import World


@dataclass(frozen=True, slots=True)
class Row:
    """run may raise Missing and Broken."""

    title: str
    run: Callable[[World], Measurement]


ROWS: Final[Mapping[str, Row]] = MappingProxyType(
    {
        "get": Row(get.TITLE, get.run),
        "download": Row(transfers.DOWNLOAD_TITLE, transfers.run_download),
        "upload": Row(transfers.UPLOAD_TITLE, transfers.run_upload),
        "websocket": Row(websocket.TITLE, websocket.run),
        "growth": Row(growth.TITLE, growth.run),
        "live": Row(live.TITLE, live.run),
        "paced": Row(paced.TITLE, paced.run),
        "mjpeg": Row(mjpeg.TITLE, mjpeg.run),
        "idle": Row(idle.TITLE, idle.run),
        "own-host": Row(own_host.TITLE, own_host.run),
        "second-node": Row(second_node.TITLE, second_node.run),
        "processes": Row(processes.TITLE, processes.run),
        "status": Row(status.TITLE, status.run),
        "printing": Row(printing.TITLE, printing.run),
        "simulated": Row(simulated.TITLE, simulated.run),
        "start": Row(start.TITLE, start.run),
        "webhooks": Row(webhooks.TITLE, webhooks.run),
        "events": Row(events.TITLE, events.run),
        "process": Row(process.TITLE, process.run),
    }
)
