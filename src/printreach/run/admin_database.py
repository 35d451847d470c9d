"""The operator's commands about the database: backups, and how they come back."""

import argparse
import asyncio
from functools import partial
from pathlib import Path

from printreach import __version__
from printreach.backends.clock import SystemClock
from printreach.rules.operators import COMMAND_LINE, OperatorAct
from printreach.run.admin_world import Result, Subparsers, add_settings_command, open_world
from printreach.run.settings import Settings
from printreach.store.backups.making import Backup, copy_sqlite
from printreach.store.backups.restoring import restore
from printreach.store.migrate import HEAD


def add_database_commands(actions: Subparsers) -> None:
    """Declare the commands."""
    backup = add_settings_command(actions, "backup", back_up, "copy all of it while it is in use")
    backup.add_argument(
        "target", metavar="FILE", type=Path, help="a new file, or a folder for files of each time"
    )
    backup.add_argument(
        "--with-pictures", action="store_true", help="with pictures of events and timelapses"
    )
    backup.add_argument(
        "--keep", metavar="N", type=_count, help="keep the newest N in the folder, delete others"
    )
    restored = add_settings_command(
        actions, "restore", restore_backup, "put a backup into an empty data directory"
    )
    restored.add_argument("source", metavar="FILE", type=Path)
    restored.add_argument(
        "--replace", action="store_true", help="move what is there into a folder beside it"
    )


async def back_up(settings: Settings, options: argparse.Namespace) -> Result:
    database = settings.database_path
    backup = Backup(
        data_dir=settings.data_dir,
        database=database.name,
        copy_database=partial(copy_sqlite, database),
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
    at = SystemClock().now()
    restored = await asyncio.to_thread(
        restore, options.source, settings.database_path, at, replaces=options.replace
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


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text[:5]) <= 9999:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to 9999")
    return int(text)
