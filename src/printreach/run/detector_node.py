"""The detector role: this process scores images for others."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from printreach.detector.engine import Engine
from printreach.detector.node import LIMITS, Node
from printreach.http1.server import serve
from printreach.ports.scoring import ScorerUnavailable
from printreach.run.settings import Settings, SettingsError

GRACE_S: Final = 10.0
"""Equal to the time that an image may wait for its score."""

log = logging.getLogger(__name__)


class DetectorCannotStart(Exception):
    """The model or the address is unavailable; the message is a sentence."""


def node_address(settings: Settings, roles: frozenset[str]) -> tuple[str, int] | None:
    """Return the address on which the role listens; None if this process scores only for itself.

    Without a setting it is the service's address, unless pages or a relay need that. Raises
    SettingsError without a token, since any stranger could use the node.
    """
    if "detector" not in roles:
        return None
    address = settings.detector_listen
    if address is None and not roles & {"relay", "web"}:
        address = settings.listen_host, settings.listen_port
    if address is not None and not settings.detector_token:
        raise SettingsError(
            "The detector role also needs PRINTREACH_DETECTOR_TOKEN, the same as in the processes"
            " that ask it."
        )
    return address


@asynccontextmanager
async def running_node(
    settings: Settings, address: tuple[str, int], engine: Engine, *, is_alone: bool
) -> AsyncIterator[str]:
    """Score for callers with the token; yield the address that accepts connections.

    is_alone: without a model the process is of no use. Raises DetectorCannotStart.
    """
    try:
        await engine.ready()
    except ScorerUnavailable as error:
        if is_alone:
            raise DetectorCannotStart(f"The detector can't start: {error}.") from error
    host, port = address
    node = Node(engine, settings.detector_token)
    try:
        server = await serve(node.answer, host, port, limits=LIMITS)
    except OSError as error:
        where = _written(host, port)
        reason = error.strerror or error
        raise DetectorCannotStart(f"Can't score for others on {where}: {reason}.") from error
    try:
        where = _written(host, server.port)
        log.info("Pictures are scored for others on %s.", where)
        yield where
    finally:
        await server.close(GRACE_S)


def _written(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
