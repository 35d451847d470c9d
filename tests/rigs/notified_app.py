"""An app that is connected to a real printer server, and gets its events at an HTTPS server."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from printreach.contract.events import EventType
from tests.rigs.certificates import Authority
from tests.rigs.https_receiver import HttpsReceiver, https_receiver
from tests.rigs.waiting import wait_for
from tests.rigs.webhook_service import CallingApp, webhook_service

# Without those that come by the clock or by the height: how many there are is the machine's speed.
WANTED = (
    *(EventType.STARTED, EventType.COMPLETE, EventType.FAILED, EventType.PAUSED),
    *(EventType.RESUMED, EventType.BED_COOLED_DOWN),
)
TIMEOUT_S = 240


class NotifiedApp:
    """The events it received since the last print that it has read of."""

    def __init__(self, receiver: HttpsReceiver) -> None:
        self._receiver = receiver
        self._read = 0

    def wait_for(self, kind: EventType) -> None:
        """Wait until it has received such an event."""
        wait_for(f"a call of {kind.name}", lambda: kind in self._kinds() or None, TIMEOUT_S)

    def read_print(self) -> list[dict[str, Any]]:
        """Every call since the last time, in the order in which they came."""
        calls = self._receiver.calls[self._read :]
        self._read += len(calls)
        return [call.event for call in calls]

    def _kinds(self) -> list[int]:
        return [call.event["EventType"] for call in self._receiver.calls[self._read :]]


@contextmanager
def notified_app(
    folder: Path, platform: str, printer_url: str, env: Mapping[str, str] | None = None
) -> Iterator[NotifiedApp]:
    """env: of the agent beside the printer."""
    authority = Authority(folder)
    with (
        https_receiver(authority.issue("localhost")) as receiver,
        webhook_service(folder, authority) as here,
        here.printer(platform, printer_url, platform=platform, env=env) as linked,
    ):
        linked.agent.wait_until_looked()
        app = CallingApp(here, linked)
        assert app.set_webhook(receiver.url, *WANTED).status_code == 200
        yield NotifiedApp(receiver)
        app.close()


def kinds(calls: list[dict[str, Any]]) -> list[int]:
    """Return the types of the calls, in their order."""
    return [call["EventType"] for call in calls]
