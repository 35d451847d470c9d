"""Callbacks on changes, for adapters whose printers push them."""

from collections.abc import Callable


class ChangeListeners:
    """The callbacks of a port.SupportsOnChange."""

    def __init__(self) -> None:
        self._callbacks: list[Callable[[], None]] = []

    def add(self, callback: Callable[[], None]) -> None:
        self._callbacks.append(callback)

    def tell(self) -> None:
        """Call the callbacks, because the view has changed."""
        for callback in self._callbacks:
            callback()
