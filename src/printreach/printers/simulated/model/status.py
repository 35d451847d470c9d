"""What the simulated printer may be doing, and how it refuses to."""

from dataclasses import dataclass
from enum import Enum


class State(Enum):
    IDLE = "idle"
    WARMING_UP = "warmingup"
    PRINTING = "printing"
    PAUSED = "paused"
    RESUMING = "resuming"
    COMPLETE = "complete"
    CANCELLED = "cancelled"
    ERROR = "error"


RUNNING = frozenset({State.WARMING_UP, State.PRINTING})
ACTIVE = RUNNING | {State.PAUSED, State.RESUMING}
ENDED = frozenset({State.COMPLETE, State.CANCELLED, State.ERROR})


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why the printer doesn't do as told, as a sentence."""

    reason: str
