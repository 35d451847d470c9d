"""Admission of requests, and the order of refusals."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from printreach.contract.errors import ErrorCode
from printreach.rules.connections import (
    Connection,
    ConnectionKind,
    Grant,
    Refused,
    choose_port,
    find_refusal,
    has_ended,
)
from printreach.rules.connections.permissions import Access, required_of

STATUS = required_of(b"GET", b"/service-command-api/status")
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
RIGHT = b"r" * 32
ALSO_RIGHT = b"a" * 32
WRONG = b"w" * 32

GRANT = Grant(
    unique_id="app-abc",
    connection_id="c1",
    kind=ConnectionKind.APP,
    printer_id="p1",
    account_id="ada",
    digests=(RIGHT, ALSO_RIGHT),
    ended=False,
    expires_at=None,
    owner_is_supporter=True,
)


def test_a_missing_permission_is_told_only_to_who_may_use_the_connection() -> None:
    order = required_of(b"POST", b"/service-command-api/home")
    limited = replace(GRANT, access=Access(permissions=frozenset()))

    refused = find_refusal(limited, [RIGHT], order, NOON)
    assert isinstance(refused, Refused)
    assert refused.code is ErrorCode.BAD_CREDENTIALS
    assert "control" in (refused.sentence or "")
    assert find_refusal(limited, [WRONG], order, NOON) == Refused(ErrorCode.BAD_CREDENTIALS)
    assert find_refusal(replace(limited, ended=True), [RIGHT], order, NOON) == Refused(
        ErrorCode.CONNECTION_ENDED
    )


@pytest.mark.parametrize("presented", [[RIGHT], [ALSO_RIGHT], [WRONG, RIGHT]])
def test_any_one_of_the_connections_credentials_admits(presented: list[bytes]) -> None:
    assert find_refusal(GRANT, presented, STATUS, NOON) is None


def test_an_unknown_connection_is_603_whatever_is_presented() -> None:
    assert find_refusal(None, [RIGHT], STATUS, NOON) == Refused(ErrorCode.CONNECTION_NOT_FOUND)


@pytest.mark.parametrize("presented", [[], [WRONG], [RIGHT[:-1]], [b""]])
def test_missing_and_wrong_credentials_are_606(presented: list[bytes]) -> None:
    assert find_refusal(GRANT, presented, STATUS, NOON) == Refused(ErrorCode.BAD_CREDENTIALS)


def test_a_connection_without_credentials_admits_nobody() -> None:
    nothing_yet = replace(GRANT, digests=())

    assert find_refusal(nothing_yet, [b""], STATUS, NOON) == Refused(ErrorCode.BAD_CREDENTIALS)


def test_an_ended_connection_is_604() -> None:
    assert find_refusal(replace(GRANT, ended=True), [RIGHT], STATUS, NOON) == Refused(
        ErrorCode.CONNECTION_ENDED
    )


def test_who_lacks_the_credentials_does_not_learn_that_a_connection_ended() -> None:
    assert find_refusal(replace(GRANT, ended=True), [WRONG], STATUS, NOON) == Refused(
        ErrorCode.BAD_CREDENTIALS
    )


def test_a_connection_works_until_the_instant_it_expires_and_not_in_it() -> None:
    expiring = replace(GRANT, expires_at=NOON)

    assert find_refusal(expiring, [RIGHT], STATUS, NOON - timedelta(microseconds=1)) is None
    assert find_refusal(expiring, [RIGHT], STATUS, NOON) == Refused(ErrorCode.CONNECTION_ENDED)


def test_an_app_connection_of_someone_who_is_no_supporter_is_605() -> None:
    suspended = replace(GRANT, owner_is_supporter=False)

    assert find_refusal(suspended, [RIGHT], STATUS, NOON) == Refused(ErrorCode.NOT_A_SUPPORTER)


def test_an_ended_connection_is_604_also_where_the_owner_is_no_supporter() -> None:
    both = replace(GRANT, owner_is_supporter=False, ended=True)

    assert find_refusal(both, [RIGHT], STATUS, NOON) == Refused(ErrorCode.CONNECTION_ENDED)


@pytest.mark.parametrize("kind", [ConnectionKind.OWN, ConnectionKind.SHARED])
def test_only_app_connections_ask_for_supporter_status(kind: ConnectionKind) -> None:
    grant = replace(GRANT, kind=kind, owner_is_supporter=False)

    assert find_refusal(grant, [RIGHT], STATUS, NOON) is None


def holder(port: int, revoked_at: datetime | None = None) -> Connection:
    return Connection(
        connection_id=f"c{port}",
        unique_id=f"app-{port}",
        kind=ConnectionKind.APP,
        app_id="demo",
        printer_id="p1",
        account_id="ada",
        port=port,
        created_at=NOON - timedelta(days=9),
        revoked_at=revoked_at,
    )


DAY = timedelta(days=1)


def chosen(ports: range, holders: list[Connection], at: datetime) -> int | None:
    """The port for a connection to Ada's first printer."""
    return choose_port(ports, holders, at, printer_id="p1", account_id="ada")


def test_a_connection_has_ended_when_it_was_revoked_or_when_it_expired() -> None:
    assert not has_ended(holder(1), NOON)
    assert has_ended(holder(1, NOON), NOON)
    assert has_ended(replace(holder(1), expires_at=NOON), NOON)
    assert not has_ended(replace(holder(1), expires_at=NOON + DAY), NOON)


def test_a_connection_gets_the_lowest_port_that_nobody_holds() -> None:
    held = [holder(18000), holder(18002, NOON)]

    assert chosen(range(18000, 18003), held, NOON) == 18001


def test_when_all_ports_are_held_the_one_that_ended_first_gives_way() -> None:
    held = [holder(18000), holder(18001, NOON), holder(18002, NOON - DAY)]

    assert chosen(range(18000, 18003), held, NOON) == 18002


def test_a_connection_that_will_expire_keeps_its_port_until_then() -> None:
    held = [replace(holder(18000), expires_at=NOON + DAY)]

    assert chosen(range(18000, 18001), held, NOON) is None
    assert chosen(range(18000, 18001), held, NOON + DAY) == 18000


def test_when_all_ports_are_held_by_living_connections_there_is_none() -> None:
    assert chosen(range(18000, 18002), [holder(18000), holder(18001)], NOON) is None


def test_ports_that_were_held_before_the_range_was_changed_do_not_matter() -> None:
    assert chosen(range(18000, 18001), [holder(17000, NOON)], NOON) == 18000


def test_a_port_goes_to_the_printer_and_the_account_that_had_it_before() -> None:
    """A browser keeps what pages at a port have stored, and gives it to the next pages there."""
    bobs = replace(holder(18000, NOON - 3 * DAY), account_id="bob", printer_id="p9")
    of_other_printer = replace(holder(18001, NOON - 2 * DAY), printer_id="p2")
    of_same_printer = holder(18002, NOON - DAY)
    held = [bobs, of_other_printer, of_same_printer]

    assert chosen(range(18000, 18003), held, NOON) == 18002
    assert chosen(range(18000, 18002), held, NOON) == 18001
    assert chosen(range(18000, 18001), held, NOON) == 18000
