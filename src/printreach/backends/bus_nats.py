"""Notices between the processes of a service over a NATS server, on any number of machines.

Subjects are `printreach.notice.<topic>`, and the payload is the notice's key. Of topics that come
often the subject goes on with what the notice is about, so that only the nodes concerned get it:
`printreach.notice.event.<account>` and `printreach.notice.detector.<node>.<printer>`, where the
node is the one with the printer's tunnel. A node subscribes to what somebody in it subscribes to.
Events and mails that wait in the store are told to one worker, for the others would look in vain;
they look now and then anyway.

Subscribers of this process are told directly, so a process hears itself while the server is gone.
Notices of others are lost meanwhile, and nothing else is: whoever misses one looks again by itself.
"""

import asyncio
import hashlib
import logging
import random
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError

from printreach.backends.subscribers import Subscribers
from printreach.ports import Notice, Topic, Tunnels
from printreach.rules.backoff import Backoff
from printreach.store.store import Store

SUBJECT: Final = "printreach.notice"
RECONNECT: Final = Backoff.doubling(0.25, 8.0)
CONNECT_TIMEOUT_S: Final = 2
PING_INTERVAL_S: Final = 5
"""The server counts as gone when two pings in a row are unanswered."""
MAX_WAITING: Final = 4096
"""Notices that wait to be sent. Further ones are dropped: a hint that comes late is of no use."""
MAX_UNSENT_BYTES: Final = 1024 * 1024
"""Of a server that reads slowly; further notices are dropped."""
MAX_UNREAD_BYTES: Final = 8 * 1024 * 1024
MAX_UNREAD: Final = 65_536
FIRST_CONNECTION_S: Final = 2.0
"""How long the start waits for the server. The service runs without it, too."""
LAST_NOTICES_S: Final = 2.0
"""How long the end waits until what was published has left."""
UNKNOWN_NODE: Final = "any"
"""In place of the node, where the one with the printer's tunnel isn't known."""
WORKERS: Final = "workers"
"""The queue of workers, of which one is told of events and mails that wait. What follows from
events is told to all, for they share deliveries to many webhooks."""
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")

_log = logging.getLogger(__name__)


class Subject(NamedTuple):
    """A subject to subscribe to. queue: who subscribe with it take turns; "" where each hears."""

    name: str
    queue: str = ""


