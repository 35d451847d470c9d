"""The text of a notification: a title, and one or two short sentences."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from printreach.contract.events import EventType, PrintEvent
from printreach.contract.unset import UNSET
from printreach.rules.durations import duration

TEST_TITLE: Final = "Printreach can reach you"
TEST_TEXT: Final = "This is a test. Notifications about your printers will look like this."
CANCELLED: Final = "cancelled"
"""The error of a failed print that somebody cancelled."""


@dataclass(frozen=True, slots=True)
class Words:
    """Plain text."""

    title: str
    text: str


def words_for(
    event: PrintEvent, printer_name: str, url: str, picture_url: str | None = None
) -> Words:
    """Tell what happened. url: of the printer's page; many programs show what picture_url is of."""
    say = _SAYS.get(event.event_type, _something)
    title, sentences = say(event)
    lines = [_joined(sentences), picture_url or "", url]
    return Words(f"{printer_name}: {title}", "\n".join(line for line in lines if line))


Told = tuple[str, list[str]]


def _started(event: PrintEvent) -> Told:
    left = _time_left(event)
    return "print started", [_file(event, "{file} is printing."), left]


def _complete(event: PrintEvent) -> Told:
    took = event.duration_sec
    return "print finished", [
        _file(event, "{file} is finished."),
        "" if took is UNSET else f"It took {duration(took)}.",
    ]


def _failed(event: PrintEvent) -> Told:
    if event.error == CANCELLED:
        return "print stopped", [_file(event, "{file} was stopped{at}.")]
    return "print failed", [_file(event, "{file} failed{at}."), _error(event)]


def _paused(event: PrintEvent) -> Told:
    return "print paused", [_file(event, "{file} is paused{at}."), _error(event)]


def _resumed(event: PrintEvent) -> Told:
    return "print resumed", [_file(event, "{file} is printing again."), _time_left(event)]


def _progress(event: PrintEvent) -> Told:
    done = event.progress
    title = "still printing" if done is UNSET else f"{done}% done"
    return title, [_file(event, "{file} is printing."), _time_left(event)]


def _possible_failure(event: PrintEvent) -> Told:
    return "this print may be failing", [
        _file(event, "Failure detection sees a problem with {file}."),
        *filter(None, [_error(event)]),
        "Check the printer.",
    ]


def _paused_by_detector(event: PrintEvent) -> Told:
    return "paused by failure detection", [
        _file(event, "{file} is paused{at}."),
        "Check it before you resume.",
    ]


def _error_reported(event: PrintEvent) -> Told:
    return "the printer reports an error", [_error(event) or "It gave no details."]


def _first_layer(event: PrintEvent) -> Told:
    return "first layer done", [_file(event, "The first layer of {file} is done.")]


def _third_layer(event: PrintEvent) -> Told:
    return "third layer done", [_file(event, "The third layer of {file} is done.")]


def _filament(event: PrintEvent) -> Told:
    return "filament needs changing", [
        _file(event, "{file} is waiting for filament{at}."),
        _error(event),
    ]


def _interaction(event: PrintEvent) -> Told:
    return "the printer needs attention", [_file(event, "{file} is waiting{at}."), _error(event)]


def _limit(_event: PrintEvent) -> Told:
    return "no more messages today", [
        "You have reached the daily limit of messages.",
        "They resume tomorrow. Choose fewer events to stay below the limit.",
    ]


def _bed_cooled(_event: PrintEvent) -> Told:
    return "the bed has cooled down", ["You can remove the print."]


def _test(_event: PrintEvent) -> Told:
    return "test", [TEST_TEXT]


def _something(event: PrintEvent) -> Told:
    return "something happened", [_error(event)]


_SAYS: Final[Mapping[int, Callable[[PrintEvent], Told]]] = MappingProxyType(
    {
        EventType.STARTED: _started,
        EventType.COMPLETE: _complete,
        EventType.FAILED: _failed,
        EventType.PAUSED: _paused,
        EventType.RESUMED: _resumed,
        EventType.PROGRESS: _progress,
        EventType.POSSIBLE_FAILURE: _possible_failure,
        EventType.PAUSED_BY_DETECTOR: _paused_by_detector,
        EventType.ERROR: _error_reported,
        EventType.FIRST_LAYER_COMPLETE: _first_layer,
        EventType.FILAMENT_CHANGE_REQUIRED: _filament,
        EventType.USER_INTERACTION_REQUIRED: _interaction,
        EventType.NOTIFICATION_LIMIT_REACHED: _limit,
        EventType.THIRD_LAYER_COMPLETE: _third_layer,
        EventType.BED_COOLED_DOWN: _bed_cooled,
        EventType.TEST: _test,
    }
)


def _joined(sentences: list[str]) -> str:
    return " ".join(sentence for sentence in sentences if sentence)


def _file(event: PrintEvent, sentence: str) -> str:
    name = event.file_name or "" if event.file_name is not UNSET else ""
    at = f" at {event.progress}%" if event.progress is not UNSET else ""
    text = sentence.replace("{at}", at)
    if name:
        return text.replace("{file}", name)
    return text.replace("{file}", "The print" if text.startswith("{file}") else "the print")


def _time_left(event: PrintEvent) -> str:
    left = event.time_remaining_sec
    return "" if left is UNSET else f"{duration(left)} left."


def _error(event: PrintEvent) -> str:
    if event.error is UNSET or not event.error:
        return ""
    text = event.error.strip()
    return text if text.endswith((".", "!", "?")) else f"{text}."
