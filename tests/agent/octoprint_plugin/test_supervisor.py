"""One agent at a time, as it is configured at the moment, whatever happens to it."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest

from printreach.agent.builtin import CannotStart
from printreach.agent.keys import KEY_FILE, PINS_FILE
from printreach.agent.octoprint_plugin.supervisor import AgentStatus, Supervisor
from printreach.agent.state import Phase
from tests.agent.octoprint_plugin.stand_ins import Uplinks, a_config, a_machine

OTHER = "https://other.example"


def supervised(
    uplinks: Uplinks, act: Callable[[Supervisor], Awaitable[None]], retry_s: float = 60.0
) -> Supervisor:
    """Let it run while act acts on it, then stop it."""

    async def whole() -> Supervisor:
        supervisor = Supervisor(a_machine(), uplinks, retry_s=retry_s)
        async with asyncio.timeout(60):
            running = asyncio.create_task(supervisor.run())
            try:
                await act(supervisor)
            finally:
                supervisor.stop()
                await running
        return supervisor

    return asyncio.run(whole())


async def until(is_so: Callable[[], bool]) -> None:
    while not is_so():  # noqa: ASYNC110 - what it looks at has no event
        await asyncio.sleep(0.005)


def test_without_an_address_there_is_no_agent_and_nothing_on_the_disk(tmp_path: Path) -> None:
    uplinks = Uplinks()

    async def act(_: Supervisor) -> None:
        await asyncio.sleep(0)

    assert supervised(uplinks, act).status == AgentStatus()
    assert uplinks.addresses == []
    assert list(tmp_path.iterdir()) == []


def test_an_agent_runs_and_its_state_is_told(tmp_path: Path) -> None:
    uplinks = Uplinks()

    async def act(supervisor: Supervisor) -> None:
        supervisor.use(a_config(tmp_path))
        await until(lambda: supervisor.status.snapshot is not None)
        assert supervisor.status.snapshot is not None
        assert supervisor.status.snapshot.phase is Phase.STARTING
        assert supervisor.status.snapshot.lan_page is None

    supervised(uplinks, act)
    assert uplinks.addresses == ["https://printreach.example"]


def test_another_address_makes_another_agent_with_the_same_key(tmp_path: Path) -> None:
    uplinks, ids = Uplinks(), set()

    async def act(supervisor: Supervisor) -> None:
        for address in ("https://printreach.example", OTHER):
            supervisor.use(a_config(tmp_path, address))
            await until(partial(uplinks.addresses.__contains__, address))
            assert supervisor.status.snapshot is not None
            ids.add(supervisor.status.snapshot.printer_id)

    supervised(uplinks, act)
    assert uplinks.addresses == ["https://printreach.example", OTHER]
    assert len(ids) == 1


def test_the_same_settings_again_leave_the_agent_running(tmp_path: Path) -> None:
    uplinks = Uplinks()

    async def act(supervisor: Supervisor) -> None:
        supervisor.use(a_config(tmp_path))
        await until(lambda: bool(uplinks.addresses))
        supervisor.use(a_config(tmp_path))
        await asyncio.sleep(0.05)

    supervised(uplinks, act)
    assert len(uplinks.addresses) == 1


def test_an_empty_address_ends_the_agent(tmp_path: Path) -> None:
    async def act(supervisor: Supervisor) -> None:
        supervisor.use(a_config(tmp_path))
        await until(lambda: supervisor.status.snapshot is not None)
        supervisor.use(None)
        await until(lambda: supervisor.status == AgentStatus())

    supervised(Uplinks(), act)


def test_unlinking_makes_a_new_agent_that_nobody_knows(tmp_path: Path) -> None:
    uplinks = Uplinks()

    async def act(supervisor: Supervisor) -> None:
        supervisor.use(a_config(tmp_path))
        await until(lambda: len(uplinks.addresses) == 1)
        key = (tmp_path / "agent" / KEY_FILE).read_bytes()
        (tmp_path / "agent" / PINS_FILE).write_text("pins")
        supervisor.forget_link()
        await until(lambda: len(uplinks.addresses) == 2)
        assert (tmp_path / "agent" / KEY_FILE).read_bytes() != key
        assert not (tmp_path / "agent" / PINS_FILE).exists()

    supervised(uplinks, act)


def test_unlinking_and_switching_off_at_once_does_both(tmp_path: Path) -> None:
    async def act(supervisor: Supervisor) -> None:
        supervisor.use(a_config(tmp_path))
        await until(lambda: supervisor.status.snapshot is not None)
        supervisor.forget_link()
        supervisor.use(None)
        await until(lambda: supervisor.status == AgentStatus())
        assert not (tmp_path / "agent" / KEY_FILE).exists()

    supervised(Uplinks(), act)


@pytest.mark.parametrize(
    ("failure", "trouble"),
    [
        (CannotStart("It lacks a library."), "It lacks a library."),
        (ZeroDivisionError(), "in a way it does not know"),
    ],
)
def test_a_failure_is_named_and_tried_again(
    tmp_path: Path, failure: Exception, trouble: str
) -> None:
    uplinks, troubles = Uplinks(failure), []

    async def act(supervisor: Supervisor) -> None:
        supervisor.use(a_config(tmp_path))
        await until(lambda: supervisor.status.trouble is not None)
        troubles.append(supervisor.status.trouble or "")
        await until(lambda: bool(uplinks.addresses))

    supervised(uplinks, act, retry_s=0.05)
    assert trouble in troubles[0]


def test_new_settings_end_the_rest_after_a_failure(tmp_path: Path) -> None:
    uplinks = Uplinks(ZeroDivisionError())

    async def act(supervisor: Supervisor) -> None:
        supervisor.use(a_config(tmp_path))
        await until(lambda: supervisor.status.trouble is not None)
        supervisor.use(a_config(tmp_path, OTHER))
        await until(lambda: uplinks.addresses == [OTHER])

    supervised(uplinks, act)


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "agent").write_text("a file where the folder should be")

    async def act(supervisor: Supervisor) -> None:
        supervisor.use(a_config(tmp_path))
        await until(lambda: supervisor.status.trouble is not None)
        assert str(tmp_path / "agent") in (supervisor.status.trouble or "")

    supervised(Uplinks(), act)


def test_a_cancelled_supervisor_ends_its_agent_too(tmp_path: Path) -> None:
    async def whole() -> None:
        supervisor = Supervisor(a_machine(), Uplinks(is_deaf=True))
        running = asyncio.create_task(supervisor.run())
        supervisor.use(a_config(tmp_path))
        await until(lambda: supervisor.status.snapshot is not None)
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(whole())
