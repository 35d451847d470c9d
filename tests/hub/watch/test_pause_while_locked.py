"""While remote control is locked, the watch still pauses, and moves and cools nothing."""

import msgspec
import pytest

from printreach.contract.commands import Pause
from printreach.hub.printers.remote_lock import lock
from tests.fakes.loop import on_a_loop
from tests.hub.watch.test_pause import PAUSES, fail, obeys
from tests.hub.watch.world import watching
from tests.hub.world import OpenWorld


@pytest.mark.slow
@on_a_loop
async def test_while_remote_control_is_locked_the_watch_orders_a_plain_pause(
    open_world: OpenWorld,
) -> None:
    async with watching(open_world, PAUSES) as here:
        obeys(here)
        at = here.world.clock.now()
        await here.world.store.write(lambda records: lock(records, here.account_id, at))
        await fail(here)

        [order] = here.machine.orders
        assert msgspec.json.decode(order.arguments, type=Pause) == Pause(suppress_notification=True)
