"""Headers with underscores, which some printers' servers take for those with hyphens."""

import pytest

from tests.relay.caller import calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import relay


@pytest.mark.parametrize(
    "name",
    [
        *(b"Content_Length", b"content_length", b"Transfer_Encoding", b"Content_Encoding"),
        *(b"Content_Type", b"X_Api_Key", b"X-Api_Key", b"Remote_User", b"X_Remote_User"),
        *(b"X_Forwarded_For", b"X_Real_IP", b"Proxy_Authorization"),
    ],
)
@on_a_loop
async def test_a_header_that_shadows_framing_or_identity_is_dropped(name: bytes) -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent()
        fields = (name + b": 50", b"X-Api-Key: mine", b"Some_Thing: kept")
        caller.send(request(access.host, access.bearer, *fields))
        assert (await caller.answer()).status == 200

        names = [field.lower() for field, _ in agent.asked[0].head.headers]
        assert name.lower() not in names
        assert b"x-api-key" in names
        assert b"some_thing" in names
