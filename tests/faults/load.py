"""Requests of every size to many printers, each judged by what came of it."""

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.faults.attempts import Outcome, attempt
from tests.rigs.behaviour.pattern import digest, pattern
from tests.rigs.fleet.rig import Fleet

CALLERS = 8
SIZES = (0, 1_000, 300_000, 3_000_000)
DIGESTS = {size: digest(size) for size in SIZES}


@dataclass(frozen=True)
class Judged:
    """One request: what was asked, and how it ended."""

    printer: int
    is_upload: bool
    size: int
    outcome: Outcome

    @property
    def is_accepted(self) -> bool:
        """The caller was told that all is well."""
        return self.outcome.status == 200 and self.outcome.is_whole

    @property
    def is_true(self) -> bool:
        """What the caller was told is what happened, on the right printer."""
        if self.is_upload:
            seen = {"printer": self.printer, "sha256": DIGESTS[self.size], "size": self.size}
            return self.outcome.answer.json() == seen
        return self.outcome.body == pattern(self.size)


class Load:
    """What became of the requests so far."""

    def __init__(self) -> None:
        self.judged: list[Judged] = []

    @property
    def accepted(self) -> list[Judged]:
        """Those that went well, as far as their callers know."""
        return [one for one in self.judged if one.is_accepted]

    @property
    def failures(self) -> list[Outcome]:
        """The others."""
        return [one.outcome for one in self.judged if not one.is_accepted]

    @property
    def lies(self) -> list[Judged]:
        """Uploads and downloads that were called whole and are not."""
        return [one for one in self.accepted if not one.is_true]


@contextmanager
def load_on(fleet: Fleet, callers: int = CALLERS) -> Iterator[Load]:
    """Some callers ask printers of the fleet, each one request after the other, until the end."""
    load, is_over = Load(), threading.Event()

    def ask(choices: random.Random) -> None:
        while not is_over.is_set():
            load.judged.append(_one_of_many(fleet, choices))

    threads = [
        threading.Thread(target=ask, args=(random.Random(number),)) for number in range(callers)
    ]
    for thread in threads:
        thread.start()
    try:
        yield load
    finally:
        is_over.set()
        for thread in threads:
            thread.join()


def _one_of_many(fleet: Fleet, choices: random.Random) -> Judged:
    printer, size = choices.randrange(len(fleet.ways)), choices.choice(SIZES)
    way = fleet.ways[printer]
    is_upload = choices.random() < 0.5
    if is_upload:
        outcome = attempt(way, f"/upload?for={printer}", method="POST", body=pattern(size))
    else:
        outcome = attempt(way, f"/file?for={printer}&size={size}")
    return Judged(printer, is_upload, size, outcome)
