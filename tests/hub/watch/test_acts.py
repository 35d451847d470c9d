"""The buttons of a warning's notification: once, soon, and only while all that they need holds."""

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

import msgspec
import pytest

from printreach.contract.commands import CommandStatus, Pause
from printreach.contract.errors import REMOTE_LOCKED
from printreach.contract.status import State
from printreach.hub.notifications.push import act_digest
from printreach.hub.printers.remote_lock import lock
from printreach.hub.watch.acts import ActResult, NotificationActs
from printreach.hub.watch.choices import WatchChoices
from printreach.ports.printer_http import PrinterRefusal
from printreach.rules.notifications import Destination
from printreach.rules.notifications.push import ACT_LIFETIME, ActOffer, PushAct
from printreach.rules.printers.members import Member, Role
from printreach.store.store import Records
from tests.fakes.loop import on_a_loop
from tests.fakes.printer_http import OFFLINE
from tests.hub.watch.test_pause import fail
from tests.hub.watch.world import PRINT, WatchWorld, watching
from tests.hub.world import ADA, BOB, PRINTER_ID, OpenWorld

pytestmark = pytest.mark.slow

DEVICE: Final = "device1"


@dataclass
class Warned:
    """Ada was warned on her phone. here: her printer, and the watch over it."""

    here: WatchWorld
    acts: NotificationActs

    async def offer(
        self, act: PushAct = PushAct.PAUSE, print_id: str = PRINT, account_id: str = ""
    ) -> str:
        """The token of a button."""
        token = secrets.token_hex(10)
        offer = ActOffer(
            account_id=account_id or self.here.account_id,
            destination_id=DEVICE,
            device="Chrome on Android",
            printer_id=PRINTER_ID,
            print_id=print_id,
            act=act,
            expires_at=self.here.world.clock.now() + ACT_LIFETIME,
        )
        await self.write(lambda records: records.pushes.offer(offer, act_digest(token)))
        return token

    async def press(self, act: PushAct = PushAct.PAUSE) -> ActResult:
        return await self.acts.perform(await self.offer(act))

    async def write(self, work: Callable[[Records], Awaitable[object]]) -> None:
        await self.here.world.store.write(work)

    async def done(self) -> list[ActOffer]:
        return await self.here.world.store.read(
            lambda records: records.pushes.done(self.here.account_id, PRINTER_ID, PRINT)
        )

    def paused(self) -> int:
        """How often a pause was ordered."""
        return [order.command for order in self.here.machine.orders].count("/pause")


@asynccontextmanager
async def warned(open_world: OpenWorld) -> AsyncIterator[Warned]:
    async with watching(open_world) as here:
        await fail(here)
        phone = Destination(
            destination_id=DEVICE,
            account_id=here.account_id,
            channel="push",
            label="Chrome on Android",
            sealed=b"",
            created_at=here.world.clock.now(),
        )
        await here.world.store.write(lambda records: records.notifications.add_destination(phone))
        core, kept = here.world.core, here.parts.snapshots.kept
        choices = WatchChoices(core=core, kept=kept)
        yield Warned(here, NotificationActs(core=core, http=here.machine, choices=choices))


@on_a_loop
async def test_a_print_is_paused_as_the_printers_page_does_it(open_world: OpenWorld) -> None:
    async with warned(open_world) as ada:
        pressed = await ada.press()

        assert pressed.is_done
        assert pressed.title == "Workshop: pausing"
        [order] = ada.here.machine.orders
        assert (order.command, order.despite_lock) == ("/pause", False)
        assert msgspec.json.decode(order.arguments, type=Pause) == Pause()


@on_a_loop
async def test_what_was_done_stands_with_the_print_as_its_owners(open_world: OpenWorld) -> None:
    async with warned(open_world) as ada:
        await ada.press()
        await ada.press(PushAct.FINE)
        [paused, answered] = await ada.done()

        assert (paused.act, answered.act) == (PushAct.PAUSE, PushAct.FINE)
        assert paused.device == "Chrome on Android"
        assert paused.used_at == ada.here.world.clock.now()


