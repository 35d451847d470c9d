"""The uplink against a service in this process: it links, serves, loses the tunnel, comes back."""

import asyncio
from pathlib import Path

import pytest

from printreach.agent import uplink as uplink_module
from printreach.agent.state import Phase
from printreach.agent.uplink import Uplink
from printreach.contract import signin
from printreach.wire.errors import CloseCode, Reason
from tests.agent.beside_printer import eventually, until
from tests.agent.contexts import Agent, ServiceKey
from tests.agent.scripted_service import OFFER, scripted_service
from tests.agent.uplinks import ask, dialled, quickly, running
from tests.fakes.loop import on_a_loop
from tests.http1.scripted_server import scripted_server
from tests.rigs.waiting import free_port
from tests.tunnel.ends import Ending, Listener

AT_ONCE_S = 10.0  # sooner than anything that it waits for gives up: a handshake has 15 s
LINKED = signin.Linked(printer_id="printer", printer_name="Voron")


def test_an_agent_shows_its_code_is_linked_and_carries_requests(tmp_path: Path) -> None:
    @on_a_loop
    async def body() -> None:
        async with scripted_server() as printer:
            address = f"http://127.0.0.1:{printer.port}"
            async with dialled(tmp_path, printer=address) as at, running(at.agent):
                visit = await at.service.visit()
                await visit.sign_in()
                visit.says(OFFER)
                await at.until_events("link-code")
                visit.says(LINKED)
                await at.until_events("link-code", "linked", "connected")

                asked = await ask(visit)
                await (await printer.accept()).answer()
                await until(asked.is_whole)
                assert asked.body == b"hello"
                assert visit.path == "/api/agent/tunnel"
                assert visit.hello.service_host == f"127.0.0.1:{at.service.port}"
                assert at.agent.pinned_keys == (at.service.key.public,)

    body()


@pytest.mark.parametrize(("capabilities", "within_s"), [((), 45.0), ((signin.SEVERAL_NODES,), 2.5)])
def test_an_agent_looks_often_whether_a_node_of_several_answers(
    tmp_path: Path, capabilities: tuple[str, ...], within_s: float
) -> None:
    @on_a_loop
    async def body() -> None:
        async with dialled(tmp_path) as at:
            at.service.capabilities = capabilities
            async with running(at.agent) as uplink:
                await (await at.service.visit()).welcome()
                await at.until_events("linked", "connected")
                [connection] = uplink._connections
                assert connection._tunnel is not None
                pinged_at = connection._tunnel.session.next_deadline()

                assert within_s - 2.0 < pinged_at - asyncio.get_running_loop().time() <= within_s

    body()


def test_a_request_before_sign_in_is_over_is_refused(tmp_path: Path) -> None:
    @on_a_loop
    async def body() -> None:
        async with dialled(tmp_path) as at, running(at.agent):
            visit = await at.service.visit()
            await visit.sign_in()
            asked = await ask(visit)

            await until(asked.is_over)
            assert asked.endings == [Ending(Reason.REFUSED, "This agent has not signed in.")]

    body()


def test_a_request_whose_head_cannot_be_read_costs_only_itself(tmp_path: Path) -> None:
    @on_a_loop
    async def body() -> None:
        async with dialled(tmp_path, platform="elegoo", printer=None) as at, running(at.agent):
            visit = await at.service.visit()
            await visit.welcome()
            await at.until_events("linked", "connected")
            listener = Listener()
            listener.stream = visit.tunnel.open(listener, b"nonsense", fin=True)

            await until(listener.is_over)
            assert listener.endings == [Ending(Reason.REFUSED, "malformed request line")]
            assert not visit.is_closed.is_set()

    body()


def test_a_lost_tunnel_is_announced_and_made_anew(tmp_path: Path) -> None:
    @on_a_loop
    async def body() -> None:
        async with dialled(tmp_path) as at, running(at.agent):
            await (first := await at.service.visit()).welcome()
            await at.until_events("linked", "connected")
            first.tunnel.abort("a fault")
            await at.until_events("linked", "connected", "disconnected")
            assert at.state.snapshot.last_error == "The tunnel ended: the connection was closed."

            await (await at.service.visit()).welcome()
            await at.until_events("linked", "connected", "disconnected", "connected")
            assert at.state.snapshot.phase is Phase.CONNECTED
            assert at.state.snapshot.last_error is None

    body()


