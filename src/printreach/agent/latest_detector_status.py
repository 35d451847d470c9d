"""The latest status from the service's failure detector, for `ServiceStatus`."""

from collections.abc import Callable

from printreach.contract import signin
from printreach.contract.status import DetectorStatus
from printreach.rules.detector import aged


class LatestDetectorStatus:
    """The latest status, which is shown with its age while the tunnel is down."""

    def __init__(self, steady_time: Callable[[], float]) -> None:
        self._now = steady_time
        self._detector: signin.Detector | None = None
        self._updated_at = 0.0

    def update(self, detector: signin.Detector) -> None:
        self._detector, self._updated_at = detector, self._now()

    def of_print(self, print_id: str) -> DetectorStatus:
        """Return the status of this print; an empty one for another print."""
        if self._detector is None or not print_id or self._detector.print_id != print_id:
            return DetectorStatus()
        return aged(self._detector.status, self._now() - self._updated_at)
