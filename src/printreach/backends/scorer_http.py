"""Scoring at detector nodes over HTTP: the least busy one is called, and the next if it fails.

A node that fails is not called until it reports again that it is ready, so that no image waits for
a node that is down.
"""

import asyncio
import logging
import ssl
from collections.abc import Container, Sequence
from typing import Final

from printreach.backends.detector_node import DetectorNode, NodeAddress, NodeFailed
from printreach.ports.scoring import (
    ImageScore,
    PictureTooLarge,
    ScorerBusy,
    ScorerUnavailable,
)
from printreach.rules.detection import MAX_IMAGE_BYTES
from printreach.rules.detection.detector import DetectorOff
from printreach.rules.watch.choices import Region

MAX_CALLS: Final = 64
MAX_BYTES_OF_CALLS: Final = 64 * 1024 * 1024
"""Images at nodes at once, from this process."""
TIMEOUT_S: Final = 12.0
"""Longer than a node's own timeout, so that the node is the one to report that it is busy."""
LOOK_AGAIN_S: Final = 5.0
MAX_BROKEN: Final = 2
"""After this many nodes broke off at an image, no other gets it."""

log = logging.getLogger(__name__)


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
