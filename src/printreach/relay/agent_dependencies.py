"""What agents' connections need, of the service and of each other."""

from collections.abc import Callable
from dataclasses import dataclass

from printreach.contract import signin
from printreach.ports import Bus, Clock
from printreach.ports.relaying import Agents, DetectorStates, EventInbox, Tries
from printreach.tunnel.shared_timer import SharedTimer

from .directory import Directory
from .event_intake import EventLimiter
from .host_keys import HostKeyRequests
from .printer_subscriptions import PrinterSubscriptions
from .sign_in import Identity


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentDependencies:
    """The dependencies of agents' connections.

    capabilities: of the service, beyond the first version of the protocol.
    """

    agents: Agents
    detector: DetectorStates
    events: EventInbox
    bus: Bus
    clock: Clock
    tries: Tries
    identity: Identity
    token_bytes: Callable[[int], bytes]
    node_id: str
    base_url: str
    capabilities: tuple[str, ...] = (signin.EVENTS,)


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentContext:
    """The objects that all agents' connections of a node share."""

    directory: Directory
    printer_subscriptions: PrinterSubscriptions
    shared_timer: SharedTimer
    host_keys: HostKeyRequests
    event_limiter: EventLimiter


def capabilities_of(*, has_others: bool, keeps_standbys: bool) -> tuple[str, ...]:
    """Return what agents are told that the service understands.

    has_others: nodes. keeps_standbys: then a second tunnel of an agent, too.
    """
    if not has_others:
        return (signin.EVENTS,)
    several = (signin.EVENTS, signin.SEVERAL_NODES)
    return (*several, signin.STANDBY_TUNNELS) if keeps_standbys else several