class NatsBus:
    """ports.Bus. Created by open_nats_bus."""

    def __init__(self, servers: Sequence[str], tunnels: Tunnels | None = None) -> None:
        self._servers = list(servers)
        self._tunnels = tunnels
        self._node = UNKNOWN_NODE if tunnels is None else tunnels.node_id
        self._wanted: Counter[Subject] = Counter()  # subjects, by how many subscribers want them
        self._changed: set[Subject] = set()  # subjects to which to subscribe, or no longer
        self._has_changed = asyncio.Event()
        self._subscribers = Subscribers()
        self._waiting: asyncio.Queue[Notice] = asyncio.Queue(MAX_WAITING)
        self._client: Client | None = None
        self.is_connected = asyncio.Event()

    @property
    def is_available(self) -> bool:
        return self.is_connected.is_set()

    async def publish(self, notice: Notice) -> None:
        self.tell([notice])

    def subscribe(
        self, callback: Callable[[Notice], None], *wanted: Topic | Notice
    ) -> Callable[[], None]:
        remove = self._subscribers.add(callback, wanted)
        subjects = {subject for one in wanted for subject in subjects_of(one, self._node)}
        self._want(subjects, 1)

        def end() -> None:
            remove()
            self._want(subjects, -1)

        return end

    def tell(self, notices: Sequence[Notice]) -> None:
        """Tell this process's subscribers, and the others' if the server is there."""
        for notice in notices:
            if self.is_connected.is_set() and not self._waiting.full():
                self._waiting.put_nowait(notice)
            self._subscribers.tell(notice)

    async def keep_connected(self) -> None:
        """Connect, and connect again after each loss, until cancelled."""
        failures = 0
        while True:
            try:
                await self._while_connected()
                failures = 0
            except (NatsError, OSError, TimeoutError, ValueError) as error:
                failures += 1
                if failures == 1:
                    _log.warning("the NATS server can't be reached: %s", _sentence(error))
            await asyncio.sleep(RECONNECT.jittered_s(max(1, failures), random.uniform))

    async def flush(self) -> None:
        """Return when what was published has reached the server. Raises NatsError, TimeoutError."""
        await self._waiting.join()
        if self._client is not None and self._client.is_connected:
            await self._client.flush(timeout=int(LAST_NOTICES_S))

    # --- helpers ----------------------------------------------------------------------------------

    async def _while_connected(self) -> None:
        """Connect, and return when the connection is lost. Raises if there is none."""
        is_closed = asyncio.Event()
        client = await self._connected(is_closed)
        subscriptions: dict[Subject, Subscription] = {}
        self._changed.update(self._wanted)
        tasks = [asyncio.create_task(self._send(client))]
        try:
            await self._follow(client, subscriptions)
            await client.flush(timeout=CONNECT_TIMEOUT_S)
            tasks.append(asyncio.create_task(self._keep_following(client, subscriptions)))
            self._client = client
            self.is_connected.set()
            _log.info("connected to the NATS server")
            await is_closed.wait()
            _log.warning(
                "the connection to the NATS server is lost; notices are delayed until it is back"
            )
        finally:
            self.is_connected.clear()
            self._client = None
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._drop_waiting()
            with suppress(Exception):  # the connection is gone already
                await client.close()

    async def _connected(self, is_closed: asyncio.Event) -> Client:
        """Connect to any of the servers. Raises what the last of them failed with."""
        failure: Exception = ValueError("there is no server")
        for server in random.sample(self._servers, len(self._servers)):
            try:
                return await _connected_to(server, is_closed)
            except (NatsError, OSError, TimeoutError) as error:
                failure = error
        raise failure

    def _want(self, subjects: Collection[Subject], more: int) -> None:
        for subject in subjects:
            self._wanted[subject] += more
            if not self._wanted[subject]:
                del self._wanted[subject]
        self._changed.update(subjects)
        self._has_changed.set()

    async def _follow(self, client: Client, subscriptions: dict[Subject, Subscription]) -> None:
        """Subscribe to what is wanted since the last time, and to no more. Raises NatsError."""
        self._has_changed.clear()
        while self._changed:
            subject = self._changed.pop()
            if subject not in self._wanted:
                if subject in subscriptions:
                    await subscriptions.pop(subject).unsubscribe()
            elif subject not in subscriptions:
                subscriptions[subject] = await client.subscribe(
                    *subject,
                    cb=self._on_message,
                    pending_msgs_limit=MAX_UNREAD,
                    pending_bytes_limit=MAX_UNREAD_BYTES,
                )

    async def _keep_following(
        self, client: Client, subscriptions: dict[Subject, Subscription]
    ) -> None:
        while True:
            await self._has_changed.wait()
            try:
                await self._follow(client, subscriptions)
            except (NatsError, OSError) as error:  # the next connection begins with all
                _log.debug("what is subscribed to was not changed: %s", _sentence(error))

    async def _send(self, client: Client) -> None:
        while True:
            notice = await self._waiting.get()
            try:
                if client.pending_data_size < MAX_UNSENT_BYTES:
                    await client.publish(self._subject_of(notice), notice.key.encode())
            except NatsError as error:
                _log.debug("a notice was not sent: %s", _sentence(error))
            except Exception:  # noqa: BLE001 - one notice's fault is not the others'
                _log.exception("a notice about a %s was not sent", notice.topic.value)
            finally:
                self._waiting.task_done()

    def _drop_waiting(self) -> None:
        while not self._waiting.empty():
            self._waiting.get_nowait()
            self._waiting.task_done()

    def _subject_of(self, notice: Notice) -> str:
        match notice.topic:
            case Topic.EVENT:
                return f"{SUBJECT}.{notice.topic.value}.{_token(notice.key)}"
            case Topic.DETECTOR:
                holder = None if self._tunnels is None else self._tunnels.holder_of(notice.key)
                node = holder or UNKNOWN_NODE
                return f"{SUBJECT}.{notice.topic.value}.{_token(node)}.{_token(notice.key)}"
            case _:
                return f"{SUBJECT}.{notice.topic.value}"

    async def _on_message(self, message: Msg) -> None:
        topic = message.subject.removeprefix(f"{SUBJECT}.").partition(".")[0]
        # A node of a newer version may publish a topic that this one does not know.
        if topic in list(Topic):
            self._subscribers.tell(Notice(Topic(topic), message.data.decode(errors="replace")))


