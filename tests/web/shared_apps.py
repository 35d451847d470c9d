"""Applications that tests take turns with.

To register three hundred routes takes longer than most tests of them, and an application keeps
nothing but what its services keep.
"""

import weakref
from collections.abc import Callable

from litestar import Litestar
from litestar.types import ControllerRouterHandler

from printreach.store.store import Store
from printreach.web.app import WebSettings, build_app
from printreach.web.services import Services
from tests.web.forms_redirect import FormsRedirect

Handlers = tuple[ControllerRouterHandler, ...]


class SharedApp:
    """One application. services, store: of the world whose turn it is."""

    services: Services
    store: Store

    def __init__(
        self, settings: WebSettings, other_sign_in: str | None, handlers: Handlers
    ) -> None:
        self.app: Litestar = build_app(settings, lambda: self.services, other_sign_in)
        for handler in handlers:
            self.app.register(handler)
        self.app.asgi_handler = FormsRedirect(self.app.asgi_handler)
        self.app.on_startup.append(self._start)
        self.app.on_shutdown.append(self._close)

    def _start(self) -> None:
        self.store.start()

    async def _close(self) -> None:
        await self.store.close()


_free: dict[tuple[object, ...], list[SharedApp]] = {}


def app_for(
    world: object, settings: WebSettings, services: Services, store: Store, handlers: Handlers = ()
) -> tuple[Litestar, Callable[[], object]]:
    """Return an application for a world, and what gives it back before the world is gone.

    handlers: further routes, each made once in its module.
    """
    name = services.other_accounts.name
    free = _free.setdefault((settings, name, *map(id, handlers)), [])
    shared = free.pop() if free else SharedApp(settings, name, handlers)
    shared.services, shared.store = services, store
    return shared.app, weakref.finalize(world, free.append, shared)
