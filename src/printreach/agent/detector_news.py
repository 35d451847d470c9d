"""What the service's failure detector last said, for `ServiceStatus`."""

from collections.abc import Callable

from printreach.contract import signin
from printreach.contract.status import DetectorStatus
from printreach.rules.detector import aged


class DetectorNews:
    """Kept until the service says more. While the line is down it grows older, and shows it."""

    def __init__(self, steady_time: Callable[[], float]) -> None:
        self._now = steady_time
        self._said: signin.Detector | None = None
        self._said_at = 0.0

    def told(self, said: signin.Detector) -> None:
        self._said, self._said_at = said, self._now()

    def of_print(self, print_id: str) -> DetectorStatus:
        """Return the status of this print; an empty one for another print."""
        if self._said is None or not print_id or self._said.print_id != print_id:
            return DetectorStatus()
        return aged(self._said.status, self._now() - self._said_at)
