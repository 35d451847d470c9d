"""The text of an event for people."""

import pytest
from msgspec import structs

from printreach.contract.events import EventType, PrintEvent
from printreach.rules.notifications.words import words_for
from printreach.web.wording import FILTERS

URL = "https://reach.example/printers/p1"


def event(kind: int, **known: object) -> PrintEvent:
    return PrintEvent(event_id="e0000001", event_type=kind, event_time_sec=0, **known)  # type: ignore[arg-type]  # each test names fields of its own


@pytest.mark.parametrize(
    ("happened", "title", "text"),
    [
        (
            event(EventType.COMPLETE, file_name="vase.gcode", duration_sec=11_520),
            "Workshop: print finished",
            "vase.gcode is finished. It took 3 h 12 min.",
        ),
        (
            event(EventType.FAILED, file_name="vase.gcode", error="cancelled", progress=40),
            "Workshop: print stopped",
            "vase.gcode was stopped at 40%.",
        ),
        (
            event(EventType.FAILED, file_name="vase.gcode", error="Heater is too cold"),
            "Workshop: print failed",
            "vase.gcode failed. Heater is too cold.",
        ),
        (
            event(EventType.PROGRESS, progress=50, time_remaining_sec=3600),
            "Workshop: 50% done",
            "The print is printing. 1 h left.",
        ),
        (
            event(EventType.POSSIBLE_FAILURE, error="It could not be paused. It says no."),
            "Workshop: this print may be failing",
            "Failure detection sees a problem with the print. It could not be paused. It says no. "
            "Check the printer.",
        ),
        (
            event(EventType.PAUSED_BY_DETECTOR, progress=50),
            "Workshop: paused by failure detection",
            "The print is paused at 50%. Check it before you resume.",
        ),
        (
            event(EventType.FIRST_LAYER_COMPLETE),
            "Workshop: first layer done",
            "The first layer of the print is done.",
        ),
        (event(EventType.ERROR), "Workshop: the printer reports an error", "It gave no details"),
        (event(4711, error="Odd"), "Workshop: something happened", "Odd."),
    ],
)
def test_an_event_is_told_in_short_sentences(happened: PrintEvent, title: str, text: str) -> None:
    words = words_for(happened, "Workshop", URL)

    assert words.title == title
    assert words.text.startswith(text)
    assert words.text.endswith(URL)


@pytest.mark.parametrize("kind", list(EventType))
def test_every_event_has_words_whatever_is_known_of_it(kind: EventType) -> None:
    words = words_for(event(kind), "Workshop", URL)

    assert words.title != "Workshop: something happened"
    assert "{" not in words.title + words.text
    assert "  " not in words.text


def test_a_file_name_cannot_put_its_own_words_into_the_sentence() -> None:
    words = words_for(event(EventType.PAUSED, file_name="{at}{file}.gcode"), "Workshop", URL)

    assert words.text.startswith("{at}{file}.gcode is paused.")


def test_a_picture_stands_before_the_way_to_the_printer() -> None:
    words = words_for(
        event(EventType.BED_COOLED_DOWN), "Workshop", URL, "https://reach.example/s/1"
    )

    assert words.text.split("\n") == [
        "You can remove the print.",
        "https://reach.example/s/1",
        URL,
    ]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(344, "5 min"), (3600, "1 h"), (3661, "1 h 1 min"), (97_200, "1 day 3 h")],
)
def test_how_long_a_print_took_is_told_as_its_page_tells_it(seconds: int, words: str) -> None:
    finished = structs.replace(event(EventType.COMPLETE), duration_sec=seconds)

    assert FILTERS["duration"](seconds) == words
    assert f"It took {words}." in words_for(finished, "Workshop", URL).text
