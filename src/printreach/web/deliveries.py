"""Webhook deliveries in words, for the pages of owners and developers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from printreach.contract.events import EventType
from printreach.rules.notifications import CHOICES
from printreach.rules.webhooks import DeliveryState, LoggedDelivery

_TITLES: Final[Mapping[int, str]] = MappingProxyType(
    {
        **{int(kind): text for kind, text in CHOICES},
        EventType.PROGRESS: "Progress",
        EventType.NOTIFICATION_LIMIT_REACHED: "The day's limit of notifications is reached",
        EventType.TEST: "A test",
    }
)
_WORDS: Final[Mapping[DeliveryState, tuple[str, str]]] = MappingProxyType(
    {
        DeliveryState.DELIVERED: ("Delivered", "tick"),
        DeliveryState.GIVEN_UP: ("Given up", "warning"),
        DeliveryState.DROPPED: ("Not sent", "cancelled"),
        DeliveryState.QUEUED: ("On its way", "clock"),
    }
)
_FAILED_FOR_NOW: Final = ("Failed, tried again", "again")


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownDelivery:
    """title: the event. word: its state; the icon belongs to it."""

    delivery: LoggedDelivery
    title: str
    word: str
    icon: str


def shown_deliveries(deliveries: Sequence[LoggedDelivery]) -> list[ShownDelivery]:
    """Return them in the given order."""
    return [_shown(one) for one in deliveries]


def title_of(event_type: int) -> str:
    """Return the title of an event type, even of one that this version does not know."""
    return _TITLES.get(event_type, f"Event {event_type}")


def _shown(one: LoggedDelivery) -> ShownDelivery:
    has_failed = one.state is DeliveryState.QUEUED and one.attempts > 0
    word, icon = _FAILED_FOR_NOW if has_failed else _WORDS[one.state]
    return ShownDelivery(delivery=one, title=title_of(one.event_type), word=word, icon=icon)
