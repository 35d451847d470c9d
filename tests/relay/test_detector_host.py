"""The host name of its own that failure detection may have."""

import pytest

from tests.relay.caller import calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import relay

EYE = b"eye.example"
URL = "https://eye.example"


@on_a_loop
async def test_failure_detection_answers_by_its_own_name() -> None:
    async with relay(detector_url=URL) as rig, calling(rig.port) as caller:
        target = b"/api/detector/v1/createcontext"
        caller.send(request(EYE, b"Content-Length: 2", method=b"POST", target=target) + b"{}")

        assert (await caller.answer()).status == 200
        assert rig.web.asked[0]["raw_path"] == target


@pytest.mark.parametrize(
    "target", [b"/", b"/signin", b"/api/detector/v1", b"/api/appconnection/info", b"/openapi.json"]
)
@on_a_loop
async def test_nothing_else_does(target: bytes) -> None:
    async with relay(detector_url=URL) as rig, calling(rig.port) as caller:
        caller.send(request(EYE, target=target))
        answer = await caller.answer()

        assert answer.status == 307
        assert answer.get(b"location") == b"http://relay.example/"
        assert rig.web.asked == []


@on_a_loop
async def test_without_such_a_name_it_is_a_strangers() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        caller.send(request(EYE, target=b"/api/detector/v1/createcontext"))

        assert (await caller.answer()).status == 307
        assert rig.web.asked == []
