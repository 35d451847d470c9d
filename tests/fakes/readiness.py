"""A node that lacks nothing."""

from types import SimpleNamespace
from typing import cast

from printreach.rules.histogram import Histogram
from printreach.run.monitoring import Readiness
from printreach.store.store import Store
from tests.fakes.memory_bus import MemoryBus

_STORE = SimpleNamespace(is_available=True, read_times=Histogram(), write_times=Histogram())
READY = Readiness(cast("Store", _STORE), MemoryBus())
