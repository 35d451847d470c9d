"""The TTL of cached grants, and the end of streams whose access has ended."""

import asyncio
from dataclasses import replace

import pytest

from printreach.contract.errors import FAILURES, ErrorCode
from printreach.limiters.shared_counts import SharedCounts
from printreach.ports import Notice, Topic
from printreach.relay import admission
from printreach.relay.admission import Admission
from tests.fakes.clock import FakeClock
from tests.fakes.grants import MemoryGrants
from tests.fakes.memory_bus import MemoryBus
from tests.relay.caller import Answer, BrokenOff, Caller, calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import Access, Rig, relay
from tests.relay.scripted_agent import Asked, ScriptedAgent, printer_id
from tests.relay.waiting import PATIENCE_S, settle, until

HANDSHAKE = (b"Connection: Upgrade", b"Upgrade: websocket")


@pytest.fixture
def short_trust(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make thirty seconds thirty milliseconds."""
    monkeypatch.setattr(admission, "GRANT_TTL_S", admission.GRANT_TTL_S / 1000)
    monkeypatch.setattr(admission, "UNKNOWN_TTL_S", admission.UNKNOWN_TTL_S / 1000)
    monkeypatch.setattr(admission, "RECHECK_INTERVAL_S", admission.RECHECK_INTERVAL_S / 1000)


async def ask(rig: Rig, access: Access, *fields: bytes) -> Answer:
    async with calling(rig.port) as caller:
        caller.send(request(access.host, access.bearer, *fields))
        return await caller.answer()


def test_a_grant_is_looked_at_again_within_30_seconds() -> None:
    assert admission.GRANT_TTL_S + admission.RECHECK_INTERVAL_S <= 30


@on_a_loop
async def test_a_grant_is_looked_up_once_for_many_requests() -> None:
    async with relay() as rig:
        access = rig.connect()
        await rig.agent()
        for _ in range(10):
            assert (await ask(rig, access)).status == 200

        assert rig.grants.lookups == [access.unique_id]


@on_a_loop
async def test_a_name_that_is_no_connection_is_looked_up_once_for_a_flood() -> None:
    async with relay() as rig:
        for _ in range(10):
            assert (await ask(rig, Access("app-unknown", b""))).status == 603

        assert rig.grants.lookups == ["app-unknown"]


@pytest.mark.usefixtures("short_trust")
@on_a_loop
async def test_a_revocation_without_a_notice_acts_when_the_ttl_ends() -> None:
    async with relay() as rig:
        access = rig.connect()
        await rig.agent()
        assert (await ask(rig, access)).status == 200
        rig.grants.end(access.unique_id)
        await asyncio.sleep(2 * admission.GRANT_TTL_S)

        assert (await ask(rig, access)).status == 604


@pytest.mark.usefixtures("short_trust")
@on_a_loop
async def test_a_connection_made_without_a_notice_is_found_soon() -> None:
    async with relay() as rig:
        assert (await ask(rig, Access("app-one", b"token-of-app-one"))).status == 603
        access = rig.connect("app-one")
        await rig.agent()
        await asyncio.sleep(admission.UNKNOWN_TTL_S * 2)

        assert (await ask(rig, access)).status == 200


@pytest.mark.parametrize(
    ("topic", "key"),
    [
        (Topic.CONNECTION, "app-one"),
        (Topic.PRINTER, printer_id("one")),
        (Topic.ACCOUNT, "ada"),
    ],
)
@on_a_loop
async def test_a_notice_acts_at_once(topic: Topic, key: str) -> None:
    async with relay() as rig:
        access = rig.connect()
        await rig.agent()
        assert (await ask(rig, access)).status == 200
        rig.grants.end(access.unique_id)
        await rig.notify(topic, key)

        assert (await ask(rig, access)).status == 604


@pytest.mark.parametrize("topic", Topic)
@on_a_loop
async def test_a_notice_about_something_else_causes_no_recheck(topic: Topic) -> None:
    async with relay() as rig:
        access = rig.connect()
        await rig.agent()
        await ask(rig, access)
        await rig.notify(topic, "something else")
        await ask(rig, access)

        assert rig.grants.lookups == [access.unique_id]


@on_a_loop
async def test_events_of_an_account_cause_no_recheck() -> None:
    async with relay() as rig:
        access = rig.connect()
        await rig.agent()
        await ask(rig, access)
        await rig.notify(Topic.EVENT, "ada")
        await ask(rig, access)

        assert rig.grants.lookups == [access.unique_id]


@on_a_loop
async def test_a_notice_in_the_middle_of_a_look_up_is_not_overlooked() -> None:
    """The store's answer may be older than the change that the notice is about."""
    async with relay() as rig, calling(rig.port) as caller:
        access = rig.connect()
        await rig.agent()
        release = rig.grants.hold_answer()
        caller.send(request(access.host, access.bearer))
        await until(lambda: rig.grants.lookups)
        await rig.revoke(access)
        await settle()  # what is running is judged by then
        release()

        assert (await caller.answer()).status == 604
        assert (await ask(rig, access)).status == 604


@on_a_loop
async def test_a_flood_of_names_pushes_no_connection_out_of_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(admission, "MAX_UNKNOWN", 10)
    async with relay() as rig:
        access = rig.connect()
        await rig.agent()
        await ask(rig, access)
        for number in range(30):
            await ask(rig, Access(f"app-{number}", b""))
        rig.grants.lookups.clear()
        await ask(rig, access)
        for number in (29, 28, 0, 1):
            await ask(rig, Access(f"app-{number}", b""))

        assert rig.grants.lookups == ["app-0", "app-1"]


@on_a_loop
async def test_connections_in_memory_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "MAX_KNOWN", 10)
    async with relay() as rig:
        every = [rig.connect(f"app-{number}") for number in range(15)]
        for access in every:
            await ask(rig, access)
        rig.grants.lookups.clear()
        await ask(rig, every[14])
        await ask(rig, every[0])

        assert rig.grants.lookups == ["app-0"]


