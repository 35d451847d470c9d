"""The common part of administration commands: use cases, failures, results, declaration."""

import argparse
import json
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, TypeVar

from printreach.backends.clock import SystemClock
from printreach.backends.passwords import Argon2Passwords
from printreach.hub.account_mailer import SealedOutbox
from printreach.hub.accounts import Accounts
from printreach.hub.accounts.invitations import Invitations
from printreach.hub.accounts.password_reset import AccountRecovery
from printreach.hub.apps import Apps
from printreach.hub.connections import Connections
from printreach.hub.core import Core
from printreach.hub.denied import Denied
from printreach.hub.detection.keys import DetectionKeys
from printreach.hub.detection.usage import Usage
from printreach.hub.operators import AddressClaims, Operating, operating
from printreach.hub.printers import Printers
from printreach.ports import Clock
from printreach.rules.accounts import SupporterPolicy
from printreach.rules.safe_text import lines, one_line
from printreach.run.dependencies import bus_of, core_of, payments_of, store_of
from printreach.run.settings import Settings
from printreach.store.sealing import DataDirSealer
from printreach.store.store import Store

T = TypeVar("T")
Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


class CommandFailed(Exception):
    """The command failed; the message is a sentence for the operator."""


class WrongUsage(Exception):
    """Arguments that contradict each other; the message is a sentence."""


@dataclass(frozen=True, kw_only=True, slots=True)
class World:
    """The use cases that commands call."""

    core: Core
    clock: Clock
    data_dir: Path
    supporters: SupporterPolicy
    accounts: Accounts
    invitations: Invitations
    account_recovery: AccountRecovery
    apps: Apps
    printers: Printers
    connections: Connections
    operating: Operating
    detection_keys: DetectionKeys
    usage: Usage
    claims: AddressClaims


@asynccontextmanager
async def open_world(settings: Settings) -> AsyncIterator[World]:
    """Open the use cases on the service's own database."""
    clock = SystemClock()
    async with (
        store_of(settings) as store,
        _telling_the_service(settings, store),
        payments_of(settings, clock) as payments,
    ):
        # The running service delivers the mails that a command enqueues.
        outbox = SealedOutbox(
            sealer=DataDirSealer(settings.data_dir), token_bytes=secrets.token_bytes
        )
        core = core_of(settings, store, clock, Argon2Passwords(), outbox)
        operated = operating(core, payments, settings.tunnel_ports)
        yield World(
            core=core,
            clock=clock,
            data_dir=settings.data_dir,
            supporters=settings.supporters,
            accounts=operated.accounts,
            invitations=operated.invitations,
            account_recovery=AccountRecovery(core=core),
            apps=Apps(core=core),
            detection_keys=operated.keys,
            usage=Usage(core=core, plan=settings.detector_plan),
            claims=AddressClaims(core=core),
            printers=operated.printers,
            connections=operated.connections,
            operating=operated,
        )


@asynccontextmanager
async def _telling_the_service(settings: Settings, store: Store) -> AsyncIterator[None]:
    """Publish the notices of what a command changes, where the service doesn't find them itself."""
    if not settings.nats_urls:
        yield  # a bus in the database is read by the service
        return
    async with bus_of(settings, store, SystemClock()):
        yield


@dataclass(frozen=True, slots=True)
class Result:
    """A result in both forms. text: may have several lines; without a line end.

    failure: a sentence, where the command has a result and failed all the same.
    """

    json: Mapping[str, Json]
    text: str
    failure: str | None = None


def show(result: Result, *, as_json: bool) -> None:
    """Print it on standard output."""
    print(json.dumps(result.json) if as_json else lines(result.text))


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, empty: str) -> str:
    """Format rows with each column as wide as its widest cell; return `empty` if there are none."""
    if not rows:
        return empty
    shown = [heads, *([one_line(cell) for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in shown) for column in range(len(heads))]
    padded = (
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        for line in shown
    )
    return "\n".join(line.rstrip() for line in padded)


Command: TypeAlias = Callable[[World, argparse.Namespace], Awaitable[Result]]
SettingsCommand: TypeAlias = Callable[[Settings, argparse.Namespace], Awaitable[Result]]
"""A command that opens no use cases, or opens them itself when it needs them."""


def add_command(
    parsers: Subparsers, name: str, command: Command, help_: str
) -> argparse.ArgumentParser:
    """Declare a command, with --json as every one has it; return its parser for its arguments."""

    async def in_world(settings: Settings, options: argparse.Namespace) -> Result:
        async with open_world(settings) as world:
            return await command(world, options)

    return add_settings_command(parsers, name, in_world, help_)


def add_settings_command(
    parsers: Subparsers, name: str, command: SettingsCommand, help_: str
) -> argparse.ArgumentParser:
    """Declare a command that is given the settings alone."""
    parser = parsers.add_parser(name, help=help_)
    parser.add_argument("--json", action="store_true", help="print one JSON object, nothing else")
    parser.set_defaults(command=command)
    return parser


def done(result: T | Denied) -> T:
    """Return the result of a use case. Raises CommandFailed if it was denied."""
    if isinstance(result, Denied):
        raise CommandFailed(result.sentence)
    return result
