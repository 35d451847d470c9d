"""The service's own access to a printer: making the name and the token, and their lifetime."""

from datetime import timedelta

from printreach.rules.connections import ConnectionKind
from printreach.rules.connections.credentials import CredentialKind, digest, printer_id_of
from printreach.rules.connections.internal_grants import (
    WINDOW_S,
    InternalKey,
    InternalName,
    internal_digests,
    internal_name,
    internal_token,
    parse_internal_name,
)
from printreach.rules.printers import OwnedPrinter
from tests.fakes.clock import NOON

KEY = InternalKey(b"k" * 32)
OTHER_KEY = InternalKey(b"o" * 32)
PRINTER = printer_id_of(b"one" * 11)
OTHER_PRINTER = printer_id_of(b"two" * 11)
ADAS = OwnedPrinter(PRINTER, "ada")
ADAS_OTHER = OwnedPrinter(OTHER_PRINTER, "ada")
BOBS = OwnedPrinter(PRINTER, "bob")
MINUTE = timedelta(seconds=WINDOW_S)


def opens(token: str, *digests: bytes) -> bool:
    return digest(CredentialKind.BEARER, token.encode()) in digests


def test_a_name_leads_back_to_its_printer_and_fits_a_dns_label() -> None:
    name = internal_name(KEY, PRINTER)

    assert parse_internal_name(KEY, name) == InternalName(ConnectionKind.INTERNAL, PRINTER)
    assert len(name) <= 63


def test_the_name_that_stops_prints_can_not_be_made_of_the_other() -> None:
    plain, stopping = (
        internal_name(KEY, PRINTER),
        internal_name(KEY, PRINTER, ConnectionKind.STOPPING),
    )

    assert parse_internal_name(KEY, stopping) == InternalName(ConnectionKind.STOPPING, PRINTER)
    assert parse_internal_name(KEY, plain.replace("self-", "stop-")) is None
    assert len(stopping) <= 63


def test_a_name_of_another_key_or_another_printer_is_none() -> None:
    ours, theirs = internal_name(KEY, PRINTER), internal_name(KEY, OTHER_PRINTER)
    mixed = ours[: len("self-") + 32] + theirs[len("self-") + 32 :]

    assert parse_internal_name(OTHER_KEY, ours) is None
    assert parse_internal_name(KEY, mixed) is None


def test_what_a_stranger_makes_up_is_none() -> None:
    for made_up in ("self-", f"self-{PRINTER}", f"app-{PRINTER}", f"self-{PRINTER}{'a' * 26}", "x"):
        assert parse_internal_name(KEY, made_up) is None


def test_a_token_opens_its_own_printer_alone() -> None:
    token = internal_token(KEY, ADAS, NOON)

    assert opens(token, *internal_digests(KEY, ADAS, NOON))
    assert not opens(token, *internal_digests(KEY, ADAS_OTHER, NOON))
    assert not opens(token, *internal_digests(OTHER_KEY, ADAS, NOON))


def test_a_token_works_only_while_the_account_that_it_was_made_for_owns_the_printer() -> None:
    token = internal_token(KEY, ADAS, NOON)

    assert not opens(token, *internal_digests(KEY, BOBS, NOON))


def test_a_token_is_good_for_its_minute_and_the_next() -> None:
    token = internal_token(KEY, ADAS, NOON)

    assert opens(token, *internal_digests(KEY, ADAS, NOON + MINUTE))
    assert not opens(token, *internal_digests(KEY, ADAS, NOON + 2 * MINUTE))


def test_a_grant_that_is_trusted_into_the_next_minute_knows_that_minutes_token() -> None:
    just_before = NOON - timedelta(seconds=1)

    assert opens(internal_token(KEY, ADAS, NOON), *internal_digests(KEY, ADAS, just_before))


def test_the_name_says_nothing_of_the_token() -> None:
    token = internal_token(KEY, ADAS, NOON)

    assert token not in internal_name(KEY, PRINTER)
    assert not opens(internal_name(KEY, PRINTER), *internal_digests(KEY, ADAS, NOON))


def test_a_key_is_not_shown_where_it_is_printed() -> None:
    assert "k" * 8 not in repr(KEY)
