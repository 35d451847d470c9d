"""The API for apps: which connection calls, and what it is told about its printer."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from printreach.contract.app_answers import AppInfo, PrinterLimits, WatchStatus
from printreach.contract.errors import ErrorCode
from printreach.contract.permissions import ALL_PERMISSIONS
from printreach.contract.unset import UNSET
from printreach.hub.core import Core
from printreach.hub.printers.live import LiveStatus
from printreach.ports.relaying import DetectorStates
from printreach.rules.accounts import Account, may_connect_apps
from printreach.rules.accounts.limits import AccountLimits
from printreach.rules.connections import Connection, has_ended
from printreach.rules.connections.credentials import CredentialKind, digest
from printreach.rules.detection.detector import DetectorOff, aged, not_watching, watch_status
from printreach.rules.printers import is_online
from printreach.store.listings import PrinterRow
from printreach.store.store import Records

FRESH_TIMEOUT_S: Final = 2.5
"""How long a call waits for a printer that was not asked recently."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AppCaller:
    """The App Connection that calls, and its printer."""

    connection: Connection
    account: Account
    row: PrinterRow
    limits: AccountLimits


@dataclass(frozen=True, kw_only=True, slots=True)
class AppCalls:
    """The use cases of apps that call the service itself.

    why_off: returns why this service runs no failure watch now; None if it runs.
    """

    core: Core
    live: LiveStatus
    detector: DetectorStates
    why_off: Callable[[], DetectorOff | None]

    async def caller(self, token: str) -> AppCaller | ErrorCode:
        """Return the connection with that token, or error 603, 604 or 605, in this order."""
        at = self.core.clock.now()
        token_digest = digest(CredentialKind.APP_API_TOKEN, token.encode())
        return await self.core.store.read(lambda records: self._caller(records, token_digest, at))

    def info(self, caller: AppCaller) -> AppInfo:
        """Return the printer as the service knows it."""
        printer, limits = caller.row.printer, caller.limits
        granted = caller.connection.permissions
        return AppInfo(
            printer_name=printer.name,
            printer_local_ip=printer.lan_ip,
            is_online=is_online(printer, caller.row.node_alive_at, self.core.clock.now()),
            last_disconnect_time_utc=_second(printer.disconnected_at or printer.linked_at),
            last_connection_time_utc=_second(printer.connected_at or printer.linked_at),
            user_facing_printer_url=self.core.addresses.of_printer_page(printer.printer_id),
            printer_limits=PrinterLimits(
                max_download_file_size_bytes=limits.download_bytes,
                max_upload_file_size_bytes=limits.upload_bytes,
                max_single_webcam_stream_length_seconds=limits.webcam_stream_s,
            ),
            permissions=UNSET if granted == ALL_PERMISSIONS else sorted(granted),
            is_remote_control_locked=caller.account.is_locked or UNSET,
        )

    async def detector_status(self, caller: AppCaller) -> WatchStatus:
        """Return what the failure watch says of the current print."""
        off = self.why_off()
        if off is not None:
            return not_watching(off)
        printer = caller.row.printer.owned
        if not await self._is_watched(printer.printer_id):
            return watch_status(None, None, is_enabled=False)
        await self.live.fresh([printer], FRESH_TIMEOUT_S)
        reading = self.live.latest(printer)
        if reading.status is None or reading.refusal is not None:
            return watch_status(None, None)
        status = reading.status
        said = await self.detector.latest(printer.printer_id)
        # What it said of the print before does not belong to this one.
        if said is None or said.print_id != status.service_status.most_recent_print_id_str:
            return watch_status(None, status.job_status.state)
        now_s = (self.core.clock.now() - said.at).total_seconds()
        return watch_status(aged(said.status, now_s), status.job_status.state)

    async def _is_watched(self, printer_id: str) -> bool:
        chosen = await self.core.store.read(lambda records: records.watch_settings.get(printer_id))
        return chosen.enabled

    async def _caller(
        self, records: Records, token_digest: bytes, at: datetime
    ) -> AppCaller | ErrorCode:
        connection = await records.connections.with_app_token(token_digest)
        if connection is None:
            return ErrorCode.CONNECTION_NOT_FOUND
        if has_ended(connection, at) or not (connection.printer_id and connection.account_id):
            return ErrorCode.CONNECTION_ENDED
        row = await records.printers.row(connection.printer_id)
        account = await records.accounts.get(connection.account_id)
        if row is None or account is None or row.printer.account_id != account.account_id:
            return ErrorCode.CONNECTION_ENDED
        if account.is_blocked:
            return ErrorCode.CONNECTION_ENDED
        if not may_connect_apps(self.core.supporters, account, at):
            return ErrorCode.NOT_A_SUPPORTER
        limits = await records.limits.in_force(account.account_id)
        return AppCaller(connection=connection, account=account, row=row, limits=limits)


def _second(at: datetime) -> datetime:
    """Round to whole seconds: not every library parses fractions."""
    return at.replace(microsecond=0)
