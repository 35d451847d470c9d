"""States of the printers in the portal's list."""

from collections.abc import Iterable, Mapping
from typing import Final

from printreach.hub.live import LiveStatus
from printreach.hub.portal_view import PrinterHere

SOON_S: Final = 0.5
"""A printer that has not answered by then is listed without a state."""
OFFLINE: Final = "offline"


async def states_of(live: LiveStatus, printers: Iterable[PrinterHere]) -> Mapping[str, str]:
    """Return the state of each printer, by its id, as far as it is known soon."""
    here = list(printers)
    online = [one.printer.owned for one in here if one.is_online]
    known = await live.fresh(online, SOON_S)
    states = {one.printer.printer_id: OFFLINE for one in here if not one.is_online}
    for printer in online:
        reading = known.get(printer)
        if reading is not None and reading.refusal is not None:
            states[printer.printer_id] = OFFLINE
        elif reading is not None and reading.status is not None:
            states[printer.printer_id] = reading.status.job_status.state.value
    return states
