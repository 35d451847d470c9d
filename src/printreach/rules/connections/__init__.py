"""Connections to a printer: what they grant, and the decision on a request."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from hmac import compare_digest
from typing import Final

from printreach.contract.cameras import CameraChoice
from printreach.contract.errors import ErrorCode
from printreach.contract.permissions import ALL_PERMISSIONS, Permission
from printreach.rules.connections.permissions import FULL_ACCESS, Access, Requirement, refusal_of


class ConnectionKind(StrEnum):
    """The kind of a connection; it is the first part of its host name."""

    APP = "app"
    SHARED = "shared"
    OWN = "own"
    INTERNAL = "self"
    """The service's own, to the command API; never stored (rules.connections.internal_grants)."""
    STOPPING = "stop"
    """The same for stopping all prints of an account: a lock of remote control doesn't bind it."""


INTERNAL_KINDS: Final = frozenset({ConnectionKind.INTERNAL, ConnectionKind.STOPPING})
"""Kinds that are never stored and that only the service itself can use."""


KINDS_WITH_COOKIES: Final = frozenset({ConnectionKind.OWN, ConnectionKind.SHARED})
"""Kinds that a person opens in a browser, which a cookie then signs in."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """The limits of one connection; the defaults are those of the interface."""

    upload_bytes: int = 1024**3
    download_bytes: int = 1024**3
    webcam_stream_s: int = 3600
    webcam_viewers: int = 8


DEFAULT_LIMITS: Final = Limits()
MAX_APP_CONNECTIONS: Final = 20
"""The most living App Connections of one printer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Connection:
    """A connection as stored, without its digests.

    app_id: None for every kind but APP. port: the port of its own, where a range is configured.
    printer_id and account_id are None once the account was deleted; it has ended then.
    used_at: when it last carried something, to the minute or so.
    permissions: what its owner allows it; kinds other than APP and SHARED always have all.
    name: whom it is for, as the owner of a share wrote it; may be empty.
    """

    connection_id: str
    unique_id: str
    kind: ConnectionKind
    app_id: str | None
    printer_id: str | None
    account_id: str | None
    port: int | None
    created_at: datetime
    revoked_at: datetime | None = None
    expires_at: datetime | None = None
    used_at: datetime | None = None
    permissions: frozenset[Permission] = ALL_PERMISSIONS
    name: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class LostPrinter:
    """What an owner is told of a printer that is not connected.

    lan_page: as rules.printers.lan_page_at gives it. lost_at: None if it was connected when
    this was read.
    """

    name: str
    lan_page: str | None = ""
    lost_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Grant:
    """A connection as the relay sees it: all that `find_refusal` needs, and nothing secret.

    digests: every credential that opens it now, by `rules.connections.credentials.digest`.
    ended: revoked, its printer or account is gone, or its owner is blocked. After an account was
    deleted, printer_id and account_id are empty.
    expires_at: the first instant at which it no longer works; None means never.
    access: what it may do, and whether its owner has locked remote control. cameras: what its owner
    chose for them; the service's own connections need no choices. lost: what its owner is told of
    the printer while it is not connected; None for other connections, whose callers see no name.
    """

    unique_id: str
    connection_id: str
    kind: ConnectionKind
    printer_id: str
    account_id: str
    digests: tuple[bytes, ...]
    ended: bool
    expires_at: datetime | None
    owner_is_supporter: bool
    limits: Limits = DEFAULT_LIMITS
    access: Access = FULL_ACCESS
    cameras: tuple[CameraChoice, ...] = ()
    lost: LostPrinter | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """The request ends here, with this status.

    sentence: names the permission that is missing, or says that remote control is locked; None for
    every other refusal, of which the code says all.
    """

    code: ErrorCode
    sentence: str | None = None


def find_refusal(
    grant: Grant | None, presented: Sequence[bytes], requirement: Requirement, at: datetime
) -> Refused | None:
    """Return why a request is refused, in the order 603, 606 (credentials), 604, 605, 606
    (permissions); None: it is forwarded to the printer.

    presented: digests of the credentials the request carries, one or several.
    Credentials are looked at before the connection's state, so that only who holds them learns
    that it has ended. Supporter status binds App Connections alone: nobody is locked out of their
    own printer.
    """
    if grant is None:
        return Refused(ErrorCode.CONNECTION_NOT_FOUND)
    if not is_opened_by(grant, presented):
        return Refused(ErrorCode.BAD_CREDENTIALS)
    if grant.ended or (grant.expires_at is not None and at >= grant.expires_at):
        return Refused(ErrorCode.CONNECTION_ENDED)
    if grant.kind is ConnectionKind.APP and not grant.owner_is_supporter:
        return Refused(ErrorCode.NOT_A_SUPPORTER)
    sentence = refusal_of(requirement, grant.access)
    return None if sentence is None else Refused(ErrorCode.BAD_CREDENTIALS, sentence)


def is_opened_by(grant: Grant, presented: Sequence[bytes]) -> bool:
    """Return whether one of these credentials is the connection's."""
    # Every pair is compared: stopping at the first match would tell by the time it takes which of
    # the credentials it was.
    is_opened = False
    for expected in grant.digests:
        for credential in presented:
            is_opened |= compare_digest(expected, credential)
    return is_opened


def ended_at(connection: Connection) -> datetime | None:
    """Return when it ended or will end; None where no end is set."""
    ends = [end for end in (connection.revoked_at, connection.expires_at) if end is not None]
    return min(ends, default=None)


def has_ended(connection: Connection, at: datetime) -> bool:
    """True from its last instant on."""
    end = ended_at(connection)
    return end is not None and at >= end


def choose_port(
    ports: range,
    holders: Sequence[Connection],
    at: datetime,
    *,
    printer_id: str,
    account_id: str,
) -> int | None:
    """Return the port for a new connection to that printer; None if current ones hold them all.

    holders: the connections that have a port, in the range or not. The choice falls on the lowest
    that nobody holds. After that on one whose connection has ended: of the same printer if
    possible, else of the same account, for a browser keeps what the pages of a port have stored,
    and serves it to the next pages there. Among equals it is the one which ended first: an app
    that still asks there should hear 604 for as long as possible.
    """
    held = {holder.port: holder for holder in holders}
    free = next((port for port in ports if port not in held), None)
    if free is not None:
        return free
    ended = [(held[port], port) for port in ports if has_ended(held[port], at)]
    choices = [
        (one.account_id != account_id, one.printer_id != printer_id, ended_at(one) or at, port)
        for one, port in ended
    ]
    return min(choices)[3] if choices else None
