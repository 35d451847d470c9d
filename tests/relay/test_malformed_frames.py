"""Malformed frames of strangers, and what the log says of them."""

import logging

import pytest

from tests.relay.loop import on_a_loop
from tests.relay.rig import relay
from tests.relay.test_unsigned_agents import connected

MALFORMED = b"\x83\x81\0\0\0\0x"


def test_all_connections_have_one_budget_of_lines_none_of_which_is_an_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    @on_a_loop
    async def body() -> None:
        async with relay() as rig, connected(rig) as one, connected(rig) as other:
            for client in (one, other):
                client.writer.write(MALFORMED)
                assert await client.closing() == 1002

    with caplog.at_level(logging.INFO):
        body()

    told = [record for record in caplog.records if "invalid opcode" in record.getMessage()]
    assert len(told) == 2
    assert {record.name for record in told} == {"printreach.relay.websocket"}
    assert {record.levelname for record in told} == {"INFO"}
    assert len({(record.pathname, record.lineno) for record in told}) == 1
