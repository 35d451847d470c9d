"""The failure-detection API: a context for each print, and the verdicts on its images."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from printreach.contract.detection_api import DetectionError
from printreach.hub.accounts.limits import RequestLimits
from printreach.hub.core import Core
from printreach.hub.detection.gate import DetectionGate
from printreach.limiters.slots import Slots
from printreach.ports.scoring import (
    ImageScore,
    PictureTooLarge,
    PictureUnreadable,
    Scorer,
    ScorerBusy,
    ScorerUnavailable,
    ScoringFailed,
    ScoringRefused,
)
from printreach.rules.connections.credentials import new_secret
from printreach.rules.detection import (
    DEFAULT_LEVEL,
    MINIMUM_INTERVAL_S,
    DetectionContext,
    Verdict,
    observe,
)
from printreach.rules.detection.access import CallAdmitted, CallKind, CallRefused
from printreach.rules.detection.contexts import (
    CONTEXT_LIFETIME,
    MAX_CONTEXTS,
    RetryLater,
    StoredContext,
    is_over,
    is_too_close,
    stretched_s,
    wait_s,
)
from printreach.store.store import Records

log = logging.getLogger(__name__)

MAX_REMEMBERED: Final = 2000
"""Prints under way at once; each takes about 3 KB."""

BUSY_RETRY_S: Final = 10
"""When to retry while the detector is overloaded."""
MAX_AT_ONCE: Final = 24
"""Images of API callers that are scored at once, so that the watch gets its turn: of the 32 images
that may wait for the threads of this process, which have one queue. Images that are hard to decode
and then fail are counted nowhere else."""
MAX_OF_ACCOUNT: Final = 8
WARNED_EVERY: Final = timedelta(hours=1)

_NO_CONTEXT: Final = CallRefused(
    DetectionError.CONTEXT_NOT_FOUND,
    f"This key has no such context. They last {CONTEXT_LIFETIME.days} days; make one for each"
    " print.",
)


@dataclass(slots=True)
class RecentContexts:
    """A cache of recently used contexts: a print asks for the same one again and again.

    May be older than the store, if another process serves the same print, too.
    """

    most: int = MAX_REMEMBERED
    _kept: dict[str, StoredContext] = field(default_factory=dict)

    def get(self, context_id: str) -> StoredContext | None:
        return self._kept.get(context_id)

    def put(self, kept: StoredContext) -> None:
        """Replace an older version; beyond the bound, evict the one that was put longest ago."""
        known = self._kept.pop(kept.context_id, kept)
        self._kept[kept.context_id] = max(kept, known, key=lambda context: context.version)
        if len(self._kept) > self.most:
            del self._kept[next(iter(self._kept))]

    def forget(self, context_id: str) -> None:
        self._kept.pop(context_id, None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One call as it came. address: "" where it is unknown.

    is_address_proven: False if it may be that of a proxy, which many callers share.
    """

    api_key: str = field(repr=False)
    address: str
    is_address_proven: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class MadeContext:
    """A context that was just created, and the URLs its images are sent to."""

    context_id: str
    process_url: str
    fallback_url: str


@dataclass(frozen=True, kw_only=True, slots=True)
class AdmittedImage:
    """A call that may send its image.

    at: when it was admitted, which counts as the image's time.
    """

    admitted: CallAdmitted
    kept: StoredContext
    at: datetime

    @property
    def account_id(self) -> str:
        return self.kept.account_id


@contextmanager
def scoring_slot(slots: Slots, account_id: str) -> Iterator[None]:
    """Hold a slot for one image while the context is open. Raises ScorerBusy."""
    if slots.count(account_id) >= MAX_OF_ACCOUNT:
        raise ScorerBusy(f"{MAX_OF_ACCOUNT} images of this account are looked at already")
    if not slots.take({account_id: MAX_OF_ACCOUNT}):
        raise ScorerBusy("too many images wait already")
    try:
        yield
    finally:
        slots.release([account_id])


