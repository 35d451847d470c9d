"""An app that is connected to a real printer server, and told of its prints at an HTTPS server."""

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


class ToldApp:
    """The events it received since the last print that it has read of."""

    def __init__(self, receiver: HttpsReceiver) -> None:
        self._receiver = receiver
        self._read = 0

    def wait_for(self, kind: EventType) -> None:
        """Until it is told of one such event."""
        wait_for(f"a call of {kind.name}", lambda: kind in self._kinds() or None, TIMEOUT_S)

    def read_print(self) -> list[dict[str, Any]]:
        """Every call since the last time, in the order in which they came."""
        told = self._receiver.calls[self._read :]
        self._read += len(told)
        return [one.event for one in told]

    def _kinds(self) -> list[int]:
        return [one.event["EventType"] for one in self._receiver.calls[self._read :]]


@contextmanager
def told_app(
    folder: Path, platform: str, printer_url: str, env: Mapping[str, str] | None = None
) -> Iterator[ToldApp]:
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
        yield ToldApp(receiver)
        app.close()


def kinds(told: list[dict[str, Any]]) -> list[int]:
    """The types of what was told, in its order."""
    return [one["EventType"] for one in told]
