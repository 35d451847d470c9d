"""A crowd of strangers: a number of concurrent connections, each with a random attack.

    python -m bench.siege.strangers '{"target": {...}, "count": 200, "seconds": 120, "seed": 1}'

Prints, as JSON, how often each attack was tried and what was answered.
"""

import asyncio
import json
import os
import random
import sys
from collections import Counter
from dataclasses import dataclass
from typing import Final

import msgspec
import uvloop

from bench.siege.attacks import ATTACK_S, BY_NAME, Attack, Stranger, Target

REST_S: Final = 0.5
"""Between two attacks of one stranger: the crowd shall not take the users' processor itself."""
NICE: Final = 10
"""Strangers compute on machines of their own: here they stand back behind the service."""
_SEND_BUFFER_BYTES: Final = 256 * 1024


@dataclass(frozen=True, kw_only=True)
class Crowd:
    """attacks: by their names."""

    target: Target
    count: int
    seconds: float
    seed: int
    attacks: list[str]


async def besiege(crowd: Crowd) -> dict[str, Counter[str]]:
    """Attack until the time is over; return the answers by the kind of attack."""
    outcomes: dict[str, Counter[str]] = {name: Counter() for name in crowd.attacks}
    ends_at = asyncio.get_running_loop().time() + crowd.seconds
    rng = random.Random(crowd.seed)
    plans = [random.Random(rng.random()) for _ in range(crowd.count)]
    await asyncio.gather(*(_stranger(crowd, plan, ends_at, outcomes) for plan in plans))
    return outcomes


async def _stranger(
    crowd: Crowd, plan: random.Random, ends_at: float, outcomes: dict[str, Counter[str]]
) -> None:
    loop = asyncio.get_running_loop()
    await asyncio.sleep(plan.uniform(0, REST_S))
    while loop.time() < ends_at:
        name = plan.choice(crowd.attacks)
        outcomes[name][await _attempt(crowd.target, plan, BY_NAME[name])] += 1
        await asyncio.sleep(plan.uniform(0, 2 * REST_S))


async def _attempt(target: Target, plan: random.Random, attack: Attack) -> str:
    """Make one attack over a connection of its own, from any of a million addresses."""
    address = f"127.{plan.randrange(16, 32)}.{plan.randrange(256)}.{plan.randrange(1, 255)}"
    try:
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", target.port, local_addr=(address, 0)
        )
    except OSError:
        return "not let in"
    writer.transport.set_write_buffer_limits(_SEND_BUFFER_BYTES)
    try:
        async with asyncio.timeout(ATTACK_S + 5):
            return await attack(Stranger(target, reader, writer))
    except TimeoutError:
        return "held"
    except ConnectionError:
        return "closed"
    finally:
        writer.transport.abort()


if __name__ == "__main__":
    os.nice(NICE)
    _outcomes = uvloop.run(besiege(msgspec.json.decode(sys.argv[1], type=Crowd)))
    print(json.dumps({name: dict(counts) for name, counts in _outcomes.items()}))
