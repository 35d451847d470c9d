"""A request's body, read from the core that its connection has."""

import pytest

from printreach.http1.request_body import BodyLimits, RequestBody
from printreach.http1.server_core import ServerCore
from printreach.http1.stream import ByteStream, ClientGone
from tests.http1.serving import run


def test_a_body_that_was_answered_before_its_end_never_looks_whole() -> None:
    async def test() -> None:
        stream, core = ByteStream(lambda _: None), ServerCore()
        stream.eof_received()
        core.receive(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhe")
        request = core.next_request()
        assert request is not None
        body = RequestBody(stream, core, request, BodyLimits())
        core.answered(keep_alive=True)

        with pytest.raises(ClientGone):
            await body.read(5)

    run(test())
