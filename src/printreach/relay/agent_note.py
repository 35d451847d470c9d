"""What the store is told of an agent: its node, its address on the LAN, its version."""

import logging

from printreach.contract import signin
from printreach.contract.unset import UnsetType
from printreach.ports import Clock
from printreach.ports.relaying import Agents
from printreach.rules.public_addresses import parse_ip_address
from printreach.rules.safe_text import printable

log = logging.getLogger(__name__)


class AgentNote:
    """What is noted of one agent. is_noted: the store has it as it is now."""

    __slots__ = (
        *("_agent_version", "_agents", "_clock", "_lan_ip", "_lan_port", "_node_id", "_platform"),
        *("_printer_id", "is_noted"),
    )

    def __init__(
        self, agents: Agents, clock: Clock, node_id: str, printer_id: str, hello: signin.Hello
    ) -> None:
        self._agents = agents
        self._clock = clock
        self._node_id = node_id
        self._printer_id = printer_id
        self._agent_version = printable(hello.agent_version, "")
        self._platform = printable(hello.platform, "")
        self._lan_ip, self._lan_port = _address(hello.lan_ip), _port(hello.lan_port)
        self.is_noted = False

    def on_lan_address(self, message: signin.LanAddress) -> None:
        """The agent's address has changed."""
        lan_ip, lan_port = _address(message.lan_ip), _port(message.lan_port)
        if (lan_ip, lan_port) != (self._lan_ip, self._lan_port):
            self._lan_ip, self._lan_port, self.is_noted = lan_ip, lan_port, False

    async def put(self) -> None:
        """Store it. Requests are served even if the store fails."""
        self.is_noted = True
        try:
            await self._agents.agent_connected(
                self._printer_id,
                self._node_id,
                self._clock.now(),
                lan_ip=self._lan_ip,
                lan_port=self._lan_port,
                agent_version=self._agent_version,
                platform=self._platform,
            )
        except Exception:
            log.exception("could not record that an agent has connected")
            self.is_noted = False

    async def end(self) -> None:
        """The agent has left this node."""
        await self._agents.agent_disconnected(self._printer_id, self._node_id, self._clock.now())


def _address(text: str | None) -> str | None:
    """Parse the address that an agent reported; None if it isn't one.

    Apps get it, so it has no zone: that could be any text.
    """
    address = None if text is None else parse_ip_address(text)
    return None if address is None else str(address)


def _port(reported: int | UnsetType) -> int | None:
    """Return the port that an agent reported; None if it is an older one, which reports none."""
    return None if isinstance(reported, UnsetType) else reported
