"""Secrets that are shown once: to whom, and for how long they wait."""

from datetime import timedelta

from printreach.hub.connections import Shared
from printreach.hub.once import KEPT_FOR, MAX_KEPT, ShownOnce
from printreach.rules.connections import Connection, ConnectionKind
from printreach.rules.connections.credentials import AppSecrets
from tests.fakes.clock import NOON, FakeClock


def shared(connection_id: str = "one") -> Shared:
    return Shared(
        connection=Connection(
            connection_id=connection_id,
            unique_id="shared-one",
            kind=ConnectionKind.SHARED,
            app_id=None,
            printer_id="printer",
            account_id="ada",
            port=None,
            created_at=NOON,
        ),
        url="https://shared-one.tunnel.example",
        link="https://shared-one.tunnel.example/service-command-api/open?service_api_key=b",
        secrets=AppSecrets(
            basic_user="u", basic_password="hush", bearer_token="b", app_api_token="a"
        ),
    )


def test_they_are_told_to_their_owner_once() -> None:
    once, made = ShownOnce[Shared](FakeClock()), shared()
    once.put("ada", "one", made)

    assert once.take("bob", "one") is None
    assert once.take("ada", "one") == made
    assert once.take("ada", "one") is None


def test_they_do_not_wait_for_long() -> None:
    clock = FakeClock()
    once = ShownOnce[Shared](clock)
    once.put("ada", "one", shared())
    clock.advance(KEPT_FOR + timedelta(seconds=1))

    assert once.take("ada", "one") is None


def test_there_is_an_end_to_how_many_are_kept() -> None:
    once = ShownOnce[Shared](FakeClock())
    for number in range(MAX_KEPT + 5):
        once.put("ada", str(number), shared(str(number)))

    assert once.take("ada", "0") is None
    assert once.take("ada", str(MAX_KEPT + 4)) is not None


def test_they_are_not_shown_where_the_box_is_printed() -> None:
    once = ShownOnce[Shared](FakeClock())
    once.put("ada", "one", shared())

    assert "hush" not in repr(once)
