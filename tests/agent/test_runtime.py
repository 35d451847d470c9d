"""One agent from start to stop, with an uplink that does as it is told."""

import asyncio
import json
import os
import random
import socket
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from printreach.agent import runtime
from printreach.agent.addresses import ListenAddress, WebAddress
from printreach.agent.config import AgentConfig
from printreach.agent.data_dir import DataDirLock, DataDirRefused, is_locked
from printreach.agent.keys import ServicePin, ServicePins
from printreach.agent.runtime import AgentContext, LanPlace, Machine, run_agent
from printreach.agent.state import Phase
from printreach.agent.status import NotRunning, read_status
from printreach.contract.platforms import PLATFORM_FACTS
from tests.agent.snapshots import SERVICE_URL, HandClock, a_link_code


class ObedientUplink:
    """Does what a test gives it to do, then waits for stop()."""

    def __init__(
        self, context: AgentContext, act: Callable[[AgentContext], Awaitable[None]]
    ) -> None:
        self.context = context
        self.was_stopped = asyncio.Event()
        self._act = act

    async def run(self) -> None:
        await self._act(self.context)
        await self.was_stopped.wait()

    async def stop(self) -> None:
        self.was_stopped.set()


class StubbornUplink:
    """Hears nothing; ends only when it is cancelled."""

    def __init__(self) -> None:
        self.has_begun = asyncio.Event()
        self.was_cancelled = False

    async def run(self) -> None:
        self.has_begun.set()
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            self.was_cancelled = True
            raise

    async def stop(self) -> None:
        """Not now."""


@pytest.fixture
def config(tmp_path: Path) -> AgentConfig:
    """An agent beside OctoPrint, its page on any free port of loopback."""
    return AgentConfig(
        service=WebAddress(scheme="https", host="printreach.example", port=443),
        data_dir=tmp_path / "agent",
        kind=PLATFORM_FACTS["octoprint"],
        printer=WebAddress(scheme="http", host="127.0.0.1", port=5000),
        lan_listen=ListenAddress(host="127.0.0.1", port=0),
    )


@pytest.fixture
def stdout() -> Iterator[tuple[int, int]]:
    """The two ends of the pipe that stands for standard output."""
    reader, writer = os.pipe()
    yield reader, writer
    os.close(reader)
    os.close(writer)


def machine(stdout: int | None = None) -> Machine:
    """A machine whose clock stands still."""
    numbers = random.Random(1)
    return Machine(
        monotonic=HandClock(),
        unix_time=lambda: 1_700_000_000.0,
        uniform=numbers.uniform,
        token_bytes=numbers.randbytes,
        stdout=stdout,
    )


def run(
    config: AgentConfig,
    act: Callable[[AgentContext], Awaitable[None]],
    stdout: int | None = None,
) -> None:
    """Run an agent; once act has returned, it is told to stop."""

    async def whole() -> None:
        stop = asyncio.Event()

        async def act_and_stop(context: AgentContext) -> None:
            try:
                await act(context)
            finally:
                stop.set()

        async with asyncio.timeout(60):
            await run_agent(
                config,
                machine=machine(stdout),
                make_uplink=lambda context: ObedientUplink(context, act_and_stop),
                stop=stop,
            )

    asyncio.run(whole())


async def fetch(authority: str, path: str) -> bytes:
    host, _, port = authority.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    answer = await reader.read()
    writer.close()
    return answer


def test_a_running_agent_tells_its_state_by_page_and_by_file(config: AgentConfig) -> None:
    async def act(context: AgentContext) -> None:
        context.state.unlinked(a_link_code())

        page = context.state.snapshot.lan_page
        assert page is not None
        assert b"ACDE-FG34" in await fetch(page, "/")
        assert context.key.printer_id.encode() in await fetch(page, "/api/plugin/service")
        assert read_status(config.data_dir) == context.state.snapshot

    run(config, act)


def test_a_stopped_agent_leaves_its_key_and_no_trace_of_running(config: AgentConfig) -> None:
    ids: list[str] = []

    async def act(context: AgentContext) -> None:
        ids.append(context.key.printer_id)

    run(config, act)
    run(config, act)

    assert ids[0] == ids[1]
    assert not is_locked(config.data_dir)
    assert {path.name for path in config.data_dir.iterdir()} == {"agent.key", "agent.lock"}
    with pytest.raises(NotRunning):
        read_status(config.data_dir)


def test_an_agent_that_was_linked_knows_its_name_before_the_service_answers(
    config: AgentConfig,
) -> None:
    async def link(context: AgentContext) -> None:
        context.pins.put(SERVICE_URL, ServicePin(public_keys=(bytes(32),), printer_name="Voron"))

    async def act(context: AgentContext) -> None:
        assert context.state.snapshot.phase is Phase.STARTING
        assert context.state.snapshot.is_linked
        assert context.state.snapshot.printer_name == "Voron"

    run(config, link)
    run(config, act)


def test_a_pin_of_another_service_links_nothing_here(config: AgentConfig) -> None:
    config.data_dir.mkdir(mode=0o700)
    ServicePins.load(config.data_dir).put(
        "https://other.example", ServicePin(public_keys=(bytes(32),), printer_name="Voron")
    )

    async def act(context: AgentContext) -> None:
        assert not context.state.snapshot.is_linked
        assert context.state.snapshot.printer_name == ""

    run(config, act)


