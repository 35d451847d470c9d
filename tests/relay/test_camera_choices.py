"""Agents are told what a printer's owner chose for its cameras, with requests that list them."""

import pytest

from printreach.contract.cameras import CameraChoice, format_choices_field, parse_choices_field
from printreach.contract.commands import CAMERAS_FIELD
from tests.relay.caller import calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import Rig, relay
from tests.relay.scripted_agent import ScriptedAgent

API = b"/service-command-api"
CHOICES = (CameraChoice(camera="Garage — ☀", name="Über dem Bett", rotation=180),)
FORGED = format_choices_field([CameraChoice(camera="Garage", rotation=90)])


async def told(
    rig: Rig, agent: ScriptedAgent, target: bytes, choices: tuple[CameraChoice, ...]
) -> list[bytes]:
    """Send a request that claims choices of its own; return what the agent got of them."""
    access = rig.connect(f"app-{len(choices)}", cameras=choices)
    async with calling(rig.port) as caller:
        field = CAMERAS_FIELD + b": " + FORGED
        caller.send(request(access.host, access.bearer, field, target=target))
        assert (await caller.answer()).status == 200
    return list(agent.asked[-1].all(CAMERAS_FIELD.lower()))


@pytest.mark.parametrize("target", [b"/status", b"/status?x=1", b"/webcam/list"])
def test_a_request_that_lists_cameras_has_the_owners_choices_and_no_others(target: bytes) -> None:
    @on_a_loop
    async def body() -> None:
        async with relay() as rig:
            agent = await rig.agent()

            [field] = await told(rig, agent, API + target, CHOICES)

            assert parse_choices_field(field) == CHOICES
            assert await told(rig, agent, API + target, ()) == []

    body()


@pytest.mark.parametrize("target", [API + b"/webcam/snapshot", API + b"/temperatures", b"/status"])
def test_other_requests_have_none(target: bytes) -> None:
    @on_a_loop
    async def body() -> None:
        async with relay() as rig:
            agent = await rig.agent()

            assert await told(rig, agent, target, CHOICES) == []

    body()
