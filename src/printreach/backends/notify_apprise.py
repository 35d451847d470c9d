"""Notifications by Apprise, which knows the services that people read.

Apprise blocks while it sends, so it has threads of its own, inside a fence, since what a person
types decides where it connects. A message has one deadline, whatever the address says of retries.

It is imported when it is first needed: with its services it takes some 40 MB.
"""

import asyncio
import logging
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import local
from typing import TYPE_CHECKING, Any, Final

from printreach.backends.fence import Fence, inside, take_no_proxies
from printreach.ports.notifications import NotSent, SendFailure
from printreach.rules.notifications.channels import is_plain, may_be_used
from printreach.rules.public_addresses import PUBLIC_ONLY, Reach

if TYPE_CHECKING:
    import apprise

_log = logging.getLogger(__name__)

AT_ONCE: Final = 32
"""Threads. They wait for the other side nearly all the time."""
DEADLINE_S: Final = 20.0
CALL_TIMEOUT_S: Final = 8.0
"""For a connection, and for each piece of an answer."""


class AppriseMessenger:
    """ports.Messenger. close() does not wait."""

    def __init__(
        self,
        *,
        reach: Reach = PUBLIC_ONLY,
        deadline_s: float = DEADLINE_S,
        call_timeout_s: float = CALL_TIMEOUT_S,
    ) -> None:
        self._reach = reach
        self._deadline_s = deadline_s
        self._call_timeout_s = call_timeout_s
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="apprise")
        self._slots = asyncio.Semaphore(AT_ONCE)
        _capture_warnings()

    async def check(self, url: str) -> bool:
        if not may_be_used(url, allow_plain=self._reach.allows_plain_http):
            return False
        fence = Fence(reach=self._reach, is_plain=is_plain(url))
        return await self._run(fence, _is_understood, fence, url, self._call_timeout_s) is True

    async def send(self, url: str, title: str, text: str) -> NotSent | None:
        if not may_be_used(url, allow_plain=self._reach.allows_plain_http):
            return NotSent(SendFailure.NOT_ALLOWED)
        fence = Fence(reach=self._reach, is_plain=is_plain(url))
        sent = await self._run(fence, _send, fence, url, self._call_timeout_s, title, text)
        return NotSent(SendFailure.TOO_SLOW) if sent is _OUT_OF_TIME else sent

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _run(self, fence: Fence, work: Any, *arguments: Any) -> Any:
        """Return the result of the work on a thread, or _OUT_OF_TIME.

        The slot is held until it ends.
        """
        loop = asyncio.get_running_loop()
        await self._slots.acquire()
        try:
            running = loop.run_in_executor(self._threads, work, *arguments)
        except BaseException:
            self._slots.release()
            raise
        running.add_done_callback(self._is_done)
        done, _ = await asyncio.wait([running], timeout=self._deadline_s)
        if not done:
            fence.end()
            return _OUT_OF_TIME
        return running.result()

    def _is_done(self, running: "asyncio.Future[Any]") -> None:
        self._slots.release()
        if not running.cancelled() and running.exception() is not None:
            # The exception's text may contain an address; its type does not.
            _log.warning("a message was not sent: %s", type(running.exception()).__name__)


_OUT_OF_TIME: Final = object()


def _load() -> None:
    """Import it outside the fence: its dependencies look at the machine's network at import."""
    import apprise  # noqa: F401 - to have it loaded
    import requests.utils

    take_no_proxies(requests.utils)


def _asset(call_timeout_s: float) -> "apprise.AppriseAsset":
    import apprise

    asset = apprise.AppriseAsset(
        storage_mode=apprise.PersistentStoreMode.MEMORY,
        plugin_paths=[],
        allow_templates=False,
        service_timeout=call_timeout_s,
    )
    asset.app_id, asset.app_desc, asset.app_url = "Printreach", "Printreach", ""
    # Apprise's own logo would be loaded from another site by each app that shows a message.
    asset.image_url_mask = asset.image_url_logo = ""
    asset.async_mode = asset.http_redirects = False
    asset.pgp_autogen = asset.pem_autogen = False
    return asset


def _service(url: str, call_timeout_s: float) -> "apprise.NotifyBase | None":
    """Build Apprise's service for an address, without retries and with short timeouts."""
    import apprise

    made = apprise.Apprise.instantiate(url, asset=_asset(call_timeout_s), suppress_exceptions=True)
    if not isinstance(made, apprise.NotifyBase):
        return None
    made.retry = 0
    made.socket_connect_timeout = made.socket_read_timeout = call_timeout_s
    return made


def _is_understood(fence: Fence, url: str, call_timeout_s: float) -> bool:
    _load()
    with inside(fence), _warnings():
        return _service(url, call_timeout_s) is not None


def _send(fence: Fence, url: str, call_timeout_s: float, title: str, text: str) -> NotSent | None:
    _load()
    import apprise

    with inside(fence), _warnings() as warnings:
        try:
            service = _service(url, call_timeout_s)
            if service is None:
                return NotSent(SendFailure.NOT_ALLOWED)
            is_sent = service.notify(body=text, title=title, body_format=apprise.NotifyFormat.TEXT)
        except OSError:
            is_sent = False
    if is_sent:
        return None
    if fence.was_refused:
        return NotSent(SendFailure.NOT_ALLOWED)
    status = _status_in(warnings)
    return (
        NotSent(SendFailure.UNREACHABLE) if status is None else NotSent(SendFailure.REFUSED, status)
    )


# --- what Apprise says of a failure ---------------------------------------------------------------

_STATUS: Final = re.compile(r"error=([1-9][0-9]{2})\b")
_of_thread = local()


class _Listener(logging.Handler):
    """Keeps log records of a thread, for that thread alone."""

    def emit(self, record: logging.LogRecord) -> None:
        warnings: list[str] | None = getattr(_of_thread, "warnings", None)
        if warnings is not None and len(warnings) < 100:
            warnings.append(record.getMessage())


def _capture_warnings() -> None:
    """Keep its records from the log: Apprise puts parts of addresses into its messages."""
    logger = logging.getLogger("apprise")
    if not any(isinstance(one, _Listener) for one in logger.handlers):
        logger.addHandler(_Listener(logging.WARNING))
    logger.propagate = False
    logger.setLevel(logging.WARNING)


@contextmanager
def _warnings() -> Iterator[list[str]]:
    _of_thread.warnings = []
    try:
        yield _of_thread.warnings
    finally:
        del _of_thread.warnings


def _status_in(warnings: list[str]) -> int | None:
    for sentence in warnings:
        if (found := _STATUS.search(sentence)) is not None:
            return int(found[1])
    return None
