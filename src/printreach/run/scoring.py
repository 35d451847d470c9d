"""Scoring of images: its composition, and the detector role, which scores for other processes."""

import logging
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Final

from printreach.backends.scorer_http import HttpScorer, NodeAddress
from printreach.detector.engine import Engine, ModelUnavailable, ScoreBatch
from printreach.detector.node import LIMITS, Node
from printreach.http1.server import serve
from printreach.ports.scoring import Scorer, ScorerUnavailable
from printreach.relay.health import Health
from printreach.rules.detection.detector import DetectorOff
from printreach.run.main import how_to_install
from printreach.run.monitoring import Metrics, Readiness, answering_monitors, process_metrics
from printreach.run.settings import Settings, SettingsError

_NOT_INSTALLED: Final = (
    f"its libraries are not installed here; {how_to_install('detector')} brings them"
)
_LIBRARIES: Final = ("PIL", "numpy", "onnxruntime")
"""The libraries of the extra `detector`."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """engine: in this process; it loads nothing before its first use. scorer: the one that roles
    call.
    """

    engine: Engine
    scorer: Scorer


@asynccontextmanager
async def scoring_of(settings: Settings, roles: frozenset[str]) -> AsyncIterator[Scoring]:
    """Open the scorer: detector nodes if the operator named some, else threads of this process."""
    spare = 0 if roles == {"detector"} else 1
    nodes = _nodes_of(settings)
    # Only a process whose worker scores pictures itself knows that no print is looked at.
    scores_prints = "worker" in roles and nodes is None
    off = None if _is_installed() or not scores_prints else DetectorOff.NOT_INSTALLED
    if off is not None and settings.detector_watch:
        log.warning("Failure detection does not watch prints: %s.", _NOT_INSTALLED)
    engine = Engine(load_scorer, threads=max(1, _cores() - spare), off=off)
    try:
        yield Scoring(engine=engine, scorer=nodes or engine)
    finally:
        if nodes is not None:
            await nodes.close()
        await engine.close()


def why_prints_are_not_watched(settings: Settings, scorer: Scorer) -> DetectorOff | None:
    """Return what every page and API says of failure detection; None if it runs."""
    return scorer.off if settings.detector_watch else DetectorOff.SWITCHED_OFF


def load_scorer() -> ScoreBatch:
    """Load the model and its libraries. Raises ModelUnavailable if either is missing."""
    try:
        from printreach.detector.batch_scorer import load_batch_scorer
    except ImportError as error:
        raise ModelUnavailable(_NOT_INSTALLED) from error
    return load_batch_scorer()


def _nodes_of(settings: Settings) -> HttpScorer | None:
    if not settings.detector_nodes:
        return None
    addresses = [NodeAddress.at(url) for url in settings.detector_nodes]
    return HttpScorer(addresses, settings.detector_token)


def _is_installed() -> bool:
    """Return whether the libraries are installed, without loading them."""
    return all(find_spec(name) is not None for name in _LIBRARIES)


def _cores() -> int:
    """Return the number of cores that this process may use; all if the system does not tell."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


GRACE_S: Final = 10.0
"""Equal to the time that an image may wait for its score."""


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
    settings: Settings,
    address: tuple[str, int],
    engine: Engine,
    *,
    readiness: Readiness | None,
    listener: socket.socket | None = None,
) -> AsyncIterator[str]:
    """Score for callers with the token; yield the address that accepts connections.

    readiness: of the process's other roles; None where it has none: without a model it is of no use
    then. listener: a socket that listens already. Raises DetectorCannotStart.
    """
    try:
        await engine.ready()
    except ScorerUnavailable as error:
        if readiness is None:
            raise DetectorCannotStart(f"The detector can't start: {error}.") from error
    host, port = address
    node = Node(engine, settings.detector_token)
    health = _health_of(settings, engine, readiness)
    # A node that is nothing else says itself whether it is ready.
    paths = {b"/metrics"} if readiness is None else {b"/metrics", b"/readyz"}
    handler = answering_monitors(health, node.answer, paths)
    try:
        server = await serve(handler, host, port, limits=LIMITS, listener=listener)
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


def detector_metrics(engine: Engine) -> Metrics:
    return {
        "printreach_detector_up": ("Whether pictures can be scored.", lambda: engine.off is None),
        "printreach_detector_load": ("How full the queue is, 0 to 1.", lambda: engine.load),
    }


def _health_of(settings: Settings, engine: Engine, readiness: Readiness | None) -> Health:
    """Return what monitors are answered. Without a model the other roles are ready all the same."""

    def lacks() -> list[str]:
        return [
            *(readiness.lacks() if readiness else ()),
            *([] if engine.off is None else ["model"]),
        ]

    return Health(
        readiness.is_ready if readiness else lambda: engine.off is None,
        {
            **detector_metrics(engine),
            **(readiness.metrics() if readiness else process_metrics()),
        },
        settings.trusted_proxies,
        lacks,
        readiness.histograms() if readiness else {},
    )


def _written(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
