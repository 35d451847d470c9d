"""Apps, as an operator registers them."""

from printreach.hub.denied import Reason
from printreach.rules.apps import App
from tests.fakes.clock import NOON
from tests.fakes.loop import on_a_loop
from tests.hub.world import OpenWorld, denied


@on_a_loop
async def test_an_app_is_registered_with_all_its_return_prefixes(open_world: OpenWorld) -> None:
    prefixes = ["https://demo.example/", "demo://done"]
    async with open_world() as world:
        await world.apps.add("demo", "Demo", prefixes)

        assert await world.apps.all() == [
            App(app_id="demo", name="Demo", return_prefixes=tuple(prefixes), created_at=NOON)
        ]


@on_a_loop
async def test_an_app_id_is_given_once(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.apps.add("demo", "Demo", [])

        assert denied(await world.apps.add("demo", "Other", [])).reason is Reason.APP_EXISTS


@on_a_loop
async def test_a_dangerous_return_prefix_is_refused(open_world: OpenWorld) -> None:
    async with open_world() as world:
        refusal = denied(await world.apps.add("demo", "Demo", ["javascript://x"]))

        assert refusal.reason is Reason.INVALID
        assert await world.apps.all() == []
