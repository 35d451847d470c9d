"""The portal on a world, and its people and printers."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

from printreach.hub.portal import IssuedConnection, Portal, Request, StartedFlow
from printreach.hub.portal.view import FlowKey, View
from printreach.rules.accounts import Account, SupporterPolicy
from printreach.rules.portal import Step
from printreach.rules.portal.parameters import PortalQuery, parse_portal_query
from tests.hub.world import World

OWN_PAGE = "https://reach.example/appportal/v1/complete"
TEST_PAGE = "https://reach.example/appportal/v1/test"
RETURN_URL = "https://demo.example/done"


@dataclass
class FakeHostKeys:
    """Makes keys, or none. asked: for which printers, in whose name.

    meanwhile: what happens while one is made.
    """

    key: str | None = "host-key"
    asked: list[tuple[str, str]] = field(default_factory=list)
    meanwhile: Callable[[], Awaitable[object]] | None = None

    async def make(self, printer_id: str, app_name: str) -> str | None:
        self.asked.append((printer_id, app_name))
        if self.meanwhile is not None:
            await self.meanwhile()
        return self.key


def portal_of(
    world: World,
    supporters: SupporterPolicy = SupporterPolicy.EVERYONE,
    host_keys: FakeHostKeys | None = None,
) -> Portal:
    return Portal(
        core=replace(world.core, supporters=supporters),
        connections=world.connections,
        printers=world.printers,
        host_keys=host_keys,
    )


def query(**given: str) -> PortalQuery:
    return parse_portal_query({"appId": "demo", "returnUrl": RETURN_URL, **given}.items())


async def begin(portal: Portal, **given: str) -> FlowKey:
    request = await portal.read(query(**given))
    assert isinstance(request, Request), request
    begun = await portal.begin(request, None)
    assert isinstance(begun, StartedFlow)
    return FlowKey(begun.flow_id, begun.browser)


async def view(portal: Portal, key: FlowKey, account: Account | None) -> View:
    found = await portal.view(key, account)
    assert found is not None
    return found


async def step(portal: Portal, key: FlowKey, account: Account | None) -> Step:
    return (await view(portal, key, account)).step


def made(result: object) -> IssuedConnection:
    assert isinstance(result, IssuedConnection), result
    return result
