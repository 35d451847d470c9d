"""Printreach, losing its power at one step of an event's way: `kill_at STEP TYPE WORDS...`.

Runs the command line in this process, which kills itself as an event of that type comes to that
step. Nothing of the product knows of it.
"""

import inspect
import os
import signal
import sys
from collections.abc import Callable
from enum import StrEnum
from typing import Any

from printreach.agent.journal import Journal
from printreach.agent.outbox import EventSender, Outbox
from printreach.contract.events import PrintEvent


class Step(StrEnum):
    """The point of an event's way at which the power goes."""

    SEEN = "seen"
    IN_JOURNAL = "in-journal"
    BEFORE_SENDING = "before-sending"
    ACKNOWLEDGED = "acknowledged"
    BEFORE_COMMIT = "before-commit"
    AFTER_COMMIT = "after-commit"
    BEFORE_FAN_OUT = "before-fan-out"
    IN_FAN_OUT = "in-fan-out"


OF_THE_AGENT = (Step.SEEN, Step.IN_JOURNAL, Step.BEFORE_SENDING, Step.ACKNOWLEDGED)
OF_THE_SERVICE = (Step.BEFORE_COMMIT, Step.AFTER_COMMIT, Step.BEFORE_FAN_OUT, Step.IN_FAN_OUT)


def arm(step: Step, kind: int) -> None:
    """Put the end of the world into the way of the first event of that type."""

    def is_there(events: object) -> bool:
        assert isinstance(events, list | tuple)
        return any(_event(one).event_type == kind for one in events)

    def waits(sender: EventSender) -> bool:
        return is_there(sender._outbox.batch(1))

    in_record = b'"EventType":%d,' % kind
    match step:
        case Step.SEEN:
            _before(Outbox, "put", lambda _box, _mark, events: is_there(events))
        case Step.IN_JOURNAL:
            _behind(Journal, "add", lambda _file, record, **_: in_record in record)
        case Step.BEFORE_SENDING:
            _before(EventSender, "_send", waits)
        case Step.ACKNOWLEDGED:
            _before(EventSender, "stored", lambda sender, _ids: waits(sender))
        case _:
            _arm_service(step, is_there)


def _arm_service(step: Step, is_there: Callable[[object], bool]) -> None:
    # Here, because an agent has none of it.
    from printreach.hub.prints.fanout import Fanout
    from printreach.store.prints.events import EventRecords
    from printreach.store.relay import SqlEventInbox

    match step:
        case Step.BEFORE_COMMIT:
            _before(SqlEventInbox, "put", lambda _box, _printer, events: is_there(events))
        case Step.AFTER_COMMIT:
            _behind(SqlEventInbox, "put", lambda _box, _printer, events: is_there(events))
        case Step.BEFORE_FAN_OUT:
            _before(Fanout, "_hand_out", lambda _fanout, events: is_there(events))
        case Step.IN_FAN_OUT:
            _behind(EventRecords, "mark_fanned_out", lambda *_: True)
        case _:
            raise AssertionError(step)


def _event(one: object) -> PrintEvent:
    found = getattr(one, "event", one)
    assert isinstance(found, PrintEvent)
    return found


def _before(owner: type, name: str, is_it: Callable[..., bool]) -> None:
    real = getattr(owner, name)

    def dying(*args: Any, **options: Any) -> Any:
        if is_it(*args, **options):
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*args, **options)

    setattr(owner, name, dying)


def _behind(owner: type, name: str, is_it: Callable[..., bool]) -> None:
    real = getattr(owner, name)

    def dying(*args: Any, **options: Any) -> Any:
        result = real(*args, **options)
        if is_it(*args, **options):
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    async def dying_later(*args: Any, **options: Any) -> Any:
        result = await real(*args, **options)
        if is_it(*args, **options):
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, dying_later if inspect.iscoroutinefunction(real) else dying)


if __name__ == "__main__":
    from printreach.run.main import main

    arm(Step(sys.argv[1]), int(sys.argv[2]))
    sys.exit(main(sys.argv[3:]))
