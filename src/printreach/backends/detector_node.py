"""One detector node, called over HTTP; contract.scoring has the requests and answers."""

import asyncio
import math
import ssl
from collections.abc import Callable, Sequence
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
    ScoringFailed,
    ScoringRefused,
)
from printreach.rules.detection import ImageAssessment
from printreach.rules.detection.scene import SIDE, Scene
from printreach.rules.watch.choices import Region
from printreach.wire.heads import Headers

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