@dataclass(slots=True)
class Detection:
    """The use cases of the API. primary_url: of the service that accepts images first."""

    core: Core
    gate: DetectionGate
    request_limits: RequestLimits
    scorer: Scorer
    primary_url: str
    _recent: RecentContexts = field(default_factory=RecentContexts, repr=False)
    _slots: Slots = field(default_factory=lambda: Slots(MAX_AT_ONCE), repr=False)
    _being_scored: dict[str, list[datetime]] = field(default_factory=dict, repr=False)
    _warned_at: datetime | None = None

    async def admit(self, call: Call, kind: CallKind) -> CallAdmitted | CallRefused:
        """Decide on a call by its key, its address, and the account's rate limit."""
        at = self.core.clock.now()
        admitted = await self.gate.admit(
            call.api_key, call.address, at, kind, may_claim=call.is_address_proven
        )
        if isinstance(admitted, CallRefused):
            return admitted
        if not call.is_address_proven:
            self._warn_of_proxy(call.address, at)
        too_soon = await self.request_limits.take(admitted.key.account_id, "detection")
        if too_soon is not None:
            return RetryLater(
                DetectionError.CONTEXT_RATE_LIMITED,
                "This account asked too often.",
                too_soon.wait_seconds,
            )
        return admitted

    async def make_context(
        self, admitted: CallAdmitted, warning_level: int | None, pause_level: int | None
    ) -> MadeContext:
        """Create the context of a print. Levels: 1 to 5; None for the default."""
        at, context_id = self.core.clock.now(), new_secret(self.core.token_bytes)
        kept = StoredContext(
            context_id=context_id,
            key_id=admitted.key.key_id,
            account_id=admitted.key.account_id,
            created_at=at,
            used_at=at,
            version=0,
            remembered=DetectionContext(
                warning_level=DEFAULT_LEVEL if warning_level is None else warning_level,
                pause_level=DEFAULT_LEVEL if pause_level is None else pause_level,
            ),
        )
        await self.core.store.write(
            lambda records: records.detection_contexts.add(kept, at_most=MAX_CONTEXTS)
        )
        self.gate.answered(admitted, at)
        path = f"/api/detector/v1/process/{context_id}"
        return MadeContext(
            context_id=context_id,
            process_url=self.primary_url + path,
            fallback_url=self.core.addresses.base_url + path,
        )

    async def await_image(self, call: Call, context_id: str) -> AdmittedImage | CallRefused:
        """Decide whether the image of a call is worth reading."""
        at = self.core.clock.now()
        admitted = await self.admit(call, CallKind.PROCESS)
        if isinstance(admitted, CallRefused):
            return admitted
        kept = self._recent.get(context_id) or await self.core.store.read(
            lambda records: records.detection_contexts.get(context_id)
        )
        if kept is None or kept.key_id != admitted.key.key_id or is_over(kept, at):
            return _NO_CONTEXT
        seconds = wait_s(kept, at)
        if seconds is not None:
            return _too_soon(seconds)
        return AdmittedImage(admitted=admitted, kept=kept, at=at)

    async def look(self, awaited: AdmittedImage, picture: bytes) -> Verdict | CallRefused:
        """Score an image, advance its context and count the call.

        Of images sent within the minimum interval of each other one is accepted. The others are
        refused before they are scored, or, where another process has scored one, before they are
        stored and counted.
        """
        context_id, at = awaited.kept.context_id, awaited.at
        being_scored = self._being_scored.setdefault(context_id, [])
        if any(is_too_close(other, at) for other in being_scored):
            return _too_soon(MINIMUM_INTERVAL_S)
        being_scored.append(at)
        try:
            with scoring_slot(self._slots, awaited.account_id):
                scored = await self.scorer.score(picture)
            advanced = await self.core.store.write(
                lambda records: _advance(records, awaited, scored)
            )
        except ScoringRefused as refused:
            return _said(refused)
        finally:
            being_scored.remove(at)
            if not being_scored:
                self._being_scored.pop(context_id, None)
        if isinstance(advanced, CallRefused):
            self._recent.forget(context_id)
            return advanced
        now, verdict = advanced
        self._recent.put(now)
        self.gate.answered(awaited.admitted, awaited.at)
        longer_s = stretched_s(verdict.recommended_interval_s, scored.load)
        return replace(verdict, recommended_interval_s=longer_s)

    def _warn_of_proxy(self, address: str, at: datetime) -> None:
        """Warn the operator, now and then, since any caller can send such headers."""
        if self._warned_at is not None and timedelta(0) <= at - self._warned_at < WARNED_EVERY:
            return
        self._warned_at = at
        log.warning(
            "Calls of failure detection come with the address %s, which may be a proxy's. They "
            "claim no address. Unless the callers are on that machine themselves, see "
            "PRINTREACH_TRUSTED_PROXIES.",
            address,
        )


async def forget_old_contexts(core: Core) -> None:
    """Delete expired contexts. Raises StoreUnavailable."""
    before = core.clock.now() - CONTEXT_LIFETIME
    await core.store.write(lambda records: records.detection_contexts.forget(before))


async def _advance(
    records: Records, awaited: AdmittedImage, scored: ImageScore
) -> tuple[StoredContext, Verdict] | CallRefused:
    """Store what an image changes; refused if the context is gone.

    Another image may have been stored since this one was admitted. Unless the two were sent too
    close together, this one is taken into account after it. Nothing else is written meanwhile, so
    that cannot happen twice.
    """
    following, verdict = _observed(awaited.kept, scored, awaited.at)
    if await records.detection_contexts.advance(following):
        return following, verdict
    newer = await records.detection_contexts.get(awaited.kept.context_id)
    if newer is None:
        return _NO_CONTEXT
    if is_too_close(newer.remembered.last_at, awaited.at):
        return _too_soon(MINIMUM_INTERVAL_S)
    following, verdict = _observed(newer, scored, awaited.at)
    await records.detection_contexts.advance(following)
    return following, verdict


def _observed(
    kept: StoredContext, scored: ImageScore, at: datetime
) -> tuple[StoredContext, Verdict]:
    remembered, verdict = observe(kept.remembered, scored.assessment, at)
    return replace(kept, remembered=remembered, used_at=at, version=kept.version + 1), verdict


def _too_soon(wait_seconds: int) -> RetryLater:
    return RetryLater(
        DetectionError.CONTEXT_RATE_LIMITED,
        f"Images of one context come at least {MINIMUM_INTERVAL_S} seconds apart.",
        wait_seconds,
    )


def _said(refused: ScoringRefused) -> CallRefused:
    """Return the refusal in the words of the API. Details for the operator are left out."""
    match refused:
        case PictureTooLarge():
            return CallRefused(
                DetectionError.IMAGE_TOO_LARGE, f"The image is too large: {refused}."
            )
        case PictureUnreadable():
            error = DetectionError.IMAGE_DECODE_FAILED
            return CallRefused(error, f"The image can't be decoded: {refused}.")
        case ScorerBusy():
            error = DetectionError.BACKEND_THROTTLED
            return RetryLater(error, f"The detector is busy: {refused}.", BUSY_RETRY_S)
        case ScoringFailed():
            return CallRefused(DetectionError.INTERNAL_ERROR, "The detector failed on this image.")
        case ScorerUnavailable():
            return CallRefused(
                DetectionError.INTERNAL_ERROR, "Nothing can look at images here now."
            )
        case _:
            raise refused
