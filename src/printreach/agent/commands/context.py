"""The dependencies of the command API beside the printer."""

from collections.abc import Callable
from dataclasses import dataclass, field

from printreach.agent.commands.replay import Replays, ServiceClock
from printreach.agent.owner_limits import NO_OWNER_LIMITS, OwnerLimits
from printreach.agent.remote_lock import RemoteLock
from printreach.contract.commands import Pause
from printreach.contract.status import ServiceStatus


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandContext:
    """The dependencies of the command API beside the printer.

    limits: the agent's own, which hold whatever the service lets through. remote_lock: whether
    anybody may control the printer remotely. expect_pause: is called before each pause is ordered;
    its result is called if the printer refuses. resume_ordered: is called once the printer has
    accepted a resume.
    """

    clock: ServiceClock
    replays: Replays
    service_status: Callable[[], ServiceStatus]
    limits: OwnerLimits = NO_OWNER_LIMITS
    remote_lock: RemoteLock = field(default_factory=RemoteLock)
    expect_pause: Callable[[Pause], Callable[[], None]] = lambda _: lambda: None
    resume_ordered: Callable[[], None] = lambda: None
