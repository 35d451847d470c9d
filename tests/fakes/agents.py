"""The relay's knowledge of agents, in memory."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from printreach.ports import StoreUnavailable
from printreach.rules.printers import LINK_CODE_LIFETIME, LinkCode, LinkedPrinter


@dataclass(frozen=True, slots=True)
class Presence:
    """The facts that an agent gave when it connected."""

    node_id: str
    lan_ip: str | None
    agent_version: str | None
    platform: str | None
    lan_port: int | None = None


class MemoryAgents:
    """ports.Agents.

    codes: those that work, by printer. offers: how many were ever made. presence: of printers
    that are connected; connects: how often that was noted. looks: how often it was asked which
    of many are linked. is_broken: the store is away. before_next_answer: what happens once between
    the next look at one printer and its answer.
    """

    def __init__(self) -> None:
        self.codes: dict[str, str] = {}
        self.offers = 0
        self.presence: dict[str, Presence] = {}
        self.alive: dict[str, datetime] = {}
        self.connects = 0
        self.looks = 0
        self.is_broken = False
        self.before_next_answer: Callable[[], Awaitable[None]] | None = None
        self._linked: dict[str, LinkedPrinter] = {}

    # --- what a test does -------------------------------------------------------------------------

    def link(self, printer_id: str, name: str = "Workshop", account_id: str = "ada") -> None:
        self._linked[printer_id] = LinkedPrinter(
            printer_id=printer_id, name=name, account_id=account_id
        )

    def lock(self, printer_id: str, *, is_locked: bool = True) -> None:
        """Lock remote control of its account, or unlock it, without any notice."""
        self._linked[printer_id] = replace(self._linked[printer_id], is_locked=is_locked)

    def remove(self, printer_id: str) -> None:
        del self._linked[printer_id]
        self.presence.pop(printer_id, None)

    # --- ports.Agents -----------------------------------------------------------------------------

    async def linked_printer(self, printer_id: str) -> LinkedPrinter | None:
        self._look()
        found = self._linked.get(printer_id)
        before_answer, self.before_next_answer = self.before_next_answer, None
        if before_answer is not None:
            await before_answer()
        return found

    async def linked_among(self, printer_ids: Sequence[str]) -> Mapping[str, bool]:
        self._look()
        self.looks += 1
        found = (self._linked.get(printer_id) for printer_id in printer_ids)
        return {one.printer_id: one.refuses_control for one in found if one is not None}

    async def offer_link_code(self, printer_id: str, public_key: bytes, at: datetime) -> LinkCode:
        self._look()
        self.offers += 1
        code = f"CODE{self.offers:04}"
        self.codes[printer_id] = code
        return LinkCode(code=code, expires_at=at + LINK_CODE_LIFETIME)

    async def agent_connected(
        self,
        printer_id: str,
        node_id: str,
        at: datetime,
        *,
        lan_ip: str | None,
        agent_version: str | None,
        platform: str | None,
        lan_port: int | None = None,
    ) -> None:
        self._look()
        self.connects += 1
        if printer_id in self._linked:
            self.presence[printer_id] = Presence(node_id, lan_ip, agent_version, platform, lan_port)

    async def agent_disconnected(self, printer_id: str, node_id: str, at: datetime) -> None:
        self._look()
        known = self.presence.get(printer_id)
        if known is not None and known.node_id == node_id:
            del self.presence[printer_id]

    async def node_alive(self, node_id: str, at: datetime) -> None:
        self._look()
        self.alive[node_id] = at

    def _look(self) -> None:
        if self.is_broken:
            raise StoreUnavailable("the store is away")