@on_a_loop
async def test_its_fine_answers_the_warning(open_world: OpenWorld) -> None:
    async with warned(open_world) as ada:
        pressed = await ada.press(PushAct.FINE)
        [judged] = await ada.here.world.store.read(
            lambda records: records.watches.judged(PRINTER_ID)
        )

        assert pressed.is_done
        assert (judged.print_id, judged.was_failure) == (PRINT, False)
        assert ada.paused() == 0


@on_a_loop
async def test_its_fine_needs_no_printer_that_can_be_reached(open_world: OpenWorld) -> None:
    async with warned(open_world) as ada:
        ada.here.machine.statuses[PRINTER_ID] = OFFLINE

        assert (await ada.press(PushAct.FINE)).is_done


@on_a_loop
async def test_a_button_works_once(open_world: OpenWorld) -> None:
    async with warned(open_world) as ada:
        token = await ada.offer()
        first, second = await ada.acts.perform(token), await ada.acts.perform(token)

        assert first.is_done
        assert not second.is_done
        assert "pressed before" in second.text
        assert ada.paused() == 1


@on_a_loop
async def test_a_press_that_comes_during_the_first_one_does_nothing(open_world: OpenWorld) -> None:
    async with warned(open_world) as ada:
        token = await ada.offer()
        results = list[ActResult]()

        async def press_again() -> None:
            results.append(await ada.acts.perform(token))

        ada.here.machine.on_order = press_again
        assert (await ada.acts.perform(token)).is_done

        assert [result.is_done for result in results] == [False]
        assert ada.paused() == 1


@pytest.mark.parametrize("token", ["", "unknown", "\0", "x" * 900])
@on_a_loop
async def test_a_token_that_nobody_was_given_does_nothing(
    open_world: OpenWorld, token: str
) -> None:
    async with warned(open_world) as ada:
        assert not (await ada.acts.perform(token)).is_done
        assert ada.paused() == 0


@on_a_loop
async def test_a_button_that_is_too_old_does_nothing(open_world: OpenWorld) -> None:
    async with warned(open_world) as ada:
        token = await ada.offer()
        ada.here.world.clock.advance(ACT_LIFETIME)
        pressed = await ada.acts.perform(token)

        assert not pressed.is_done
        assert "too old" in pressed.text
        assert ada.paused() == 0
        assert await ada.done() == []


async def _share(ada: Warned, role: Role) -> str:
    """Share Ada's printer with Bob, who is told on DEVICE; return the id of his account."""
    bob = await ada.here.world.add_account(BOB)
    member = Member(
        printer_id=PRINTER_ID,
        account_id=ada.here.account_id,
        person_id=bob.account_id,
        role=role,
        since=ada.here.world.clock.now(),
    )
    await ada.write(lambda records: records.members.put(member))
    return bob.account_id


@on_a_loop
async def test_a_member_with_control_pauses_and_stands_in_the_printers_history(
    open_world: OpenWorld,
) -> None:
    async with warned(open_world) as ada:
        bob_id = await _share(ada, Role.CONTROL)
        pressed = await ada.acts.perform(await ada.offer(account_id=bob_id))
        given = await ada.here.world.store.read(
            lambda records: records.given_orders.recent(ada.here.account_id, PRINTER_ID, 5)
        )

        assert pressed.is_done
        assert ada.paused() == 1
        assert [(order.order.person_id, order.order.command) for order in given] == [
            (bob_id, "/pause")
        ]


@pytest.mark.parametrize(
    ("role", "act", "says"),
    [
        (Role.WATCH, PushAct.PAUSE, "You can watch this printer"),
        (Role.CONTROL, PushAct.FINE, "Only the owner"),
    ],
)
@on_a_loop
async def test_a_members_button_does_no_more_than_their_role(
    open_world: OpenWorld, role: Role, act: PushAct, says: str
) -> None:
    async with warned(open_world) as ada:
        bob_id = await _share(ada, role)
        pressed = await ada.acts.perform(await ada.offer(act, account_id=bob_id))

        assert not pressed.is_done
        assert says in pressed.text
        assert ada.paused() == 0


@on_a_loop
async def test_a_members_button_does_nothing_once_the_share_has_ended(
    open_world: OpenWorld,
) -> None:
    async with warned(open_world) as ada:
        bob_id = await _share(ada, Role.CONTROL)
        token = await ada.offer(account_id=bob_id)
        await ada.write(lambda records: records.members.remove(PRINTER_ID, bob_id))
        pressed = await ada.acts.perform(token)

        assert not pressed.is_done
        assert "isn't shared with you" in pressed.text
        assert ada.paused() == 0


