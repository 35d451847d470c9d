"""The operator's commands about the failure-detection API."""

import argparse

from printreach.hub.detection.usage import MonthOfUse
from printreach.rules.detection.address_claims import CLAIM_LIFETIME
from printreach.rules.detection.usage import Billing, Month, parse_month, print_hours
from printreach.rules.operators import COMMAND_LINE
from printreach.run.admin_world import (
    Result,
    Subparsers,
    World,
    add_command,
    done,
    table,
)


def add_detection_commands(subjects: Subparsers) -> None:
    """Declare the commands."""
    keys = subjects.add_parser("detector-key", help="keys of the failure-detection API")
    actions = keys.add_subparsers(metavar="ACTION", required=True)
    add = add_command(actions, "add", add_key, "make one; it is printed once")
    add.add_argument("email", metavar="EMAIL")
    add.add_argument("--name", default="", help="what its owner calls it")
    disable = add_command(actions, "disable", disable_key, "it works no more, for good")
    disable.add_argument("key_id", metavar="KEY_ID")
    usage = add_command(subjects, "detector-usage", show_usage, "calls and cost of a month")
    usage.add_argument("email", metavar="EMAIL")
    usage.add_argument("--month", metavar="YYYY-MM", type=_month, help="the present one by default")
    billing = add_command(subjects, "detector-billing", set_billing, "who pays for further calls")
    billing.add_argument("email", metavar="EMAIL")
    billing.add_argument("state", choices=list(Billing), type=Billing)
    claims = subjects.add_parser("detector-claim", help="addresses that accounts call from")
    actions = claims.add_subparsers(metavar="ACTION", required=True)
    add_command(actions, "list", list_claims, "all that keep other accounts away")
    release = add_command(actions, "release", release_claim, "let any account call from there")
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
