"""Limits on viewers, so that a popular link harms nobody else."""

from collections import Counter
from datetime import timedelta
from typing import Final

from printreach.rules.rate_limits import Limit, networks_of

MAX_VIEWERS: Final = 1000
"""Open streams of all links; the web role accepts four times as many connections."""
MAX_PER_LINK: Final = 500
MAX_PER_ADDRESS: Final = 20
"""An office or a school shares one address; more of its people read the page without the stream."""
PAGES_BY_ADDRESS: Final = Limit(name="live-page", at_once=120, every=timedelta(seconds=1))
PICTURES_BY_ADDRESS: Final = Limit(name="live-picture", at_once=200, every=timedelta(seconds=0.1))


class Viewers:
    """Counts the open streams of this process."""

    def __init__(self) -> None:
        self._links: Counter[str] = Counter()
        self._addresses: Counter[str] = Counter()

    def has_room(self, live_id: str, address: str) -> bool:
        """Return whether one more viewer is allowed."""
        return (
            self._links.total() < MAX_VIEWERS
            and self._links[live_id] < MAX_PER_LINK
            and all(
                self._addresses[network.name] < MAX_PER_ADDRESS * network.share
                for network in networks_of(address)
            )
        )

    def enter(self, live_id: str, address: str) -> bool:
        """Count a viewer in; False if there are too many."""
        if not self.has_room(live_id, address):
            return False
        self._links[live_id] += 1
        for network in networks_of(address):
            self._addresses[network.name] += 1
        return True

    def leave(self, live_id: str, address: str) -> None:
        _count_down(self._links, live_id)
        for network in networks_of(address):
            _count_down(self._addresses, network.name)


def _count_down(counter: Counter[str], key: str) -> None:
    counter[key] -= 1
    if counter[key] <= 0:
        del counter[key]
