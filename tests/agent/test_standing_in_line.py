"""The number of requests that wait for one printer has a bound."""

from pathlib import Path

import pytest

from printreach.agent import uplink
from printreach.limiters.request_queue import RequestQueue
from tests.agent.beside_printer import eventually
from tests.agent.uplinks import ask, dialled, running
from tests.fakes.loop import on_a_loop
from tests.http1.scripted_server import scripted_server

BOUND = 3
LONG_S = 600.0
"""So that nobody goes before their turn while the test runs."""


@on_a_loop
async def test_a_printer_has_so_many_requests_to_answer_and_the_others_wait_for_their_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queues: list[RequestQueue] = []

    def queue(most: int) -> RequestQueue:
        queues.append(RequestQueue(most, timeout_s=LONG_S))
        return queues[-1]

    monkeypatch.setattr(uplink, "MAX_UNANSWERED", BOUND)
    monkeypatch.setattr(uplink, "RequestQueue", queue)
    async with scripted_server() as printer:
        address = f"http://127.0.0.1:{printer.port}"
        async with dialled(tmp_path, printer=address) as at, running(at.agent):
            visit = await at.service.visit()
            await visit.welcome()
            await at.until_events("linked", "connected")
            for _ in range(BOUND + 2):
                await ask(visit)
            busy = [await printer.accept() for _ in range(BOUND)]
            await eventually(lambda: queues[0].waiting == 2)
            assert printer.accepted == BOUND

            await busy[0].answer(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
            await printer.accept()
            assert queues[0].waiting == 1
