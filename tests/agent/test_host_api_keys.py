"""Keys of the printer's own software: the service asks, and nobody else can."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from printreach.agent.commands.api import CommandApi
from printreach.agent.commands.replay import ServiceClock
from printreach.agent.host_api_keys import MAX_CONCURRENT, TIMEOUT_S, HostApiKeys
from printreach.agent.outbox import Outbox
from printreach.agent.printer import CommandedPrinter, LatestDetectorStatus
from printreach.agent.signin import ServiceRefused
from printreach.agent.temperature_recorder import TemperatureRecorder
from printreach.contract import signin
from printreach.contract.commands import CommandStatus
from printreach.contract.permissions import ALL_PERMISSIONS, Permission
from tests.agent.contexts import Agent, ServiceKey
from tests.agent.talks import Talk
from tests.fakes.hasty_loop import on_a_hasty_loop
from tests.fakes.printer import ScriptedPrinter, refusing


class KeyedPrinter(ScriptedPrinter):
    """One that makes keys."""

    async def make_api_key(self, app_name: str) -> str:
        await self._do(app_name)
        return f"key of {app_name}"


def request(number: int = 1) -> signin.MakeHostApiKey:
    return signin.MakeHostApiKey(request_id=str(number), app_name="Pocket Prints")


async def answers(
    printer: ScriptedPrinter,
    *requests: signin.MakeHostApiKey,
    allowed: frozenset[Permission] = ALL_PERMISSIONS,
) -> list[signin.HostApiKey]:
    said: list[signin.FromAgent] = []
    keys = HostApiKeys(printer, allowed)
    for one in requests:
        keys.request_key(one, lambda payload: said.append(signin.decode_from_agent(payload)))
    await asyncio.sleep(TIMEOUT_S + 1)
    await keys.close()
    return [word for word in said if isinstance(word, signin.HostApiKey)]


@on_a_hasty_loop
async def test_a_key_is_made_and_said() -> None:
    assert await answers(KeyedPrinter(), request()) == [
        signin.HostApiKey(request_id="1", api_key="key of Pocket Prints")
    ]


@on_a_hasty_loop
async def test_a_printer_that_makes_none_says_so() -> None:
    assert await answers(ScriptedPrinter(), request()) == [
        signin.HostApiKey(request_id="1", error="This printer can't make API keys for apps.")
    ]


@on_a_hasty_loop
async def test_none_is_made_where_the_agents_owner_keeps_the_interface_closed() -> None:
    printer = KeyedPrinter()
    [answer] = await answers(printer, request(), allowed=ALL_PERMISSIONS - {Permission.INTERFACE})

    assert answer.api_key is None
    assert answer.error is not None
    assert "--allow" in answer.error
    assert printer.done == []


@on_a_hasty_loop
async def test_a_refusal_is_said_in_its_words() -> None:
    printer = KeyedPrinter()
    printer.refusal = refusing(CommandStatus.EXECUTION_FAILED)

    assert (await answers(printer, request()))[0].error == "The printer said no."


@on_a_hasty_loop
async def test_a_printer_out_of_reach_is_not_asked() -> None:
    printer = KeyedPrinter()
    printer.be_in_trouble(CommandStatus.NOT_CONNECTED)

    assert (await answers(printer, request()))[0].error == printer.view.trouble.sentence  # type: ignore[union-attr]  # it was just put there
    assert printer.done == []


@on_a_hasty_loop
async def test_every_request_is_answered_whatever_goes_wrong() -> None:
    broken, silent = KeyedPrinter(), KeyedPrinter()
    broken.refusal = KeyError("a mistake of ours")
    silent.is_silent = True
    requests = [request(number) for number in range(MAX_CONCURRENT + 2)]

    for printer in (broken, silent):
        said = await answers(printer, *requests)
        assert sorted(int(one.request_id) for one in said) == list(range(MAX_CONCURRENT + 2))
        assert all(one.error and one.api_key is None for one in said)


def test_a_key_is_never_logged(caplog: pytest.LogCaptureFixture) -> None:
    @on_a_hasty_loop
    async def body() -> None:
        await answers(KeyedPrinter(), request())

    with caplog.at_level("DEBUG"):
        body()

    assert "Pocket Prints" in caplog.text
    assert "key of" not in caplog.text


def test_the_service_asks_in_the_conversation_once_the_printer_is_linked(tmp_path: Path) -> None:
    agent = Agent(tmp_path)
    commanded = CommandedPrinter(
        api=cast("CommandApi", None),
        clock=ServiceClock(agent.clock),
        detector=LatestDetectorStatus(agent.clock),
        host_api_keys=HostApiKeys(KeyedPrinter()),
        outbox=Outbox(tmp_path, agent.clock),
        temperatures=TemperatureRecorder(ScriptedPrinter(), agent.clock),
    )
    agent.context = replace(agent.context, commanded=commanded)

    @on_a_hasty_loop
    async def body() -> None:
        early, talk = Talk(agent), Talk(agent)
        early.says(early.challenge(ServiceKey()))
        with pytest.raises(ServiceRefused, match="isn't linked"):
            early.says(request())
        talk.says(talk.challenge(ServiceKey()), talk.welcome(), request())
        await asyncio.sleep(1)

        assert talk.messages[-1] == signin.HostApiKey(
            request_id="1", api_key="key of Pocket Prints"
        )

    body()


def test_an_agent_without_an_adapter_answers_too(tmp_path: Path) -> None:
    talk = Talk(Agent(tmp_path))
    talk.says(talk.challenge(ServiceKey()), talk.welcome(), request())

    said = talk.messages[-1]
    assert isinstance(said, signin.HostApiKey)
    assert (said.api_key, bool(said.error)) == (None, True)
