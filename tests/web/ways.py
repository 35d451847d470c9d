"""Sign-in at a provider of OpenID Connect and the return from it, as a browser does it."""

import html
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from httpx import Response

from tests.fakes.clock import FakeClock
from tests.fakes.oidc_provider import CLIENT_ID, CLIENT_SECRET, FakeOidcProvider, fake_provider
from tests.web.conftest import MakeWorld
from tests.web.world import Browser, WebWorld, send

BACK = "/signin/other/back"
NAME = "Example"
_REFRESH = re.compile(r'http-equiv="refresh" content="0;url=([^"]*)"')


@dataclass
class Way:
    """An installation with a provider, and a browser before it."""

    world: WebWorld
    browser: Browser
    provider: FakeOidcProvider

    def there(self, next: str = "/", invite: str = "", form: str = "/signin/other") -> str:  # noqa: A002
        """Press the button; the address of the provider that it leads to."""
        answer = send(self.browser, form, next=next, invite=invite)
        assert answer.status_code == 200, answer.text
        return address_in(answer)

    def back(self, query: str) -> Response:
        """Come back with that query."""
        return self.browser.get(f"{BACK}?{query}", follow_redirects=False)

    def go(self, next: str = "/", invite: str = "", form: str = "/signin/other") -> Response:  # noqa: A002
        """The whole way, by whoever the provider takes for signed in."""
        return self.back(self.provider.authorise(self.there(next, invite, form)))

    def is_signed_in(self) -> bool:
        return self.browser.get("/account", follow_redirects=False).status_code == 200

    def emails(self) -> list[str]:
        """Of all accounts there are."""
        return [one.email for one in self.world.people(self.browser)]


def address_in(answer: Response) -> str:
    """Where a page goes on to by itself."""
    found = _REFRESH.search(answer.text)
    assert found is not None, answer.text
    return html.unescape(found[1])


@contextmanager
def way_with(world_with: MakeWorld, **settings: str) -> Iterator[Way]:
    clock = FakeClock()
    with (
        fake_provider(clock) as provider,
        world_with(
            OIDC_ISSUER=provider.issuer,
            OIDC_CLIENT_ID=CLIENT_ID,
            OIDC_CLIENT_SECRET=CLIENT_SECRET,
            OIDC_NAME=NAME,
            **settings,
        ) as (world, browser),
    ):
        provider.clock = world.clock
        yield Way(world, browser, provider)
