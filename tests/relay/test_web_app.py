"""Our own host, answered by an ASGI application of the same process."""

import asyncio
import gc
import json
from collections.abc import Sequence
from ipaddress import ip_network

import pytest

from printreach.relay.asgi import Application, Receive, Scope, Send
from printreach.relay.web_app import WebCall
from tests.relay.caller import BrokenOff, calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import OWN, relay
from tests.relay.waiting import settle, until

Fields = Sequence[tuple[bytes, bytes]]


async def start(send: Send, status: int = 200, headers: Fields = ()) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})


async def body(send: Send, data: bytes, *, more: bool = False) -> None:
    await send({"type": "http.response.body", "body": data, "more_body": more})


async def read_all(receive: Receive) -> bytes:
    whole, more = b"", True
    while more:
        message = await receive()
        whole += message["body"]
        more = message["more_body"]
    return whole


def always(data: bytes, status: int = 200, headers: Fields = ()) -> Application:
    async def application(_scope: Scope, _receive: Receive, send: Send) -> None:
        await start(send, status, headers)
        await body(send, data)

    return application


async def tell_scope(scope: Scope, _receive: Receive, send: Send) -> None:
    """Answers with what it was called with."""
    told = {key: value for key, value in scope.items() if key not in ("asgi", "state")}
    await start(send)
    await body(send, json.dumps(told, default=lambda value: value.decode("latin-1")).encode())