async def _block(ada: Warned) -> None:
    account_id = ada.here.account_id
    await ada.write(
        lambda records: records.accounts.set_blocked(account_id, ada.here.world.clock.now())
    )


async def _lock(ada: Warned) -> None:
    at = ada.here.world.clock.now()
    await ada.write(lambda records: lock(records, ada.here.account_id, at))


async def _unlink(ada: Warned) -> None:
    at = ada.here.world.clock.now()
    await ada.write(lambda records: records.printers.remove(PRINTER_ID, at))


async def _remove_device(ada: Warned) -> None:
    await ada.write(
        lambda records: records.notifications.remove_destination(ada.here.account_id, DEVICE)
    )


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (_block, "blocked"),
        (_lock, REMOTE_LOCKED.meaning),
        (_unlink, "doesn't belong to your account"),
        (_remove_device, "signed out or removed"),
    ],
)
@pytest.mark.parametrize("act", list(PushAct))
@on_a_loop
async def test_what_changed_since_the_warning_is_looked_at_when_the_button_is_pressed(
    open_world: OpenWorld,
    change: Callable[[Warned], Awaitable[None]],
    says: str,
    act: PushAct,
) -> None:
    async with warned(open_world) as ada:
        token = await ada.offer(act)
        await change(ada)
        pressed = await ada.acts.perform(token)

        assert not pressed.is_done
        assert pressed.title == "Nothing was done"
        assert says in pressed.text
        assert ada.paused() == 0


@pytest.mark.parametrize("act", list(PushAct))
@on_a_loop
async def test_another_print_is_left_alone(open_world: OpenWorld, act: PushAct) -> None:
    async with warned(open_world) as ada:
        ada.here.machine.prints(print_id="print-2")
        pressed = await ada.press(act)

        assert "is over" in pressed.text
        assert ada.paused() == 0


@on_a_loop
async def test_a_printer_that_another_account_has_linked_is_left_alone(
    open_world: OpenWorld,
) -> None:
    async with warned(open_world) as ada:
        token = await ada.offer()
        world = ada.here.world
        await ada.write(lambda records: records.printers.remove(PRINTER_ID, world.clock.now()))
        await world.add_account(BOB)
        await world.link_printer(BOB)
        pressed = await ada.acts.perform(token)

        assert "doesn't belong" in pressed.text
        assert ada.paused() == 0


@on_a_loop
async def test_a_token_of_another_account_does_nothing_at_this_ones_printer(
    open_world: OpenWorld,
) -> None:
    async with warned(open_world) as ada:
        bob = await ada.here.world.add_account(BOB)
        pressed = await ada.acts.perform(await ada.offer(account_id=bob.account_id))

        assert not pressed.is_done
        assert ada.paused() == 0


@pytest.mark.parametrize("state", [State.PAUSED, State.WARMING_UP])
@on_a_loop
async def test_a_print_that_does_not_run_is_not_paused(open_world: OpenWorld, state: State) -> None:
    async with warned(open_world) as ada:
        ada.here.machine.prints(state)
        pressed = await ada.press()

        assert not pressed.is_done
        assert ada.paused() == 0


@on_a_loop
async def test_a_printer_that_cannot_be_reached_or_refuses_is_told_of(
    open_world: OpenWorld,
) -> None:
    async with warned(open_world) as ada:
        refusal = PrinterRefusal(int(CommandStatus.EXECUTION_FAILED), "The nozzle is stuck.")
        ada.here.machine.answers["/pause"] = refusal
        refused = await ada.press()
        ada.here.machine.statuses[PRINTER_ID] = OFFLINE
        away = await ada.press()

        assert (refused.is_done, refused.text) == (False, "The nozzle is stuck.")
        assert (away.is_done, away.text) == (False, OFFLINE.sentence)
        assert await ada.done() == []


@on_a_loop
async def test_a_deleted_account_leaves_no_button(open_world: OpenWorld) -> None:
    async with warned(open_world) as ada:
        token = await ada.offer()
        await ada.here.world.accounts.delete(ADA)

        assert not (await ada.acts.perform(token)).is_done
        assert ada.paused() == 0
