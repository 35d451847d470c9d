"""The states of the simulated printer, and its refusals."""

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
    """The reason why the printer doesn't carry out an order, as a sentence."""

    reason: str
