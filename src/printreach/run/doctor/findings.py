"""What a check finds, and how checks are run: beside each other, none longer than a few seconds."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

CHECK_TIMEOUT_S: Final = 5.0


class Verdict(StrEnum):
    """How bad it is. With a failure, something doesn't work."""

    OK = "ok"
    WARNING = "warning"
    FAILURE = "failure"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found, in a sentence. advice: what to do; empty where nothing is."""

    verdict: Verdict
    sentence: str
    advice: str = ""


Check: TypeAlias = Callable[[], Awaitable[Finding]]


def fine(sentence: str) -> Finding:
    return Finding(Verdict.OK, sentence)


def warning(sentence: str, advice: str) -> Finding:
    return Finding(Verdict.WARNING, sentence, advice)


def failure(sentence: str, advice: str) -> Finding:
    return Finding(Verdict.FAILURE, sentence, advice)


def together(findings: Sequence[Finding]) -> Finding:
    """Return findings as one, at least one of them: all that is wrong with the worst first; where
    nothing is, all that is fine.
    """
    wrong = [one for one in findings if one.verdict is not Verdict.OK]
    told = sorted(wrong, key=lambda one: one.verdict is not Verdict.FAILURE) or findings
    return Finding(
        told[0].verdict,
        " ".join(one.sentence for one in told),
        " ".join(one.advice for one in told if one.advice),
    )


async def examine(
    checks: Mapping[str, Check], within_s: float = CHECK_TIMEOUT_S
) -> dict[str, Finding]:
    """Run all checks at once; return the findings in their order."""
    found = await asyncio.gather(*(_run(check, within_s) for check in checks.values()))
    return dict(zip(checks, found, strict=True))


async def _run(check: Check, within_s: float) -> Finding:
    try:
        async with asyncio.timeout(within_s):
            return await check()
    except TimeoutError:
        return failure(
            f"There was no answer within {within_s:g} seconds.",
            "Look at the network and the firewall between this machine and what is named.",
        )
