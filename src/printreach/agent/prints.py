"""The print under way, remembered across restarts of the agent."""

import asyncio
import base64
import logging
from collections.abc import Callable
from pathlib import Path

import msgspec

from printreach.agent.data_dir import DataDirRefused, read_private, write_private
from printreach.contract.status import DetectorStatus, ServiceStatus
from printreach.printers.port import Printer
from printreach.rules.prints import PrintMark, observe_print

log = logging.getLogger(__name__)

FILE = "print.json"
LOOK_EVERY_S = 1.0
_MAX_FILE_BYTES = 64 * 1024


class Prints:
    """Looks at a printer once a second and knows which print is which.

    detector: what the failure detector said of the print with this id.
    """

    def __init__(
        self,
        printer: Printer,
        data_dir: Path,
        *,
        unix_time: Callable[[], float],
        token_bytes: Callable[[int], bytes],
        detector: Callable[[str], DetectorStatus],
    ) -> None:
        self._printer = printer
        self._path = data_dir / FILE
        self._unix_time = unix_time
        self._token_bytes = token_bytes
        self._detector = detector
        self._mark = _load(self._path)

    def service_status(self) -> ServiceStatus:
        """What `ServiceStatus` says of the latest print."""
        return ServiceStatus(
            most_recent_print_id_str=self._mark.print_id,
            print_start_time_sec=self._mark.started_at,
            detector=self._detector(self._mark.print_id),
        )

    async def watch(self) -> None:
        """Look until cancelled."""
        while True:
            self.look()
            await asyncio.sleep(LOOK_EVERY_S)

    def look(self) -> None:
        view = self._printer.view
        if view.trouble is not None:
            return
        name = view.job.current_print.file_name
        mark = observe_print(self._mark, view.job.state, name, self._unix_time(), self._new_id)
        if mark != self._mark:
            self._mark = mark
            self._save()

    def _new_id(self) -> str:
        return base64.b32encode(self._token_bytes(15)).decode("ascii").lower()

    def _save(self) -> None:
        try:
            write_private(self._path, msgspec.json.encode(self._mark), durable=True)
        except OSError as error:
            log.warning("The print can't be remembered: %s", error.strerror)


def _load(path: Path) -> PrintMark:
    """A damaged file costs the id of one print."""
    try:
        content = read_private(path, at_most=_MAX_FILE_BYTES)
        return PrintMark() if content is None else msgspec.json.decode(content, type=PrintMark)
    except (DataDirRefused, msgspec.MsgspecError, UnicodeDecodeError):
        log.warning("%s is damaged; the print under way gets a new id", path)
        return PrintMark()