def test_failures_in_a_row_are_waited_out_longer_and_longer(tmp_path: Path) -> None:
    asked_for: list[tuple[float, float]] = []

    def noted(low: float, high: float) -> float:
        asked_for.append((low, high))
        return 0.001

    @on_a_loop
    async def body() -> None:
        async with scripted_service() as service:
            agent = Agent(tmp_path, service=service.url, uniform=noted)
            async with running(agent):
                for _ in range(4):
                    visit = await service.visit()
                    await visit.challenge()
                    visit.tunnel.close(CloseCode.OVERLOADED, "come back later")
                await service.visit()

        assert asked_for[:4] == [(0.25, 0.5), (0.5, 1.0), (1.0, 2.0), (2.0, 4.0)]
        assert agent.announced.lines[:1] == [{"event": "disconnected", "RetryInSec": 1}]

    body()


def test_a_service_that_drops_us_at_once_each_time_is_not_hammered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uplink_module, "STEADY_S", 600.0)  # no standstill makes a tunnel steady
    asked_for: list[float] = []

    def noted(_low: float, high: float) -> float:
        asked_for.append(high)
        return 0.001

    @on_a_loop
    async def body() -> None:
        async with scripted_service() as service:
            agent = Agent(tmp_path, service=service.url, uniform=noted)
            async with running(agent):
                for _ in range(3):
                    visit = await service.visit()
                    await visit.welcome()
                    await eventually(lambda: agent.context.state.snapshot.phase is Phase.CONNECTED)
                    visit.tunnel.close(CloseCode.RESTARTING, "the service restarts")
                await service.visit()

        assert asked_for[:3] == [0.5, 1.0, 2.0]

    body()


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (CloseCode.REPLACED, "Another agent with the same key has connected"),
        (CloseCode.NOT_WELCOME, "The service refused the sign-in."),
        (CloseCode.VERSION_UNSUPPORTED, "The service speaks another version: update the agent."),
    ],
)
def test_a_refusal_is_shown_and_waited_out_for_a_minute(
    tmp_path: Path, code: CloseCode, sentence: str
) -> None:
    @on_a_loop
    async def body() -> None:
        async with dialled(tmp_path) as at, running(at.agent):
            visit = await at.service.visit()
            await visit.sign_in()
            visit.tunnel.close(code, "its own words")
            await eventually(lambda: at.state.snapshot.phase is Phase.REFUSED)

            snapshot = at.state.snapshot
            assert snapshot.last_error is not None
            assert snapshot.last_error.startswith(sentence)
            assert "its own words" in snapshot.last_error
            assert snapshot.retry_at is not None
            assert snapshot.retry_at - at.agent.clock.at >= 60
            assert at.agent.announced.lines == [{"event": "disconnected", "RetryInSec": 61}]

    body()


def test_a_printer_that_was_removed_is_offered_a_code_soon(tmp_path: Path) -> None:
    @on_a_loop
    async def body() -> None:
        async with dialled(tmp_path) as at:
            at.pin()
            async with running(at.agent):
                await (first := await at.service.visit()).welcome()
                await at.until_events("linked", "connected")
                first.tunnel.close(CloseCode.UNLINKED, "the printer was removed")
                await (second := await at.service.visit()).sign_in()
                second.says(OFFER)
                await at.until_events("linked", "connected", "disconnected", "link-code")
                assert at.agent.pinned_keys == ()

                second.tunnel.abort("a fault")
                await (await at.service.visit()).welcome()
                await eventually(lambda: at.agent.announced.events[-2:] == ["linked", "connected"])

    body()


def test_a_man_in_the_middle_with_a_key_of_his_own_sees_no_proof(tmp_path: Path) -> None:
    @on_a_loop
    async def body() -> None:
        async with dialled(tmp_path) as at:
            at.pin()
            at.service.key = ServiceKey()
            async with running(at.agent):
                visit = await at.service.visit()
                await visit.challenge()

                code, text = await visit.end()
                assert code == CloseCode.NOT_WELCOME
                assert "shows another key" in text
                assert visit.unheard() == []
                await eventually(lambda: at.state.snapshot.phase is Phase.REFUSED)
                assert at.agent.announced.events == ["disconnected"]

    body()


