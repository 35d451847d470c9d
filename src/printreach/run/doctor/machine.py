"""Checks of what the service depends on in its own house, and of its printers."""

import asyncio
import contextlib
import os
import secrets
import shutil
import smtplib
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import partial
from pathlib import Path
from typing import Final

from sqlalchemy.exc import SQLAlchemyError

from printreach.backends.lookups import on_daemon_thread
from printreach.http1.fetch import FetchFailed
from printreach.ports.snapshots import SnapshotsUnavailable
from printreach.rules.connections.credentials import new_secret
from printreach.run.dependencies import require_driver, snapshot_store
from printreach.run.doctor.findings import Finding, failure, fine, together, warning
from printreach.run.doctor.network import WebProbe
from printreach.run.settings import Settings, SettingsError
from printreach.store.copying import revision_at
from printreach.store.engine import reason_of
from printreach.store.location import DatabaseLocation
from printreach.store.migrate import HEAD
from printreach.store.store import Store

LITTLE_SPACE: Final = 2 * 1024**3
ALMOST_NO_SPACE: Final = 100 * 1024**2
"""Bytes. A picture of a print takes about 100 KB."""
CLOCK_MAY_BE_OFF: Final = timedelta(seconds=30)
"""As long as a code of an authenticator app counts."""
_OTHER_FOLDER: Final = "Start the service once, or set PRINTREACH_DATA_DIR as the service has it."
CONNECT_TIMEOUT_S: Final = 3.0


async def has_newest_schema(location: DatabaseLocation) -> bool:
    """Return whether a database can be used without being created or migrated."""
    try:
        if isinstance(location, Path):
            revision: str | None = await on_daemon_thread(_revision_and_write_lock, location)
        else:
            require_driver(location)
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                revision = await revision_at(location)
    except (sqlite3.Error, SQLAlchemyError, OSError, SettingsError):
        return False
    return revision == HEAD


@dataclass(frozen=True, kw_only=True, slots=True)
class MachineChecks:
    """The checks. store: None if the database can't be used, or not by this version."""

    settings: Settings
    probe: WebProbe
    store: Store | None
    now: Callable[[], datetime]

    async def clock(self) -> Finding:
        """Compare the clock with those of servers that the service uses, and with the database."""
        newest: datetime | None = None
        if self.store is not None:
            newest = await self.store.read(lambda records: records.operating.newest_time())
        now = self.now()
        if newest is not None and newest - now > CLOCK_MAY_BE_OFF:
            return failure(
                f"The database has times from the future: {newest:%Y-%m-%d %H:%M} UTC, and it is"
                f" {now:%Y-%m-%d %H:%M} UTC here.",
                "Set the clock, by NTP: timedatectl set-ntp true.",
            )
        for url in self._servers():
            try:
                date = (await self.probe.get(url)).header(b"date") or b""
                theirs = parsedate_to_datetime(date.decode("latin-1"))
            except (FetchFailed, OSError, ValueError, TypeError):
                continue
            off = abs(self.now() - theirs)
            if off > CLOCK_MAY_BE_OFF:
                return failure(
                    f"The clock is {off.total_seconds():.0f} seconds off that of {url}.",
                    "Set it by NTP: timedatectl set-ntp true.",
                )
            return fine(f"The clock agrees with that of {url}.")
        return fine(
            f"It is {now:%Y-%m-%d %H:%M} UTC here; there is no other clock to compare with."
        )

    async def database(self) -> Finding:
        location = self.settings.database
        if isinstance(location, Path):
            return await on_daemon_thread(_look_at_file, location)
        try:
            require_driver(location)
            revision = await revision_at(location)
        except SettingsError as error:
            return failure(str(error), "Install it and restart the service.")
        except TimeoutError:
            raise
        except (SQLAlchemyError, OSError) as error:
            return failure(
                f"The database {location} can't be used: {reason_of(error)}.",
                "Look at PRINTREACH_DATABASE_URL, and at the server's log.",
            )
        return _schema(revision) or fine(f"The database {location} answers.")

    async def bus(self) -> Finding:
        if not self.settings.nats_urls:
            return fine("Notices go through the database, and need no server.")
        from printreach.backends.bus_nats import NatsBus

        bus = NatsBus(self.settings.nats_urls)
        connecting = asyncio.create_task(bus.keep_connected())
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                await bus.is_connected.wait()
        except TimeoutError:
            return failure(
                "No NATS server of PRINTREACH_NATS_URL can be reached.",
                "Start it, and look at its address and credentials.",
            )
        finally:
            connecting.cancel()
            await asyncio.gather(connecting, return_exceptions=True)
        return fine("The NATS server answers.")

    async def storage(self) -> Finding:
        found = await on_daemon_thread(_look_at_folder, self.settings.data_dir)
        if self.settings.snapshots is not None:
            found.append(await self._bucket())
        return together(found)

    async def mail(self) -> Finding:
        if self.settings.smtp_url is None:
            return warning(
                "There is no mail server: links for accounts are written to the log.",
                "Set PRINTREACH_SMTP_URL.",
            )
        from printreach.backends.mail_smtp import SmtpServer, reason_of, try_sign_in

        server = SmtpServer.at(self.settings.smtp_url, "")
        at = f"{server.host}:{server.port}"
        try:
            await on_daemon_thread(partial(try_sign_in, timeout_s=CONNECT_TIMEOUT_S), server)
        except TimeoutError:
            raise
        except OSError as error:
            why = reason_of(error) if isinstance(error, smtplib.SMTPException) else error.strerror
            return failure(
                f"The mail server at {at} can't be used: {why or reason_of(error)}.",
                "Look at PRINTREACH_SMTP_URL: host, port, user and password.",
            )
        return fine(f"The mail server at {at} lets the service in.")

    async def printers(self) -> Finding:
        if self.store is None:
            return fine("Printers weren't looked at: see the database.")
        counts = await self.store.read(lambda records: records.operating.counts(self.now()))
        linked, connected = counts.printers, counts.online
        if not linked:
            return fine("No printer is linked yet.")
        if not connected:
            return warning(
                f"None of {linked} linked printers is connected.",
                "Look at their agents, each beside its printer: printreach agent status.",
            )
        return fine(f"{connected} of {linked} linked printers are connected.")

    def _servers(self) -> Sequence[str]:
        """Return the addresses of other machines' web servers that the service uses."""
        settings = self.settings
        named = [
            settings.snapshots.endpoint if settings.snapshots else "",
            settings.oidc.issuer if settings.oidc else "",
            settings.stripe.api_url if settings.stripe else "",
        ]
        return [url for url in named if url]

    async def _bucket(self) -> Finding:
        snapshot_id = new_secret(secrets.token_bytes)
        try:
            store = snapshot_store(self.settings)
            await store.put(snapshot_id, b"check")
            found = await store.get(snapshot_id)
            await store.remove([snapshot_id])
        except SettingsError as error:
            return failure(str(error), "Install it and restart the service.")
        except SnapshotsUnavailable as error:
            return failure(f"{error}".rstrip(".") + ".", "Look at PRINTREACH_SNAPSHOTS_URL.")
        if found != b"check":
            return failure(
                "The bucket returned something else than was stored in it.",
                "Look at PRINTREACH_SNAPSHOTS_URL.",
            )
        return fine("Pictures can be stored in the bucket, read and removed.")


