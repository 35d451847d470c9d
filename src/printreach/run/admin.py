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
    _add_account_commands(_subject(subjects, "account", "manage accounts"))
    _add_app_commands(_subject(subjects, "app", "manage apps that may ask for connections"))
    _add_printer_commands(_subject(subjects, "printer", "manage printers"))
    _add_connection_commands(_subject(subjects, "connection", "manage App Connections"))
    add_detection_commands(subjects)
    add_operating_commands(subjects)
    add_webhook_commands(_subject(subjects, "webhook-keys", "manage the keys that sign webhooks"))
    add_doctor_command(subjects)
    add_database_commands(
        _subject(subjects, "database", "back up, restore, or move to another kind of database")
    )


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
        actions,
        "add",
        commands.add_account,
        "create an account; reads its password from standard input",
    )
    add.add_argument("email", metavar="EMAIL")
    add.add_argument("--supporter", action="store_true", help="grant supporter status for good")
    add.add_argument("--admin", action="store_true", help="an operator's account")
    add.set_defaults(password=None)
    invite = add_command(
        actions, "invite", commands.invite, "print a link that creates one account"
    )
    invite.add_argument(
        "email", metavar="EMAIL", nargs="?", help="the only address that may use it"
    )
    invite.add_argument("--supporter", action="store_true", help="grant supporter status for good")
    invite.add_argument("--admin", action="store_true", help="an operator's account")
    reset = add_command(
        actions, "reset", commands.reset_account, "print a link to set a new password"
    )
    reset.add_argument("email", metavar="EMAIL")
    reset.add_argument(
        "--second-factor",
        action="store_true",
        help="also remove the authenticator app and passkeys",
    )
    add_command(actions, "list", commands.list_accounts, "list all accounts")
    supporter = add_command(
        actions, "supporter", commands.set_supporter, "grant or revoke supporter status"
    )
    supporter.add_argument("email", metavar="EMAIL")
    supporter.add_argument("state", choices=["on", "off"])
    supporter.add_argument(
        "--until", metavar="DATE", type=_end_of_day, help="the last day, YYYY-MM-DD, in UTC"
    )
    block = add_command(actions, "block", commands.block_account, "block or unblock an account")
    block.add_argument("email", metavar="EMAIL")
    block.add_argument("state", choices=["on", "off"])
    lock = add_command(
        actions,
        "lock",
        commands.lock_account,
        "lock remote control of its printers",
    )
    lock.add_argument("email", metavar="EMAIL")
    unlock = add_command(actions, "unlock", commands.unlock_account, "unlock remote control")
    unlock.add_argument("email", metavar="EMAIL")
    delete = add_command(
        actions, "delete", commands.delete_account, "delete an account and all its data"
    )
    delete.add_argument("email", metavar="EMAIL")


def _add_app_commands(actions: Subparsers) -> None:
    add = add_command(actions, "add", commands.add_app, "register an app")
    add.add_argument("app_id", metavar="APP_ID")
    add.add_argument("--name", required=True)
    add.add_argument(
        "--return-url",
        metavar="PREFIX",
        dest="return_prefixes",
        action="extend",
        nargs="+",
        default=[],
        help="beginning of an address that people may return to; several may be given",
    )
    add.add_argument(
        "--return-to-lan",
        action="store_true",
        help="also allow any private or loopback IP address, for an app in people's networks",
    )
    add_command(actions, "list", commands.list_apps, "list all apps")


def _add_printer_commands(actions: Subparsers) -> None:
    link = add_command(
        actions, "link", commands.link_printer, "link a printer with the code that its agent shows"
    )
    link.add_argument("link_code", metavar="LINK_CODE")
    link.add_argument("--account", metavar="EMAIL", required=True)
    link.add_argument("--name", required=True)
    open_ = add_command(
        actions, "open", commands.open_printer, "print a link to a printer's own interface"
    )
    open_.add_argument("printer_id", metavar="PRINTER_ID")
    add_command(actions, "list", commands.list_printers, "list all printers")
    remove = add_command(
        actions, "remove", commands.remove_printer, "remove a printer from its account"
    )
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
        help=f"what it may do, separated by commas: {format_permissions(ALL_PERMISSIONS)}"
        " (default: all of them)",
    )
    revoke = add_command(actions, "revoke", commands.revoke_connection, "end a connection")
    revoke.add_argument("connection_id", metavar="ID")
    add_command(
        actions, "list", commands.list_connections, "list all connections, ended ones included"
    )


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
