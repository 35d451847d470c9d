"""What a relay under test knows of agents, in memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from printreach.ports import StoreUnavailable
from printreach.rules.linking import LINK_CODE_LIFETIME, LinkCode, LinkedPrinter


@dataclass(frozen=True, slots=True)
class Presence:
    """What was said when the agent connected."""

    node_id: str
    lan_ip: str | None
    agent_version: str | None
    platform: str | None


class MemoryAgents:
    """ports.Agents.

    codes: those that work, by printer. offers: how many were ever made. presence: of printers
    that are connected; connects: how often that was noted. looks: how often it was asked which
    of many are linked. is_broken: the store is away.
    """

    def __init__(self) -> None:
        self.codes: dict[str, str] = {}
        self.offers = 0
        self.presence: dict[str, Presence] = {}
        self.alive: dict[str, datetime] = {}
        self.connects = 0
        self.looks = 0
        self.is_broken = False
        self._linked: dict[str, LinkedPrinter] = {}

    # --- what a test does -------------------------------------------------------------------------

    def link(self, printer_id: str, name: str = "Workshop", account_id: str = "ada") -> None:
        self._linked[printer_id] = LinkedPrinter(
            printer_id=printer_id, name=name, account_id=account_id
        )

    def remove(self, printer_id: str) -> None:
        del self._linked[printer_id]
        self.presence.pop(printer_id, None)

    # --- ports.Agents -----------------------------------------------------------------------------

    async def linked_printer(self, printer_id: str) -> LinkedPrinter | None:
        self._look()
        return self._linked.get(printer_id)

    async def linked_among(self, printer_ids: Sequence[str]) -> frozenset[str]:
        self._look()
        self.looks += 1
        return frozenset(printer_ids) & self._linked.keys()

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
    ) -> None:
        self._look()
        self.connects += 1
        if printer_id in self._linked:
            self.presence[printer_id] = Presence(node_id, lan_ip, agent_version, platform)

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