def test_nonsense_of_a_service_is_a_refusal(tmp_path: Path) -> None:
    @on_a_loop
    async def body() -> None:
        async with dialled(tmp_path) as at, running(at.agent):
            visit = await at.service.visit()
            await visit.heard()
            visit.tunnel.message(b"nonsense")

            code, text = await visit.end()
            assert code == CloseCode.NOT_WELCOME
            assert text.startswith("The service said something unreadable")
            await eventually(lambda: at.state.snapshot.phase is Phase.REFUSED)

    body()


def test_an_agent_that_stops_takes_its_leave(tmp_path: Path) -> None:
    @on_a_loop
    async def body() -> None:
        async with dialled(tmp_path) as at:
            async with running(at.agent):
                await (visit := await at.service.visit()).welcome()
                await at.until_events("linked", "connected")

            assert await visit.end() == (CloseCode.NORMAL, "the agent stops")
            assert at.agent.announced.events == ["linked", "connected"]
            assert at.service.accepted == 1

    body()


@pytest.mark.parametrize("moment", ["dialling", "signing in", "waiting"])
def test_an_agent_stops_at_once_whatever_it_does(tmp_path: Path, moment: str) -> None:
    @on_a_loop
    async def body() -> None:
        async with dialled(tmp_path) as at, running(at.agent) as uplink:
            if moment == "signing in":
                await (await at.service.visit()).heard()
            elif moment == "waiting":
                visit = await at.service.visit()
                visit.tunnel.close(CloseCode.NOT_WELCOME, "not now")
                await eventually(lambda: at.state.snapshot.phase is Phase.REFUSED)
            async with asyncio.timeout(AT_ONCE_S):
                await uplink.stop()

    body()


def test_a_cut_off_uplink_leaves_no_tunnel_behind(tmp_path: Path) -> None:
    @on_a_loop
    async def body() -> None:
        async with dialled(tmp_path) as at:
            task = asyncio.create_task(Uplink(at.agent.context).run())
            await (visit := await at.service.visit()).welcome()
            await at.until_events("linked", "connected")
            task.cancel()

            await visit.end()
            with pytest.raises(asyncio.CancelledError):
                await task

    body()


def test_a_service_that_restarts_is_left_for_the_next_while_the_old_tunnel_finishes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uplink_module, "MOVE_WITHIN_S", 0.01)

    @on_a_loop
    async def body() -> None:
        async with scripted_server() as printer:
            address = f"http://127.0.0.1:{printer.port}"
            async with dialled(tmp_path, printer=address) as at, running(at.agent):
                await (old := await at.service.visit()).welcome()
                await at.until_events("linked", "connected")
                asked = await ask(old)
                at_printer = await printer.accept()
                await at_printer.head()

                old.tunnel.drain()
                await (await at.service.visit()).welcome()
                await at.until_events("linked", "connected", "connected")
                at_printer.send(b"HTTP/1.1 204 No Content\r\n\r\n")
                await until(asked.is_whole)
                old.tunnel.close(CloseCode.RESTARTING, "the service restarts")
                await old.end()

                assert at.state.snapshot.phase is Phase.CONNECTED
                assert "disconnected" not in at.agent.announced.events

    body()


def test_a_moving_agent_that_stops_takes_its_leave_of_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uplink_module, "MOVE_WITHIN_S", 0.01)

    @on_a_loop
    async def body() -> None:
        async with dialled(tmp_path) as at:
            async with running(at.agent):
                await (old := await at.service.visit()).welcome()
                await at.until_events("linked", "connected")
                old.tunnel.drain()
                await (new := await at.service.visit()).welcome()
                await at.until_events("linked", "connected", "connected")

            assert (await old.end())[0] == CloseCode.NORMAL
            assert (await new.end())[0] == CloseCode.NORMAL

    body()


def test_a_service_that_is_not_there_is_shown_with_a_sentence(tmp_path: Path) -> None:
    @on_a_loop
    async def body() -> None:
        url = f"http://127.0.0.1:{free_port()}"
        agent = Agent(tmp_path, service=url, uniform=quickly)
        async with running(agent):
            await eventually(lambda: len(agent.announced.lines) >= 3)

        snapshot = agent.context.state.snapshot
        assert snapshot.phase is Phase.DISCONNECTED
        assert snapshot.last_error == f"No connection to {url}: Connection refused."
        assert set(agent.announced.events) == {"disconnected"}

    body()
