"""A limit on link codes: each is a row in the store, and anybody may ask for them."""

from printreach.rules.rate_limits import Network, TokenBucket, networks_of

from .caller_origin import read_address

BURST = 64
"""A farm behind one address, freshly set up: all its agents show a code at once."""
REFILL_INTERVAL_S = 10.0
"""A code is renewed after 10 minutes, so this supplies a burst of agents for ever."""
TOTAL_BURST = 2000
TOTAL_REFILL_INTERVAL_S = 0.1
MANY = 100
"""The number of networks above which those with a full bucket are forgotten."""


class LinkCodeLimiter:
    """Limits codes by the network that asks for them, and all together."""

    def __init__(self, now: float) -> None:
        self._total = TokenBucket(TOTAL_BURST, TOTAL_REFILL_INTERVAL_S, now)
        self._by_network: dict[str, TokenBucket] = {}
        self._forget_at = MANY

    def take(self, address: str, now: float) -> bool:
        """Count another code for an agent at that address; False if it is over a limit."""
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
        """Forget networks with a full bucket, which are like new ones."""
        full = [name for name, bucket in self._by_network.items() if bucket.is_full(now)]
        for name in full:
            del self._by_network[name]
        self._forget_at = max(MANY, 2 * len(self._by_network))


def _networks_of(address: str) -> tuple[Network, ...]:
    """Return the networks of an address; all texts that aren't addresses share one."""
    return networks_of(address) if read_address(address) else networks_of("")
