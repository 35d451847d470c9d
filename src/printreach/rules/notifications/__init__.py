"""Choices of notifications: the events, the times of day, and the number per day."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta, tzinfo
from enum import Enum, auto
from typing import Final

from printreach.contract.events import EventType
from printreach.languages import N_
from printreach.rules.backoff import Backoff
from printreach.rules.notifications.channels import MAIL
from printreach.rules.turns import TurnRule

Events = frozenset[int]

CHOICES: Final[tuple[tuple[EventType, str], ...]] = (
    (EventType.STARTED, N_("A print starts")),
    (EventType.COMPLETE, N_("A print finishes")),
    (EventType.FAILED, N_("A print fails or is stopped")),
    (EventType.PAUSED, N_("A print pauses")),
    (EventType.RESUMED, N_("A print resumes")),
    (EventType.PROGRESS, N_("Progress, every 10% and every hour")),
    (EventType.FIRST_LAYER_COMPLETE, N_("The first layer is done")),
    (EventType.THIRD_LAYER_COMPLETE, N_("The third layer is done")),
    (EventType.BED_COOLED_DOWN, N_("The bed has cooled down")),
    (EventType.FILAMENT_CHANGE_REQUIRED, N_("Filament needs changing")),
    (EventType.USER_INTERACTION_REQUIRED, N_("The printer needs attention")),
    (EventType.POSSIBLE_FAILURE, N_("Failure detection sees a problem")),
    (EventType.PAUSED_BY_DETECTOR, N_("Failure detection pauses a print")),
    (EventType.ERROR, N_("The printer reports an error")),
)
"""The events that can be chosen, in the page's order. A reached limit is always notified."""

CHOOSABLE: Final[Events] = frozenset(kind for kind, _ in CHOICES)

TROUBLE: Final[Events] = frozenset(
    {
        EventType.FAILED,
        EventType.POSSIBLE_FAILURE,
        EventType.PAUSED_BY_DETECTOR,
        EventType.ERROR,
        EventType.FILAMENT_CHANGE_REQUIRED,
        EventType.USER_INTERACTION_REQUIRED,
    }
)
"""Events that need a person."""

DEFAULT_EVENTS: Final[Events] = TROUBLE | {EventType.COMPLETE}

PASSING: Final[Events] = frozenset(
    {
        EventType.STARTED,
        EventType.RESUMED,
        EventType.PROGRESS,
        EventType.FIRST_LAYER_COMPLETE,
        EventType.THIRD_LAYER_COMPLETE,
    }
)
"""Events that are no longer of interest when quiet hours end."""

OF_FAILURE_WATCH: Final[Events] = frozenset(
    {EventType.POSSIBLE_FAILURE, EventType.PAUSED_BY_DETECTOR}
)
"""Only the service itself says these: no app, guest or printer can cause any number of them."""

DAILY_LIMIT: Final = 200
"""The most notifications of an account in a day, unless the operator sets another limit."""
MAX_DESTINATIONS: Final = 20
"""Places an account may be told at."""
DESTINATIONS_AT_ONCE: Final = 24
"""Destinations that one worker sends to at once: fewer than the messenger has threads, so that a
destination can be tested at the same time."""
FAILING: Final = "failing"
"""The kind of destinations to which the last message was not sent."""
DESTINATION_TURNS: Final = TurnRule(of_account=4, for_firsts=12, of_kind={FAILING: 8, MAIL: 4})
"""Destinations that failed the last time, and mails, which all go through one server, have a few
slots each."""


@dataclass(frozen=True, kw_only=True, slots=True)
class QuietHours:
    """Quiet hours in local time; an end before the beginning is on the next day.

    trouble_passes: events that need a person are notified all the same.
    """

    begins: time
    ends: time
    trouble_passes: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class NotifySettings:
    """The notification settings of an account.

    zone: the name of the person's time zone.
    of_printers: by printer_id, instead of events, for that printer. Of a printer that is shared
    with the person they are all that counts: without them nothing is notified.
    """

    events: Events = DEFAULT_EVENTS
    quiet: QuietHours | None = None
    zone: str = "UTC"
    of_printers: Mapping[str, Events] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Destination:
    """A configured use of a channel.

    channel: its name. sealed: its address; empty for the mail address of the account. failures: in
    a row. trouble: why the last message was not accepted; empty when it was. leased_until: when the
    claim of a worker ends, if one has claimed it.
    """

    destination_id: str
    account_id: str
    channel: str
    label: str
    sealed: bytes = field(repr=False)
    created_at: datetime
    sent_at: datetime | None = None
    failures: int = 0
    trouble: str = ""
    leased_until: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class QueuedMessage:
    """A message in the queue of one destination. event_seq: of the event that it tells of."""

    message_id: int
    destination_id: str
    title: str
    text: str
    made_at: datetime
    event_seq: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class NewMessage:
    """A message to be queued. due_at: not sent before then. event_seq: as of QueuedMessage."""

    title: str
    text: str
    made_at: datetime
    due_at: datetime
    event_seq: int | None = None


