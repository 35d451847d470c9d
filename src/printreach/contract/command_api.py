"""Where the command API is, and the header fields that the service and its agents add or read.

Fields stand here as they are written; whoever looks one up asks for it in lower case.
"""

from typing import Final

COMMAND_PREFIX: Final = b"/service-command-api"
"""The path in front of every command, on each host that leads to a printer."""
OPEN_PATH: Final = COMMAND_PREFIX + b"/open"
"""Signs a browser in to the host of a connection. The relay answers it; agents never see it."""

COMMAND_ID_FIELD: Final = b"X-Service-Command-Id"
"""The same for one command however often it is sent. The relay adds it."""
COMMAND_EXPIRES_FIELD: Final = b"X-Service-Command-Expires"
"""Milliseconds since 1970: a command that comes later is not carried out. The relay adds it."""
PERMISSIONS_FIELD: Final = b"X-Service-Permissions"
"""What a stream may do, where that isn't everything. The relay adds it."""
ERROR_FIELD: Final = b"X-Service-Error"
"""The code of a failure that the service answers itself, so it isn't taken for the printer's."""
