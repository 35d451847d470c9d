"""The tunnel of each printer, primary or standby. The newest one replaces an older one."""

import asyncio
from typing import Final, Protocol

from printreach.tunnel.tunnel import Tunnel
from printreach.wire.errors import CloseCode

from .route import Route

STEP_S: Final = 0.25


class Elsewhere(Protocol):
    """The tunnels that end at other nodes."""

    def find(self, printer_id: str) -> Route | None: ...

    def may_find(self, printer_id: str) -> bool:
        """Return whether `look_for` may find what `find` doesn't know."""
        ...

    async def look_for(self, printer_id: str) -> None:
        """Look which node has the printer's tunnel, so that `find` knows it."""
        ...

    def on_put(self, printer_id: str, route: Route) -> None:
        """The printer's newest tunnel, or newest standby, ends here."""

    def on_drop(self, printer_id: str) -> None:
        """The printer has no tunnel here any more."""


class Directory:
    """The tunnels of linked printers that end at this node.

    settle_s: how long agents are expected to come back after a start. It is counted in steps: while
    the process is stalled no time is counted, and agents that came meanwhile are accepted after it.
    elsewhere: the tunnels of other nodes; None where there are none.
    """

    def __init__(self, settle_s: float = 0.0) -> None:
        self._loop = asyncio.get_running_loop()
        self._routes: dict[str, Route] = {}
        self._arrivals: dict[str, asyncio.Event] = {}
        self.elsewhere: Elsewhere | None = None
        self._await_agents(settle_s)

    def find(self, printer_id: str) -> Route | None:
        """Return the way to the printer's agent, at this node or another."""
        route = self._routes.get(printer_id)
        if self.elsewhere is not None and (route is None or route.tunnel.session.is_draining):
            return self.elsewhere.find(printer_id)
        return route

    def find_here(self, printer_id: str) -> Route | None:
        """Return the printer's own tunnel if it ends at this node."""
        return self._routes.get(printer_id)

    def platform(self, printer_id: str) -> str:
        """Return the platform that the printer's agent reported; "" while there is none."""
        route = self.find(printer_id)
        return route.platform if route is not None else ""

    def put(self, printer_id: str, route: Route) -> None:
        """Route to this tunnel from now on. An older one is closed with REPLACED."""
        older = self._routes.get(printer_id)
        self._routes[printer_id] = route
        if self.elsewhere is not None:
            self.elsewhere.on_put(printer_id, route)
        if older is not None and older.tunnel is not route.tunnel:
            replace(older)
        self.on_arrival(printer_id)

    def drop(self, printer_id: str, tunnel: Tunnel) -> bool:
        """Forget a tunnel; False if another one has replaced it."""
        route = self._routes.get(printer_id)
        if route is None or route.tunnel is not tunnel:
            return False
        del self._routes[printer_id]
        if self.elsewhere is not None:
            self.elsewhere.on_drop(printer_id)
        return True

    @property
    def is_settling(self) -> bool:
        """True shortly after the start: an agent that isn't here may be connecting."""
        return self._is_settling

    def may_arrive(self, printer_id: str) -> bool:
        """Return whether the printer, which `find` doesn't know, is worth waiting for."""
        if self._is_settling:
            return True
        return self.elsewhere is not None and self.elsewhere.may_find(printer_id)

    async def arrival(self, printer_id: str) -> None:
        """Wait until the printer's agent is found, or no longer expected."""
        if self.elsewhere is not None:
            await self.elsewhere.look_for(printer_id)
        if self._is_settling and self.find(printer_id) is None:
            await self._arrivals.setdefault(printer_id, asyncio.Event()).wait()
            if self.elsewhere is not None:
                await self.elsewhere.look_for(printer_id)

    def on_arrival(self, printer_id: str) -> None:
        """The printer's agent is here, or known to be at another node: serve who waits for it."""
        if (arrival := self._arrivals.pop(printer_id, None)) is not None:
            arrival.set()

    @property
    def primary_count(self) -> int:
        return len(self._routes) - self.standby_count

    @property
    def standby_count(self) -> int:
        return sum(route.is_standby for route in self._routes.values())

    def _await_agents(self, seconds: float) -> None:
        self._is_settling = seconds > 0
        if self._is_settling:
            step_s = min(seconds, STEP_S)
            self._loop.call_later(step_s, self._await_agents, seconds - step_s)
            return
        for arrival in self._arrivals.values():
            arrival.set()
        self._arrivals.clear()


def replace(older: Route) -> None:
    """Close a tunnel for a newer one of the same printer."""
    older.tunnel.close(CloseCode.REPLACED, "another agent with the same key has connected")
