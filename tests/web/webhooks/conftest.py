"""The fixtures of connections and printers, which webhooks are about."""

from tests.web.connections.calling_app import app_call
from tests.web.printers.conftest import bobs_printer, home

__all__ = ["app_call", "bobs_printer", "home"]
