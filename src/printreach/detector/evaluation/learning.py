"""The learning of cameras from prints, in the order in which they saw them, and its effect.

As on a service whose owners never answer: each print is taken for completed, failing ones, too.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from printreach.detector.evaluation.prints import (
    SECOND,
    START,
    ScoredPrint,
    WatchedPrint,
    watched,
)
from printreach.rules.detection.scene import UNSEEING_VIEWS
from printreach.rules.watch.background import CameraBackground, begun, ended_well, learnt
from printreach.rules.watch.memory import WatchMemory


def watched_by_what_was_learnt(seen: Iterable[ScoredPrint]) -> Iterator[WatchedPrint]:
    """Yield the prints that are watched by what their camera has learnt from those before.

    A print whose camera has not learnt enough yet, or is not known, only teaches.
    """
    backgrounds: dict[str, CameraBackground] = {}
    for one in seen:
        background = backgrounds.get(one.camera, CameraBackground())
        memory = begun(WatchMemory(), background)
        went = watched(one, memory.context)
        if background.is_used:
            yield went
        ended = _in_the_end(memory, went)
        if one.camera and ended_well(ended, None):
            at = START + one.pictures[-1].at_s * SECOND
            backgrounds[one.camera] = learnt(background, ended, at)


def _in_the_end(memory: WatchMemory, went: WatchedPrint) -> WatchMemory:
    """Return what the watch remembers of a print, as far as learning asks for it."""
    is_warned = any(verdict.warning_suggested for verdict in went.verdicts)
    return replace(
        memory,
        context=went.context,
        history=tuple(each.score for each in went.verdicts if each.view not in UNSEEING_VIEWS),
        warned_at=START if is_warned else None,
    )
