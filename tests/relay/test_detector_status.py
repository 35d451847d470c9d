"""The service sends agents the state of failure detection for their print."""

from datetime import timedelta

import pytest

from printreach.contract import signin
from printreach.contract.status import DetectorStatus
from printreach.ports.relaying import DetectorReport
from tests.relay.caller import calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import Rig, relay
from tests.relay.scripted_agent import ScriptedAgent
from tests.relay.waiting import settle, until


def heard_by(agent: ScriptedAgent) -> list[signin.Detector]:
    return [word for word in agent.heard if isinstance(word, signin.Detector)]


async def newcomer(rig: Rig, *capabilities: str) -> ScriptedAgent:
    """An agent of a linked printer that names these capabilities."""
    agent = ScriptedAgent("one", capabilities=capabilities)
    rig.agents.link(agent.printer_id)
    await agent.sign_in(rig.port)
    rig.running.append(agent)
    await until(lambda: agent.printer_id in rig.agents.presence)
    return agent


async def say(rig: Rig, agent: ScriptedAgent, score: float) -> None:
    status = DetectorStatus(last_score=score, time_since_last_score_sec=1.0)
    said = DetectorReport(print_id="print-1", status=status, at=rig.clock.now())
    await rig.detector.put(agent.printer_id, said)


@on_a_loop
async def test_an_agent_is_sent_the_state_of_failure_detection_of_its_print() -> None:
    async with relay() as rig:
        agent = await newcomer(rig, signin.DETECTOR_NEWS)
        await say(rig, agent, 0.25)
        await until(lambda: heard_by(agent))

        assert heard_by(agent) == [
            signin.Detector(
                print_id="print-1",
                status=DetectorStatus(last_score=0.25, time_since_last_score_sec=1.0),
            )
        ]


@on_a_loop
async def test_an_agent_that_comes_back_is_sent_the_latest_state_with_its_age() -> None:
    async with relay() as rig:
        await say(rig, ScriptedAgent("one"), 0.5)
        rig.clock.advance(timedelta(seconds=90))
        agent = await newcomer(rig, signin.DETECTOR_NEWS)
        await until(lambda: heard_by(agent))

        (heard,) = heard_by(agent)
        assert heard.status.time_since_last_score_sec == pytest.approx(91.0)


@on_a_loop
async def test_the_last_state_that_an_agent_is_sent_is_the_latest() -> None:
    async with relay() as rig:
        agent = await newcomer(rig, signin.DETECTOR_NEWS)
        for number in range(1, 101):
            await say(rig, agent, number / 100)
        await until(lambda: heard_by(agent) and heard_by(agent)[-1].status.last_score == 1.0)

        scores = [word.status.last_score for word in heard_by(agent)]
        assert scores == sorted(scores)


@on_a_loop
async def test_an_agent_that_does_not_know_the_message_never_gets_it() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await newcomer(rig, "zstd")
        await say(rig, agent, 0.25)
        await settle()
        caller.send(request(access.host, access.bearer))

        assert (await caller.answer()).status == 200
        assert heard_by(agent) == []


@on_a_loop
async def test_an_agent_is_not_sent_the_state_of_another_printer() -> None:
    async with relay() as rig:
        agent = await newcomer(rig, signin.DETECTOR_NEWS)
        await say(rig, ScriptedAgent("two"), 0.25)
        await settle()

        assert heard_by(agent) == []
