"""The portal's flow: an app asks, a person decides, and at most one App Connection is made.

The next step follows from what is recorded and from the present facts: who is signed in, which
printers they have. So a reload, the back button and a second tab all show the same step, and an act
that does not belong to it changes nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum, StrEnum, auto
from typing import Final

from printreach.contract.permissions import ALL_PERMISSIONS, Permission

FLOW_LIFETIME: Final = timedelta(hours=1)
"""Enough time to create an account, read a mail and install an agent."""
FLOW_KEPT: Final = timedelta(days=1)
"""The time for which a reload shows how the flow ended."""


class PortalError(StrEnum):
    """The reasons why a flow failed, as its app gets them."""

    ACCESS_DENIED = "access_denied"
    NOT_A_SUPPORTER = "not_a_supporter"
    PRINTER_UNAVAILABLE = "printer_unavailable"
    EXPIRED = "expired"
    INVALID_REQUEST = "invalid_request"
    SERVER_ERROR = "server_error"


ERROR_SENTENCES: Final[Mapping[PortalError, str]] = {
    PortalError.ACCESS_DENIED: "The user did not allow access.",
    PortalError.NOT_A_SUPPORTER: "The account lacks the supporter status that apps need.",
    PortalError.PRINTER_UNAVAILABLE: "The printer cannot take another app.",
    PortalError.EXPIRED: "The user took too long; start again.",
    PortalError.INVALID_REQUEST: "A parameter was sent twice, with different values.",
    PortalError.SERVER_ERROR: "The service could not make the connection; try again later.",
}


class Step(Enum):
    """The present step of a flow."""

    ACCOUNT = auto()
    LINK = auto()
    NAME = auto()
    SUPPORTER = auto()
    CHOOSE = auto()
    PERMIT = auto()
    KEY = auto()
    DONE = auto()
    FAILED = auto()
    EXPIRED = auto()


FINAL_STEPS: Final = frozenset({Step.DONE, Step.FAILED, Step.EXPIRED})
CHOOSING_STEPS: Final = frozenset({Step.CHOOSE, Step.PERMIT, Step.KEY})
"""The steps in which a person may choose another printer, or link one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Flow:
    """One person's flow through the portal, as stored.

    browser_digest: of the cookie of the browser that began it; no other may go on.
    return_url: checked when it began. key_app_name: the app wants a key of the printer's software.
    account_id: who chose a printer, linked one or allowed; None before.
    takes_own_printer: go on with a printer of theirs, though the app asked for another.
    unnamed_printer_id: linked here, and not named yet. printer_id: chosen or linked here.
    is_allowed: the app may have the printer; only the question about a key is open.
    permissions: what the app was allowed, once it was.
    replaces_earlier: the app's earlier connections to the printer end then, too.
    """

    flow_id: str
    browser_digest: bytes
    app_id: str
    return_url: str
    asked_printer_id: str | None
    logo_url: str | None
    key_app_name: str | None
    begun_at: datetime
    account_id: str | None = None
    takes_own_printer: bool = False
    unnamed_printer_id: str | None = None
    printer_id: str | None = None
    is_allowed: bool = False
    connection_id: str | None = None
    error: PortalError | None = None
    permissions: frozenset[Permission] = ALL_PERMISSIONS
    replaces_earlier: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """The present facts about the person who uses the page.

    account_id: None while no one is signed in. printer_ids: theirs.
    with_keys: those of them that could make a key for an app now.
    """

    account_id: str | None = None
    printer_ids: tuple[str, ...] = ()
    is_supporter: bool = False
    with_keys: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Connect:
    """All has been answered: the connection is to be made, with these permissions.

    with_key: so is a key. replaces_earlier: the app's earlier connections to the printer end.
    """

    printer_id: str
    with_key: bool = False
    permissions: frozenset[Permission] = ALL_PERMISSIONS
    replaces_earlier: bool = False


def step_of(flow: Flow, facts: Facts, at: datetime) -> Step:
    """Return the one thing to ask, or how it ended."""
    if flow.connection_id is not None:
        return Step.DONE
    if flow.error is not None:
        return Step.FAILED
    if at >= flow.begun_at + FLOW_LIFETIME:
        return Step.EXPIRED
    if facts.account_id is None:
        return Step.ACCOUNT
    return _step_of_person(as_seen_by(flow, facts.account_id), facts)


def as_seen_by(flow: Flow, account_id: str) -> Flow:
    """Return the flow without what another account answered before this one signed in."""
    if flow.account_id in (None, account_id):
        return flow
    return replace(
        flow,
        account_id=None,
        takes_own_printer=False,
        unnamed_printer_id=None,
        printer_id=None,
        is_allowed=False,
    )


def chosen_printer(flow: Flow, facts: Facts) -> str | None:
    """Return the printer it is about: the chosen one, or the only one there is."""
    if flow.printer_id in facts.printer_ids:
        return flow.printer_id
    return facts.printer_ids[0] if len(facts.printer_ids) == 1 else None


