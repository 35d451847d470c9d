"""The operator's commands about operators, limits, recorded acts, and the failure-detection API."""

import argparse
import base64
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from typing import Final

from printreach.backends.webhook_keys import open_webhook_keys, rotate_webhook_keys
from printreach.hub.detection.usage import MonthOfUse
from printreach.rules.accounts import email_key
from printreach.rules.accounts.limits import DEFAULT_ACCOUNT_LIMITS, LimitChanges, with_changes
from printreach.rules.detection.address_claims import CLAIM_LIFETIME
from printreach.rules.detection.usage import Billing, Month, parse_month, print_hours
from printreach.rules.operators import COMMAND_LINE
from printreach.rules.webhooks.messages import KEY_OVERLAP, SigningKey
from printreach.run.admin_world import (
    CommandFailed,
    Result,
    Subparsers,
    World,
    WrongUsage,
    add_command,
    done,
    table,
)
from printreach.store.key_files import KeyFileRefused
from printreach.store.listings import Search

_NAMES: Final = tuple(one.name for one in fields(LimitChanges))
_UNDECIDED: Final = "default"


def add_operating_commands(subjects: Subparsers) -> None:
    """Declare the commands."""
    operator = add_command(
        subjects, "operator", set_operator, "make an account an operator, or end that"
    )
    operator.add_argument("email", metavar="EMAIL")
    operator.add_argument("state", choices=["on", "off"])
    remove = add_command(subjects, "app-remove", remove_app, "remove an app; its connections end")
    remove.add_argument("app_id", metavar="APP_ID")
    limits = add_command(subjects, "limits", set_limits, "show limits, or change some")
    limits.add_argument("--account", metavar="EMAIL", help="for one account, instead of all")
    for name in _NAMES:
        limits.add_argument(
            f"--{name.replace('_', '-')}",
            metavar="N",
            type=_number,
            default=argparse.SUPPRESS,
            help=f"a number, or {_UNDECIDED!r}",
        )
    acts = add_command(subjects, "acts", list_acts, "show the audit log, latest first")
    acts.add_argument("--search", default="", help="show only entries with this text")


async def set_operator(world: World, options: argparse.Namespace) -> Result:
    is_admin = options.state == "on"
    changed = done(
        await world.operating.set_admin(options.email, is_admin=is_admin, by=COMMAND_LINE)
    )
    word = "is an operator" if changed.is_admin else "is no operator"
    return Result({"Email": changed.email, "IsAdmin": changed.is_admin}, f"{changed.email} {word}.")


async def remove_app(world: World, options: argparse.Namespace) -> Result:
    removed = done(await world.operating.apps.remove(options.app_id, COMMAND_LINE))
    return Result(
        {"AppId": removed.app_id, "Name": removed.name},
        f"Removed {removed.name}; its connections have ended.",
    )


async def set_limits(world: World, options: argparse.Namespace) -> Result:
    given = {name: getattr(options, name) for name in _NAMES if name in options}
    email, cases = options.account, world.operating.limits
    if email is None:
        changes = replace(await cases.of_service(), **given)
        refused = await cases.set_of_service(changes, COMMAND_LINE) if given else None
    else:
        key = email_key(email)
        accounts = [
            account for account in await world.accounts.all() if email_key(account.email) == key
        ]
        if not accounts:
            raise CommandFailed(f"There is no account {email}.")
        changes = replace(
            done(await world.operating.account(accounts[0].account_id)).changes, **given
        )
        refused = await cases.set_of_account(email, changes, COMMAND_LINE) if given else None
    if refused is not None:
        raise WrongUsage(refused.sentence)
    service = with_changes(DEFAULT_ACCOUNT_LIMITS, await cases.of_service())
    in_force = asdict(with_changes(service, changes))
    words = {name: "".join(part.capitalize() for part in name.split("_")) for name in _NAMES}
    rows = [[words[name], str(in_force[name])] for name in _NAMES]
    return Result(
        {words[name]: in_force[name] for name in _NAMES}, table(["Limit", "Value"], rows, empty="")
    )


async def list_acts(world: World, options: argparse.Namespace) -> Result:
    page = await world.operating.acts(Search(text=options.search, size=200))
    rows = [
        [
            f"{record.at:%Y-%m-%d %H:%M}",
            record.operator,
            record.act.value,
            record.subject,
            record.detail,
        ]
        for record in page.rows
    ]
    acts = [
        {
            "At": record.at.isoformat(),
            "Operator": record.operator,
            "Act": record.act.value,
            "Subject": record.subject,
            "Detail": record.detail,
        }
        for record in page.rows
    ]
    heads = ["At (UTC)", "Operator", "Act", "Subject", "Detail"]
    return Result({"Acts": acts}, table(heads, rows, empty="Nothing was done yet."))


