"""The agent's second tunnel: dialled where the service offers one, used when the first ends."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from printreach.agent import service_connection
from printreach.agent.runtime import LanPlace
from printreach.agent.signin import ServiceRefused
from printreach.agent.state import Phase
from printreach.contract import signin
from printreach.contract.unset import UNSET
from printreach.rules.prints import TrackedPrint
from printreach.wire.errors import CloseCode, Reason
from printreach.wire.heads import encode_request
from tests.agent.beside_printer import until
from tests.agent.contexts import Agent, ServiceKey
from tests.agent.scripted_service import OFFER, ServiceVisit
from tests.agent.talks import Talk, pin
from tests.agent.test_event_sender import commanded
from tests.agent.uplinks import At, ask, dialled, running
from tests.fakes.events import an_event
from tests.fakes.loop import on_a_loop
from tests.http1.scripted_server import scripted_server
from tests.tunnel.ends import Ending, Listener

OFFERS = (signin.EVENTS, signin.SEVERAL_NODES, signin.STANDBY_TUNNELS)
LINKED_EVENTS = ("linked", "connected")


@asynccontextmanager
async def with_both(
    folder: Path, *, printer: str = "http://127.0.0.1:1"
) -> AsyncIterator[tuple[At, ServiceVisit, ServiceVisit]]:
    """An agent with a primary tunnel and a standby."""
    async with dialled(folder, printer=printer) as at:
        at.service.capabilities = OFFERS
        async with running(at.agent):
            primary = await at.service.visit()
            await primary.welcome()
            standby = await at.service.visit()
            await standby.welcome()
            await at.until_events(*LINKED_EVENTS)
            await serves(standby)
            yield at, primary, standby


async def serves(visit: ServiceVisit) -> None:
    """Wait until requests on this tunnel are taken."""

    async def is_taken() -> bool:
        asked = await ask(visit)
        await until(asked.is_over)
        return asked.endings[0].text != "This agent has not signed in."

    while not await is_taken():
        pass


async def becomes_primary(visit: ServiceVisit) -> None:
    assert isinstance(await visit.heard(), signin.Primary)


@on_a_loop
async def test_a_second_tunnel_is_dialled_where_the_service_offers_that(tmp_path: Path) -> None:
    async with with_both(tmp_path) as (at, primary, standby):
        assert standby.hello.agent_run == primary.hello.agent_run
        assert len(str(primary.hello.agent_run)) == 32
        assert (primary.hello.is_standby, standby.hello.is_standby) == (UNSET, True)
        assert at.agent.announced.events == list(LINKED_EVENTS)
        assert at.service.accepted == 2


@on_a_loop
async def test_a_service_of_the_release_before_sees_an_agent_of_the_release_before(
    tmp_path: Path,
) -> None:
    async with dialled(tmp_path) as at:
        at.service.capabilities = (signin.EVENTS, signin.SEVERAL_NODES)
        async with running(at.agent):
            visit = await at.service.visit()
            await visit.welcome()
            await at.until_events(*LINKED_EVENTS)
            await serves(visit)

            assert (visit.hello.agent_run, visit.hello.is_standby) == (UNSET, UNSET)
            assert b"AgentRun" not in signin.encode(visit.hello)
            assert at.service.accepted == 1


@on_a_loop
async def test_the_standby_takes_the_place_of_a_lost_tunnel_at_once(tmp_path: Path) -> None:
    async with scripted_server() as printer:
        address = f"http://127.0.0.1:{printer.port}"
        async with dialled(tmp_path, printer=address) as at:
            at.service.capabilities = OFFERS
            async with running(at.agent):
                primary = await at.service.visit()
                await primary.welcome()
                standby = await at.service.visit()
                await standby.welcome()
                await at.until_events(*LINKED_EVENTS)
                primary.tunnel.abort("a fault")
                await becomes_primary(standby)
                asked = await ask(standby)
                await (await printer.accept()).answer()
                await until(asked.is_whole)

                assert at.state.snapshot.phase is Phase.CONNECTED
                assert at.agent.announced.events == list(LINKED_EVENTS)
                another = await at.service.visit()
                await another.welcome()
                assert another.hello.is_standby is True


@on_a_loop
async def test_the_standby_takes_the_place_of_a_tunnel_that_is_drained(tmp_path: Path) -> None:
    async with scripted_server() as printer:
        address = f"http://127.0.0.1:{printer.port}"
        async with dialled(tmp_path, printer=address) as at:
            at.service.capabilities = OFFERS
            async with running(at.agent):
                old = await at.service.visit()
                await old.welcome()
                standby = await at.service.visit()
                await standby.welcome()
                await at.until_events(*LINKED_EVENTS)
                asked = await ask(old)
                at_printer = await printer.accept()
                await at_printer.head()
                old.tunnel.drain()
                await becomes_primary(standby)
                at_printer.send(b"HTTP/1.1 204 No Content\r\n\r\n")
                await until(asked.is_whole)

                assert at.agent.announced.events == list(LINKED_EVENTS)


@on_a_loop
async def test_a_standby_that_ends_is_dialled_again(tmp_path: Path) -> None:
    async with with_both(tmp_path) as (at, primary, standby):
        standby.tunnel.close(CloseCode.SAME_NODE, "dial again")
        another = await at.service.visit()
        await another.welcome()
        assert another.hello.is_standby is True
        another.tunnel.drain()
        await (await at.service.visit()).welcome()

        assert not primary.is_closed.is_set()
        assert at.agent.announced.events == list(LINKED_EVENTS)


@on_a_loop
async def test_a_node_that_knows_no_standby_tunnels_hears_nothing_of_one(tmp_path: Path) -> None:
    """It would take the second tunnel for a newer one, and close the first."""
    async with dialled(tmp_path) as at:
        at.service.capabilities = OFFERS
        async with running(at.agent):
            primary = await at.service.visit()
            at.service.capabilities = (signin.EVENTS, signin.SEVERAL_NODES)
            await primary.welcome()
            visit = await at.service.visit()

            code, _ = await visit.end()
            assert code == CloseCode.NORMAL
            assert visit.unheard() == []
            assert not primary.is_closed.is_set()


@pytest.mark.parametrize(
    ("code", "events"),
    [
        (CloseCode.REPLACED, ["disconnected"]),
        (CloseCode.NOT_WELCOME, ["disconnected"]),
        (CloseCode.UNLINKED, ["disconnected"]),
    ],
)
@on_a_loop
async def test_what_the_service_refuses_on_the_first_tunnel_ends_both(
    tmp_path: Path, code: CloseCode, events: list[str]
) -> None:
    async with with_both(tmp_path) as (at, primary, standby):
        primary.tunnel.close(code, "its own words")

        assert (await standby.end())[0] == CloseCode.NORMAL
        assert standby.unheard() == []
        await at.until_events(*LINKED_EVENTS, *events)


@on_a_loop
async def test_an_agent_that_stops_takes_its_leave_of_both(tmp_path: Path) -> None:
    async with with_both(tmp_path) as (_, primary, standby):
        pass

    assert await primary.end() == (CloseCode.NORMAL, "the agent stops")
    assert await standby.end() == (CloseCode.NORMAL, "the agent stops")


@on_a_loop
async def test_a_standby_at_a_party_with_another_key_sees_no_proof(tmp_path: Path) -> None:
    async with dialled(tmp_path) as at:
        at.service.capabilities = OFFERS
        async with running(at.agent):
            primary = await at.service.visit()
            at.service.key = ServiceKey()
            await primary.welcome()
            impostor = await at.service.visit()
            await impostor.challenge()

            code, text = await impostor.end()
            assert code == CloseCode.NOT_WELCOME
            assert "shows another key" in text
            assert impostor.unheard() == []
            assert not primary.is_closed.is_set()


@on_a_loop
async def test_a_standby_is_looked_at_seldom_until_it_is_the_primary(tmp_path: Path) -> None:
    async with dialled(tmp_path) as at:
        at.service.capabilities = OFFERS
        async with running(at.agent) as uplink:
            primary = await at.service.visit()
            await primary.welcome()
            standby = await at.service.visit()
            await standby.welcome()
            await serves(standby)
            assert uplink._standby is not None
            tunnel = uplink._standby._tunnel
            assert tunnel is not None
            now = asyncio.get_running_loop().time()
            assert tunnel.session.next_deadline() > now + 30.0
            primary.tunnel.abort("a fault")
            await becomes_primary(standby)

            assert tunnel.session.next_deadline() < now + 30.0


@on_a_loop
async def test_both_tunnels_together_carry_no_more_than_one_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_connection, "MAX_STREAMS_OF_ALL", 3)
    async with scripted_server() as printer:
        address = f"http://127.0.0.1:{printer.port}"
        async with dialled(tmp_path, printer=address) as at:
            at.service.capabilities = OFFERS
            async with running(at.agent):
                primary = await at.service.visit()
                await primary.welcome()
                standby = await at.service.visit()
                await standby.welcome()
                await at.until_events(*LINKED_EVENTS)
                for visit in (primary, standby, primary):
                    await ask(visit)
                    await printer.accept()
                refused = await ask(standby)
                await until(refused.is_over)
                text = "More requests wait for the printer than it can take."
                assert refused.endings == [Ending(Reason.REFUSED, text)]

                command = Listener()
                path = b"/service-command-api/status"
                head = encode_request(b"GET", path, [(b"Host", b"printer")])
                command.stream = standby.tunnel.open(command, head, fin=True)
                await until(command.is_whole)


# --- the handshake alone ------------------------------------------------------------------------


class Second(Talk):
    """The handshake of an agent's standby, which the service has welcomed."""

    def __init__(self, agent: Agent, *, stores_events: bool = False) -> None:
        key = ServiceKey()
        pin(agent, key)
        super().__init__(agent, was_linked=True, stores_events=stores_events, is_standby=True)
        self.says(self.challenge(key), self.welcome())
        del self.messages[:]  # who it is, and the proof


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(tmp_path)


