"""The walk: steps by weight and by chance, a look after each, and the shortest walk that fails."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Final

from printreach.contract.events import EventType
from tests.fakes.hasty_loop import settle
from tests.isolation.walk import steps_of_accounts as accounts
from tests.isolation.walk import steps_of_members as members
from tests.isolation.walk import steps_of_printers as printers
from tests.isolation.walk.model import Kind
from tests.isolation.walk.outgoing import (
    look_at_home_when_settled,
    look_at_outgoing,
    order_from_home,
    webhook_of,
)
from tests.isolation.walk.probes import (
    arrived,
    see_everything,
    try_app_token,
    try_key,
    try_to_resume,
    try_wrong_key,
)
from tests.isolation.walk.streams import Streams
from tests.isolation.walk.world import PRINTERS, Broken, Leak, World
from tests.relay.scripted_agent import SERVICE_HOST

RELAYED: Final = 3
"""Credentials of printers' hosts that are tried after each step; they cost half a millisecond."""
PAGES: Final = 0.4
"""How often a page, an API or a Live Link is tried after a step, which costs six times as much."""
LONGEST_REST_S: Final = 0.1
STEP_WITHIN_S: Final = 600.0
"""By the loop's clock, which jumps where all wait: what hangs fails."""
MAX_DEAD: Final = 40
"""Credentials that have ended and are still tried."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step: what is done, and the seed of its choices. Any part of a walk is a walk."""

    name: str
    seed: int


@dataclass
class Walker:
    """One episode: a service that begins empty, and what is done to it."""

    world: World
    streams: Streams = field(init=False)
    events: list[tuple[str, int]] = field(default_factory=list)  # ids, and tenures

    def __post_init__(self) -> None:
        self.streams = Streams(self.world)

    async def take(self, step: Step) -> None:
        """Take the step, then look at what it may have changed. Raises Leak and Broken."""
        self.world.chance = Random(step.seed)
        async with asyncio.timeout(STEP_WITHIN_S):
            await STEPS[step.name].take(self)
            await settle()
            await self.look()

    async def look(self) -> None:
        """At what came by itself, and at what some credentials open now."""
        world = self.world
        self.streams.note_ends()
        self._look_at_news()
        self.streams.check_ends()
        await self._try_some()
        _forget_dead(world)
        await asyncio.sleep(LONGEST_REST_S * world.chance.random())

    def _look_at_news(self) -> None:
        """At what has reached agents, and what has left the service, since the last look."""
        arrived(self.world)
        look_at_outgoing(self.world)
        self.streams.look()

    async def _try_some(self) -> None:
        world = self.world
        relayed = [key for key in world.model.keys if key.host and key.kind is not Kind.TICKET]
        for key in world.chance.sample(relayed, min(RELAYED, len(relayed))):
            await try_key(world, key)
        if relayed:
            await try_wrong_key(
                world, world.chance.choice([k for k in relayed if k.secret] or relayed)
            )
        others = [key for key in world.model.keys if not key.host]
        if others and world.chance.random() < PAGES:
            await try_key(world, world.chance.choice(others))

    async def look_at_everything(self) -> None:
        """Every credential, and every page in one browser."""
        world = self.world
        world.chance = Random(world.chance.random())
        for key in list(world.model.keys):
            await try_key(world, key)
            if key.kind is Kind.APP:
                await try_app_token(world, key)
        session = world.pick(world.model.of_kind(Kind.SESSION))
        if session is not None:
            await see_everything(world, session)

    # --- steps that need the walker ---------------------------------------------------------------

    async def tell_of_print(self) -> None:
        """Something happens to a print, and everybody whom it concerns hears of it."""
        name = self.world.pick(one for one in PRINTERS if self.world.is_here(one))
        tenure = self.world.model.printers[name] if name is not None else None
        if name is None or tenure is None:
            return
        kinds = [EventType.STARTED, EventType.PAUSED, EventType.COMPLETE, EventType.FAILED]
        at = int(self.world.clock.now().timestamp())
        agent = self.world.agents_of(name)[-1]
        agent.tell_of_print(self.world.chance.choice(kinds), at)
        self.events.append((f"{name}-{agent.word}-{agent.events_said:06}", tenure.number))
        await asyncio.sleep(0.1)

    async def resume_events(self) -> None:
        """Go on behind an event of anybody's."""
        world = self.world
        key = world.pick(world.good(Kind.SESSION, Kind.ACCESS_TOKEN))
        event = world.pick(self.events)
        if key is not None and event is not None:
            await try_to_resume(world, key, event[0], world.model.tenures[event[1] - 1])

    async def use_app_token(self) -> None:
        key = self.world.pick(self.world.model.of_kind(Kind.APP))
        if key is not None:
            await try_app_token(self.world, key)

    async def set_webhook(self) -> None:
        world = self.world
        key = world.pick(world.model.of_kind(Kind.APP))
        if key is None:
            return
        body = f'{{"WebhookUrl": "{webhook_of(key.number)}"}}'.encode()
        headers = [
            (b"AppToken", key.more["token"].encode()),
            (b"Content-Type", b"application/json"),
        ]
        path = "/api/appconnection/SetNotificationWebhook"
        answer = await world.ask(SERVICE_HOST, "POST", path, headers, body)
        if (answer.status == 200) != world.is_good(key):
            kind = Broken if world.is_good(key) else Leak
            raise kind(f"webhook of {key}: {answer.status} {answer.body!r}")

    async def begin_stream(self) -> None:
        await self.streams.begin()

    async def say_more(self) -> None:
        self.streams.say_more()

    async def leave_stream(self) -> None:
        await self.streams.leave()

    async def upload(self) -> None:
        await self.streams.let_upload_go_on()

    async def wait(self) -> None:
        """So long that whatever lasts has been looked at again, notices or none."""
        for _ in range(7):
            self.streams.say_more()
            await asyncio.sleep(5.0)
        self.streams.check_ends()
        look_at_home_when_settled(self.world)

    async def find_out(self) -> None:
        """Wait until all is known that notices did not tell; from then on they come again."""
        if not self.world.service.bus.is_losing:
            return
        await self.wait()
        self._look_at_news()
        self.world.service.bus.is_losing = False

    async def lose_notices(self) -> None:
        self.world.service.bus.is_losing = True

    async def let_hours_pass(self) -> None:
        """Shares, Live Links, tickets and cookies expire; everything is here again after a look."""
        self.world.clock.put_forward(timedelta(hours=self.world.chance.choice([1, 13])))
        await self.wait()

    async def restart(self) -> None:
        await self.streams.close()
        await self.world.restart()


