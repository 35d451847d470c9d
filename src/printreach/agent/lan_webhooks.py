"""LAN webhooks: the agent sends events to servers at home, with or without the service.

Each server has its own queue in memory. Deliveries are retried while the agent runs, and lost when
it stops.
"""

import asyncio
import logging
import ssl
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlsplit

from printreach.agent.addresses import join_host_port
from printreach.contract.events import PrintEvent
from printreach.http1.client import Client, Connect
from printreach.http1.fetch import Fetcher, FetchFailed
from printreach.rules.backoff import Backoff
from printreach.rules.webhooks.messages import About, message_body

log = logging.getLogger(__name__)

RETRY: Final = Backoff.of_seconds(2, 10, 30, 120, 600)
GIVEN_UP_AFTER_S: Final = 3600.0
TIMEOUT_S: Final = 10.0
MAX_WAITING: Final = 500
"""The length of a server's queue; beyond it the oldest event is dropped."""
_PORTS: Final = {"http": 80, "https": 443}
_MAX_ANSWER_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class _QueuedEvent:
    event_id: str
    body: bytes
    since: float


class LanWebhooks:
    """The webhooks of one agent. about: returns what is sent beside an event."""

    def __init__(
        self,
        urls: Sequence[str],
        about: Callable[[], About],
        *,
        retry: Backoff = RETRY,
    ) -> None:
        self._about = about
        self._hooks = [_Hook(url, retry) for url in urls]

    def tell(self, events: Sequence[PrintEvent]) -> None:
        """Have these sent; returns at once."""
        if not self._hooks or not events:
            return
        about = self._about()
        for event in events:
            body = message_body(event, about)
            for hook in self._hooks:
                hook.put(event.event_id, body)

    async def run(self) -> None:
        """Send until cancelled."""
        async with asyncio.TaskGroup() as sending:
            for hook in self._hooks:
                sending.create_task(hook.run())


class _Hook:
    """One server with its own queue and task, so that it delays no other."""

    def __init__(self, url: str, retry: Backoff) -> None:
        parts = urlsplit(url)
        self._is_tls = parts.scheme == "https"
        self._host = parts.hostname or ""
        self._port = parts.port or _PORTS[parts.scheme]
        path = quote(parts.path, safe="/%:@!$&'()*+,;=~-._") or "/"
        self._target = (path + (f"?{parts.query}" if parts.query else "")).encode()
        self._name = join_host_port(self._host, self._port)  # the rest may hold a secret
        self._retry = retry
        self._waiting: deque[_QueuedEvent] = deque(maxlen=MAX_WAITING)
        self._has_news = asyncio.Event()

    def put(self, event_id: str, body: bytes) -> None:
        since = asyncio.get_running_loop().time()
        self._waiting.append(_QueuedEvent(event_id, body, since))
        self._has_news.set()

    async def run(self) -> None:
        failures = 0
        while True:
            await self._has_news.wait()
            self._drop_old()
            if not self._waiting:
                self._has_news.clear()
                continue
            first = self._waiting[0]
            problem = await self._send(first)
            if problem is None:
                failures = 0
                # It may have been dropped in between, if the queue was full.
                if self._waiting and self._waiting[0] is first:
                    self._waiting.popleft()
                continue
            if failures == 0:
                log.warning(
                    "the LAN webhook at %s did not accept an event: %s", self._name, problem
                )
            failures += 1
            await asyncio.sleep(self._retry.pause_s(failures))

    def _drop_old(self) -> None:
        now = asyncio.get_running_loop().time()
        while self._waiting and now > self._waiting[0].since + GIVEN_UP_AFTER_S:
            log.warning("gave up sending an event to the LAN webhook at %s", self._name)
            self._waiting.popleft()

    async def _send(self, waiting: _QueuedEvent) -> str | None:
        """Return why it was not taken; None where it was. No redirect is followed."""
        fetcher = Fetcher(Client(self._connect()), self._name.encode())
        headers = [
            (b"Content-Type", b"application/json"),
            (b"User-Agent", b"Printreach-Agent"),
            (b"webhook-id", waiting.event_id.encode()),
        ]
        try:
            async with asyncio.timeout(TIMEOUT_S):
                answer = await fetcher.fetch(
                    b"POST", self._target, headers, waiting.body, at_most=_MAX_ANSWER_BYTES
                )
        except TimeoutError:
            return "no answer in time"
        except FetchFailed as failed:
            return failed.text
        finally:
            await fetcher.close()
        return None if 200 <= answer.status < 300 else f"status {answer.status}"

    def _connect(self) -> Connect:
        loop = asyncio.get_running_loop()
        context = ssl.create_default_context() if self._is_tls else None
        return lambda protocol: loop.create_connection(
            protocol, self._host, self._port, ssl=context
        )
