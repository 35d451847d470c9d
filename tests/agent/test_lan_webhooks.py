"""Events to servers of the home itself."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from printreach.agent.lan_webhooks import MAX_WAITING, LanWebhooks
from printreach.agent.outbox import Outbox
from printreach.agent.print_tracker import PrintTracker
from printreach.contract.events import EventType, PrintEvent
from printreach.contract.status import DetectorStatus, State
from printreach.rules.backoff import Backoff
from printreach.rules.webhooks.messages import About
from tests.agent.contexts import tracker_environment
from tests.agent.snapshots import HandClock
from tests.fakes.loop import on_a_loop
from tests.fakes.printer import ScriptedPrinter

ABOUT = About(
    printer_id="p1", printer_name="Workbench", page_url="https://reach.example/printers/p1"
)
OK = b"HTTP/1.1 204 No Content\r\n\r\n"
BUSY = b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"


def event(event_id: str) -> PrintEvent:
    return PrintEvent(event_id=event_id, event_type=EventType.COMPLETE, event_time_sec=1)


class Receiver:
    """A server at home. answers: one for each call, the last for all others; None hangs."""

    def __init__(self, *answers: bytes | None) -> None:
        self._answers = list(answers or (OK,))
        self.heads: list[bytes] = []
        self.bodies: list[dict[str, object]] = []

    async def __aenter__(self) -> "Receiver":
        self._server = await asyncio.start_server(self._talk, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/hook?key=secret"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    @property
    def event_ids(self) -> list[object]:
        return [body["EventId"] for body in self.bodies]

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        lines = head.lower().split(b"\r\n")
        length = next(int(one[15:]) for one in lines if one.startswith(b"content-length:"))
        self.heads.append(head)
        self.bodies.append(json.loads(await reader.readexactly(length)))
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if answer is None:
            await reader.read()
        else:
            writer.write(answer)
            await writer.drain()
        writer.close()


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not is_so():  # noqa: ASYNC110  # what is looked at tells no event
            await asyncio.sleep(0.01)


async def while_sending(hooks: LanWebhooks, body: Callable[[], Awaitable[None]]) -> None:
    running = asyncio.create_task(hooks.run())
    try:
        await body()
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


def hooks_of(*receivers: Receiver) -> LanWebhooks:
    return LanWebhooks(
        [one.url for one in receivers], lambda: ABOUT, retry=Backoff.of_seconds(0.01)
    )


@on_a_loop
async def test_events_are_told_in_their_order_as_a_webhook_would() -> None:
    async with Receiver() as receiver:
        hooks = hooks_of(receiver)

        async def body() -> None:
            hooks.tell([event("event-001"), event("event-002")])
            await until(lambda: len(receiver.bodies) == 2)

        await while_sending(hooks, body)

    assert receiver.event_ids == ["event-001", "event-002"]
    assert receiver.bodies[0]["PrinterName"] == "Workbench"
    assert receiver.heads[0].startswith(b"POST /hook?key=secret HTTP/1.1\r\n")
    assert b"webhook-id: event-001\r\n" in receiver.heads[0]


@on_a_loop
async def test_what_was_not_taken_is_tried_again_before_what_came_later() -> None:
    redirect = b"HTTP/1.1 302 Go\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
    async with Receiver(BUSY, redirect, b"", OK) as receiver:
        hooks = hooks_of(receiver)

        async def body() -> None:
            hooks.tell([event("event-001"), event("event-002")])
            await until(lambda: len(receiver.bodies) == 5)

        await while_sending(hooks, body)

    assert receiver.event_ids == ["event-001"] * 4 + ["event-002"]


@on_a_loop
async def test_a_server_that_hangs_holds_up_no_other() -> None:
    async with Receiver(None) as slow, Receiver() as quick:
        hooks = hooks_of(slow, quick)

        async def body() -> None:
            hooks.tell([event(f"event-{number:03d}") for number in range(20)])
            await until(lambda: len(quick.bodies) == 20)

        await while_sending(hooks, body)

    assert len(slow.bodies) <= 1


@on_a_loop
async def test_a_server_that_is_away_for_long_gets_the_newest() -> None:
    async with Receiver() as receiver:
        hooks = hooks_of(receiver)
        hooks.tell([event(f"event-{number:05d}") for number in range(MAX_WAITING + 10)])

        async def body() -> None:
            await until(lambda: len(receiver.bodies) == MAX_WAITING)

        await while_sending(hooks, body)

    assert receiver.event_ids[0] == "event-00010"


@on_a_loop
async def test_the_secret_of_an_address_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with Receiver(BUSY, OK) as receiver:
        hooks = hooks_of(receiver)

        async def body() -> None:
            hooks.tell([event("event-001")])
            await until(lambda: len(receiver.bodies) == 2)

        await while_sending(hooks, body)

    assert "did not accept an event: status 503" in caplog.text
    assert "secret" not in caplog.text


@on_a_loop
async def test_what_happens_to_a_print_is_told_without_any_service(tmp_path: Path) -> None:
    clock, printer = HandClock(), ScriptedPrinter()
    async with Receiver() as receiver:
        hooks = hooks_of(receiver)
        prints = PrintTracker(
            printer,
            Outbox(tmp_path, clock),
            tracker_environment(clock),
            detector=lambda _: DetectorStatus(),
            tell=hooks.tell,
        )

        async def body() -> None:
            for state in (State.IDLE, State.PRINTING, State.COMPLETE):
                printer.be(state)
                prints.observe()
                clock.at += 60
            await until(lambda: len(receiver.bodies) >= 2)

        await while_sending(hooks, body)

    kinds = [body["EventType"] for body in receiver.bodies]
    assert [kinds[0], kinds[-1]] == [EventType.STARTED, EventType.COMPLETE]