async def measure(_scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with the size of the body."""
    size = len(await read_all(receive))
    await start(send)
    await body(send, b"%d" % size)


@on_a_loop
async def test_the_application_gets_the_request_as_it_was_but_for_its_hop() -> None:
    async with relay(web_app=tell_scope) as rig, calling(rig.port) as caller:
        fields = (
            b"Cookie: printreach_session=x",
            b"X-Thing: one",
            b"X-Thing: two",
            b"TE: trailers",
        )
        target = b"/a%2Fb//caf%C3%A9?d=%20&e"
        caller.send(request(OWN, *fields, b"Connection: keep-alive", target=target))
        scope = json.loads((await caller.answer()).body)

        assert (scope["method"], scope["http_version"]) == ("GET", "1.1")
        assert (scope["path"], scope["raw_path"]) == ("/a/b//café", "/a%2Fb//caf%C3%A9")
        assert scope["query_string"] == "d=%20&e"
        assert scope["headers"] == [
            ["host", OWN.decode()],
            ["cookie", "printreach_session=x"],
            ["x-thing", "one"],
            ["x-thing", "two"],
        ]


@pytest.mark.parametrize("trusted", [True, False])
@on_a_loop
async def test_a_callers_forwarding_fields_count_only_from_a_proxy(trusted: bool) -> None:
    networks = [ip_network("127.0.0.0/8")] if trusted else []
    said = (
        b"X-Forwarded-For: 198.51.100.1, 203.0.113.9",
        b"X-Forwarded-Proto: https",
        b"X-Forwarded-Host: evil.example",
        b"Forwarded: for=198.51.100.1",
        b"X-Real-IP: 198.51.100.1",
        b"X-Forwarded-Unproven: 0",
    )
    async with relay(networks=networks, web_app=tell_scope) as rig, calling(rig.port) as caller:
        caller.send(request(OWN, *said))
        scope = json.loads((await caller.answer()).body)

        assert scope["client"] == ["203.0.113.9" if trusted else "127.0.0.1", 0]
        assert scope["scheme"] == ("https" if trusted else "http")
        unproven = [] if trusted else [["x-forwarded-unproven", "1"]]
        assert scope["headers"] == [["host", OWN.decode()], *unproven]


@pytest.mark.parametrize("chunked", [True, False])
@pytest.mark.parametrize("size", [0, 1, 100_000, 3_000_000])
@on_a_loop
async def test_an_upload_reaches_the_application_whole(chunked: bool, size: int) -> None:
    async with relay(web_app=measure) as rig, calling(rig.port) as caller:
        if chunked:
            caller.send(request(OWN, b"Transfer-Encoding: chunked", method=b"POST"))
            caller.send(b"%x\r\n%b\r\n" % (size, b"x" * size) if size else b"")
            caller.send(b"0\r\n\r\n")
        else:
            length = b"Content-Length: %d" % size
            caller.send(request(OWN, length, method=b"POST") + b"x" * size)

        assert (await caller.answer()).body == b"%d" % size


@on_a_loop
async def test_an_application_that_reads_slowly_holds_the_upload_up() -> None:
    pieces: list[int] = []

    async def peek(_scope: Scope, receive: Receive, send: Send) -> None:
        await settle(200)
        pieces.append(len((await receive())["body"]))
        await read_all(receive)
        await start(send)
        await body(send, b"ok")

    async with relay(web_app=peek) as rig, calling(rig.port) as caller:
        size = 20_000_000
        caller.send(request(OWN, b"Content-Length: %d" % size, method=b"POST") + b"x" * size)

        assert (await caller.answer()).body == b"ok"
        assert 0 < pieces[0] < 2_000_000


@on_a_loop
async def test_a_caller_that_expects_100_continue_gets_it_when_the_body_is_read() -> None:
    async with relay(web_app=measure) as rig, calling(rig.port) as caller:
        fields = (b"Content-Length: 4", b"Expect: 100-continue")
        caller.send(request(OWN, *fields, method=b"POST"))
        assert (await caller.head()).status == 100
        caller.send(b"body")

        assert (await caller.answer()).body == b"4"


@on_a_loop
async def test_an_upload_may_be_refused_before_it_is_sent() -> None:
    async with relay(web_app=always(b"no", 413)) as rig, calling(rig.port) as caller:
        fields = (b"Content-Length: 1000000", b"Expect: 100-continue")
        caller.send(request(OWN, *fields, method=b"POST"))
        answer = await caller.answer()

        assert (answer.status, answer.get(b"connection")) == (413, b"close")


@on_a_loop
async def test_answers_come_as_they_are_made() -> None:
    go_on = asyncio.Event()

    async def two(_scope: Scope, _receive: Receive, send: Send) -> None:
        await start(send)
        await body(send, b"one", more=True)
        await go_on.wait()
        await body(send, b"two")

    async with relay(web_app=two) as rig, calling(rig.port) as caller:
        caller.send(request(OWN))
        assert (await caller.head()).status == 200
        assert await caller.read(8) == b"3\r\none\r\n"
        go_on.set()

        assert await caller.read(13) == b"3\r\ntwo\r\n0\r\n\r\n"


@on_a_loop
async def test_a_slow_reader_holds_the_application_up() -> None:
    made = 0

    async def much(_scope: Scope, _receive: Receive, send: Send) -> None:
        nonlocal made
        await start(send)
        while made < 100_000_000:
            made += 65536
            await body(send, b"x" * 65536, more=True)
        await body(send, b"")

    async with relay(web_app=much) as rig, calling(rig.port, receive_buffer=4096) as caller:
        caller.send(request(OWN))
        await settle(200)

        assert made < 20_000_000


@on_a_loop
async def test_one_connection_carries_many_requests_one_after_the_other() -> None:
    async with relay(web_app=tell_scope) as rig, calling(rig.port) as caller:
        caller.send(b"".join(request(OWN, target=b"/%d" % number) for number in range(30)))
        scopes = [json.loads((await caller.answer()).body) for _ in range(30)]

        assert [scope["path"] for scope in scopes] == [f"/{number}" for number in range(30)]


@pytest.mark.parametrize(
    ("method", "status"), [(b"HEAD", 200), (b"GET", 204), (b"GET", 304), (b"GET", 200)]
)
@on_a_loop
async def test_a_body_where_none_can_be_leaves_the_connection_in_step(
    method: bytes, status: int
) -> None:
    async with relay(web_app=always(b"{}", status)) as rig, calling(rig.port) as caller:
        caller.send(request(OWN, method=method) * 2)
        statuses = [(await caller.answer(to_head=method == b"HEAD")).status for _ in range(2)]

        assert statuses == [status, status]


@on_a_loop
async def test_an_answer_carries_its_length_and_its_date() -> None:
    headers = [(b"content-length", b"2"), (b"content-type", b"text/plain")]
    async with relay(web_app=always(b"ok", 200, headers)) as rig, calling(rig.port) as caller:
        caller.send(request(OWN))
        answer = await caller.answer()

        assert answer.all(b"content-length") == [b"2"]
        date = rig.clock.now().strftime("%a, %d %b %Y %H:%M:%S GMT").encode()
        assert answer.all(b"date") == [date]


@on_a_loop
async def test_a_date_of_the_applications_own_stays() -> None:
    date = b"Thu, 01 Jan 1970 00:00:00 GMT"
    dated = always(b"", 200, [(b"date", date)])
    async with relay(web_app=dated) as rig, calling(rig.port) as caller:
        caller.send(request(OWN))

        assert (await caller.answer()).all(b"date") == [date]


@pytest.mark.parametrize("length", [b"1", b"3", b"-2", b"2, 2", b"two"])
@on_a_loop
async def test_an_answer_of_another_length_than_it_says_is_never_taken_for_whole(
    length: bytes,
) -> None:
    wrong = always(b"ok", 200, [(b"content-length", length)])
    async with relay(web_app=wrong) as rig, calling(rig.port) as caller:
        caller.send(request(OWN))

        try:
            assert (await caller.answer()).status == 500
        except BrokenOff:
            pass


@pytest.mark.parametrize("value", [b"a\r\nSet-Cookie: b=c", b"a\nb", b"a\0b"])
@on_a_loop
async def test_no_line_ends_within_a_field(value: bytes) -> None:
    """The application may repeat what a caller sent, in a Location for one."""
    injected = always(b"", 303, [(b"location", value)])
    async with relay(web_app=injected) as rig, calling(rig.port) as caller:
        caller.send(request(OWN))
        answer = await caller.answer()

        assert (answer.status, answer.all(b"set-cookie")) == (500, [])


async def fail_at_once(_scope: Scope, _receive: Receive, _send: Send) -> None:
    raise RuntimeError("the application has a fault")


async def leave_it_open(_scope: Scope, _receive: Receive, _send: Send) -> None:
    """Answers nothing."""


async def begin_with_the_body(_scope: Scope, _receive: Receive, send: Send) -> None:
    await body(send, b"a body without a head")


@pytest.mark.parametrize("application", [fail_at_once, leave_it_open, begin_with_the_body])
@on_a_loop
async def test_an_application_that_fails_before_its_answer_is_500(application: Application) -> None:
    async with relay(web_app=application) as rig, calling(rig.port) as caller:
        caller.send(request(OWN) * 2)

        assert [(await caller.answer()).status for _ in range(2)] == [500, 500]


@pytest.mark.parametrize("fault", [RuntimeError, asyncio.CancelledError])
@on_a_loop
async def test_an_application_that_fails_in_its_answer_breaks_it_off(
    fault: type[BaseException],
) -> None:
    async def half(_scope: Scope, _receive: Receive, send: Send) -> None:
        await start(send)
        await body(send, b"half of it", more=True)
        raise fault

    async with relay(web_app=half) as rig, calling(rig.port) as caller:
        caller.send(request(OWN))

        with pytest.raises(BrokenOff):
            await caller.answer()


@on_a_loop
async def test_a_caller_that_leaves_is_told_to_the_application() -> None:
    heard: list[str] = []

    async def wait(_scope: Scope, receive: Receive, send: Send) -> None:
        await read_all(receive)
        heard.append("the request")
        heard.append((await receive())["type"])
        await start(send)
        await body(send, b"to nobody")

    async with relay(web_app=wait) as rig, calling(rig.port) as caller:
        caller.send(request(OWN))
        await until(lambda: heard)
        caller.leave()

        await until(lambda: len(heard) > 1)
        assert heard[1] == "http.disconnect"


@on_a_loop
async def test_a_caller_that_leaves_in_its_upload_is_told_to_the_application() -> None:
    heard: list[str] = []

    async def wait(_scope: Scope, receive: Receive, _send: Send) -> None:
        while not heard or heard[-1] != "http.disconnect":
            heard.append((await receive())["type"])

    async with relay(web_app=wait) as rig, calling(rig.port) as caller:
        caller.send(request(OWN, b"Content-Length: 100", method=b"POST") + b"half")
        await until(lambda: heard)
        caller.leave()

        await until(lambda: heard[-1] == "http.disconnect")


@on_a_loop
async def test_after_the_answer_the_application_gets_a_disconnect() -> None:
    heard: list[str] = []

    async def go_on(_scope: Scope, receive: Receive, send: Send) -> None:
        await read_all(receive)
        await start(send)
        await body(send, b"ok")
        heard.append((await receive())["type"])

    async with relay(web_app=go_on) as rig, calling(rig.port) as caller:
        caller.send(request(OWN))
        assert (await caller.answer()).body == b"ok"

        await until(lambda: heard)
        assert heard == ["http.disconnect"]


@pytest.mark.slow
@on_a_loop
async def test_a_call_that_is_over_leaves_nothing_for_the_collector() -> None:
    async with relay(web_app=tell_scope) as rig, calling(rig.port) as caller:
        caller.send(request(OWN))
        await caller.answer()
        gc.collect()
        gc.disable()
        try:
            for _ in range(20):
                caller.send(request(OWN))
                await caller.answer()
            await until(lambda: not calls_in_memory())
        finally:
            gc.enable()


def calls_in_memory() -> list[WebCall]:
    return [one for one in gc.get_objects() if isinstance(one, WebCall)]


@on_a_loop
async def test_without_the_web_role_the_request_is_misdirected() -> None:
    async with relay(has_web=False) as rig, calling(rig.port) as caller:
        caller.send(request(OWN, b"Content-Length: 2", method=b"POST") + b"{}")
        assert (await caller.answer()).status == 421
        caller.send(request(OWN, target=b"/healthz"))

        assert (await caller.answer()).status == 200