def _look_at_file(path: Path) -> Finding:
    if not path.exists():
        return warning(f"There is no database {path} yet.", _OTHER_FOLDER)
    try:
        revision = _revision_and_write_lock(path)
    except sqlite3.Error as error:
        return failure(
            f"The database {path} can't be used: {error}.",
            "Where it is damaged, restore a backup: printreach admin database restore FILE.",
        )
    found = [_schema(revision) or fine(f"{path} can be read and written.")]
    if path.stat().st_mode & 0o077:
        found.append(warning(f"Other users of this machine can read {path}.", f"chmod 600 {path}*"))
    return together(found)


def _look_at_folder(folder: Path) -> list[Finding]:
    if not folder.exists():
        return [warning(f"There is no folder {folder} yet.", _OTHER_FOLDER)]
    try:
        _write_and_remove(folder)
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return [
            failure(
                f"{folder} can't be written: {error.strerror or error}.",
                "It has to belong to the user that runs the service.",
            )
        ]
    found = [fine(f"{folder} can be written, with {free / 1024**3:,.1f} GiB free.")]
    if free < LITTLE_SPACE:
        told = failure if free < ALMOST_NO_SPACE else warning
        found.append(
            told(
                f"{free // 1024**2:,} MiB are free in {folder}.",
                "Make space: without any, nothing is stored.",
            )
        )
    if folder.stat().st_mode & 0o077:
        found.append(
            warning(f"Other users of this machine can enter {folder}.", f"chmod 700 {folder}")
        )
    return found


def _schema(revision: str | None) -> Finding | None:
    """Return what is wrong with the schema; None if nothing is."""
    if revision == HEAD:
        return None
    return warning(
        f"The database's schema is {revision or 'none'}, and this version needs {HEAD}.",
        "A start migrates an older one. Make a backup before.",
    )


def _revision_and_write_lock(path: Path) -> str:
    """Return the revision of the schema, after the lock for writing was taken and released."""
    uri = f"{path.absolute().as_uri()}?mode=rw"
    with contextlib.closing(
        sqlite3.connect(uri, uri=True, timeout=CONNECT_TIMEOUT_S, isolation_level=None)
    ) as connection:
        connection.execute("BEGIN IMMEDIATE")
        found = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        connection.execute("ROLLBACK")
    return str(found[0]) if found else ""


def _write_and_remove(folder: Path) -> None:
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(b"check")
        file.flush()
        os.fsync(file.fileno())
