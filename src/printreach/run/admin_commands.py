"""The administration commands and their output. Each error is one sentence."""

import argparse
from dataclasses import replace
from datetime import datetime

from printreach.contract.permissions import Permission, format_permissions
from printreach.rules.accounts import Account, SupporterPolicy, may_connect_apps
from printreach.rules.connections import Connection, has_ended
from printreach.rules.operators import COMMAND_LINE
from printreach.rules.portal.parameters import completion_parameters
from printreach.run.admin_world import Json, Result, World, WrongUsage, done, table


async def add_account(world: World, options: argparse.Namespace) -> Result:
    added = done(
        await world.accounts.add(
            options.email,
            options.password,
            is_admin=options.admin,
            supporter=options.supporter,
            by=COMMAND_LINE,
        )
    )
    return Result(
        {"AccountId": added.account_id, "Email": added.email}, f"Added account {added.email}."
    )


async def invite(world: World, options: argparse.Namespace) -> Result:
    url = done(
        await world.invitations.invite(
            options.email, is_admin=options.admin, supporter=options.supporter, by=COMMAND_LINE
        )
    )
    return Result({"Url": url}, f"{url}\nIt works once, for a week.")


async def reset_account(world: World, options: argparse.Namespace) -> Result:
    url = done(
        await world.account_recovery.link(
            options.email, drops_second_factor=options.second_factor, by=COMMAND_LINE
        )
    )
    return Result({"Url": url}, f"{url}\nIt works once, for an hour.")


async def list_accounts(world: World, _: argparse.Namespace) -> Result:
    accounts = await world.accounts.all()
    rows = [
        [
            account.email,
            "yes" if account.is_admin else "no",
            _supporter_in_words(world, account),
            "blocked" if account.is_blocked else "locked" if account.is_locked else "",
        ]
        for account in accounts
    ]
    return Result(
        {"Accounts": [_account_as_json(world, account) for account in accounts]},
        table(["Email", "Admin", "Supporter", ""], rows, empty="There are no accounts."),
    )


async def set_supporter(world: World, options: argparse.Namespace) -> Result:
    granted = options.state == "on"
    if options.until is not None and not granted:
        raise WrongUsage("--until goes with on, not with off.")
    changed = done(
        await world.accounts.set_supporter(
            options.email, granted=granted, until=options.until, by=COMMAND_LINE
        )
    )
    return Result(
        _account_as_json(world, changed),
        f"Supporter status of {changed.email}: {_supporter_in_words(world, changed)}.",
    )


async def block_account(world: World, options: argparse.Namespace) -> Result:
    blocked = options.state == "on"
    changed = done(
        await world.operating.set_blocked(options.email, blocked=blocked, by=COMMAND_LINE)
    )
    word = "is blocked" if changed.is_blocked else "is open"
    return Result(_account_as_json(world, changed), f"{changed.email} {word}.")


async def lock_account(world: World, options: argparse.Namespace) -> Result:
    changed = done(await world.operating.set_locked(options.email, locked=True, by=COMMAND_LINE))
    return Result(
        _account_as_json(world, changed),
        f"Remote control of {changed.email} is locked. Prints that are under way go on.",
    )


async def unlock_account(world: World, options: argparse.Namespace) -> Result:
    changed = done(await world.operating.set_locked(options.email, locked=False, by=COMMAND_LINE))
    return Result(
        _account_as_json(world, changed), f"Remote control of {changed.email} is unlocked."
    )


async def delete_account(world: World, options: argparse.Namespace) -> Result:
    deleted = done(await world.accounts.delete(options.email, by=COMMAND_LINE))
    return Result(
        {"AccountId": deleted.account_id, "Email": deleted.email},
        f"Deleted account {deleted.email} with its printers; its connections have ended.",
    )


async def add_app(world: World, options: argparse.Namespace) -> Result:
    added = done(
        await world.apps.add(
            options.app_id,
            options.name,
            options.return_prefixes,
            returns_to_lan=options.return_to_lan,
            by=COMMAND_LINE,
        )
    )
    return Result({"AppId": added.app_id, "Name": added.name}, f"Registered app {added.app_id}.")


async def list_apps(world: World, _: argparse.Namespace) -> Result:
    apps = await world.apps.all()
    rows = [[app.app_id, app.name, " ".join(app.return_prefixes)] for app in apps]
    return Result(
        {
            "Apps": [
                {
                    "AppId": app.app_id,
                    "Name": app.name,
                    "ReturnUrls": app.return_prefixes,
                    "ReturnsToLan": app.returns_to_lan,
                }
                for app in apps
            ]
        },
        table(["AppId", "Name", "ReturnUrls"], rows, empty="There are no apps."),
    )