def test_announcements_go_to_standard_output(config: AgentConfig, stdout: tuple[int, int]) -> None:
    reader, writer = stdout

    async def act(context: AgentContext) -> None:
        context.announce.connected()

    run(config, act, stdout=writer)

    assert json.loads(os.read(reader, 4096)) == {"event": "connected"}


def test_a_second_agent_on_the_same_folder_stops_with_a_sentence(
    config: AgentConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime, "_LOCK_RETRY_S", 0.001)

    async def act(context: AgentContext) -> None:
        with pytest.raises(DataDirRefused, match="Another agent runs"):
            await run_agent(
                config,
                machine=machine(),
                make_uplink=lambda _: pytest.fail("the second agent went on"),
                stop=asyncio.Event(),
            )
        assert read_status(config.data_dir) == context.state.snapshot

    run(config, act)


def test_an_agent_starts_beside_one_who_just_asks_whether_it_runs(
    config: AgentConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.data_dir.mkdir(mode=0o700)
    asking = DataDirLock.take(config.data_dir)
    assert asking is not None
    monkeypatch.setattr(runtime, "_LOCK_RETRY_S", 0.02)

    async def act(context: AgentContext) -> None:
        """Got here: the lock was tried again."""

    async def whole() -> None:
        asyncio.get_running_loop().call_later(0.01, asking.release)
        stop = asyncio.Event()
        stop.set()
        await run_agent(
            config,
            machine=machine(),
            make_uplink=lambda context: ObedientUplink(context, act),
            stop=stop,
        )

    asyncio.run(whole())


def test_a_page_whose_port_is_taken_does_not_keep_the_printer_unreachable(
    config: AgentConfig, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = ListenAddress(host="127.0.0.1", port=taken.getsockname()[1])
        config = replace(config, lan_listen=listen)

        async def act(context: AgentContext) -> None:
            assert context.state.snapshot.lan_page is None

        run(config, act)

    assert any(f"--lan-listen {listen} is not available" in message for message in caplog.messages)


def test_a_page_for_everyone_is_named_by_the_address_of_the_machine(config: AgentConfig) -> None:
    config = replace(config, lan_listen=ListenAddress(host="0.0.0.0", port=0))

    async def act(context: AgentContext) -> None:
        snapshot = context.state.snapshot
        assert snapshot.lan_address is not None
        assert snapshot.lan_page is not None
        assert snapshot.lan_page.startswith(f"{snapshot.lan_address}:")
        assert snapshot.lan_page == f"{snapshot.lan_address}:{context.find_lan_address().port}"

    run(config, act)


def test_a_page_for_this_machine_alone_is_none_of_the_network(
    config: AgentConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime, "find_lan_address", lambda _witnesses: "192.168.1.7")
    config = replace(config, lan_listen=ListenAddress(host="127.0.0.1", port=0))

    async def act(context: AgentContext) -> None:
        assert context.state.snapshot.lan_page is not None
        assert context.find_lan_address() == LanPlace(ip="192.168.1.7", port=0)

    run(config, act)


@pytest.mark.parametrize(
    ("scheme", "host", "is_warned"),
    [
        ("https", "printreach.example", False),
        ("http", "localhost", False),
        ("http", "printreach.example", True),
        ("http", "192.168.1.9", True),
    ],
)
def test_a_way_to_the_service_that_anyone_can_listen_on_is_warned_of(
    config: AgentConfig, caplog: pytest.LogCaptureFixture, scheme: str, host: str, is_warned: bool
) -> None:
    config = replace(config, service=WebAddress(scheme=scheme, host=host, port=8080))

    async def act(context: AgentContext) -> None:
        """Starting is all it takes."""

    run(config, act)

    assert any("not encrypted" in message for message in caplog.messages) is is_warned


def test_a_damaged_key_stops_the_start_and_frees_the_folder(config: AgentConfig) -> None:
    config.data_dir.mkdir(mode=0o700)
    (config.data_dir / "agent.key").write_text("not a key")
    (config.data_dir / "agent.key").chmod(0o600)

    async def act(context: AgentContext) -> None:
        pytest.fail("an agent ran without a key")

    with pytest.raises(DataDirRefused, match="damaged"):
        run(config, act)
    assert not is_locked(config.data_dir)


def test_a_fault_in_the_uplink_ends_the_agent_and_frees_everything(config: AgentConfig) -> None:
    async def act(context: AgentContext) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(config, act)
    assert not is_locked(config.data_dir)
    assert not (config.data_dir / "status.json").exists()


def test_an_uplink_that_does_not_stop_is_cut_off(
    config: AgentConfig, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(runtime, "STOP_WITHIN_S", 0.01)

    async def whole() -> StubbornUplink:
        uplink = StubbornUplink()
        await run_agent(
            config, machine=machine(), make_uplink=lambda _: uplink, stop=uplink.has_begun
        )
        return uplink

    assert asyncio.run(whole()).was_cancelled
    assert any("cut off" in message for message in caplog.messages)


def test_a_cancelled_agent_ends_its_uplink_with_it(config: AgentConfig) -> None:
    async def whole() -> StubbornUplink:
        uplink = StubbornUplink()
        running = asyncio.create_task(
            run_agent(config, machine=machine(), make_uplink=lambda _: uplink, stop=asyncio.Event())
        )
        await uplink.has_begun.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        return uplink

    assert asyncio.run(whole()).was_cancelled
    assert not is_locked(config.data_dir)
