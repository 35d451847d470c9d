"""The fixtures of printers, which the watch is about."""

from tests.web.printers.conftest import bobs_printer, home

__all__ = ["bobs_printer", "home"]
