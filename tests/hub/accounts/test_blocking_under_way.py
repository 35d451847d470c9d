"""What is under way when an account is blocked ends there, too, and doesn't come to its end."""

import pytest

from printreach.contract.events import EventType
from printreach.hub.accounts import data as account_data
from printreach.hub.accounts.data import AccountData, AccountGone
from printreach.hub.prints.event_stream import OLDEST, STALE_AFTER
from printreach.ports.notifications import NotSent
from printreach.rules.accounts import Account
from printreach.rules.notifications.channels import MAIL
from tests.fakes.loop import on_a_loop
from tests.hub.accounts.test_blocking import block
from tests.hub.notifications.test_enqueue import reached
from tests.hub.prints.test_event_stream import Streams, ids, read
from tests.hub.world import ADA, OpenWorld, World


@on_a_loop
async def test_of_news_that_are_on_their_way_no_more_are_sent(
    open_world: OpenWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with reached(open_world) as ada:
        await ada.add_destination()
        send = ada.messenger.send

        async def then_block(url: str, title: str, text: str) -> NotSent | None:
            await block(ada.world)
            return await send(url, title, text)

        monkeypatch.setattr(ada.messenger, "send", then_block)
        await ada.happens([EventType.COMPLETE, EventType.FAILED])

        assert len(await ada.send()) == 1


@on_a_loop
async def test_nor_are_mails(open_world: OpenWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    async with reached(open_world) as ada:
        await ada.add_destination("", channel=MAIL)
        hand_in = ada.mailer.hand_in

        async def then_block(mail: object) -> NotSent | None:
            await block(ada.world)
            return await hand_in(mail)  # type: ignore[arg-type]  # as it was handed over

        monkeypatch.setattr(ada.mailer, "hand_in", then_block)
        await ada.happens([EventType.COMPLETE, EventType.FAILED])
        await ada.send()

        assert len(ada.mailer.sent) == 1


@on_a_loop
async def test_of_events_that_a_reader_takes_slowly_no_more_are_told(open_world: OpenWorld) -> None:
    async with open_world() as world:
        printer = await world.set_up()
        here = Streams(world)
        await here.happen(*ids(0, 5))
        stream = await here.streams.open(printer.account_id, OLDEST)
        assert await read(stream, 2) == ids(0, 2)
        await block(world)
        world.clock.advance(STALE_AFTER)

        assert [one async for one in stream if one is not None] == []


@on_a_loop
async def test_whoever_takes_events_slowly_gets_each_of_them_once(open_world: OpenWorld) -> None:
    async with open_world() as world:
        printer = await world.set_up()
        here = Streams(world)
        await here.happen(*ids(0, 5))
        stream = await here.streams.open(printer.account_id, OLDEST)
        seen = []
        for _ in range(5):
            seen += await read(stream, 1)
            world.clock.advance(STALE_AFTER)
        await stream.aclose()

        assert seen == ids(0, 5)


async def exporting(world: World) -> tuple[Account, AccountData]:
    account = await world.add_account()
    for number in range(5):
        await world.link_printer(key=bytes([number]) * 32)
    data = AccountData(core=world.core, accounts=world.accounts)
    return account, data


@pytest.mark.parametrize("way", ["blocked", "deleted"])
def test_an_export_that_is_half_written_never_looks_whole(
    open_world: OpenWorld, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setattr(account_data, "AT_ONCE", 2)

    @on_a_loop
    async def body() -> None:
        async with open_world() as world:
            account, data = await exporting(world)
            rows = data.rows(account)
            await anext(rows)
            if way == "blocked":
                await block(world)
            else:
                await world.accounts.delete(ADA)

            with pytest.raises(AccountGone):
                await anext(rows)

    body()
