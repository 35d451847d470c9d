"""What the failure detector said, as time goes by."""

from printreach.contract.status import DetectorStatus


def aged(said: DetectorStatus, by_s: float) -> DetectorStatus:
    """The same so many seconds later. Clocks that disagree make nothing younger."""
    later_s = max(0.0, by_s)
    return DetectorStatus(
        last_score=said.last_score,
        score_history=said.score_history,
        time_since_last_score_sec=said.time_since_last_score_sec + later_s,
        interval_sec=said.interval_sec,
        is_suppressed=said.is_suppressed,
        time_since_last_warn_sec=_later(said.time_since_last_warn_sec, later_s),
        time_since_last_pause_sec=_later(said.time_since_last_pause_sec, later_s),
    )


def _later(since_s: float | None, by_s: float) -> float | None:
    return None if since_s is None else since_s + by_s
