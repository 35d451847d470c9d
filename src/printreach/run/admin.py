"""`printreach admin`: the operator's commands, on the service's own database.

They work while the service runs, which is notified of every change, and before its first start.
"""

import argparse
import asyncio
import os
import sys
from datetime import UTC, date, datetime, time, timedelta
from getpass import getpass
from pathlib import Path

from printreach.contract.permissions import (
    ALL_PERMISSIONS,
    Permission,
    format_permissions,
    parse_permissions,
)
from printreach.ports import Unavailable
from printreach.rules.safe_text import lines
from printreach.run import admin_commands as commands
from printreach.run.admin_database import add_database_commands
from printreach.run.admin_operating import (
    add_detection_commands,
    add_operating_commands,
    add_webhook_commands,
)
from printreach.run.admin_world import CommandFailed, Subparsers, WrongUsage, add_command, show
from printreach.run.doctor import add_doctor_command
from printreach.run.settings import Settings, SettingsError, settings_from
from printreach.store.backups.archive import BackupFailed
from printreach.store.copying import CopyFailed
from printreach.store.engine import DatabaseInUse
from printreach.store.key_files import KeyFileRefused
from printreach.store.migrate import DatabaseTooNew


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare every command; each takes --json."""
    subjects = parser.add_subparsers(metavar="SUBJECT", required=True)
    _add_account_commands(_subject(subjects, "account", "who may sign in"))
    _add_app_commands(_subject(subjects, "app", "programs that may ask for connections"))
    _add_printer_commands(_subject(subjects, "printer", "printers of accounts"))
    _add_connection_commands(_subject(subjects, "connection", "what reaches printers"))
    add_detection_commands(subjects)
    add_operating_commands(subjects)
    add_webhook_commands(_subject(subjects, "webhook-keys", "what webhooks are signed with"))
    add_doctor_command(subjects)
    add_database_commands(_subject(subjects, "database", "backups, and moving to another engine"))


def main(options: argparse.Namespace) -> int:
    """Run the command. 0, or 1 with a sentence on standard error."""
    try:
        settings = settings_from(os.environ)
        if not options.json:
            _warn_of_new_database(settings)
        if "password" in options:
            options.password = _read_password()
        result = asyncio.run(options.command(settings, options))
    except WrongUsage as error:
        return _fail(error, 2)
    except (
        BackupFailed,
        CopyFailed,
        DatabaseInUse,
        SettingsError,
        CommandFailed,
        KeyFileRefused,
        Unavailable,
        DatabaseTooNew,
    ) as error:
        return _fail(error, 1)
    except UnicodeError:
        return _fail("Arguments and passwords are text in UTF-8.", 1)
    show(result, as_json=options.json)
    return 0 if result.failure is None else _fail(result.failure, 1)


def _warn_of_new_database(settings: Settings) -> None:
    """Warn that a command without the service's settings works on a new, empty database."""
    if isinstance(settings.database, Path) and not settings.database.exists():
        print(
            f"printreach admin: {settings.data_dir.absolute()} is new. Where the service's data is"
            " somewhere else, give this command the service's settings, PRINTREACH_DATA_DIR first.",
            file=sys.stderr,
        )


