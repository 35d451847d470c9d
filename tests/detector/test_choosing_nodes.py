"""The choice of a detector node, the retries after failures, and harmful pictures."""

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from printreach.backends import scorer_http
from printreach.backends.scorer_http import HttpScorer, NodeAddress
from printreach.http1.messages import Answer, Call
from printreach.http1.server import serve
from printreach.ports.scoring import ScorerBusy, ScorerUnavailable, ScoringRefused
from printreach.rules.detection import MAX_IMAGE_BYTES
from printreach.rules.detection.detector import DetectorOff
from tests.detector.scorers import TOKEN, RunningNode, asking, running_node, until
from tests.detector.stand_in import StandIn, seen
from tests.rigs.certificates import Authority
from tests.rigs.receiver import server_tls
from tests.rigs.waiting import free_port

DEADLINE_S = 60
NEVER_S = 3600.0
"""For a node that is to stay away."""


def run(test: Coroutine[Any, Any, None]) -> None:
    async def through() -> None:
        async with asyncio.timeout(DEADLINE_S):
            await test

    asyncio.run(through())


def nobody() -> NodeAddress:
    """An address at which nothing listens."""
    return NodeAddress("127.0.0.1", free_port(), is_tls=False)


@asynccontextmanager
async def server(handler: Callable[[Call], Awaitable[Answer]]) -> AsyncIterator[NodeAddress]:
    """Something else than a node."""
    running = await serve(handler, "127.0.0.1", 0)
    try:
        yield NodeAddress("127.0.0.1", running.port, is_tls=False)
    finally:
        await running.close()


@asynccontextmanager
async def hanging_up() -> AsyncIterator[tuple[NodeAddress, list[int]]]:
    """A server that goes away in the middle of each request, and how many came."""
    came: list[int] = []

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.append(1)
        await reader.read(100)
        writer.close()

    listener = await asyncio.start_server(client, "127.0.0.1", 0)
    async with listener:
        yield NodeAddress("127.0.0.1", listener.sockets[0].getsockname()[1], is_tls=False), came


def test_the_next_node_is_asked_where_one_does_not_answer() -> None:
    async def test() -> None:
        async with running_node(StandIn().load) as node, asking(nobody(), node.address) as scorer:
            for number in range(4):
                picture = b"%d" % number
                assert (await scorer.score(picture)).assessment == seen(picture)

    run(test())


def test_a_node_that_failed_is_left_alone_and_the_log_says_so_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def test() -> None:
        async with (
            hanging_up() as (address, came),
            running_node(StandIn().load) as node,
            asking(address, node.address, look_again_s=NEVER_S) as scorer,
        ):
            for _ in range(5):
                await scorer.score(b"picture")
            assert len(came) == 1

    with caplog.at_level(logging.INFO):
        run(test())

    (record,) = caplog.records
    assert "is not used for now" in record.getMessage()


def test_a_node_that_is_back_is_asked_again() -> None:
    async def test() -> None:
        address = nobody()
        async with asking(address) as scorer:
            with pytest.raises(ScorerUnavailable):
                await scorer.score(b"picture")
            async with running_node(StandIn().load, port=address.port):
                while not await _scores(scorer):  # noqa: ASYNC110  # nothing tells of it
                    await asyncio.sleep(0.01)

    run(test())


async def _scores(scorer: HttpScorer) -> bool:
    try:
        await scorer.score(b"picture")
    except ScorerUnavailable:
        return False
    return True


def test_where_every_node_is_down_pictures_are_refused_at_once() -> None:
    async def test() -> None:
        async with asking(nobody(), nobody(), look_again_s=NEVER_S) as scorer:
            known = [scorer.off]
            for _ in range(3):
                with pytest.raises(ScorerUnavailable, match="no detector node answers"):
                    await scorer.score(b"picture")
            assert [*known, scorer.off] == [None, DetectorOff.NO_NODE]

    run(test())


