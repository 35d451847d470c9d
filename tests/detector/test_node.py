"""The answers of a detector node, and its access control."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from printreach.detector.engine import ModelUnavailable, ScoreBatch
from printreach.detector.image_queue import MAX_QUEUED
from printreach.detector.node import LIMITS
from printreach.http1.fetch import FetchedAnswer, Fetcher
from printreach.rules.detection import MAX_IMAGE_BYTES
from printreach.rules.watch.choices import MAX_REGIONS
from tests.detector.scorers import TOKEN, RunningNode, running_node, until
from tests.detector.stand_in import StandIn

OURS = (b"Authorization", b"Bearer " + TOKEN.encode())
DEADLINE_S = 60


def at_node(look: Callable[[], ScoreBatch], use: Callable[[RunningNode], Awaitable[None]]) -> None:
    async def through() -> None:
        async with asyncio.timeout(DEADLINE_S), running_node(look) as node:
            await use(node)

    asyncio.run(through())


async def fetch(
    node: RunningNode,
    target: bytes,
    method: bytes = b"POST",
    body: bytes = b"",
    proof: tuple[bytes, bytes] | None = OURS,
) -> FetchedAnswer:
    port = node.address.port
    loop = asyncio.get_running_loop()
    fetcher = Fetcher(lambda make: loop.create_connection(make, "127.0.0.1", port), b"node")
    try:
        return await fetcher.fetch(method, target, [proof] if proof else [], body)
    finally:
        await fetcher.close()


def asked(target: bytes, method: bytes = b"POST", body: bytes = b"picture") -> FetchedAnswer:
    """Return the answer of a node whose scorer takes anything."""
    reported: list[FetchedAnswer] = []

    async def use(node: RunningNode) -> None:
        reported.append(await fetch(node, target, method, body))

    at_node(StandIn().load, use)
    return reported[0]


@pytest.mark.parametrize(
    "proof",
    [
        None,
        (b"Authorization", b"Bearer "),
        (b"Authorization", b"Bearer " + TOKEN[:-1].encode()),
        (b"Authorization", b"Bearer " + TOKEN.encode() + b"x"),
        (b"Authorization", b"Basic " + TOKEN.encode()),
        (b"Authorization", b"Bearer \xff\xfe"),
    ],
)
@pytest.mark.parametrize("target", [b"/detector/score", b"/detector/ready"])
def test_a_stranger_gets_no_score(target: bytes, proof: tuple[bytes, bytes] | None) -> None:
    look = StandIn()

    async def use(node: RunningNode) -> None:
        for method in (b"GET", b"POST"):
            reported = await fetch(node, target, method, b"picture", proof)
            assert reported.status == 401
            assert reported.body == b""

    at_node(look.load, use)

    assert look.batches == []


def test_of_a_strangers_picture_nothing_is_read() -> None:
    async def use(node: RunningNode) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", node.address.port)
        writer.write(b"POST /detector/score HTTP/1.1\r\nHost: x\r\nContent-Length: 6000000\r\n\r\n")
        # The body never comes, and the answer does.
        assert (await reader.readline()).split()[1] == b"401"
        writer.close()

    at_node(StandIn().load, use)


def test_strangers_who_take_every_connection_keep_nobody_out() -> None:
    async def use(node: RunningNode) -> None:
        port = node.address.port
        many = [
            await asyncio.open_connection("127.0.0.1", port)
            for _ in range(LIMITS.max_connections + 1)
        ]
        assert (await fetch(node, b"/detector/score", body=b"picture")).status == 200
        for _, writer in many:
            writer.close()

    at_node(StandIn().load, use)


def test_a_picture_on_its_way_yields_to_no_stranger() -> None:
    look = StandIn(is_open=False)

    async def use(node: RunningNode) -> None:
        port = node.address.port
        ours = asyncio.create_task(fetch(node, b"/detector/score", body=b"picture"))
        await until(look.begun.is_set)
        many = [
            await asyncio.open_connection("127.0.0.1", port)
            for _ in range(LIMITS.max_connections + 1)
        ]
        assert (await fetch(node, b"/healthz", b"GET", proof=None)).status == 200
        look.open.set()
        assert (await ours).status == 200
        for _, writer in many:
            writer.close()

    at_node(look.load, use)


def test_a_picture_that_finds_the_queue_full_is_not_even_read() -> None:
    look = StandIn(is_open=False)

    async def use(node: RunningNode) -> None:
        waiting = [asyncio.ensure_future(node.engine.score(b"%d" % n)) for n in range(MAX_QUEUED)]
        await until(look.begun.is_set)
        waiting += [asyncio.ensure_future(node.engine.score(b"more")) for _ in range(MAX_QUEUED)]
        await until(lambda: node.engine.load == 1)
        reader, writer = await asyncio.open_connection("127.0.0.1", node.address.port)
        writer.write(
            b"POST /detector/score HTTP/1.1\r\nHost: x\r\nContent-Length: 6000000\r\n"
            b"Authorization: Bearer " + TOKEN.encode() + b"\r\n\r\n"
        )
        assert (await reader.readline()).split()[1] == b"503"
        writer.close()
        look.open.set()
        await asyncio.gather(*waiting, return_exceptions=True)

    at_node(look.load, use)


@pytest.mark.parametrize(
    "query",
    [
        b"masked=0,0,1",
        b"masked=0,0,1,1,1",
        b"masked=a,b,c,d",
        b"masked=0,0,nan,1",
        b"masked=0,0,1e400,1",
        b"masked=0.5,0,0.5,1",
        b"masked=0.6,0,0.5,1",
        b"masked=-0.1,0,1,1",
        b"masked=%ff",
        b"masked=0,0,1,1;",
        b"masked=" + b";".join([b"0,0,1,1"] * (MAX_REGIONS + 1)),
        b"unknown=1",
    ],
)
def test_masks_that_cannot_be_read_are_refused(query: bytes) -> None:
    assert asked(b"/detector/score?" + query).status == 400


def test_a_picture_of_too_many_bytes_is_refused_by_its_announced_length() -> None:
    async def use(node: RunningNode) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", node.address.port)
        writer.write(
            b"POST /detector/score HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n"
            b"Authorization: Bearer %b\r\n\r\n" % (MAX_IMAGE_BYTES + 1, TOKEN.encode())
        )
        assert (await reader.readline()).split()[1] == b"413"
        writer.close()

    at_node(StandIn().load, use)


def test_a_picture_without_a_length_is_read_up_to_the_limit() -> None:
    async def use(node: RunningNode) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", node.address.port)
        writer.write(
            b"POST /detector/score HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
            b"Authorization: Bearer %b\r\n\r\n" % TOKEN.encode()
        )
        writer.write(b"%x\r\n%b\r\n0\r\n\r\n" % (MAX_IMAGE_BYTES + 1, bytes(MAX_IMAGE_BYTES + 1)))
        assert (await reader.readline()).split()[1] == b"413"
        writer.close()

    at_node(StandIn().load, use)


@pytest.mark.parametrize(
    ("method", "target"),
    [
        (b"GET", b"/"),
        (b"GET", b"/detector/score"),
        (b"POST", b"/detector/ready"),
        (b"POST", b"/healthz"),
        (b"POST", b"/detector/score/"),
        (b"POST", b"/%64etector/score"),
        (b"POST", b"/\xff"),
    ],
)
def test_there_is_nothing_else(method: bytes, target: bytes) -> None:
    assert asked(target, method).status in (400, 404)


@pytest.mark.parametrize("target", [b"/healthz", b"/readyz"])
def test_anybody_may_ask_whether_it_is_well(target: bytes) -> None:
    async def use(node: RunningNode) -> None:
        assert (await fetch(node, target, b"GET", proof=None)).status == 200

    at_node(StandIn().load, use)


def test_a_node_without_a_model_is_alive_and_not_ready() -> None:
    def load() -> ScoreBatch:
        raise ModelUnavailable("the detector's weights are not installed")

    async def use(node: RunningNode) -> None:
        statuses = [
            (await fetch(node, target, b"GET")).status
            for target in (b"/healthz", b"/readyz", b"/detector/ready")
        ]
        assert statuses == [200, 503, 503]

    at_node(load, use)