def _add_account_commands(actions: Subparsers) -> None:
    add = add_command(
        actions, "add", commands.add_account, "make one; its password on standard input"
    )
    add.add_argument("email", metavar="EMAIL")
    add.add_argument("--supporter", action="store_true", help="grant supporter status for good")
    add.add_argument("--admin", action="store_true", help="an operator's account")
    add.set_defaults(password=None)
    invite = add_command(actions, "invite", commands.invite, "a link with which one can be made")
    invite.add_argument("email", metavar="EMAIL", nargs="?", help="the only address it fits")
    invite.add_argument("--supporter", action="store_true", help="grant supporter status for good")
    invite.add_argument("--admin", action="store_true", help="an operator's account")
    reset = add_command(
        actions, "reset", commands.reset_account, "a link to choose another password"
    )
    reset.add_argument("email", metavar="EMAIL")
    reset.add_argument(
        "--second-factor", action="store_true", help="drop the authenticator app and passkeys, too"
    )
    add_command(actions, "list", commands.list_accounts, "all accounts")
    supporter = add_command(actions, "supporter", commands.set_supporter, "grant supporter status")
    supporter.add_argument("email", metavar="EMAIL")
    supporter.add_argument("state", choices=["on", "off"])
    supporter.add_argument(
        "--until", metavar="DATE", type=_end_of_day, help="the last day, YYYY-MM-DD, in UTC"
    )
    block = add_command(
        actions, "block", commands.block_account, "keep its owner out, or let them in"
    )
    block.add_argument("email", metavar="EMAIL")
    block.add_argument("state", choices=["on", "off"])
    lock = add_command(
        actions,
        "lock",
        commands.lock_account,
        "nobody controls its printers from afar until unlock",
    )
    lock.add_argument("email", metavar="EMAIL")
    unlock = add_command(actions, "unlock", commands.unlock_account, "let remote control go on")
    unlock.add_argument("email", metavar="EMAIL")
    delete = add_command(actions, "delete", commands.delete_account, "delete one with all it has")
    delete.add_argument("email", metavar="EMAIL")


def _add_app_commands(actions: Subparsers) -> None:
    add = add_command(actions, "add", commands.add_app, "register one")
    add.add_argument("app_id", metavar="APP_ID")
    add.add_argument("--name", required=True)
    add.add_argument(
        "--return-url",
        metavar="PREFIX",
        dest="return_prefixes",
        action="extend",
        nargs="+",
        default=[],
        help="where people may be returned to; several may be given",
    )
    add.add_argument(
        "--return-to-lan",
        action="store_true",
        help="also to any private or loopback IP address, for an app in people's networks",
    )
    add_command(actions, "list", commands.list_apps, "all apps")


def _add_printer_commands(actions: Subparsers) -> None:
    link = add_command(actions, "link", commands.link_printer, "by the code that its agent shows")
    link.add_argument("link_code", metavar="LINK_CODE")
    link.add_argument("--account", metavar="EMAIL", required=True)
    link.add_argument("--name", required=True)
    open_ = add_command(
        actions, "open", commands.open_printer, "a link that opens its own interface"
    )
    open_.add_argument("printer_id", metavar="PRINTER_ID")
    add_command(actions, "list", commands.list_printers, "all printers")
    remove = add_command(actions, "remove", commands.remove_printer, "take one from its account")
    remove.add_argument("printer_id", metavar="PRINTER_ID")


def _add_connection_commands(actions: Subparsers) -> None:
    add = add_command(actions, "add", commands.add_connection, "let an app reach a printer")
    add.add_argument("--app", metavar="APP_ID", required=True)
    add.add_argument("--printer", metavar="PRINTER_ID", required=True)
    add.add_argument(
        "--permissions",
        metavar="WORDS",
        type=_permissions,
        default=ALL_PERMISSIONS,
        help=f"what it may do, with commas between the words: {format_permissions(ALL_PERMISSIONS)}"
        " (all of them where this is left out)",
    )
    revoke = add_command(actions, "revoke", commands.revoke_connection, "end one")
    revoke.add_argument("connection_id", metavar="ID")
    add_command(actions, "list", commands.list_connections, "all connections, ended ones included")


def _subject(subjects: Subparsers, name: str, help_: str) -> Subparsers:
    return subjects.add_parser(name, help=help_).add_subparsers(metavar="ACTION", required=True)


def _permissions(text: str) -> frozenset[Permission]:
    try:
        return parse_permissions(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _end_of_day(text: str) -> datetime:
    """Return the first instant after that day."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a date such as 2030-12-31") from None
    return datetime.combine(day, time(), UTC) + timedelta(days=1)


def _read_password() -> str:
    if sys.stdin.isatty():
        return getpass("Password: ")
    return sys.stdin.buffer.readline().decode().rstrip("\r\n")


def _fail(sentence: Exception | str, status: int) -> int:
    print(lines(f"printreach admin: {sentence}"), file=sys.stderr)
    return status
