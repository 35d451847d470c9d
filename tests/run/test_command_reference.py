"""The reference of the command API says what the agent does."""

import json
import re

import pytest
from msgspec import Struct

from printreach.contract.commands import Pause
from printreach.contract.status import Feature, State
from printreach.run.command_api import command_api_description, fields_of, reachable
from printreach.run.command_api.meanings import FEATURE_MEANINGS, FIELDS, RANGES, STATE_MEANINGS
from printreach.run.command_api.page import command_reference
from printreach.run.command_api.table import COMMANDS
from tests.fakes.hasty_loop import on_a_hasty_loop
from tests.fakes.printer import ScriptedPrinter
from tests.printers.asking import Json, command_calls

NEEDED: Json = {"Axis": "X", "DistanceMm": 1, "Extruder": 0}
LIMITS = [
    (kind, name, least, most)
    for kind, ranges in RANGES.items()
    for name, (least, most) in ranges.items()
]
TYPES = reachable(
    *(one.arguments for one in COMMANDS if one.arguments is not None),
    *(one.result for one in COMMANDS if one.result is not None),
)


@on_a_hasty_loop
async def test_the_reference_has_every_command_of_the_agent_and_no_other() -> None:
    async with command_calls(ScriptedPrinter()) as calls:
        listed = (await calls.get("")).error

    told = re.findall(r"(GET|POST|PUT) (/[a-z/-]+)", listed)
    assert sorted(told) == sorted((one.method, one.path) for one in COMMANDS)


@pytest.mark.parametrize(("kind", "name", "least", "most"), LIMITS)
def test_a_documented_range_is_the_one_that_the_agent_takes(
    kind: type[Struct], name: str, least: float, most: float
) -> None:
    [command] = [one.path.removeprefix("/") for one in COMMANDS if one.arguments is kind]
    needed = {field.encode_name: NEEDED[field.encode_name] for field, _ in fields_of(kind)
              if field.required}  # fmt: skip
    if name == "ToolNumber":
        needed["ToolC"] = 1

    @on_a_hasty_loop
    async def body() -> None:
        printer = ScriptedPrinter()
        printer.be(State.PRINTING if kind is Pause else State.IDLE)
        async with command_calls(printer) as calls:
            for value, is_taken in ((least, True), (most, True), (least - 1, False),
                                    (most + 1, False)):  # fmt: skip
                whole = int(value) if value == int(value) else value
                reply = await calls.post(command, {**needed, name: whole})
                assert (reply.status == 751) is not is_taken, (whole, reply.envelope)
                if not is_taken:
                    assert name in reply.error

    body()


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.__name__)
def test_every_field_has_a_meaning_and_no_other_has(kind: type[Struct]) -> None:
    assert sorted(FIELDS[kind]) == sorted(field.encode_name for field, _ in fields_of(kind))


def test_every_bit_and_state_has_a_meaning() -> None:
    assert set(FEATURE_MEANINGS) == set(Feature)
    assert set(STATE_MEANINGS) == set(State)


def test_links_within_the_page_lead_to_its_headings() -> None:
    page = command_reference()
    headings = {
        re.sub(r"[^a-z0-9 -]", "", line.lstrip("# ").lower()).replace(" ", "-")
        for line in page.splitlines()
        if line.startswith("#")
    }

    assert set(re.findall(r"\]\(#([^)]+)\)", page)) <= headings


def test_the_openapi_document_refers_to_nothing_that_it_lacks() -> None:
    document = json.loads(command_api_description())
    text = command_api_description()

    named = set(re.findall(r'"#/components/schemas/(\w+)"', text))
    operations = [one for path in document["paths"].values() for one in path.values()]
    assert named <= set(document["components"]["schemas"])
    assert len({one["operationId"] for one in operations}) == len(operations)
    assert set(document["paths"]) == {one.path for one in COMMANDS}


def test_every_order_and_nothing_else_may_have_an_idempotency_key() -> None:
    document = json.loads(command_api_description())
    with_key = {
        (method.upper(), path)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        for parameter in operation.get("parameters", ())
        if (parameter["name"], parameter["in"]) == ("Idempotency-Key", "header")
    }

    assert with_key == {(one.method, one.path) for one in COMMANDS if one.method == "POST"}


def test_a_text_is_described_as_no_bytes() -> None:
    log = json.loads(command_api_description())["paths"]["/logs/agent"]["get"]

    assert log["responses"]["200"]["content"] == {"text/plain": {"schema": {"type": "string"}}}


def test_the_reference_says_where_each_commands_arguments_go() -> None:
    page = command_reference()
    delete = page.partition("### POST /files/delete")[2].partition("\n###")[0]
    start = page.partition("### POST /start")[2].partition("\n###")[0]

    assert "| Argument in the query |" in delete
    assert "| Argument in JSON |" in start
