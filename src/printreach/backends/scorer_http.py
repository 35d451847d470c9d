"""Scoring at detector nodes over HTTP: the least busy one is called, and the next if it fails.

A node that fails is not called until it reports again that it is ready, so that no image waits for
a node that is down. contract.scoring has the requests and answers.
"""

import asyncio
import logging
import math
import ssl
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlsplit

import msgspec

from printreach.contract.codec import BAD_JSON
from printreach.contract.scoring import (
    READY_PATH,
    SCORE_PATH,
    STATUS_OF,
    RefusalKind,
    ScoreAnswer,
    ScoreRefused,
    format_masked,
)
from printreach.http1.client import ExchangeFailure
from printreach.http1.fetch import FetchedAnswer, Fetcher, FetchFailed
from printreach.ports.scoring import (
    ImageScore,
    PictureTooLarge,
    PictureUnreadable,
    ScorerBusy,
    ScorerUnavailable,
    ScoringFailed,
    ScoringRefused,
)
from printreach.rules.detection import MAX_IMAGE_BYTES, ImageAssessment
from printreach.rules.detection.detector import DetectorOff
from printreach.rules.detection.scene import SIDE, Scene
from printreach.rules.watch.choices import Region
from printreach.wire.heads import Headers

MAX_CALLS: Final = 64
MAX_BYTES_OF_CALLS: Final = 64 * 1024 * 1024
"""Images at nodes at once, from this process."""
TIMEOUT_S: Final = 12.0
"""Longer than a node's own timeout, so that the node is the one to report that it is busy."""
LOOK_AGAIN_S: Final = 5.0
MAX_BROKEN: Final = 2
"""After this many nodes broke off at an image, no other gets it."""

log = logging.getLogger(__name__)

ANSWER_TIMEOUT_S: Final = 11.0
"""Longer than a node lets an image wait."""
CONNECT_TIMEOUT_S: Final = 2.0
READY_TIMEOUT_S: Final = 5.0
MAX_ANSWER_BYTES: Final = 64 * 1024

_REFUSALS: Final = frozenset(STATUS_OF.values())
_decoder: Final = msgspec.json.Decoder(ScoreAnswer)
_refusals: Final = msgspec.json.Decoder(ScoreRefused)


class NodeFailed(Exception):
    """The node cannot be called now. broke_off: while it scored an image, maybe because of it."""

    def __init__(self, why: str, *, broke_off: bool = False) -> None:
        super().__init__(why)
        self.broke_off = broke_off


@dataclass(frozen=True, slots=True)
class NodeAddress:
    """The address of a node."""

    host: str
    port: int
    is_tls: bool

    @classmethod
    def at(cls, url: str) -> "NodeAddress":
        """Parse `http(s)://HOST[:PORT]`, which has been checked."""
        parts = urlsplit(url)
        is_tls = parts.scheme == "https"
        return cls(parts.hostname or "", parts.port or (443 if is_tls else 80), is_tls)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.is_tls else 'http'}://{host}:{self.port}"


class DetectorNode:
    """The connections to one node, and its load. tls: None for the machine's own certificates."""

    def __init__(self, address: NodeAddress, token: str, tls: ssl.SSLContext | None) -> None:
        self._address = address
        self._tls = (tls or ssl.create_default_context()) if address.is_tls else None
        self._proof = (b"Authorization", b"Bearer " + token.encode())
        host = str(address).partition("://")[2].encode()
        self._fetcher = Fetcher(self._connect, host, first_byte_s=ANSWER_TIMEOUT_S)
        self._under_way = 0
        self._load = 0.0

    def __str__(self) -> str:
        return str(self._address)

    @property
    def rank(self) -> tuple[int, float]:
        """Return its rank; the node with the lowest is called next."""
        return self._under_way, self._load

    async def close(self) -> None:
        await self._fetcher.close()

    async def is_ready(self) -> bool:
        """Return whether it accepts the token and can score."""
        try:
            async with asyncio.timeout(READY_TIMEOUT_S):
                answer = await self._fetcher.fetch(b"GET", READY_PATH.encode(), [self._proof])
        except (FetchFailed, TimeoutError):
            return False
        return answer.status == 200

    async def score(self, picture: bytes, masked: Sequence[Region]) -> ImageScore:
        """Score an image. Raises ScoringRefused if the node says so, and NodeFailed."""
        self._under_way += 1
        try:
            answer = _read(await self._post(_target(masked), picture))
        finally:
            self._under_way -= 1
        self._load = answer.load
        return answer

    async def _post(self, target: bytes, picture: bytes) -> FetchedAnswer:
        headers: Headers = [self._proof, (b"Content-Type", b"application/octet-stream")]
        try:
            return await self._fetcher.fetch(
                b"POST", target, headers, picture, at_most=MAX_ANSWER_BYTES, may_repeat=True
            )
        except FetchFailed as failed:
            broke_off = failed.failure is not ExchangeFailure.UNREACHABLE
            raise NodeFailed(failed.text, broke_off=broke_off) from failed

    async def _connect(self, make: Callable[[], asyncio.Protocol]) -> object:
        """Connect within a short time, since the other nodes wait for their turn.

        Raises OSError.
        """
        address = self._address
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            return await asyncio.get_running_loop().create_connection(
                make,
                address.host,
                address.port,
                ssl=self._tls,
                server_hostname=address.host if address.is_tls else None,
            )


