"""On the PYTHONPATH of a program under test: *.localhost and *.test are this machine.

Browsers and curl know that of *.localhost by themselves; Python's resolver does not, and
editing /etc/hosts is not for a test.
"""

import socket
import sys
from typing import Any

modules: Any = sys.modules
modules["uvloop"] = None  # it would ask the system's resolver in C; programs do without it

genuine: Any = socket.getaddrinfo


def lookup(host: Any, *rest: Any, **named: Any) -> Any:
    """Answer as socket.getaddrinfo does."""
    name = host.decode() if isinstance(host, bytes) else str(host)
    return genuine("127.0.0.1" if name.endswith((".localhost", ".test")) else host, *rest, **named)


vars(socket).update(getaddrinfo=lookup)
