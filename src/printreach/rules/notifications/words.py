"""The text of a notification: a title, and one or two short sentences."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from printreach.contract.events import EventType, PrintEvent
from printreach.contract.unset import UNSET
from printreach.languages import N_, _, message, translate
from printreach.languages.values import duration

TEST_TITLE: Final = N_("Printreach can reach you")
TEST_TEXT: Final = N_("This is a test. Notifications about your printers will look like this.")
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
    return _("print started"), [_file(event, N_("%(file)s is printing.")), left]


def _complete(event: PrintEvent) -> Told:
    took = event.duration_sec
    return _("print finished"), [
        _file(event, N_("%(file)s is finished.")),
        "" if took is UNSET else _("It took %(duration)s.", duration=duration(took)),
    ]


def _failed(event: PrintEvent) -> Told:
    if event.error == CANCELLED:
        return _("print stopped"), [
            _file(event, N_("%(file)s was stopped."), N_("%(file)s was stopped at %(percent)s%%."))
        ]
    return _("print failed"), [
        _file(event, N_("%(file)s failed."), N_("%(file)s failed at %(percent)s%%.")),
        _error(event),
    ]


def _paused(event: PrintEvent) -> Told:
    return _("print paused"), [
        _file(event, N_("%(file)s is paused."), N_("%(file)s is paused at %(percent)s%%.")),
        _error(event),
    ]


def _resumed(event: PrintEvent) -> Told:
    return _("print resumed"), [_file(event, N_("%(file)s is printing again.")), _time_left(event)]


def _progress(event: PrintEvent) -> Told:
    done = event.progress
    title = _("still printing") if done is UNSET else _("%(percent)s%% done", percent=done)
    return title, [_file(event, N_("%(file)s is printing.")), _time_left(event)]


def _possible_failure(event: PrintEvent) -> Told:
    return _("this print may be failing"), [
        _file(event, N_("Failure detection sees a problem with %(file)s.")),
        *filter(None, [_error(event)]),
        _("Check the printer."),
    ]


def _paused_by_detector(event: PrintEvent) -> Told:
    return _("paused by failure detection"), [
        _file(event, N_("%(file)s is paused."), N_("%(file)s is paused at %(percent)s%%.")),
        _("Check it before you resume."),
    ]


def _error_reported(event: PrintEvent) -> Told:
    return _("the printer reports an error"), [_error(event) or _("It gave no details.")]


def _first_layer(event: PrintEvent) -> Told:
    return _("first layer done"), [_file(event, N_("The first layer of %(file)s is done."))]


def _third_layer(event: PrintEvent) -> Told:
    return _("third layer done"), [_file(event, N_("The third layer of %(file)s is done."))]


def _filament(event: PrintEvent) -> Told:
    return _("filament needs changing"), [
        _file(
            event,
            N_("%(file)s is waiting for filament."),
            N_("%(file)s is waiting for filament at %(percent)s%%."),
        ),
        _error(event),
    ]


def _interaction(event: PrintEvent) -> Told:
    return _("the printer needs attention"), [
        _file(event, N_("%(file)s is waiting."), N_("%(file)s is waiting at %(percent)s%%.")),
        _error(event),
    ]


def _limit(_event: PrintEvent) -> Told:
    return _("no more messages today"), [
        _("You have reached the daily limit of messages."),
        _("They resume tomorrow. Choose fewer events to stay below the limit."),
    ]


def _bed_cooled(_event: PrintEvent) -> Told:
    return _("the bed has cooled down"), [_("You can remove the print.")]


def _test(_event: PrintEvent) -> Told:
    return _("test"), [translate(TEST_TEXT)]


def _something(event: PrintEvent) -> Told:
    return _("something happened"), [_error(event)]


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


def _file(event: PrintEvent, sentence: str, with_progress: str = "") -> str:
    """Make a sentence about the file. with_progress: the one that tells its progress, too."""
    name = event.file_name or "" if event.file_name is not UNSET else ""
    is_known = event.progress is not UNSET and bool(with_progress)
    text = message(with_progress if is_known else sentence)
    unnamed = _("The print") if text.startswith("%(file)s") else _("the print")
    return text % {"file": name or unnamed, "percent": event.progress}


def _time_left(event: PrintEvent) -> str:
    left = event.time_remaining_sec
    return "" if left is UNSET else _("%(duration)s left.", duration=duration(left))


def _error(event: PrintEvent) -> str:
    if event.error is UNSET or not event.error:
        return ""
    text = translate(event.error.strip())
    return text if text.endswith((".", "!", "?", "\u3002", "\uff01", "\uff1f")) else f"{text}."