@asynccontextmanager
async def open_nats_bus(
    servers: Sequence[str], store: Store, tunnels: Tunnels | None = None
) -> AsyncIterator[NatsBus]:
    """Open a bus that also publishes the notices of each unit of work that this process commits.

    servers: URLs of one NATS server, or of a cluster's; they may hold credentials. tunnels: what
    this process knows of them; None if it is no node of the service.
    """
    bus = NatsBus(servers, tunnels)
    store.on_notices(bus.tell)
    connecting = asyncio.create_task(bus.keep_connected(), name="nats")
    with suppress(TimeoutError):
        async with asyncio.timeout(FIRST_CONNECTION_S):
            await bus.is_connected.wait()
    try:
        yield bus
    finally:
        with suppress(TimeoutError, NatsError):
            async with asyncio.timeout(LAST_NOTICES_S):
                await bus.flush()
        connecting.cancel()
        await asyncio.gather(connecting, return_exceptions=True)


def subjects_of(wanted: Topic | Notice, node: str) -> Sequence[Subject]:
    """Return the subjects by which a node hears of this.

    The first one is for nodes of an older version, which name the topic alone whatever it is about.
    """
    topic = wanted if isinstance(wanted, Topic) else wanted.topic
    whole = f"{SUBJECT}.{topic.value}"
    match topic, wanted:
        case Topic.INBOX | Topic.MAIL, _:
            return (Subject(whole, WORKERS),)
        case Topic.EVENT, Notice(key=account_id):
            return Subject(whole), Subject(f"{whole}.{_token(account_id)}")
        case Topic.EVENT, _:
            return Subject(whole), Subject(f"{whole}.*")
        case Topic.DETECTOR, Notice(key=printer_id):
            return Subject(whole), Subject(f"{whole}.*.{_token(printer_id)}")
        case Topic.DETECTOR, _:
            nodes = (_token(node), UNKNOWN_NODE)
            return Subject(whole), *(Subject(f"{whole}.{one}.*") for one in nodes)
        case _:
            return (Subject(whole),)


def _token(key: str) -> str:
    """Return a part of a subject that stands for the key, which may contain anything."""
    if _TOKEN.fullmatch(key):
        return key
    return hashlib.sha256(key.encode()).hexdigest()


async def _connected_to(server: str, is_closed: asyncio.Event) -> Client:
    """Connect to one server; the event is set when the connection ends.

    The library takes what a URL says of user and password, or of a token, as it stands there.
    """
    client, parts = Client(), urlsplit(server)

    async def on_closed() -> None:
        is_closed.set()

    user = unquote(parts.username) if parts.username is not None else None
    password = unquote(parts.password) if parts.password is not None else None
    # It connects anew by itself, too, but then sends what it has kept, which is out of date.
    await client.connect(
        parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl(),
        user=user,
        password=password,
        token=user if password is None else None,
        name="printreach",
        no_echo=True,
        allow_reconnect=False,
        max_reconnect_attempts=1,
        reconnect_time_wait=0,
        connect_timeout=CONNECT_TIMEOUT_S,
        ping_interval=PING_INTERVAL_S,
        max_outstanding_pings=2,
        closed_cb=on_closed,
        error_cb=_on_error,
    )
    return client


async def _on_error(error: Exception) -> None:
    _log.debug("NATS: %s", _sentence(error))


def _sentence(error: Exception) -> str:
    """No error of the library names a URL, which holds credentials; an empty one gets a name."""
    return str(error) or type(error).__name__