def test_the_node_with_the_least_to_do_is_asked() -> None:
    async def test() -> None:
        looks = [StandIn(is_open=False) for _ in range(3)]
        async with AsyncExitStack() as ends:
            nodes = [await ends.enter_async_context(running_node(look.load)) for look in looks]
            scorer = await ends.enter_async_context(asking(*(node.address for node in nodes)))
            asked = [asyncio.ensure_future(scorer.score(b"%d" % n)) for n in range(6)]
            await until(lambda: _looked_at_or_waiting(nodes, looks) == [2, 2, 2])
            for look in looks:
                look.open.set()
            await asyncio.gather(*asked)

    run(test())


def _looked_at_or_waiting(nodes: list[RunningNode], looks: list[StandIn]) -> list[int]:
    return [
        len(look.pictures) + round(node.engine.load * 32)
        for node, look in zip(nodes, looks, strict=True)
    ]


def test_a_busy_node_passes_the_picture_to_another() -> None:
    async def busy(call: Call) -> Answer:
        await call.body.read(MAX_IMAGE_BYTES)
        return Answer(status=503, body=b'{"Kind":"busy","Why":"too many pictures wait already"}')

    async def test() -> None:
        async with (
            server(busy) as first,
            running_node(StandIn().load) as node,
            asking(first, node.address, look_again_s=NEVER_S) as scorer,
        ):
            for _ in range(4):
                await scorer.score(b"picture")
        async with server(busy) as only, asking(only) as scorer:
            for _ in range(2):  # it is not left alone: it answers
                with pytest.raises(ScorerBusy):
                    await scorer.score(b"picture")

    run(test())


def test_a_picture_at_which_two_nodes_broke_off_is_shown_to_no_third() -> None:
    async def test() -> None:
        async with AsyncExitStack() as ends:
            servers = [await ends.enter_async_context(hanging_up()) for _ in range(4)]
            addresses = [address for address, _ in servers]
            scorer = await ends.enter_async_context(asking(*addresses, look_again_s=NEVER_S))
            with pytest.raises(ScorerUnavailable):
                await scorer.score(b"poison")

            assert sum(len(came) for _, came in servers) == 2

    run(test())


def test_a_node_with_another_token_is_left_alone(caplog: pytest.LogCaptureFixture) -> None:
    async def test() -> None:
        async with (
            running_node(StandIn().load, token="another-token-than-ours") as node,
            asking(node.address) as scorer,
        ):
            with pytest.raises(ScorerUnavailable):
                await scorer.score(b"picture")
            await asyncio.sleep(0.1)  # it is looked at again meanwhile, and stays away
            with pytest.raises(ScorerUnavailable):
                await scorer.score(b"picture")

    run(test())

    (record,) = caplog.records
    assert "it doesn't take our token" in record.getMessage()
    assert TOKEN not in record.getMessage()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b"\xff",
        b'{"Probability":2,"Evidence":[[0.5]],"Grey":[%b],"Digest":1,"Load":0}'
        % b",".join([b"1"] * 64),
        b'{"Probability":0.5,"Evidence":[[-1]],"Grey":[%b],"Digest":1,"Load":0}'
        % b",".join([b"1"] * 64),
        b'{"Probability":0.5,"Evidence":[[0.5]],"Grey":[1],"Digest":1,"Load":0}',
        b'{"Probability":0.5,"Evidence":[[0.5]],"Grey":[%b],"Digest":1,"Load":0}'
        % b",".join([b"999"] * 64),
        b'{"Probability":0.5,"Evidence":[[' + b"0.5," * 40_000 + b'1]],"Load":0}',
        b'{"Probability":0.5,"Evidence":[[0.5]],"Grey":[%b],"Digest":%b,"Load":0}'
        % (b",".join([b"1"] * 64), b"9" * 40),
        b'{"Probability":0.5,"Evidence":[[0.5],[0.5,0.5]],"Grey":[%b],"Digest":1,"Load":0}'
        % b",".join([b"1"] * 64),
        b'{"Probability":0.5,"Evidence":[%b],"Grey":[%b],"Digest":1,"Load":0}'
        % (b",".join([b"[]"] * 9000), b",".join([b"1"] * 64)),
        b'{"Kind":"unreadable","Why":"%b"}' % (b"x" * 5000),
    ],
)
@pytest.mark.parametrize("status", [200, 422, 503])
def test_an_answer_that_no_node_gives_counts_as_a_failure(status: int, body: bytes) -> None:
    async def answers(call: Call) -> Answer:
        await call.body.read(MAX_IMAGE_BYTES)
        return Answer(status=status, body=body)

    async def test() -> None:
        async with server(answers) as address, asking(address, look_again_s=NEVER_S) as scorer:
            with pytest.raises(ScorerUnavailable):
                await scorer.score(b"picture")

    run(test())


