"""A connection's forwarding plan is reused until its header lines or grant change."""

from dataclasses import replace

from printreach.http1.heads import RequestReader
from printreach.relay.header_filter import plan_forwarding
from printreach.rules.connections import ConnectionKind, Grant
from printreach.rules.connections.credentials import CredentialKind, digest

GRANT = Grant(
    unique_id="app-one",
    connection_id="connection",
    kind=ConnectionKind.APP,
    printer_id="printer",
    account_id="account",
    digests=(digest(CredentialKind.BEARER, b"right"),),
    ended=False,
    expires_at=None,
    owner_is_supporter=True,
)
RIGHT = b"GET / HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer right\r\n\r\n"
WRONG = b"GET / HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer wrong\r\n\r\n"


def test_the_same_lines_with_the_same_grant_are_planned_once() -> None:
    reader = RequestReader()
    first = plan_forwarding(None, reader.read(RIGHT), GRANT, scheme="https", tunnel_port=None)

    assert (
        plan_forwarding(first, reader.read(RIGHT), GRANT, scheme="https", tunnel_port=None) is first
    )
    assert first.digests == [digest(CredentialKind.BEARER, b"right")]
    assert first.fields == b"Host: h\r\n"


def test_other_credentials_on_the_same_connection_are_looked_at() -> None:
    reader = RequestReader()
    first = plan_forwarding(None, reader.read(RIGHT), GRANT, scheme="https", tunnel_port=None)

    second = plan_forwarding(first, reader.read(WRONG), GRANT, scheme="https", tunnel_port=None)

    assert second.digests == [digest(CredentialKind.BEARER, b"wrong")]
    assert second.fields == b"Host: h\r\nAuthorization: Bearer wrong\r\n"


def test_a_grant_that_was_read_again_is_asked_again() -> None:
    reader = RequestReader()
    first = plan_forwarding(None, reader.read(RIGHT), GRANT, scheme="https", tunnel_port=None)
    changed = replace(GRANT, digests=(digest(CredentialKind.BEARER, b"wrong"),))

    second = plan_forwarding(first, reader.read(RIGHT), changed, scheme="https", tunnel_port=None)

    # It opens nothing any more, so it is the printer's own.
    assert second.fields == b"Host: h\r\nAuthorization: Bearer right\r\n"
