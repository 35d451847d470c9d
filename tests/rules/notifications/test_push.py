"""Subscriptions of browsers, and what is sent to them."""

import json
from dataclasses import replace

import pytest

from printreach.contract.events import EventType
from printreach.rules.notifications.push import (
    LONGEST_ENDPOINT,
    MAX_PAYLOAD_BYTES,
    PushAct,
    PushMessage,
    Urgency,
    acts_of,
    parse_subscription,
    payload_of,
    topic_of,
    ttl_of,
    urgency_of,
)
from tests.fakes.push import SubscribedBrowser

GOOD = json.loads(SubscribedBrowser().to_json())
WORDS = PushMessage(title="A title", text="A text.", url="https://reach.example/")


def test_a_browsers_own_description_is_parsed_and_formatted_again() -> None:
    browser = SubscribedBrowser()
    parsed = parse_subscription(browser.to_json())

    assert parsed is not None
    assert (parsed.endpoint, parsed.public_key) == (browser.endpoint, browser.public_key)
    assert parse_subscription(parsed.to_json()) == parsed


@pytest.mark.parametrize(
    "described",
    [
        "",
        "null",
        "[]",
        "{}",
        "1e999",
        "[" * 4000,
        json.dumps({**GOOD, "endpoint": 7}),
        json.dumps({**GOOD, "endpoint": ""}),
        json.dumps({**GOOD, "endpoint": "https://" + "a" * LONGEST_ENDPOINT}),
        json.dumps({**GOOD, "keys": "p256dh"}),
        json.dumps({**GOOD, "keys": {**GOOD["keys"], "auth": "YQ"}}),
        json.dumps({**GOOD, "keys": {**GOOD["keys"], "auth": 7}}),
        json.dumps({**GOOD, "keys": {**GOOD["keys"], "p256dh": GOOD["keys"]["auth"]}}),
        json.dumps({**GOOD, "keys": {**GOOD["keys"], "p256dh": "\N{SNOWMAN}" * 87}}),
        json.dumps(GOOD) + " " * 4096,
    ],
)
def test_what_is_no_subscription_is_refused(described: str) -> None:
    assert parse_subscription(described) is None


def test_two_subscriptions_have_two_digests_and_one_has_always_the_same() -> None:
    one, other = (parse_subscription(SubscribedBrowser().to_json()) for _ in range(2))
    assert one is not None
    assert other is not None

    assert one.digest() != other.digest()
    assert one.digest() == replace(one).digest()
    assert one.digest() != replace(one, endpoint=one.endpoint + "x").digest()


def test_the_topic_is_that_of_a_print_and_as_long_as_push_services_take() -> None:
    topic = topic_of("p1", "print-1", EventType.PROGRESS)

    assert len(topic) == 32
    assert topic == topic_of("p1", "print-1", EventType.COMPLETE)
    assert topic != topic_of("p1", "print-2", EventType.PROGRESS)
    assert topic != topic_of("p2", "print-1", EventType.PROGRESS)


def test_news_never_replaces_what_needs_a_person() -> None:
    progress, warning = (
        topic_of("p1", "print-1", kind) for kind in (EventType.PROGRESS, EventType.POSSIBLE_FAILURE)
    )

    assert progress != warning


def test_a_warning_is_urgent_and_progress_is_not() -> None:
    assert urgency_of(EventType.POSSIBLE_FAILURE) is Urgency.HIGH
    assert urgency_of(EventType.COMPLETE) is Urgency.NORMAL
    assert urgency_of(EventType.PROGRESS) is Urgency.LOW
    assert ttl_of(EventType.PROGRESS) < ttl_of(EventType.POSSIBLE_FAILURE)


def test_only_a_warning_has_buttons() -> None:
    assert acts_of(EventType.POSSIBLE_FAILURE) == (PushAct.PAUSE, PushAct.FINE)
    assert [kind for kind in EventType if acts_of(kind)] == [EventType.POSSIBLE_FAILURE]


@pytest.mark.parametrize("letter", ["a", '"', "\0", "\N{CJK UNIFIED IDEOGRAPH-4E00}", "\U0001f5a8"])
def test_a_long_text_is_cut_until_the_payload_fits(letter: str) -> None:
    payload = payload_of(replace(WORDS, title=letter * 200, text=letter * 5000))

    assert len(payload) <= MAX_PAYLOAD_BYTES
    assert json.loads(payload)["title"] == letter * 200


def test_what_a_message_has_not_is_not_sent() -> None:
    assert json.loads(payload_of(WORDS)) == {
        "title": "A title",
        "text": "A text.",
        "url": "https://reach.example/",
    }
