"""The prints under watch, and what the watch remembers of one between two looks."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from printreach.rules.detection import DetectionContext
from printreach.rules.printers import OwnedPrinter
from printreach.rules.watch.choices import Judgement, WatchSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchMemory:
    """All of it; a new print begins with none.

    history: the latest scores, the oldest first; a picture that shows nothing of the print adds
    none. looked_at: when it was last looked at. unseeing: the view condition for which that look
    gave no score, "" if it did.
    interval_s: from then to the next look, as was planned. kept_at, kept_quality: when a look was
    last kept for the pages, and what it showed. warned_at: when it was last warned of. is_warned:
    that the warning stands; good_s: how long the print has looked good since. dismissed_at: when
    the owner last answered that an alarm was wrong.

    paused_at: when the watch last paused it. pauses: how often it has; tries: how often it wanted
    to. ordering_at: a pause may have been ordered then, and what came of it isn't known.
    is_paused: that the print was seen paused. is_own_pause: by the watch. resumed_at: the resume
    that was last taken into account.

    misses: looks in a row that came to nothing. unreached_at: since when the printer is away.
    Raises ValueError for a time without zone: it can be compared with none.
    """

    context: DetectionContext = field(default_factory=DetectionContext)
    history: tuple[int, ...] = ()
    looked_at: datetime | None = None
    unseeing: str = ""
    interval_s: float = 0.0
    kept_at: datetime | None = None
    kept_quality: int = 0
    warned_at: datetime | None = None
    is_warned: bool = False
    dismissed_at: datetime | None = None
    good_s: float = 0.0
    paused_at: datetime | None = None
    pauses: int = 0
    tries: int = 0
    ordering_at: datetime | None = None
    is_paused: bool = False
    is_own_pause: bool = False
    resumed_at: datetime | None = None
    misses: int = 0
    unreached_at: datetime | None = None

    def __post_init__(self) -> None:
        times = (
            *(self.looked_at, self.kept_at, self.warned_at, self.paused_at),
            *(self.ordering_at, self.resumed_at, self.unreached_at, self.dismissed_at),
        )
        if any(time is not None and time.tzinfo is None for time in times):
            raise ValueError("a time has a zone")


@dataclass(frozen=True, kw_only=True, slots=True)
class WatchedPrint:
    """A print under watch.

    token: of the worker's claim; empty if it is not claimed. settings: those in force. resumed_at:
    when it was last reported that the print went on after a pause. degraded: the last look was slow
    or failed.
    """

    printer_id: str
    account_id: str
    print_id: str
    token: str
    memory: WatchMemory
    settings: WatchSettings
    resumed_at: datetime | None = None
    degraded: bool = False

    @property
    def printer(self) -> OwnedPrinter:
        """Return the printer with the account for which it is watched."""
        return OwnedPrinter(self.printer_id, self.account_id)

    def answer(self, judged: Iterable[Judgement]) -> Judgement | None:
        """Return the owner's answer about this print, if there is one."""
        return next((one for one in judged if one.print_id == self.print_id), None)


@dataclass(frozen=True, kw_only=True, slots=True)
class UnwatchedPrinter:
    """A connected printer of which no print is watched. connected_at: since when."""

    printer_id: str
    account_id: str
    connected_at: datetime

    @property
    def printer(self) -> OwnedPrinter:
        """Return the printer with its account."""
        return OwnedPrinter(self.printer_id, self.account_id)