@dataclass(frozen=True, slots=True)
class StepKind:
    """weight: how often it comes, beside the others."""

    weight: int
    take: Callable[[Walker], Awaitable[None]]


def _of_world(weight: int, step: Callable[[World], Awaitable[None]]) -> tuple[str, StepKind]:
    async def take(walker: Walker) -> None:
        await step(walker.world)

    return step.__name__, StepKind(weight, take)


def _of_walker(weight: int, step: Callable[[Walker], Awaitable[None]]) -> tuple[str, StepKind]:
    return step.__name__, StepKind(weight, step)


STEPS: Final[Mapping[str, StepKind]] = dict(
    [
        _of_world(10, accounts.sign_in),
        _of_world(2, accounts.sign_in_with_an_old_password),
        _of_world(4, accounts.sign_out),
        _of_world(4, accounts.end_a_session_elsewhere),
        _of_world(3, accounts.change_password),
        _of_world(3, accounts.block),
        _of_world(6, accounts.unblock),
        _of_world(3, accounts.lock),
        _of_world(6, accounts.unlock),
        _of_world(4, accounts.change_supporter_status),
        _of_world(3, accounts.change_operator),
        _of_world(4, accounts.make_access_token),
        _of_world(3, accounts.end_access_token),
        _of_world(3, accounts.ask_for_notifications),
        _of_world(14, printers.link),
        _of_world(4, printers.remove),
        _of_world(5, printers.remove_and_link_anew),
        _of_world(3, printers.remove_anothers),
        _of_world(2, printers.rename),
        _of_world(6, printers.connect_agent),
        _of_world(4, printers.disconnect_agent),
        _of_world(10, printers.connect_app),
        _of_world(8, printers.share),
        _of_world(2, printers.share_anothers),
        _of_world(6, printers.open_share),
        _of_world(8, printers.open_own),
        _of_world(9, printers.use_ticket),
        _of_world(5, printers.permit),
        _of_world(6, printers.revoke),
        _of_world(6, printers.make_live_link),
        _of_world(3, printers.go_through_portal),
        _of_world(8, members.let_in),
        _of_world(2, members.accept_anothers),
        _of_world(3, members.change_member),
        _of_world(5, members.end_member),
        _of_world(3, members.manage_anothers),
        _of_world(2, order_from_home),
        _of_walker(5, Walker.tell_of_print),
        _of_walker(3, Walker.resume_events),
        _of_walker(4, Walker.use_app_token),
        _of_walker(5, Walker.set_webhook),
        _of_walker(10, Walker.begin_stream),
        _of_walker(8, Walker.say_more),
        _of_walker(2, Walker.leave_stream),
        _of_walker(3, Walker.upload),
        _of_walker(1, Walker.wait),
        _of_walker(1, Walker.find_out),
        _of_walker(1, Walker.lose_notices),
        _of_walker(1, Walker.let_hours_pass),
        _of_walker(1, Walker.restart),
    ]
)


def _forget_dead(world: World) -> None:
    """Those that ended long ago are tried no more."""
    dead = [key for key in world.model.keys if not world.is_good(key)]
    gone = {
        id(key) for key in dead[: max(0, len(dead) - MAX_DEAD)] if key.person.is_blocked is False
    }
    world.model.keys = [key for key in world.model.keys if id(key) not in gone]
