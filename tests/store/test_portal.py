"""The portal's flows are stored as they were put."""

from dataclasses import replace
from datetime import timedelta

import pytest

from printreach.rules.apps import App
from printreach.rules.portal import Flow, PortalError
from printreach.store.location import DatabaseLocation
from printreach.store.store import Records, open_store
from tests.fakes.clock import NOON
from tests.fakes.loop import on_a_loop

APP = App(
    app_id="app", name="App", return_prefixes=("app://",), created_at=NOON, returns_to_lan=True
)
FLOW = Flow(
    flow_id="flow",
    browser_digest=b"b" * 32,
    app_id="app",
    return_url="app://done",
    asked_printer_id="asked",
    logo_url="https://app.example/logo.png",
    key_app_name="My app",
    begun_at=NOON,
)


@pytest.mark.parametrize(
    "changed",
    [
        FLOW,
        replace(FLOW, error=PortalError.ACCESS_DENIED),
        replace(FLOW, takes_own_printer=True, unnamed_printer_id="p", printer_id="p"),
        replace(FLOW, printer_id="p", is_allowed=True, connection_id="c"),
    ],
)
@on_a_loop
async def test_a_flow_is_found_as_it_was_put(database: DatabaseLocation, changed: Flow) -> None:
    async with open_store(database) as store:

        async def put(records: Records) -> None:
            await records.apps.add(APP)
            await records.flows.add(FLOW)
            await records.flows.put(changed)

        await store.write(put)

        assert await store.read(lambda records: records.flows.get("flow")) == changed
        assert await store.read(lambda records: records.flows.get("other")) is None
        assert await store.read(lambda records: records.apps.get("app")) == APP


@on_a_loop
async def test_old_flows_are_forgotten_and_others_kept(database: DatabaseLocation) -> None:
    later = replace(FLOW, flow_id="later", begun_at=NOON + timedelta(hours=1))
    async with open_store(database) as store:

        async def put_and_forget(records: Records) -> None:
            await records.apps.add(APP)
            await records.flows.add(FLOW)
            await records.flows.add(later)
            await records.flows.forget(later.begun_at)

        await store.write(put_and_forget)

        assert await store.read(lambda records: records.flows.get("flow")) is None
        assert await store.read(lambda records: records.flows.get("later")) == later
