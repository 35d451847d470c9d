"""How many link codes may be asked for: each is a row in the store, and anybody may ask."""

from printreach.rules.rate_limits import Network, networks_of
from printreach.rules.token_bucket import TokenBucket

from .caller_origin import read_address

BURST = 64
"""A farm behind one address, freshly set up: all its agents show a code at once."""
REFILL_INTERVAL_S = 10.0
"""A code is renewed after 10 minutes, so this keeps that many agents supplied for ever."""
TOTAL_BURST = 2000
TOTAL_REFILL_INTERVAL_S = 0.1
MANY = 100
"""Networks that are remembered before the first are forgotten again."""


class LinkCodeLimiter:
    """Counts codes by the network they were asked from, and all together."""

    def __init__(self, now: float) -> None:
        self._total = TokenBucket(TOTAL_BURST, TOTAL_REFILL_INTERVAL_S, now)
        self._by_network: dict[str, TokenBucket] = {}
        self._forget_at = MANY

    def take(self, address: str, now: float) -> bool:
        """Whether another code may be made for an agent at that address."""
        buckets = {
            network.name: self._by_network.get(network.name)
            or TokenBucket(BURST * network.share, REFILL_INTERVAL_S / network.share, now)
            for network in _networks_of(address)
        }
        if not all(bucket.has(now, 1) for bucket in (*buckets.values(), self._total)):
            return False
        for bucket in (*buckets.values(), self._total):
            bucket.take()
        self._by_network |= buckets
        if len(self._by_network) >= self._forget_at:
            self._forget_full(now)
        return True

    def __len__(self) -> int:
        return len(self._by_network)

    def _forget_full(self, now: float) -> None:
        """A network that could ask for a whole burst again is as good as a new one."""
        full = [name for name, bucket in self._by_network.items() if bucket.is_full(now)]
        for name in full:
            del self._by_network[name]
        self._forget_at = max(MANY, 2 * len(self._by_network))


def _networks_of(address: str) -> tuple[Network, ...]:
    """What is no address counts as one and the same."""
    return networks_of(address) if read_address(address) else networks_of("")
