"""The storage from which prints start, on printers that have one place for their files."""

from printreach.contract.commands import StartPrint
from printreach.contract.unset import UnsetType

from .port import bad_path


def require_storage(order: StartPrint, only: str) -> None:
    """Raises PrinterRefused (751) for a place that the printer hasn't got."""
    if not isinstance(order.storage, UnsetType) and order.storage != only:
        raise bad_path(f"Storage must be {only!r}.")