async def link_printer(world: World, options: argparse.Namespace) -> Result:
    code, email = options.link_code, options.account
    linked = done(await world.printers.link(code, email, options.name, by=COMMAND_LINE))
    return Result(
        {"PrinterId": linked.printer_id, "Name": linked.name},
        f"Linked {linked.name}; its PrinterId is {linked.printer_id}.",
    )


async def open_printer(world: World, options: argparse.Namespace) -> Result:
    url = done(await world.connections.open_own(options.printer_id, by=COMMAND_LINE))
    return Result({"Url": url}, url)


async def list_printers(world: World, _: argparse.Namespace) -> Result:
    printers = await world.printers.all()
    rows = [
        [
            row.printer.printer_id,
            row.printer.name,
            row.owner_email,
            "online" if row.is_online else "offline",
        ]
        for row in printers
    ]
    return Result(
        {
            "Printers": [
                {
                    "PrinterId": row.printer.printer_id,
                    "Name": row.printer.name,
                    "Account": row.owner_email,
                    "IsOnline": row.is_online,
                }
                for row in printers
            ]
        },
        table(["PrinterId", "Name", "Account", ""], rows, empty="There are no printers."),
    )


async def remove_printer(world: World, options: argparse.Namespace) -> Result:
    removed = done(await world.printers.remove(options.printer_id, by=COMMAND_LINE))
    return Result(
        {"PrinterId": removed.printer_id, "Name": removed.name},
        f"Removed {removed.name}; its connections have ended.",
    )


async def add_connection(world: World, options: argparse.Namespace) -> Result:
    made = done(
        await world.connections.add_for_app(
            options.app, options.printer, by=COMMAND_LINE, permissions=options.permissions
        )
    )
    parameters = completion_parameters(made)
    lines = [f"{name}: {value}" for name, value in parameters.items()]
    return Result(parameters, "\n".join([*lines, "The secrets are shown this once."]))


async def list_connections(world: World, _: argparse.Namespace) -> Result:
    connections = await world.connections.all()
    at = world.clock.now()
    rows = [
        [
            connection.connection_id,
            connection.kind.value,
            connection.app_id or "",
            connection.printer_id or "",
            format_permissions(connection.permissions),
            "ended" if has_ended(connection, at) else "",
        ]
        for connection in connections
    ]
    return Result(
        {"Connections": [_connection_as_json(connection, at) for connection in connections]},
        table(
            ["Id", "Kind", "AppId", "PrinterId", "Permissions", ""],
            rows,
            empty="There are no connections.",
        ),
    )


async def revoke_connection(world: World, options: argparse.Namespace) -> Result:
    revoked = done(await world.connections.revoke(options.connection_id, by=COMMAND_LINE))
    return Result({"Id": revoked.connection_id}, f"Revoked {revoked.connection_id}.")


def _account_as_json(world: World, account: Account) -> dict[str, Json]:
    until, paid_until = account.supporter_until, account.paid_until
    return {
        "AccountId": account.account_id,
        "Email": account.email,
        "IsAdmin": account.is_admin,
        "IsBlocked": account.is_blocked,
        "IsLocked": account.is_locked,
        "IsSupporter": _is_supporter(world, account),
        "SupporterUntil": until.isoformat() if until is not None else None,
        "PaidUntil": paid_until.isoformat() if paid_until is not None else None,
    }


def _connection_as_json(connection: Connection, at: datetime) -> dict[str, Json]:
    return {
        "Id": connection.connection_id,
        "Kind": connection.kind.value,
        "UniqueId": connection.unique_id,
        "AppId": connection.app_id,
        "PrinterId": connection.printer_id,
        "Permissions": [
            permission.value for permission in Permission if permission in connection.permissions
        ],
        "HasEnded": has_ended(connection, at),
    }


def _is_supporter(world: World, account: Account) -> bool:
    return _is_supporter_under(world.supporters, world, account)


def _supporter_in_words(world: World, account: Account) -> str:
    granted = replace(account, paid_until=None)
    if _is_supporter_under(SupporterPolicy.GRANTED, world, granted):
        until = account.supporter_until
        return "on" if until is None else f"on, until {until:%Y-%m-%d %H:%M} UTC"
    if _is_supporter_under(SupporterPolicy.GRANTED, world, account):
        return f"on, paid until {account.paid_until:%Y-%m-%d %H:%M} UTC"
    return "on, as for everyone" if _is_supporter(world, account) else "off"


def _is_supporter_under(policy: SupporterPolicy, world: World, account: Account) -> bool:
    return may_connect_apps(policy, account, world.clock.now())
