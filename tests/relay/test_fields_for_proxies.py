"""Headers that a proxy in front of the service acts on are removed from printers' answers."""

import pytest

from printreach.wire.heads import encode_response
from tests.relay.caller import calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import relay
from tests.relay.scripted_agent import Asked


@pytest.mark.parametrize(
    "name",
    [
        b"X-Accel-Redirect",
        b"x-accel-buffering",
        b"X-Accel-Limit-Rate",
        b"X-Sendfile",
        b"X-SENDFILE2",
        b"X-Sendfile-Temporary",
        b"X-LIGHTTPD-send-file",
        b"X-LIGHTTPD-send-tempfile",
        b"X-LiteSpeed-Location",
        b"X-LiteSpeed-Purge",
        b"X-Reproxy-URL",
        b"X-Reproxy-File",
        b"x-envoy-immediate-health-check-fail",
        b"fly-replay",
    ],
)
@on_a_loop
async def test_no_header_that_a_proxy_before_the_service_obeys_comes_from_a_printer(
    name: bytes,
) -> None:
    def orders_the_proxy(asked: Asked) -> None:
        fields = [(name, b"/protected/secret.txt"), (b"X-Accelerated", b"kept")]
        asked.stream.interim(encode_response(103, b"Early Hints", fields))
        asked.answer(headers=fields)

    async with relay() as rig, calling(rig.port) as caller:
        access = rig.connect()
        await rig.agent(script=orders_the_proxy)
        caller.send(request(access.host, access.bearer))
        for answer in (await caller.answer(), await caller.answer()):
            assert answer.all(name.lower()) == []
            assert answer.all(b"x-accelerated") == [b"kept"]
