"""The operator's commands about the database: backups, and how they come back."""

import argparse
import asyncio
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from printreach import __version__
from printreach.backends.clock import SystemClock
from printreach.rules.operators import COMMAND_LINE, OperatorAct
from printreach.run.admin_world import (
    CommandFailed,
    Result,
    Subparsers,
    WrongUsage,
    add_settings_command,
    open_world,
)
from printreach.run.dependencies import require_driver
from printreach.run.setting_values import WrongValue, read_database_url
from printreach.run.settings import Settings
from printreach.store.backups import Backup, copy_sqlite, restore
from printreach.store.copying import copy_database
from printreach.store.engine import reason_of
from printreach.store.location import DatabaseLocation, PostgresqlLocation
from printreach.store.migrate import HEAD

_Work = Callable[[Path], None]


def add_database_commands(actions: Subparsers) -> None:
    """Declare the commands."""
    backup = add_settings_command(actions, "backup", back_up, "back up the service while it runs")
    backup.add_argument(
        "target",
        metavar="FILE",
        type=Path,
        help="a new file, or a folder in which each backup gets a file",
    )
    backup.add_argument(
        "--with-pictures", action="store_true", help="include pictures of events and timelapses"
    )
    backup.add_argument(
        "--keep",
        metavar="N",
        type=_count,
        help="keep the newest N in the folder, delete the others",
    )
    restored = add_settings_command(
        actions, "restore", restore_backup, "restore a backup into an empty data directory"
    )
    restored.add_argument("source", metavar="FILE", type=Path)
    restored.add_argument(
        "--replace", action="store_true", help="move the existing files into a folder first"
    )
    copied = add_settings_command(actions, "copy", copy, "all rows to a database of another kind")
    copied.add_argument("source", metavar="FROM_URL")
    copied.add_argument("target", metavar="TO_URL")


async def back_up(settings: Settings, options: argparse.Namespace) -> Result:
    require_driver(settings.database)
    backup = Backup(
        data_dir=settings.data_dir,
        database=settings.database_path.name,
        copy_database=_copying_from(settings.database),
        version=__version__,
        has_pictures=options.with_pictures,
    )
    made = await asyncio.to_thread(backup.make, options.target, SystemClock().now(), options.keep)
    if made.revision == HEAD:  # opening an older database would migrate it
        async with open_world(settings) as world:
            await world.operating.note_backup(
                OperatorAct.BACKUP_MADE, made.path.name, COMMAND_LINE, f"{made.size} bytes"
            )
    words = [f"Made {made.path}, {made.size:,} bytes, with all accounts, keys and secrets."]
    words += [f"Deleted {path}." for path in made.dropped]
    return Result(
        {
            "File": str(made.path),
            "Bytes": made.size,
            "Deleted": [str(path) for path in made.dropped],
        },
        "\n".join(words),
    )


async def restore_backup(settings: Settings, options: argparse.Namespace) -> Result:
    require_driver(settings.database)
    at = SystemClock().now()
    restored = await asyncio.to_thread(
        restore,
        options.source,
        settings.database_path,
        at,
        replaces=options.replace,
        load=_loading(settings.database, options.source.name),
    )
    about = restored.description
    async with open_world(settings) as world:
        await world.operating.note_backup(
            OperatorAct.BACKUP_RESTORED,
            options.source.name,
            COMMAND_LINE,
            f"made {about.made_at:%Y-%m-%d %H:%M} UTC",
        )
    words = [
        f"Restored what was backed up on {about.made_at:%Y-%m-%d at %H:%M} UTC by Printreach"
        f" {about.version}. What was revoked or deleted since then is valid again."
    ]
    if restored.aside is not None:
        words.append(f"What was there before is in {restored.aside}.")
    return Result(
        {
            "MadeAt": about.made_at.isoformat(),
            "Version": about.version,
            "Replaced": None if restored.aside is None else str(restored.aside),
        },
        "\n".join(words),
    )


async def copy(settings: Settings, options: argparse.Namespace) -> Result:
    source, target = (_location(url, settings) for url in (options.source, options.target))
    if source == target:
        raise WrongUsage("Both addresses name the same database.")
    for location in source, target:
        require_driver(location)
    try:
        copied = await copy_database(source, target, str if options.json else _tell_progress)
    except (SQLAlchemyError, OSError) as error:
        raise CommandFailed(f"A database can't be used: {reason_of(error)}.") from error
    rows = sum(table.rows for table in copied)
    return Result(
        {"Tables": {table.name: table.rows for table in copied}},
        f"Copied {rows:,} rows of {len(copied)} tables to {target}, and compared them."
        " The service uses it once PRINTREACH_DATABASE_URL names it; the keys stay in"
        f" {settings.data_dir}.",
    )


def _copying_from(location: DatabaseLocation) -> _Work:
    """Return what copies the database into a file, as it is at one moment."""
    if isinstance(location, Path):
        return partial(copy_sqlite, location)

    def copy_to(file: Path) -> None:
        asyncio.run(copy_database(location, file, may_be_used=True))

    return copy_to


def _loading(location: DatabaseLocation, name: str) -> _Work | None:
    """Return what copies a backup's file to the database's server, if it has one."""
    if isinstance(location, Path):
        return None

    def copy_from(file: Path) -> None:
        asyncio.run(copy_database(file, location, source_name=f"the backup {name}"))

    return copy_from


def _location(url: str, settings: Settings) -> DatabaseLocation:
    """Parse an address of a database. Raises WrongUsage, without the password that it may hold."""
    if url.startswith("sqlite:///"):
        return Path(url.removeprefix("sqlite:///"))
    try:
        return PostgresqlLocation(read_database_url(url), settings.data_dir)
    except WrongValue:
        raise WrongUsage(
            "Databases are named such as sqlite:////var/lib/printreach/printreach.sqlite3 and"
            " postgresql://user:password@host/name."
        ) from None


def _tell_progress(table: str) -> None:
    print(f"Copying {table}", file=sys.stderr)


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text[:5]) <= 9999:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to 9999")
    return int(text)