def test_events_wait_until_the_standby_is_the_primary(agent: Agent) -> None:
    outbox = commanded(agent).outbox
    outbox.put(TrackedPrint(), [an_event()])
    asyncio.run(outbox.save())
    second = Second(agent, stores_events=True)
    assert second.messages == []
    second.handshake.become_primary()

    said = [message for message in second.messages if not isinstance(message, signin.LanAddress)]
    assert said == [signin.Primary(), signin.Events(events=[an_event()])]


def test_a_lock_on_the_standby_binds_once_it_is_the_primary(agent: Agent) -> None:
    second, lock = Second(agent), agent.context.remote_lock
    second.says(signin.RemoteControl(is_locked=True))
    before = lock.is_locked
    second.handshake.become_primary()

    assert (before, lock.is_locked) == (False, True)
    assert not lock.is_service_lost


def test_the_end_of_a_standby_leaves_the_lock_as_it_is(agent: Agent) -> None:
    Second(agent).handshake.end()

    assert not agent.context.remote_lock.is_service_lost


@pytest.mark.parametrize("message", [OFFER, signin.Linked(printer_id="p", printer_name="Voron")])
def test_nothing_is_linked_by_the_standby(agent: Agent, message: signin.FromService) -> None:
    second, pinned = Second(agent), agent.pinned_keys
    with pytest.raises(ServiceRefused):
        second.says(message)

    assert agent.pinned_keys == pinned
    assert agent.announced.events == []


def test_an_address_that_changed_is_told_once_the_standby_is_the_primary(agent: Agent) -> None:
    second = Second(agent)
    moved = LanPlace(ip="192.168.1.8", port=8766)
    second.handshake._context = replace(agent.context, find_lan_address=lambda: moved)
    second.handshake.look_for_lan_address()
    assert second.messages == []
    second.handshake.become_primary()

    assert second.messages == [
        signin.Primary(),
        signin.LanAddress(lan_ip="192.168.1.8", lan_port=8766),
    ]


def test_a_standby_trusts_no_key_that_the_primary_has_not_pinned(agent: Agent) -> None:
    talk = Talk(agent, is_standby=True)
    with pytest.raises(ServiceRefused):
        talk.says(talk.challenge(ServiceKey()))

    assert talk.proofs == []
