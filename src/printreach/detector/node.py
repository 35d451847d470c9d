"""A detector node: scores pictures for other processes of the installation, over HTTP.

Without the token only liveness and readiness are served, and no request body is read.
"""

import hmac
from typing import Final
from urllib.parse import unquote_to_bytes

from printreach.contract.codec import encode
from printreach.contract.scoring import (
    READY_PATH,
    SCORE_PATH,
    STATUS_OF,
    RefusalKind,
    ScoreAnswer,
    ScoreRefused,
    parse_masked,
)
from printreach.detector.engine import Engine
from printreach.http1.connection import ServerLimits
from printreach.http1.messages import Answer, Call, text_answer
from printreach.http1.request_body import BodyLimits, BodyTooLarge
from printreach.ports.scoring import (
    ImageScore,
    PictureTooLarge,
    PictureUnreadable,
    ScorerBusy,
    ScoringFailed,
    ScoringRefused,
)
from printreach.rules.detection import MAX_IMAGE_BYTES
from printreach.rules.watch.choices import MAX_REGIONS, Region

LIMITS: Final = ServerLimits(
    idle_timeout_s=30.0,
    body=BodyLimits(max_bytes=MAX_IMAGE_BYTES, timeout_s=10.0),
    max_connections=128,
    drops_unauthenticated=True,
)

_JSON: Final = (b"Content-Type", b"application/json")
_QUERY: Final = b"masked="


class Node:
    """An http1.messages.Handler. token: the secret that it shares with its callers."""

    def __init__(self, engine: Engine, token: str) -> None:
        self._engine = engine
        self._bearer = b"Bearer " + token.encode()

    async def answer(self, call: Call) -> Answer:
        is_ours = self._is_ours(call)
        if is_ours:
            call.mark_authenticated()
        match call.method, call.path.decode("latin-1"):
            case b"GET", "/healthz":
                return text_answer(200, "alive")
            case b"GET", "/readyz":
                return await self._ready()
            case (b"POST", path) if path == SCORE_PATH and is_ours:
                return await self._score(call)
            case (b"GET", path) if path == READY_PATH and is_ours:
                return await self._ready()
            case _, path if path in (SCORE_PATH, READY_PATH) and not is_ours:
                challenge = [(b"WWW-Authenticate", b"Bearer")]
                return Answer(status=401, headers=challenge)
            case _:
                return text_answer(404, "There is nothing here.")

    def _is_ours(self, call: Call) -> bool:
        presented = call.header(b"authorization") or b""
        return hmac.compare_digest(presented, self._bearer)

    async def _ready(self) -> Answer:
        try:
            await self._engine.ready()
        except ScoringRefused as refused:
            return text_answer(503, str(refused))
        return text_answer(200, "ready")

    async def _score(self, call: Call) -> Answer:
        masked = _masked(call.query)
        if masked is None:
            return text_answer(400, "The masked parts can't be read.")
        try:
            # An image that would be refused anyway is not read at all.
            self._engine.check_admission(call.head.length)
            picture = await call.body.read(MAX_IMAGE_BYTES)
            return _answer(await self._engine.score(picture, masked))
        except BodyTooLarge:
            return _refusal(PictureTooLarge(f"more than {MAX_IMAGE_BYTES} bytes"))
        except ScoringRefused as refused:
            return _refusal(refused)


def _masked(query: bytes) -> list[Region] | None:
    """Parse the masked regions of the query; None if it is malformed."""
    if not query:
        return []
    if not query.startswith(_QUERY):
        return None
    try:
        text = unquote_to_bytes(query.removeprefix(_QUERY)).decode("ascii")
        regions = [Region(*edges) for edges in parse_masked(text)]
    except ValueError:
        return None
    return regions if len(regions) <= MAX_REGIONS else None


def _answer(scored: ImageScore) -> Answer:
    assessment = scored.assessment
    score_answer = ScoreAnswer(
        probability=assessment.probability,
        evidence=assessment.evidence,
        grey=assessment.scene.grey,
        digest=assessment.scene.digest,
        load=scored.load,
    )
    return Answer(headers=[_JSON], body=encode(score_answer))


def _refusal(refused: ScoringRefused) -> Answer:
    match refused:
        case PictureUnreadable():
            kind = RefusalKind.UNREADABLE
        case PictureTooLarge():
            kind = RefusalKind.TOO_LARGE
        case ScorerBusy():
            kind = RefusalKind.BUSY
        case ScoringFailed():
            kind = RefusalKind.FAILED
        case _:
            kind = RefusalKind.UNAVAILABLE
    body = encode(ScoreRefused(kind, str(refused)))
    return Answer(status=STATUS_OF[kind], headers=[_JSON], body=body)
