"""The operator's commands about the keys that webhooks are signed with."""

import argparse
import base64
from collections.abc import Sequence
from typing import TypeAlias

from printreach.backends.webhook_keys import open_webhook_keys, rotate_webhook_keys
from printreach.rules.webhooks.messages import KEY_OVERLAP, SigningKey
from printreach.run.admin_commands import Command, CommandFailed
from printreach.run.admin_output import Result, table
from printreach.run.admin_world import World
from printreach.store.key_files import KeyFileRefused

Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add_webhook_commands(actions: Subparsers) -> None:
    """Declare the commands."""
    _command(actions, "list", list_keys, "the public keys that count now")
    _command(actions, "rotate", rotate, "sign with a new key, for a week with the old one as well")


async def list_keys(world: World, _: argparse.Namespace) -> Result:
    try:
        keys = open_webhook_keys(world.data_dir).signing(world.clock.now())
    except KeyFileRefused as refused:
        raise CommandFailed(str(refused)) from refused
    return _result(keys, "")


async def rotate(world: World, _: argparse.Namespace) -> Result:
    try:
        keys = rotate_webhook_keys(world.data_dir, world.clock.now())
    except KeyFileRefused as refused:
        raise CommandFailed(str(refused)) from refused
    days = KEY_OVERLAP.days
    words = f"A running service signs with the new key from now on, and {days} days with the old."
    return _result(keys, words)


def _result(keys: Sequence[SigningKey], words: str) -> Result:
    public = {key.key_id: base64.b64encode(key.public).decode("ascii") for key in keys}
    ends = {key.key_id: key.not_after.isoformat() if key.not_after else None for key in keys}
    rows = [[name, public[name], ends[name] or ""] for name in public]
    listed = table(["KeyId", "PublicKey", "NotAfter"], rows, empty="There are no keys.")
    return Result(
        {
            "Keys": [
                {"KeyId": name, "PublicKey": public[name], "NotAfter": ends[name]}
                for name in public
            ]
        },
        f"{words}\n{listed}".strip(),
    )


def _command(actions: Subparsers, name: str, command: Command, words: str) -> None:
    parser = actions.add_parser(name, help=words)
    parser.add_argument("--json", action="store_true", help="print one JSON object, nothing else")
    parser.set_defaults(command=command)