@pytest.mark.parametrize("status", [200, 302, 400, 404, 500])
def test_another_kind_of_server_scores_nothing(status: int) -> None:
    async def answers(call: Call) -> Answer:
        await call.body.read(MAX_IMAGE_BYTES)
        return Answer(status=status, headers=[(b"Location", b"http://127.0.0.1:1/")])

    async def test() -> None:
        async with server(answers) as address, asking(address, look_again_s=NEVER_S) as scorer:
            with pytest.raises(ScorerUnavailable):
                await scorer.score(b"picture")

    run(test())


def test_a_node_that_never_answers_is_not_waited_for_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scorer_http, "TIMEOUT_S", 0.1)

    async def hangs(call: Call) -> Answer:
        await asyncio.sleep(NEVER_S)
        return Answer()

    async def test() -> None:
        async with server(hangs) as address, asking(address) as scorer:
            with pytest.raises(ScorerBusy, match="no score within"):
                await scorer.score(b"picture")

    run(test())


def test_what_one_process_asks_at_once_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scorer_http, "MAX_CALLS", 2)
    monkeypatch.setattr(scorer_http, "MAX_BYTES_OF_CALLS", 100)
    look = StandIn(is_open=False)

    async def test() -> None:
        async with running_node(look.load) as node, asking(node.address) as scorer:
            first = asyncio.ensure_future(scorer.score(bytes(60)))
            await until(look.begun.is_set)
            with pytest.raises(ScorerBusy):
                await scorer.score(bytes(41))
            second = asyncio.ensure_future(scorer.score(bytes(40)))
            await until(lambda: node.engine.load > 0)
            with pytest.raises(ScorerBusy):
                await scorer.score(b"")
            look.open.set()
            await asyncio.gather(first, second)
            assert (await scorer.score(bytes(100))).load == 0

    run(test())


@pytest.mark.parametrize("is_trusted", [True, False])
def test_a_node_behind_tls_is_asked_where_its_certificate_is_trusted(
    tmp_path: Path, is_trusted: bool
) -> None:
    authority = Authority(tmp_path)
    tls = ssl.create_default_context(cafile=authority.root) if is_trusted else None
    look = StandIn()

    async def test() -> None:
        certificate = server_tls(authority.issue("127.0.0.1"))
        async with running_node(look.load, tls=certificate) as node:
            address = replace(node.address, is_tls=True)
            async with asking(address, look_again_s=NEVER_S, tls=tls) as scorer:
                assert (await scorer.score(b"picture")).load == 0

    if is_trusted:
        run(test())
    else:
        with pytest.raises(ScoringRefused):
            run(test())
    assert len(look.pictures) == is_trusted


@pytest.mark.parametrize(
    ("url", "host", "port", "is_tls"),
    [
        ("http://10.0.0.7:8081", "10.0.0.7", 8081, False),
        ("http://gpu.lan", "gpu.lan", 80, False),
        ("https://gpu.example", "gpu.example", 443, True),
        ("http://[fd00::7]:8081", "fd00::7", 8081, False),
    ],
)
def test_an_address_is_read_as_it_is_written(url: str, host: str, port: int, is_tls: bool) -> None:
    address = NodeAddress.at(url)

    assert address == NodeAddress(host, port, is_tls)
    assert NodeAddress.at(str(address)) == address
