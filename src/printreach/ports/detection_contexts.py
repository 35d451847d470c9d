"""The stored contexts of prints that programs have sent images of."""

from datetime import datetime
from typing import Protocol

from printreach.rules.detection_contexts import StoredContext


class ContextRecords(Protocol):
    """Contexts of the failure-detection API. They are deleted with their key and their account."""

    async def add(self, kept: StoredContext, at_most: int) -> None:
        """Add a context; beyond at_most of its account the least recently used are evicted."""
        ...

    async def get(self, context_id: str) -> StoredContext | None: ...

    async def advance(self, kept: StoredContext) -> bool:
        """Store the next version. False where the one before it is not the stored one any more."""
        ...

    async def forget(self, created_before: datetime) -> None: ...
