"""Backoff: the pauses between retries."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Backoff:
    """The pauses after failures in a row, from the first failure on; the last one repeats."""

    pauses: tuple[timedelta, ...]

    @classmethod
    def of_seconds(cls, *pauses_s: float) -> "Backoff":
        return cls(tuple(timedelta(seconds=pause_s) for pause_s in pauses_s))

    @classmethod
    def doubling(cls, first_s: float, longest_s: float) -> "Backoff":
        """Each pause is twice the one before, up to the longest."""
        pauses_s = [first_s]
        while pauses_s[-1] < longest_s:
            pauses_s.append(min(2 * pauses_s[-1], longest_s))
        return cls.of_seconds(*pauses_s)

    def pause(self, failures: int) -> timedelta:
        """failures: in a row, from 1."""
        return self.pauses[min(failures, len(self.pauses)) - 1]

    def pause_s(self, failures: int) -> float:
        return self.pause(failures).total_seconds()

    def jittered_s(self, failures: int, uniform: Callable[[float, float], float]) -> float:
        """Return the pause in seconds, shortened at random by up to half.

        So thousands that failed at the same time don't retry in the same instant.
        """
        pause_s = self.pause_s(failures)
        return uniform(pause_s / 2, pause_s)
