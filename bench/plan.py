"""The benchmark's duration, from the environment."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

PREFIX: Final = "BENCH_"


class BadPlan(Exception):
    """A variable has a wrong value; the message is a sentence that names it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """rounds: how often each way is measured. seconds: the duration of rows that are limited by
    time.
    """

    rounds: int = 5
    seconds: int = 4
    agents: int = 5000

    @classmethod
    def read(cls, environ: Mapping[str, str]) -> "Plan":
        """Parse BENCH_ROUNDS, BENCH_SECONDS and BENCH_AGENTS. Raises BadPlan."""
        usual = cls()
        return cls(
            rounds=_count(environ, "ROUNDS", usual.rounds),
            seconds=_count(environ, "SECONDS", usual.seconds),
            agents=_count(environ, "AGENTS", usual.agents),
        )


def _count(environ: Mapping[str, str], name: str, usual: int) -> int:
    text = environ.get(PREFIX + name, "") or str(usual)
    if not text.isdecimal() or int(text) < 1:
        raise BadPlan(f"{PREFIX}{name} must be a whole number from 1 on.")
    return int(text)