def preselected_printer(flow: Flow, facts: Facts) -> str | None:
    """Return which one of several is marked when the person comes to choose.

    None unless they or the app named one: a careless press would allow the wrong printer.
    """
    wanted = (flow.printer_id, flow.asked_printer_id)
    return next((one for one in wanted if one in facts.printer_ids), None)


def refuse(flow: Flow, facts: Facts, error: PortalError, at: datetime) -> Flow | None:
    """Send the person back to the app without a connection; possible until the flow has ended."""
    if step_of(flow, facts, at) in FINAL_STEPS:
        return None
    return replace(flow, account_id=facts.account_id or flow.account_id, error=error)


def may_link(flow: Flow, facts: Facts, at: datetime) -> bool:
    """Whether a link code may be entered now: for the first printer, or for another one."""
    return _is_at(flow, facts, at, Step.LINK, *CHOOSING_STEPS)


def linked(flow: Flow, account_id: str, printer_id: str) -> Flow:
    """Note the linked printer, which is used once it has a name."""
    return replace(
        as_seen_by(flow, account_id),
        account_id=account_id,
        takes_own_printer=True,
        unnamed_printer_id=printer_id,
        printer_id=printer_id,
        is_allowed=False,
    )


def named(flow: Flow, facts: Facts, at: datetime) -> Flow | None:
    """Note that the linked printer has its name."""
    return replace(flow, unnamed_printer_id=None) if _is_at(flow, facts, at, Step.NAME) else None


def take_own(flow: Flow, facts: Facts, at: datetime) -> Flow | None:
    """Go on with a printer that is linked already, whatever the app asked for."""
    if not _is_at(flow, facts, at, Step.LINK) or not facts.printer_ids or not facts.account_id:
        return None
    seen = as_seen_by(flow, facts.account_id)
    return replace(seen, account_id=facts.account_id, takes_own_printer=True)


def choose(flow: Flow, facts: Facts, printer_id: str, at: datetime) -> Flow | None:
    """Another choice takes back what was allowed for the one before."""
    if not _is_at(flow, facts, at, *CHOOSING_STEPS) or not facts.account_id:
        return None
    if printer_id not in facts.printer_ids:
        return None
    seen = as_seen_by(flow, facts.account_id)
    return replace(seen, account_id=facts.account_id, printer_id=printer_id, is_allowed=False)


def allow(
    flow: Flow,
    facts: Facts,
    printer_id: str,
    at: datetime,
    permissions: frozenset[Permission] = ALL_PERMISSIONS,
    *,
    replaces_earlier: bool = False,
) -> Flow | Connect | None:
    """Allow the app this printer, with these permissions.

    printer_id: the one on the page where that was said; another tab may have chosen another since.
    A key of the printer's own software opens its whole interface, so without that permission none
    is asked for.
    """
    if not _is_at(flow, facts, at, Step.PERMIT) or not facts.account_id:
        return None
    seen = as_seen_by(flow, facts.account_id)
    if printer_id != chosen_printer(seen, facts):
        return None
    can_have_key = printer_id in facts.with_keys and Permission.INTERFACE in permissions
    if seen.key_app_name is not None and can_have_key:
        return replace(
            seen,
            account_id=facts.account_id,
            printer_id=printer_id,
            is_allowed=True,
            permissions=permissions,
            replaces_earlier=replaces_earlier,
        )
    return Connect(printer_id, permissions=permissions, replaces_earlier=replaces_earlier)


def answer_key(
    flow: Flow, facts: Facts, printer_id: str, at: datetime, *, with_key: bool
) -> Connect | None:
    """Answer the question about a key; the connection is made with or without it."""
    if not _is_at(flow, facts, at, Step.KEY) or printer_id != flow.printer_id:
        return None
    return Connect(printer_id, with_key, flow.permissions, flow.replaces_earlier)


def connected(flow: Flow, account_id: str, connect: Connect, connection_id: str) -> Flow:
    """Return the end of a flow that succeeded."""
    return replace(
        flow,
        account_id=account_id,
        printer_id=connect.printer_id,
        connection_id=connection_id,
        permissions=connect.permissions,
    )


def _step_of_person(flow: Flow, facts: Facts) -> Step:
    if flow.unnamed_printer_id in facts.printer_ids:
        return Step.NAME
    if not facts.printer_ids or _asks_for_another(flow, facts):
        return Step.LINK
    if not facts.is_supporter:
        return Step.SUPPORTER
    printer_id = chosen_printer(flow, facts)
    if printer_id is None:
        return Step.CHOOSE
    is_key_open = flow.is_allowed and printer_id == flow.printer_id
    return Step.KEY if is_key_open else Step.PERMIT


def _asks_for_another(flow: Flow, facts: Facts) -> bool:
    asked = flow.asked_printer_id
    return asked is not None and asked not in facts.printer_ids and not flow.takes_own_printer


def _is_at(flow: Flow, facts: Facts, at: datetime, *steps: Step) -> bool:
    return step_of(flow, facts, at) in steps