def _number(text: str) -> int | None:
    if text == _UNDECIDED:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 15:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number nor {_UNDECIDED!r}")
    return int(text)


def add_webhook_commands(actions: Subparsers) -> None:
    """Declare the commands."""
    add_command(actions, "list", list_keys, "list the valid public keys")
    add_command(actions, "rotate", rotate, "create a new key; the old one signs for another week")


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


def add_detection_commands(subjects: Subparsers) -> None:
    """Declare the commands."""
    keys = subjects.add_parser("detector-key", help="manage keys of the failure-detection API")
    actions = keys.add_subparsers(metavar="ACTION", required=True)
    add = add_command(actions, "add", add_key, "create a key and print it, once")
    add.add_argument("email", metavar="EMAIL")
    add.add_argument("--name", default="", help="a name for the key")
    disable = add_command(actions, "disable", disable_key, "disable a key for good")
    disable.add_argument("key_id", metavar="KEY_ID")
    usage = add_command(
        subjects, "detector-usage", show_usage, "show the calls and cost of a month"
    )
    usage.add_argument("email", metavar="EMAIL")
    usage.add_argument("--month", metavar="YYYY-MM", type=_month, help="default: this month")
    billing = add_command(
        subjects,
        "detector-billing",
        set_billing,
        "switch an account's billing on or off, or block it",
    )
    billing.add_argument("email", metavar="EMAIL")
    billing.add_argument("state", choices=list(Billing), type=Billing)
    claims = subjects.add_parser(
        "detector-claim", help="manage addresses that accounts have claimed"
    )
    actions = claims.add_subparsers(metavar="ACTION", required=True)
    add_command(actions, "list", list_claims, "list the claims that keep other accounts away")
    release = add_command(
        actions,
        "release",
        release_claim,
        "release a claim, so that any account may call from there",
    )
    release.add_argument("address", metavar="ADDRESS")


async def add_key(world: World, options: argparse.Namespace) -> Result:
    made = done(await world.detection_keys.make_for(options.email, options.name, COMMAND_LINE))
    return Result(
        {"KeyId": made.key.key_id, "ApiKey": made.api_key},
        f"{made.api_key}\nIt is shown this once. Its id is {made.key.key_id}.",
    )


async def disable_key(world: World, options: argparse.Namespace) -> Result:
    key = done(await world.detection_keys.disable_any(options.key_id, COMMAND_LINE))
    return Result({"KeyId": key.key_id}, f"Disabled {key.key_id}.")


async def show_usage(world: World, options: argparse.Namespace) -> Result:
    use = done(await world.usage.month_of(options.email, options.month))
    hours = print_hours(use.calls.all)
    return Result(
        {
            "Calls": use.calls.all,
            "PrintHours": float(hours),
            "FreeCalls": use.plan.free_calls,
            "CostUsd": float(use.cost_usd),
        },
        f"{use.month}: {_calls(use)}, {hours:.2f} print hours, {use.cost_usd:.2f} USD.",
    )


async def set_billing(world: World, options: argparse.Namespace) -> Result:
    switches = done(await world.usage.set_billing_of(options.email, options.state, COMMAND_LINE))
    text = f"Billing of {options.email}: {switches.billing}."
    if switches.billing is Billing.ON and switches.free_only:
        text += " It pays once its owner switches free-only mode off."
    return Result({"Billing": switches.billing, "FreeOnly": switches.free_only}, text)


async def list_claims(world: World, _: argparse.Namespace) -> Result:
    claims = await world.claims.all()
    rows = [
        [claim.network, email, f"{claim.used_at + CLAIM_LIFETIME:%Y-%m-%d %H:%M} UTC"]
        for claim, email in claims
    ]
    return Result(
        {
            "Claims": [
                {
                    "Network": claim.network,
                    "Account": email,
                    "UsedAt": claim.used_at.isoformat(),
                }
                for claim, email in claims
            ]
        },
        table(["Network", "Account", "Until"], rows, empty="No address is claimed."),
    )


async def release_claim(world: World, options: argparse.Namespace) -> Result:
    network = done(await world.claims.release(options.address, COMMAND_LINE))
    return Result({"Network": network}, f"Released {network}.")


def _calls(use: MonthOfUse) -> str:
    return f"{use.calls.all} calls, {use.plan.free_calls} a month are free"


def _month(text: str) -> Month:
    month = parse_month(text)
    if month is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a month such as 2026-05")
    return month
