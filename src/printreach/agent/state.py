"""The state of a running agent, as one frozen snapshot that is replaced as a whole.

The uplink reports what happened; the LAN page, `status.json` and the log use the result.
Instants are seconds of the machine's monotonic clock: a Raspberry Pi without a battery starts
years in the past, and a link code must not expire when its clock is set.
"""

import re
from collections.abc import Callable
from enum import Enum
from typing import Final, assert_never

import msgspec

from printreach.rules.connections.credentials import parse_link_code
from printreach.rules.safe_text import printable

_LINK_URL: Final = re.compile(r"https?://[!-~]{1,2000}")
_MAX_WORDS_CHARS: Final = 500


class Phase(Enum):
    """The agent's progress towards a tunnel that carries requests."""

    STARTING = "starting"
    CONNECTING = "connecting"
    UNLINKED = "unlinked"
    CONNECTED = "connected"
    DISCONNECTED = "disconnected"
    REFUSED = "refused"
    STOPPING = "stopping"


def phase_sentence(phase: Phase) -> str:
    """Return the phase as a sentence for the person beside the printer."""
    match phase:
        case Phase.STARTING:
            return "The agent is starting."
        case Phase.CONNECTING:
            return "Connecting to the service."
        case Phase.UNLINKED:
            return "This printer isn't linked to an account yet."
        case Phase.CONNECTED:
            return "Connected. You can reach this printer from anywhere."
        case Phase.DISCONNECTED:
            return "The service can't be reached. The agent keeps trying."
        case Phase.REFUSED:
            return "The service refuses this agent."
        case Phase.STOPPING:
            return "The agent is stopping."
    assert_never(phase)


class ShownLinkCode(msgspec.Struct, frozen=True, kw_only=True, rename="pascal"):
    """A code that links the agent with an account, shown until it expires.

    link_url: the service's page that carries the code.
    expires_at: monotonic seconds.
    Raises ValueError for values that the service never sends: both are shown to people, in a log
    and in a page.
    """

    code: str
    link_url: str
    expires_at: float

    def __post_init__(self) -> None:
        if parse_link_code(self.code) != self.code:
            raise ValueError("a link code is 8 capital letters and digits, without look-alikes")
        if not _LINK_URL.fullmatch(self.link_url):
            raise ValueError("a link URL is an http or https URL")


class Snapshot(msgspec.Struct, frozen=True, kw_only=True, rename="pascal", omit_defaults=True):
    """Everything that is known of the agent at one moment.

    phase_since: monotonic seconds.
    printer_name: "" until the service has told it.
    is_linked: an account has this printer, as far as the agent knows.
    retry_at: monotonic seconds, while disconnected or refused.
    last_error: a sentence; kept until the next time the agent is connected.
    lan_address: the agent's own address on the local network.
    lan_page: host and port on which the LAN page listens.
    clock_offset_s: how far the service's clock is ahead of ours.
    """

    phase: Phase
    phase_since: float
    printer_id: str
    service_url: str
    agent_version: str
    printer_name: str = ""
    is_linked: bool = False
    link_code: ShownLinkCode | None = None
    retry_at: float | None = None
    last_error: str | None = None
    lan_address: str | None = None
    lan_page: str | None = None
    clock_offset_s: float | None = None

    def live_link_code(self, at: float) -> ShownLinkCode | None:
        """Return the link code, unless it has expired."""
        if self.link_code is None or at >= self.link_code.expires_at:
            return None
        return self.link_code


Observer = Callable[[Snapshot], None]


class AgentState:
    """Holds the snapshot; each method records one event and calls the observers."""

    def __init__(self, first: Snapshot, monotonic: Callable[[], float]) -> None:
        self._snapshot = first
        self._monotonic = monotonic
        self._observers: list[Observer] = []

    @property
    def snapshot(self) -> Snapshot:
        """The state now."""
        return self._snapshot

    def observe(self, observer: Observer) -> None:
        """Call observer with the snapshot now and after every change. It must not raise."""
        self._observers.append(observer)
        observer(self._snapshot)

    def connecting(self) -> None:
        """A connection to the service is being made."""
        self._enter(Phase.CONNECTING, retry_at=None)

    def unlinked(self, link_code: ShownLinkCode) -> None:
        """The service answers, and knows no account for this agent; it gave a code."""
        self._enter(
            Phase.UNLINKED,
            link_code=link_code,
            is_linked=False,
            printer_name="",
            retry_at=None,
            last_error=None,
        )

    def linked(self, printer_name: str) -> None:
        """An account has the printer and calls it so. Also: its name has changed."""
        self._change(is_linked=True, printer_name=_for_people(printer_name), link_code=None)

    def connected(self) -> None:
        """The tunnel carries requests."""
        self._enter(Phase.CONNECTED, link_code=None, retry_at=None, last_error=None)

    def disconnected(self, error: str, retry_at: float) -> None:
        """The tunnel is gone, or could not be made. error: a sentence."""
        self._enter(
            Phase.DISCONNECTED, link_code=None, retry_at=retry_at, last_error=_for_people(error)
        )

    def refused(self, error: str, retry_at: float) -> None:
        """The service does not want this agent, or is not the one that was linked."""
        self._enter(Phase.REFUSED, link_code=None, retry_at=retry_at, last_error=_for_people(error))

    def stopping(self) -> None:
        """The agent was ordered to stop."""
        self._enter(Phase.STOPPING, link_code=None, retry_at=None)

    def on_lan(self, address: str | None, page: str | None) -> None:
        """Set where the agent is found on the local network."""
        self._change(lan_address=address, lan_page=page)

    def clock_is_off(self, offset_s: float) -> None:
        """Set how far the service's clock is ahead of ours, as seen at sign-in."""
        self._change(clock_offset_s=offset_s + 0.0)  # no minus in front of nothing

    def _enter(self, phase: Phase, **changes: object) -> None:
        if phase is not self._snapshot.phase:
            changes |= {"phase": phase, "phase_since": self._monotonic()}
        self._change(**changes)

    def _change(self, **changes: object) -> None:
        after = msgspec.structs.replace(self._snapshot, **changes)
        if after == self._snapshot:
            return
        self._snapshot = after
        for observer in self._observers:
            observer(after)


def _for_people(text: str) -> str:
    """Words from outside, made fit for a terminal and a log: no control characters, not endless."""
    return printable(text[:_MAX_WORDS_CHARS])
