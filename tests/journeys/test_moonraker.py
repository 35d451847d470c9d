"""Moonraker through an App Connection: its HTTP API and its JSON-RPC over WebSocket."""

import asyncio
import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import pytest

from tests.journeys.conftest import goes_straight
from tests.rigs.calls import call
from tests.rigs.curl import curl
from tests.rigs.moonraker import moonraker
from tests.rigs.pinned import pinned_session
from tests.rigs.service import Connection, LinkedPrinter, Service
from tests.rigs.waiting import TIMEOUT_S, wait_for
from tests.rigs.ways import Way, bearer

pytestmark = [pytest.mark.slow, pytest.mark.peer]

Reply = dict[str, object]


@pytest.fixture(scope="module")
def address(rigs_folder: Path) -> Iterator[str]:
    with moonraker(rigs_folder / "moonraker") as url:
        yield url


@pytest.fixture(scope="module")
def linked(relay: Service, address: str) -> Iterator[LinkedPrinter]:
    with relay.printer("moonraker", address, platform="moonraker") as printer:
        yield printer


@pytest.fixture(scope="module")
def connection(relay: Service, linked: LinkedPrinter) -> Connection:
    return relay.connect(linked)


@pytest.fixture(scope="module")
def way(request: pytest.FixtureRequest, address: str) -> Way:
    if goes_straight():
        return Way.straight(address)
    running: Service = request.getfixturevalue("relay")
    return running.way(request.getfixturevalue("connection"))


class Rpc:
    """JSON-RPC as Moonraker speaks it: answers by id, notifications between them."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._ids = itertools.count(1)
        self.notified: list[str] = []

    async def call(self, method: str, **params: object) -> object:
        """The result of one call."""
        number = next(self._ids)
        message = {"jsonrpc": "2.0", "method": method, "params": params, "id": number}
        await self._socket.send_json(message)
        while True:
            reply: Reply = await self._socket.receive_json(timeout=60)
            if reply.get("id") == number:
                assert "error" not in reply, reply
                return reply["result"]
            self.notified.append(str(reply["method"]))


async def ask_over_websocket(way: Way, path: str) -> tuple[object, object, list[str]]:
    async with pinned_session(way) as session, session.ws_connect(path) as socket:
        rpc = Rpc(socket)
        info = await rpc.call("server.info")
        await rpc.call("server.database.post_item", namespace="app", key="k", value={"a": 1})
        item = await rpc.call("server.database.get_item", namespace="app", key="k")
        while "notify_proc_stat_update" not in rpc.notified:  # Moonraker sends one a second
            await rpc.call("server.info")
        return info, item, rpc.notified


def test_the_json_rpc_websocket_answers_and_notifies(way: Way) -> None:
    info, item, notified = asyncio.run(ask_over_websocket(way, "/websocket"))

    assert isinstance(info, dict)
    assert info["klippy_connected"] is False
    assert item == {"namespace": "app", "key": "k", "value": {"a": 1}}
    assert "notify_proc_stat_update" in notified


def test_a_websocket_that_cannot_set_headers_may_prove_itself_in_the_query(
    way: Way, connection: Connection
) -> None:
    path = f"/websocket?service_api_key={connection.token}"

    info, _, _ = asyncio.run(ask_over_websocket(way.proving(), path))

    assert isinstance(info, dict)
    assert info["api_version_string"]


async def get_json(way: Way, path: str) -> tuple[int, Reply]:
    async with pinned_session(way) as session, session.get(path) as answer:
        return answer.status, await answer.json()


@pytest.mark.parametrize(
    "path",
    [
        "/server/info",
        "/server/config",
        "/access/info",
        "/server/files/list?root=config",
        "/server/history/list",
        "/machine/proc_stats",
        "/api/version",
    ],
)
def test_the_http_api_answers_as_it_does_directly(way: Way, address: str, path: str) -> None:
    status, through = asyncio.run(get_json(way, path))
    directly, reference = asyncio.run(get_json(Way.straight(address), path))

    assert (status, shape(through)) == (directly, shape(reference))


def shape(value: object) -> object:
    """The keys of nested objects: the values are measurements, new each time."""
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in value.items()}
    return type(value).__name__


def test_apps_beside_the_printer_find_its_public_id(address: str, linked: LinkedPrinter) -> None:
    target = "/server/database/item?namespace=service&key=public.printerId"

    def found() -> object:
        answer = call(Way.straight(address), target)
        return json.loads(answer.body)["result"]["value"] if answer.status == 200 else None

    assert wait_for("the printer's id", found, TIMEOUT_S) == linked.id


def test_a_bearer_token_of_ours_never_reaches_moonraker(way: Way, connection: Connection) -> None:
    # Moonraker answers 401 to any bearer token that it has not issued.
    answer = call(way.proving(bearer(connection.token)), "/server/info")

    assert answer.status == 200


@pytest.mark.parametrize(
    "header",
    [("X-Forwarded-For", "203.0.113.9"), ("X-Real-IP", "203.0.113.9"), ("Forwarded", "for=a")],
    ids=lambda header: header[0],
)
def test_a_forwarding_header_of_the_app_does_not_cost_its_trust(
    way: Way, connection: Connection, header: tuple[str, str]
) -> None:
    answer = call(way, "/server/info", headers=[header])

    assert answer.status == 200


def test_a_slicers_upload_lands_in_the_printers_files(
    way: Way, address: str, tmp_path: Path
) -> None:
    sliced = tmp_path / "ümlaut & co.gcode"
    sliced.write_bytes(b"G28\n" * 100_000)

    answer = curl(way, "/server/files/upload", "-F", f"file=@{sliced}", "-F", "path=from/slicer")

    assert answer.status == 201, answer.body
    back = call(way, "/server/files/gcodes/from/slicer/%C3%BCmlaut%20%26%20co.gcode")
    assert back.body == b"G28\n" * 100_000


def test_a_slicers_upload_to_the_octoprint_way_in_works(way: Way, tmp_path: Path) -> None:
    sliced = tmp_path / "slicer.gcode"
    sliced.write_bytes(b"G28\n")

    answer = curl(way, "/api/files/local", "-F", f"file=@{sliced}", "-F", "print=false")

    assert answer.status == 201, answer.body
    listed = json.loads(call(way, "/server/files/list").body)["result"]
    assert "slicer.gcode" in [one["path"] for one in listed]
