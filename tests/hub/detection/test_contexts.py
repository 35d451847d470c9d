"""Images of one context that come at the same time, and what is forgotten."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

from printreach.contract.detection_api import DetectionError
from printreach.hub.accounts.limits import RequestLimits
from printreach.hub.detection import (
    MAX_OF_ACCOUNT,
    AdmittedImage,
    Call,
    Detection,
    MadeContext,
    RecentContexts,
    forget_old_contexts,
)
from printreach.ports.scoring import ImageScore, PictureUnreadable
from printreach.rules.detection import DetectionContext, Verdict, observe
from printreach.rules.detection.access import CallAdmitted, CallKind, CallRefused
from printreach.rules.detection.contexts import RetryLater, StoredContext
from printreach.rules.detection.usage import Calls, Plan
from printreach.rules.watch.choices import Region
from tests.fakes.clock import NOON
from tests.fakes.loop import on_a_loop
from tests.fakes.scorer import FakeScorer
from tests.hub.detection.door import HERE, Door, open_door
from tests.hub.world import OpenWorld

TOGETHER = 6


class ScorerOfMany(FakeScorer):
    """Answers when so many images are there."""

    def __init__(self, count: int) -> None:
        super().__init__(probability=0.99)
        self._all_there = asyncio.Barrier(count)

    async def score(self, picture: bytes, masked: Sequence[Region] = ()) -> ImageScore:
        await self._all_there.wait()
        return await super().score(picture, masked)


@asynccontextmanager
async def opened(
    open_world: OpenWorld, scorer: FakeScorer
) -> AsyncIterator[tuple[Door, Detection, Call]]:
    async with open_door(open_world, Plan()) as door:
        yield door, cases_of(door, scorer), Call(api_key=door.adas.api_key, address=HERE)


def cases_of(door: Door, scorer: FakeScorer) -> Detection:
    """Those of one process."""
    core = replace(door.world.core)  # with tries of its own
    return Detection(
        core=core,
        gate=door.gate,
        request_limits=RequestLimits(core=core),
        scorer=scorer,
        primary_url="https://eye.example",
    )


async def make_context(cases: Detection, call: Call) -> MadeContext:
    admitted = await cases.admit(call, CallKind.CREATE_CONTEXT)
    assert isinstance(admitted, CallAdmitted)
    return await cases.make_context(admitted, None, None)


async def await_image(cases: Detection, call: Call, made: MadeContext) -> AdmittedImage:
    awaited = await cases.await_image(call, made.context_id)
    assert isinstance(awaited, AdmittedImage)
    return awaited


async def kept(door: Door, made: MadeContext) -> StoredContext | None:
    return await door.world.store.read(
        lambda records: records.detection_contexts.get(made.context_id)
    )


@on_a_loop
async def test_of_images_sent_at_once_to_one_context_one_is_accepted_and_counted(
    open_world: OpenWorld,
) -> None:
    async with opened(open_world, FakeScorer(probability=0.99)) as (door, cases, call):
        made = await make_context(cases, call)
        awaited = [await await_image(cases, call, made) for _ in range(TOGETHER)]
        outcomes = await asyncio.gather(*(cases.look(one, b"image") for one in awaited))
        now = await kept(door, made)
        await door.gate.flush()

        assert sum(isinstance(outcome, Verdict) for outcome in outcomes) == 1
        refused = [outcome for outcome in outcomes if isinstance(outcome, RetryLater)]
        assert len(refused) == TOGETHER - 1
        assert {one.error for one in refused} == {DetectionError.CONTEXT_RATE_LIMITED}
        assert {one.retry_after_s for one in refused} == {5}
        assert now is not None
        assert now.version == 1
        assert await door.calls() == Calls(all=1)


@on_a_loop
async def test_of_images_sent_at_once_through_two_processes_one_is_accepted_and_counted(
    open_world: OpenWorld,
) -> None:
    scorer = ScorerOfMany(2)
    async with opened(open_world, scorer) as (door, cases, call):
        other = cases_of(door, scorer)
        made = await make_context(cases, call)
        awaited = [await await_image(one, call, made) for one in (cases, other)]
        outcomes = await asyncio.gather(
            cases.look(awaited[0], b"image"), other.look(awaited[1], b"image")
        )
        now = await kept(door, made)
        await door.gate.flush()

        assert sum(isinstance(outcome, Verdict) for outcome in outcomes) == 1
        assert [one.error for one in outcomes if isinstance(one, CallRefused)] == [
            DetectionError.CONTEXT_RATE_LIMITED
        ]
        assert now is not None
        assert now.version == 1
        assert await door.calls() == Calls(all=1)


@on_a_loop
async def test_an_unreadable_image_leaves_its_context_free_for_the_next_one(
    open_world: OpenWorld,
) -> None:
    scorer = FakeScorer()
    scorer.refusal = PictureUnreadable("it is no image")
    async with opened(open_world, scorer) as (_, cases, call):
        made = await make_context(cases, call)
        broken = await cases.look(await await_image(cases, call, made), b"broken")
        scorer.refusal = None
        good = await cases.look(await await_image(cases, call, made), b"image")

        assert isinstance(broken, CallRefused)
        assert broken.error is DetectionError.IMAGE_DECODE_FAILED
        assert isinstance(good, Verdict)


@on_a_loop
async def test_more_of_an_account_than_it_may_have_looked_at_are_to_come_later(
    open_world: OpenWorld,
) -> None:
    scorer = ScorerOfMany(MAX_OF_ACCOUNT + 1)
    async with opened(open_world, scorer) as (door, cases, call):
        contexts = [await make_context(cases, call) for _ in range(MAX_OF_ACCOUNT + 1)]
        *first, too_many = [await await_image(cases, call, made) for made in contexts]
        looking = [asyncio.create_task(cases.look(one, b"image")) for one in first]
        await asyncio.sleep(0)
        last = await cases.look(too_many, b"image")
        await scorer.score(b"somebody else's")
        looked_at = await asyncio.gather(*looking)
        await door.gate.flush()

        assert all(isinstance(verdict, Verdict) for verdict in looked_at)
        assert isinstance(last, CallRefused)
        assert last.error is DetectionError.BACKEND_THROTTLED
        assert await door.calls() == Calls(all=MAX_OF_ACCOUNT)


@on_a_loop
async def test_the_last_of_them_builds_upon_all_others(open_world: OpenWorld) -> None:
    async with opened(open_world, ScorerOfMany(2)) as (door, cases, call):
        made = await make_context(cases, call)
        one = await await_image(cases, call, made)
        door.world.clock.advance(timedelta(seconds=20))
        other = await await_image(cases, call, made)
        await asyncio.gather(cases.look(one, b"one"), cases.look(other, b"other"))
        now = await kept(door, made)

        assert now is not None
        assessment = (await FakeScorer(probability=0.99).score(b"one")).assessment
        first, _ = observe(one.kept.remembered, assessment, one.at)
        second, _ = observe(first, assessment, other.at)
        assert now.remembered.appearance.mean == second.appearance.mean
        assert now.remembered.appearance.first == second.appearance.first


@on_a_loop
async def test_an_image_whose_context_went_meanwhile_is_not_counted(open_world: OpenWorld) -> None:
    async with opened(open_world, FakeScorer()) as (door, cases, call):
        made = await make_context(cases, call)
        awaited = await await_image(cases, call, made)
        door.world.clock.advance(timedelta(days=14, seconds=1))
        await forget_old_contexts(door.world.core)
        outcome = await cases.look(awaited, b"image")
        await door.gate.flush()

        assert isinstance(outcome, CallRefused)
        assert outcome.error is DetectionError.CONTEXT_NOT_FOUND
        assert await door.calls() == Calls()


@on_a_loop
async def test_expired_contexts_are_forgotten_and_no_others(open_world: OpenWorld) -> None:
    async with opened(open_world, FakeScorer()) as (door, cases, call):
        old = await make_context(cases, call)
        door.world.clock.advance(timedelta(seconds=2))
        young = await make_context(cases, call)
        door.world.clock.advance(timedelta(days=14, seconds=-1))
        await forget_old_contexts(door.world.core)

        assert await kept(door, old) is None
        assert await kept(door, young) is not None


@on_a_loop
async def test_processes_that_take_turns_at_a_print_lose_no_image(open_world: OpenWorld) -> None:
    async with opened(open_world, FakeScorer()) as (door, one, call):
        other = cases_of(door, FakeScorer())
        made = await make_context(one, call)
        for cases in (one, one, other, other, one, other):
            outcome = await cases.look(await await_image(cases, call, made), b"image")
            assert isinstance(outcome, Verdict)
            door.world.clock.advance(timedelta(seconds=20))
        now = await kept(door, made)

        assert now is not None
        assert now.version == 6
        assert now.remembered.last_at == door.world.clock.now() - timedelta(seconds=20)


@on_a_loop
async def test_what_made_room_for_others_is_gone_although_it_was_used_lately(
    open_world: OpenWorld,
) -> None:
    async with opened(open_world, FakeScorer()) as (door, cases, call):
        made = await make_context(cases, call)
        await cases.look(await await_image(cases, call, made), b"image")
        door.world.clock.advance(timedelta(seconds=20))
        awaited = await await_image(cases, call, made)
        await door.world.store.write(
            lambda records: records.detection_contexts.forget(door.world.clock.now())
        )
        outcomes = [
            await cases.look(awaited, b"image"),
            await cases.await_image(call, made.context_id),
        ]

        assert [
            outcome.error if isinstance(outcome, CallRefused) else outcome for outcome in outcomes
        ] == [DetectionError.CONTEXT_NOT_FOUND] * 2


def test_of_contexts_in_memory_the_newest_version_counts_and_the_oldest_makes_room() -> None:
    recent = RecentContexts(most=2)
    for context_id, version in (("a", 2), ("b", 1), ("a", 1), ("c", 1)):
        recent.put(
            StoredContext(
                context_id=context_id,
                key_id="k",
                account_id="ada",
                created_at=NOON,
                used_at=NOON,
                version=version,
                remembered=DetectionContext(),
            )
        )

    found = [recent.get(context_id) for context_id in ("a", "b", "c")]
    assert [one and one.version for one in found] == [2, None, 1]
