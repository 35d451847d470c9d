"""The service's own access to a printer's command API: a name and a token that only it can make.

Both are derived from a key that never leaves the service, so nothing is stored and any node can
check them. The name contains the printer and a proof, so that a guess costs no look-up and reveals
nothing. The token is made for one owner of the printer and works for no other, and it changes
each minute.
"""

import hashlib
import hmac
import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, NamedTuple

from printreach.rules.connections import INTERNAL_KINDS, ConnectionKind, Grant, Limits
from printreach.rules.connections.credentials import CredentialKind, base32_text, digest
from printreach.rules.connections.permissions import Access
from printreach.rules.printers import LinkedPrinter, OwnedPrinter

WINDOW_S: Final = 60
"""A token is good for the minute it was made in and the next; the relay's trust in a grant adds
20 s. Streams that began with it may go on."""
_PROOF_BYTES: Final = 16
_PREFIXES: Final = tuple(f"{kind.value}-" for kind in sorted(INTERNAL_KINDS))
_NAME: Final = re.compile(rf"({'|'.join(sorted(INTERNAL_KINDS))})-([a-z2-7]{{32}})([a-z2-7]{{26}})")


class InternalName(NamedTuple):
    """A decoded internal name. kind: one of INTERNAL_KINDS."""

    kind: ConnectionKind
    printer_id: str


@dataclass(frozen=True, slots=True)
class InternalKey:
    """At least 32 secret bytes, the same in every process of an installation."""

    secret: bytes = field(repr=False)


def internal_name(
    key: InternalKey, printer_id: str, kind: ConnectionKind = ConnectionKind.INTERNAL
) -> str:
    """Return the unique id under which the service itself reaches a printer."""
    return f"{kind.value}-{printer_id}{_proof(key, kind, printer_id)}"


def is_of_internal_kind(unique_id: str) -> bool:
    """Whether it begins like our internal names; `parse_internal_name` verifies that we made it."""
    return unique_id.startswith(_PREFIXES)


def parse_internal_name(key: InternalKey, unique_id: str) -> InternalName | None:
    """Parse a name that we made; None for every other name."""
    found = _NAME.fullmatch(unique_id)
    if found is None:
        return None
    kind, printer_id, proof = ConnectionKind(found[1]), found[2], found[3]
    is_ours = hmac.compare_digest(proof.encode(), _proof(key, kind, printer_id).encode())
    return InternalName(kind, printer_id) if is_ours else None


def internal_token(key: InternalKey, printer: OwnedPrinter, at: datetime) -> str:
    """Return the bearer token of now; it opens the printer only while that account owns it."""
    return _token(key, printer, _window(at))


def internal_digests(key: InternalKey, printer: OwnedPrinter, at: datetime) -> tuple[bytes, ...]:
    """Return the digests that open the way now.

    The next minute's is among them: the grant with these is trusted for a moment, in which that
    minute may begin.
    """
    now = _window(at)
    return tuple(
        digest(CredentialKind.BEARER, _token(key, printer, window).encode())
        for window in (now - 1, now, now + 1)
    )


def internal_grant(
    key: InternalKey,
    name: InternalName,
    printer: LinkedPrinter | None,
    limits: Limits,
    at: datetime,
) -> Grant:
    """Return the grant of now. printer: None if it belongs to nobody. limits: of its account."""
    account_id = printer.account_id if printer else ""
    unique_id = internal_name(key, name.printer_id, name.kind)
    return Grant(
        unique_id=unique_id,
        connection_id=unique_id,
        kind=name.kind,
        printer_id=name.printer_id,
        account_id=account_id,
        digests=internal_digests(key, OwnedPrinter(name.printer_id, account_id), at),
        ended=printer is None or printer.is_blocked,
        expires_at=None,
        owner_is_supporter=True,
        limits=limits,
        access=_access(name.kind, printer),
    )


def _access(kind: ConnectionKind, printer: LinkedPrinter | None) -> Access:
    """Return what the service itself may do: a lock binds it too, except for stopping printers."""
    if kind is ConnectionKind.STOPPING:
        return Access(ignores_lock=True)
    return Access(is_locked=printer is not None and printer.is_locked)


def _window(at: datetime) -> int:
    return int(at.timestamp()) // WINDOW_S


def _proof(key: InternalKey, kind: ConnectionKind, printer_id: str) -> str:
    # In the words of before for the first kind: processes of two versions may run side by side.
    purpose = "name" if kind is ConnectionKind.INTERNAL else f"name {kind.value}"
    return base32_text(_mac(key, purpose, printer_id)[:_PROOF_BYTES])


def _token(key: InternalKey, printer: OwnedPrinter, window: int) -> str:
    # Neither id holds a blank, so no two printers and accounts give the same text.
    return base32_text(_mac(key, f"token {window} {printer.account_id}", printer.printer_id))


def _mac(key: InternalKey, purpose: str, printer_id: str) -> bytes:
    message = f"printreach internal {purpose} {printer_id}".encode()
    return hmac.new(key.secret, message, hashlib.sha256).digest()
