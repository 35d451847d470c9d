"""What scores pictures in this process, for the API, the watch and other processes alike."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from printreach.backends.detector_node import NodeAddress
from printreach.backends.scorer_http import HttpScorer
from printreach.detector.engine import CannotLook, Engine, Look
from printreach.ports.scoring import Scorer
from printreach.run.installing import how_to_install
from printreach.run.settings import Settings

_NOT_INSTALLED: Final = (
    f"its libraries are not installed here; {how_to_install('detector')} brings them"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """engine: in this process; it loads nothing until it is asked. scorer: whom roles ask."""

    engine: Engine
    scorer: Scorer


@asynccontextmanager
async def scoring_of(settings: Settings, roles: frozenset[str]) -> AsyncIterator[Scoring]:
    """One for a process: the nodes where the operator named some, else its own threads."""
    spare = 0 if roles == {"detector"} else 1
    engine = Engine(load_look, threads=max(1, _cores() - spare))
    nodes = _nodes_of(settings)
    try:
        yield Scoring(engine=engine, scorer=nodes or engine)
    finally:
        if nodes is not None:
            await nodes.close()
        await engine.close()


def load_look() -> Look:
    """The model and its libraries. Raises CannotLook where either is missing."""
    try:
        from printreach.detector.looking import load_looker
    except ImportError as error:
        raise CannotLook(_NOT_INSTALLED) from error
    return load_looker()


def _nodes_of(settings: Settings) -> HttpScorer | None:
    if not settings.detector_nodes:
        return None
    addresses = [NodeAddress.at(url) for url in settings.detector_nodes]
    return HttpScorer(addresses, settings.detector_token)


def _cores() -> int:
    """Those that this process may use, where the system tells."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
