"""How long callers are waited for."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Timeouts:
    """How long a caller is waited for, in seconds.

    head: from the first byte of a head to its last; what a slow-loris gets.
    idle: between requests, as nginx has it; proxies keep theirs for 60 s.
    body: without a byte of a body that we are ready to read.
    write: while the caller accepts nothing of what we write.
    ended: while nothing is written to a caller that has ended its side, and may be gone.
    linger: how long a refused upload is drained, so that clients read the answer.
    sweep: how often all of these are looked at.
    """

    head: float = 10.0
    idle: float = 75.0
    body: float = 120.0
    write: float = 600.0
    ended: float = 30.0
    linger: float = 2.0
    sweep: float = 1.0
