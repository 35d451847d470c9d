"""Snapshots of an agent that the tests of this folder start from."""

from printreach.agent.state import AgentState, Phase, ShownLinkCode, Snapshot

PRINTER_ID = "abcdefghijklmnopqrstuvwxyz234567"
SERVICE_URL = "https://printreach.example"


def a_snapshot(**fields: object) -> Snapshot:
    """An agent that started at second 100, with these fields."""
    reported = {
        "phase": Phase.STARTING,
        "phase_since": 100.0,
        "printer_id": PRINTER_ID,
        "service_url": SERVICE_URL,
        "agent_version": "1.2.3",
        **fields,
    }
    return Snapshot(**reported)  # type: ignore[arg-type]  # a test names the fields it is about


def a_link_code(
    expires_at: float = 700.0, link_url: str = f"{SERVICE_URL}/link?code=ACDEFG34"
) -> ShownLinkCode:
    """The code that these tests show."""
    return ShownLinkCode(code="ACDEFG34", link_url=link_url, expires_at=expires_at)


class HandClock:
    """A monotonic clock that goes when it is told to."""

    def __init__(self, at: float = 100.0) -> None:
        self.at = at

    def __call__(self) -> float:
        return self.at


def a_state(clock: HandClock | None = None, **fields: object) -> AgentState:
    """The state of such an agent."""
    return AgentState(a_snapshot(**fields), clock or HandClock())
