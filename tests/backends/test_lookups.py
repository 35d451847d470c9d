"""Look-ups of strangers' names: a name server that hangs delays no other name."""

import asyncio
import threading
from collections.abc import Sequence

import pytest

from printreach.backends import lookups
from printreach.backends.lookups import Lookups
from tests.relay.waiting import until


class Resolver:
    """Finds every name but those that hang, until they are let go."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.let_go = threading.Event()

    def find(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        if host.startswith("hang"):
            self.let_go.wait(60)
        if host.startswith("unknown"):
            raise OSError("no such name")
        return ["192.0.2.1"]


def test_a_name_is_found_or_is_not() -> None:
    async def test() -> None:
        look_up = Lookups(Resolver().find)

        assert await look_up("a.example") == ["192.0.2.1"]
        with pytest.raises(OSError, match="no such name"):
            await look_up("unknown.example")
        await look_up.close()

    asyncio.run(test())


def test_the_machine_knows_its_own_name() -> None:
    assert "127.0.0.1" in asyncio.run(Lookups()("localhost"))


def test_a_name_is_looked_up_once_however_many_wait_for_it() -> None:
    async def test() -> None:
        resolver = Resolver()
        look_up = Lookups(resolver.find)
        waiting = [asyncio.create_task(look_up("hang.example")) for _ in range(5)]
        await until(lambda: bool(resolver.asked))
        waiting.pop().cancel()
        resolver.let_go.set()

        assert await asyncio.gather(*waiting) == [["192.0.2.1"]] * 4
        assert resolver.asked == ["hang.example"]
        await look_up.close()

    asyncio.run(test())


def test_a_known_name_is_found_while_others_take_all_the_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lookups, "OTHERS_AT_ONCE", 2)

    async def test() -> None:
        resolver = Resolver()
        look_up = Lookups(resolver.find)
        await look_up("known.example")
        hanging = [asyncio.create_task(look_up(f"hang{n}.example")) for n in range(5)]
        await until(lambda: len(resolver.asked) == 3)

        assert await look_up("known.example") == ["192.0.2.1"]
        assert len(resolver.asked) == 4
        resolver.let_go.set()
        await asyncio.gather(*hanging)
        await look_up.close()

    asyncio.run(test())