def _target(masked: Sequence[Region]) -> bytes:
    edges = [(each.left, each.top, each.right, each.bottom) for each in masked]
    query = f"?masked={quote(format_masked(edges), safe=',;')}" if edges else ""
    return f"{SCORE_PATH}{query}".encode()


def _read(fetched: FetchedAnswer) -> ImageScore:
    try:
        if fetched.status == 200:
            return _scored(_decoder.decode(fetched.body))
        if fetched.status in _REFUSALS:
            raise _refusal(_refusals.decode(fetched.body))
    except (*BAD_JSON, ValueError) as error:
        raise NodeFailed("its answer can't be read") from error
    if fetched.status == 401:
        raise NodeFailed("it doesn't take our token")
    raise NodeFailed(f"it answered {fetched.status}")


def _scored(answer: ScoreAnswer) -> ImageScore:
    """Parse an answer. Raises ValueError for values that no model gives."""
    shares = (answer.probability, answer.load, *(place for row in answer.evidence for place in row))
    if not all(math.isfinite(share) and 0 <= share <= 1 for share in shares):
        raise ValueError("a share is 0 to 1")
    if len(answer.grey) != SIDE * SIDE or not all(0 <= place <= 255 for place in answer.grey):
        raise ValueError("a scene is so many places of 0 to 255")
    scene = Scene(grey=answer.grey, digest=answer.digest)
    assessment = ImageAssessment(
        probability=answer.probability, scene=scene, evidence=answer.evidence
    )
    return ImageScore(assessment=assessment, load=answer.load)


def _refusal(refused: ScoreRefused) -> ScoringRefused | NodeFailed:
    match refused.kind:
        case RefusalKind.UNREADABLE:
            return PictureUnreadable(refused.why)
        case RefusalKind.TOO_LARGE:
            return PictureTooLarge(refused.why)
        case RefusalKind.BUSY:
            return ScorerBusy(refused.why)
        case RefusalKind.FAILED:
            return ScoringFailed(refused.why)
        case RefusalKind.UNAVAILABLE:
            return NodeFailed(refused.why)


class HttpScorer:
    """ports.scoring.Scorer, in one event loop until close()."""

    def __init__(
        self,
        nodes: Sequence[NodeAddress],
        token: str,
        *,
        tls: ssl.SSLContext | None = None,
        look_again_s: float = LOOK_AGAIN_S,
    ) -> None:
        self._all = tuple(DetectorNode(address, token, tls) for address in nodes)
        self._up = set(self._all)
        self._look_again_s = look_again_s
        self._under_way = 0
        self._bytes_under_way = 0
        self._returning: set[asyncio.Task[None]] = set()

    @property
    def off(self) -> DetectorOff | None:
        """Return why it is off: a node that failed does not count until it reports that it is
        ready."""
        return None if self._up else DetectorOff.NO_NODE

    async def close(self) -> None:
        """Fail the images that are under way."""
        returning = list(self._returning)
        for task in returning:
            task.cancel()
        await asyncio.gather(*returning, return_exceptions=True)
        for node in self._all:
            await node.close()

    async def score(self, picture: bytes, masked: Sequence[Region] = ()) -> ImageScore:
        if len(picture) > MAX_IMAGE_BYTES:
            raise PictureTooLarge(f"{len(picture)} bytes; {MAX_IMAGE_BYTES} are taken")
        is_full = self._under_way >= MAX_CALLS
        if is_full or self._bytes_under_way + len(picture) > MAX_BYTES_OF_CALLS:
            raise ScorerBusy("too many pictures wait already")
        self._under_way += 1
        self._bytes_under_way += len(picture)
        try:
            async with asyncio.timeout(TIMEOUT_S):
                return await self._ask(picture, masked)
        except TimeoutError:
            raise ScorerBusy(f"no score within {TIMEOUT_S:.0f} s") from None
        finally:
            self._under_way -= 1
            self._bytes_under_way -= len(picture)

    async def _ask(self, picture: bytes, masked: Sequence[Region]) -> ImageScore:
        busy: ScorerBusy | None = None
        tried: set[DetectorNode] = set()
        broken = 0
        while broken < MAX_BROKEN and (node := self._next(tried)) is not None:
            tried.add(node)
            try:
                return await node.score(picture, masked)
            except ScorerBusy as refused:
                busy = refused
            except NodeFailed as failed:
                broken += failed.broke_off
                self._leave_alone(node, failed)
        if busy is not None:
            raise busy
        raise ScorerUnavailable("no detector node answers")

    def _next(self, tried: Container[DetectorNode]) -> DetectorNode | None:
        """Return the node with the least to do."""
        left = [node for node in self._all if node in self._up and node not in tried]
        return min(left, key=lambda node: node.rank, default=None)

    def _leave_alone(self, node: DetectorNode, failed: NodeFailed) -> None:
        if node not in self._up:
            return  # another image found out first
        self._up.discard(node)
        log.warning("The detector node %s is not used for now: %s.", node, failed)
        task = asyncio.get_running_loop().create_task(self._wait_for(node))
        self._returning.add(task)
        task.add_done_callback(self._returning.discard)

    async def _wait_for(self, node: DetectorNode) -> None:
        while True:
            await asyncio.sleep(self._look_again_s)
            if await node.is_ready():
                log.info("The detector node %s is back.", node)
                self._up.add(node)
                return
