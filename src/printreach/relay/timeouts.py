"""The time-outs of callers' connections."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Timeouts:
    """The time-outs of a caller's connection, in seconds.

    head: from the first byte of a head to its last, against slow-loris clients.
    idle: between requests, as nginx has it; proxies keep their connections for 60 s.
    body: until the next byte of a body that we are ready to read.
    write: while the caller reads nothing of our output.
    ended: while nothing is written to a caller that has ended its direction, and may be gone.
    linger: how long a refused upload is drained, so that clients read the answer.
    sweep: the interval at which all of these are checked.
    """

    head: float = 10.0
    idle: float = 75.0
    body: float = 120.0
    write: float = 600.0
    ended: float = 30.0
    linger: float = 2.0
    sweep: float = 1.0
