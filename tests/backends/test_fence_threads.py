"""Fences of several threads at the same time don't affect each other."""

import asyncio
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from printreach.backends.fence import Fence, FenceViolation, inside
from printreach.backends.notify_apprise import AppriseMessenger
from printreach.ports.notifications import NotSent, SendFailure
from printreach.rules.notifications.channels import SCHEMES
from printreach.rules.public_addresses import PUBLIC_ONLY
from tests.backends.test_notify_apprise import HOME, PATIENCE_S, TOKEN, Server, patient_messenger
from tests.fakes.loop import on_a_loop

ROUNDS = 50


def connects(is_allowed: bool, port: int, meet: threading.Barrier) -> list[bool]:
    """Whether each of many tries reached that port, side by side with others' tries."""
    reached = []
    for _ in range(ROUNDS):
        meet.wait(PATIENCE_S)
        with inside(Fence(reach=HOME if is_allowed else PUBLIC_ONLY)):
            try:
                with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as one:
                    meet.wait(PATIENCE_S)
                    reached.append(one.getpeername()[1] == port)
            except FenceViolation:
                meet.wait(PATIENCE_S)
                reached.append(False)
    return reached


def test_each_thread_has_its_own_fence() -> None:
    meet = threading.Barrier(4)
    with socket.create_server(("127.0.0.1", 0), backlog=100) as listening:
        port = listening.getsockname()[1]
        with ThreadPoolExecutor(4) as threads:
            tries = [
                threads.submit(connects, allowed, port, meet)
                for allowed in (True, False, True, False)
            ]
            reached = [one.result(PATIENCE_S) for one in tries]

    assert reached == [[allowed] * ROUNDS for allowed in (True, False, True, False)]


def test_the_end_of_one_fence_cuts_off_no_connection_of_another() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = listening.getsockname()
        ended, other = Fence(reach=HOME), Fence(reach=HOME)
        with inside(ended):
            one = socket.create_connection(address)
            peer_of_one, _ = listening.accept()
        with inside(other), one, peer_of_one, socket.create_connection(address) as kept:
            peer, _ = listening.accept()
            with peer:
                ended.end()
                kept.sendall(b"still here")
                assert peer.recv(100) == b"still here"
            assert peer_of_one.recv(1) == b""


@pytest.mark.slow
@on_a_loop
async def test_messages_at_the_same_time_are_each_told_their_own_answer() -> None:
    statuses = [200, 401, 500, 200, 404, 503]
    async with Server(200) as taking, Server(401) as refusing, Server(500) as broken:
        servers = {200: taking, 401: refusing, 500: broken}
        async with Server(404) as knowing_nobody, Server(503) as busy:
            servers |= {404: knowing_nobody, 503: busy}
            messenger = patient_messenger()
            said = await asyncio.gather(
                *(messenger.send(servers[status].gotify, "t", "t") for status in statuses * 5)
            )

    expected = [None if one == 200 else NotSent(SendFailure.REFUSED, one) for one in statuses * 5]
    assert said == expected


@pytest.mark.parametrize("scheme", sorted(SCHEMES))
def test_no_service_on_the_list_starts_a_thread_which_would_stand_outside(
    scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{scheme}://user:{TOKEN}@localhost:1/{TOKEN}/{TOKEN}/{TOKEN}"
    started: list[str] = []
    start = threading.Thread.start

    def note(thread: threading.Thread) -> None:
        caller = threading.current_thread().name
        if caller.startswith("apprise"):
            started.append(thread.name)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", note)
    # Every name leads home, so that nobody's service is called by a test.
    home = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 1))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: home)
    asyncio.run(AppriseMessenger(deadline_s=PATIENCE_S).send(url, "t", "t"))

    assert started == []
