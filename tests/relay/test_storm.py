"""Many callers and agents that do as they please: nothing is left in the end, nothing failed."""

import asyncio
import contextlib
from random import Random

import pytest

from printreach.wire.errors import Reason
from tests.relay.caller import BrokenOff, Caller, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import OWN, Access, Rig, relay
from tests.relay.scripted_agent import Asked
from tests.relay.waiting import until

HANDSHAKE = (b"Connection: Upgrade", b"Upgrade: websocket")
WHATEVER = (BrokenOff, TimeoutError, AssertionError, ValueError, asyncio.LimitOverrunError)
"""What reading an answer may raise when it is cut short, or frames come in place of it."""
OF_CALLERS = ("connections", "requests_at_printers", "webcam_streams")
CALLERS = 60
CALLS_EACH = 5


def whim(chance: Random, asked: Asked) -> None:
    """Do something with a request, now or later, whether or not it makes sense."""
    loop = asyncio.get_running_loop()
    size = chance.choice([0, 1, 1000, 70_000, 600_000])
    match chance.randrange(8):
        case 0:
            asked.answer_with_length(b"x" * size)
        case 1:
            asked.answer(body=b"x" * size)
        case 2:
            asked.answer(body=b"begun", fin=False)
            loop.call_later(0.01, lambda: asked.stream.send(b"x" * size, fin=True))
        case 3:
            asked.answer(headers=[(b"Content-Length", b"99")], body=b"x" * size, fin=False)
            loop.call_later(0.01, asked.stream.reset, Reason.BROKEN)
        case 4:
            asked.stream.reset(chance.choice([Reason.UNREACHABLE, Reason.CANCELLED]))
        case 5:
            asked.answer(101, body=b"frames", fin=False)
            loop.call_later(0.02, lambda: asked.stream.send(b"more", fin=True))
        case 6:
            kind = [(b"Content-Type", b"multipart/x-mixed-replace; boundary=x")]
            asked.answer(headers=kind, body=b"frame", fin=False)
            loop.call_later(0.02, lambda: asked.stream.send(b"x" * size, fin=True))
        case _:
            asked.when_complete = Asked.answer


async def call(chance: Random, rig: Rig, access: Access) -> None:
    """One connection, a few requests, and some way of ending it."""
    buffer = chance.choice([None, 4096])
    caller = await Caller.connect(rig.port, receive_buffer=buffer)
    for _ in range(CALLS_EACH):
        host = chance.choice([access.host, access.host, OWN, b"nobody.tunnel.example"])
        fields = [access.bearer, *chance.choice([(), HANDSHAKE, (b"Connection: close",)])]
        body = b"x" * chance.choice([0, 0, 10, 300_000]) if HANDSHAKE[0] not in fields else b""
        sent = request(host, *fields, method=chance.choice([b"GET", b"PUT"]), body=body)
        caller.send(sent[: chance.choice([len(sent), len(sent), len(sent) // 2])])
        match chance.randrange(4):
            case 0:
                await asyncio.sleep(chance.random() / 100)
            case 1:
                caller.half_close()
                break
            case _:
                with contextlib.suppress(*WHATEVER):
                    async with asyncio.timeout(0.1):
                        await caller.answer()
    caller.leave()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@on_a_loop
async def test_whatever_callers_and_agents_do_nothing_is_left_of_it(seed: int) -> None:
    chance = Random(seed)
    async with relay() as rig:
        one, two = rig.connect("app-one"), rig.connect("app-two", printer="two")
        await rig.agent("one", lambda asked: whim(chance, asked))
        other = await rig.agent("two", lambda asked: whim(chance, asked))
        calls = [call(chance, rig, chance.choice([one, two])) for _ in range(CALLERS)]
        running = asyncio.gather(*calls)
        await asyncio.sleep(0.1)
        other.leave()
        await rig.agent("two", lambda asked: whim(chance, asked))
        await rig.revoke(one)
        await running

        await until(lambda: not any(map(rig.figure, OF_CALLERS)))
        await until(lambda: rig.figure("agents") == 2)