# --- what is running ------------------------------------------------------------------------------


def begin(asked: Asked) -> None:
    """Answer with something that goes on."""
    if asked.opened.upgrade:
        asked.answer(101, fin=False)
    elif asked.target == b"/webcam":
        kind = [(b"Content-Type", b"multipart/x-mixed-replace; boundary=x")]
        asked.answer(headers=kind, body=b"frame", fin=False)
    elif asked.target == b"/stream":
        asked.answer(body=b"event", fin=False)


async def running(caller: Caller, access: Access, what: str, agent: ScriptedAgent) -> Asked:
    """Begin a long request, up to the head of its answer if it has one."""
    fields, before = HANDSHAKE if what == "websocket" else (), len(agent.asked)
    caller.send(request(access.host, access.bearer, *fields, target=f"/{what}".encode()))
    asked = await agent.next(before + 1)
    if what != "unanswered":
        await caller.head()
    return asked


LONG = ["stream", "webcam", "websocket", "unanswered"]


@pytest.mark.parametrize("what", LONG)
@on_a_loop
async def test_a_revocation_ends_running_streams_at_once(what: str) -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=begin)
        asked = await running(caller, access, what, agent)
        await rig.revoke(access)

        await ended(caller, asked, 604 if what == "unanswered" else None)
        assert rig.figure("requests_at_printers") == 0


async def ended(caller: Caller, asked: Asked, status: int | None) -> None:
    """The request is over on both sides; status: of an answer that had not begun."""
    await until(lambda: asked.reset is not None)
    if status is not None:
        assert (await caller.answer()).status == status
    else:
        received = await caller.rest()
        assert b"604" not in received
        assert not received.endswith(b"0\r\n\r\n")


@pytest.mark.usefixtures("short_trust")
@pytest.mark.parametrize("what", LONG)
@on_a_loop
async def test_a_revocation_without_a_notice_ends_running_streams_as_well(what: str) -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=begin)
        asked = await running(caller, access, what, agent)
        rig.grants.end(access.unique_id)

        await ended(caller, asked, 604 if what == "unanswered" else None)


@pytest.mark.usefixtures("short_trust")
def test_it_ends_also_where_it_is_other_requests_that_look_the_grant_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(admission, "RECHECK_INTERVAL_S", 1000.0)
    on_a_loop(ends_by_the_look_of_another)()