def wants(settings: NotifySettings, printer_id: str, event_type: int) -> bool:
    """Whether the person wants to be notified of this event at all."""
    if event_type == EventType.NOTIFICATION_LIMIT_REACHED:
        return True
    return event_type in settings.of_printers.get(printer_id, settings.events)


def wants_of_shared(settings: NotifySettings, printer_id: str, event_type: int) -> bool:
    """Whether the person wants to be notified of this event at a printer that is shared with
    them."""
    return event_type in settings.of_printers.get(printer_id, frozenset()) & CHOOSABLE


def time_to_tell(
    settings: NotifySettings, event_type: int, at: datetime, zone: tzinfo
) -> datetime | None:
    """Return when to tell of what happened at that time; None where it is no news by then."""
    quiet = settings.quiet
    until = None if quiet is None else quiet_until(quiet, at, zone)
    if quiet is None or until is None:
        return at
    if quiet.trouble_passes and event_type in TROUBLE:
        return at
    return None if event_type in PASSING else until


def quiet_until(quiet: QuietHours, at: datetime, zone: tzinfo) -> datetime | None:
    """Return the end of the quiet hours that lie around a time; None outside them.

    Clocks that go forward or back make the hours shorter or longer, as the person's own do.
    """
    today = at.astimezone(zone).date()
    for first_day in (today - timedelta(days=1), today):
        last_day = first_day if quiet.begins < quiet.ends else first_day + timedelta(days=1)
        begins = datetime.combine(first_day, quiet.begins, zone)
        ends = datetime.combine(last_day, quiet.ends, zone)
        # Both have to be put into the zone of `at` to be compared by the instant they are.
        if begins.astimezone(at.tzinfo) <= at < ends.astimezone(at.tzinfo):
            return ends.astimezone(at.tzinfo)
    return None


class Allowance(Enum):
    """The outcomes of the daily limit."""

    SEND = auto()
    SAY_LIMIT = auto()
    """This message is the first one over the limit."""
    NOTHING = auto()


@dataclass(frozen=True, kw_only=True, slots=True)
class DailyCount:
    """The count of a day. was_told: the person knows that no more will be sent that day."""

    day: date
    messages: int = 0
    was_told: bool = False


def limit_for(event_type: int, daily_limit: int) -> int:
    """Return how many messages the account may have had today once this one is sent.

    A quarter more is kept for the failure watch, so that an app which starts and cancels prints all
    day doesn't silence it.
    """
    return daily_limit + daily_limit // 4 if event_type in OF_FAILURE_WATCH else daily_limit


def count(
    counted: DailyCount | None, day: date, messages: int, limit: int
) -> tuple[DailyCount, Allowance]:
    """Count messages that are about to be sent, and say whether they may be.

    day: today, in the person's zone.
    """
    so_far = counted if counted is not None and counted.day == day else DailyCount(day=day)
    if so_far.messages + messages <= limit:
        return replace(so_far, messages=so_far.messages + messages), Allowance.SEND
    if so_far.was_told:
        return so_far, Allowance.NOTHING
    return replace(so_far, was_told=True), Allowance.SAY_LIMIT


RETRY: Final = Backoff(
    (
        timedelta(seconds=30),
        timedelta(minutes=2),
        timedelta(minutes=10),
        timedelta(minutes=30),
        timedelta(hours=1),
        timedelta(hours=3),
    )
)
GIVEN_UP_AFTER: Final = timedelta(hours=24)
"""Notifications older than this are dropped."""


def next_try(failures: int, at: datetime, retry_after: timedelta | None = None) -> datetime:
    """Return when a destination that failed is tried again; failures: in a row, from 1.

    retry_after: waited for if it is longer, but never beyond the longest pause.
    """
    pause = RETRY.pause(failures)
    return at + min(max(pause, retry_after or pause), RETRY.pauses[-1])


def parse_local_time(text: str) -> time | None:
    """Parse a time as a form sends it, "22:30"."""
    hours, colon, minutes = text.strip().partition(":")
    if not (colon and hours.isascii() and hours.isdigit() and minutes[:2].isdigit()):
        return None
    try:
        return time(int(hours), int(minutes[:2]))
    except ValueError:
        return None


def parse_event_types(texts: list[str]) -> Events | None:
    """Return the events that were ticked; None where one of them cannot be chosen."""
    chosen = {int(text) for text in texts if text.isascii() and text.isdigit() and len(text) < 6}
    return frozenset(chosen) if chosen <= CHOOSABLE and len(chosen) == len(set(texts)) else None