async def ends_by_the_look_of_another() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=begin)
        asked = await running(caller, access, "stream", agent)
        rig.grants.end(access.unique_id)
        await asyncio.sleep(2 * admission.GRANT_TTL_S)
        assert (await ask(rig, access)).status == 604

        await until(lambda: asked.reset is not None)


@on_a_loop
async def test_a_revocation_leaves_other_connections_of_the_printer_alone() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        ended, other = rig.connect("app-one"), rig.connect("app-two")
        agent = await rig.agent(script=begin)
        asked = await running(caller, other, "stream", agent)
        await rig.revoke(ended)
        await settle()

        assert asked.reset is None


@on_a_loop
async def test_losing_supporter_status_pauses_running_streams() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=begin)
        asked = await running(caller, access, "unanswered", agent)
        grant = await rig.grants.grant(access.unique_id)
        assert grant is not None
        rig.grants.put(replace(grant, owner_is_supporter=False))
        await rig.notify(Topic.ACCOUNT, "ada")

        assert (await caller.answer()).status == 605
        await until(lambda: asked.reset is not None)


@pytest.mark.usefixtures("short_trust")
@on_a_loop
async def test_while_the_store_is_away_a_grant_is_used_for_its_30_seconds() -> None:
    async with relay() as rig:
        access = rig.connect()
        await rig.agent()
        assert (await ask(rig, access)).status == 200
        rig.grants.is_broken = True
        await asyncio.sleep(1.1 * admission.GRANT_TTL_S)

        assert (await ask(rig, access)).status == 200


@pytest.mark.provokes(600)
@pytest.mark.usefixtures("short_trust")
@on_a_loop
async def test_while_the_store_is_away_no_grant_is_used_for_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(admission, "GRANT_SPARE_S", admission.GRANT_TTL_S / 2)
    async with relay() as rig:
        access = rig.connect()
        await rig.agent()
        assert (await ask(rig, access)).status == 200
        rig.grants.is_broken = True
        await asyncio.sleep(1.6 * admission.GRANT_TTL_S)

        assert (await ask(rig, access)).status == 600


@pytest.mark.provokes(600)
@on_a_loop
async def test_while_the_store_is_away_what_changed_is_not_used() -> None:
    async with relay() as rig:
        access = rig.connect()
        await rig.agent()
        assert (await ask(rig, access)).status == 200
        rig.grants.is_broken = True
        await rig.notify(Topic.CONNECTION, access.unique_id)

        assert (await ask(rig, access)).status == 600


@pytest.mark.usefixtures("short_trust")
@on_a_loop
async def test_while_the_store_is_away_running_streams_go_on() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=begin)
        asked = await running(caller, access, "stream", agent)
        rig.grants.is_broken = True
        await asyncio.sleep(2 * admission.GRANT_TTL_S)
        assert asked.reset is None
        rig.grants.is_broken = False
        rig.grants.end(access.unique_id)

        await until(lambda: asked.reset is not None)


@on_a_loop
async def test_when_the_agent_leaves_running_requests_end() -> None:
    async with relay() as rig, calling(rig.port) as begun, calling(rig.port) as unanswered:
        access, agent = rig.connect(), await rig.agent(script=begin)
        await running(begun, access, "stream", agent)
        await running(unanswered, access, "unanswered", agent)
        agent.leave()

        answer = await unanswered.answer()
        assert answer.status == 601
        assert FAILURES[ErrorCode.PRINTER_NOT_CONNECTED].meaning.encode() in answer.body
        with pytest.raises(BrokenOff):
            await begun.chunks()
        assert rig.figure("requests_at_printers") == 0


async def turns_pass(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


@pytest.mark.parametrize("turns_behind", range(4))
@on_a_loop
async def test_a_recheck_that_is_cancelled_as_a_notice_comes_ends(turns_behind: int) -> None:
    bus, clock = MemoryBus(), FakeClock()
    looking = Admission(MemoryGrants(clock), bus, clock, SharedCounts())
    await turns_pass(5)  # it waits for a notice by then
    await bus.publish(Notice(Topic.PRINTER, "one"))
    await turns_pass(turns_behind)

    async with asyncio.timeout(PATIENCE_S):
        await looking.close()
