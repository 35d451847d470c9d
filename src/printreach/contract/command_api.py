"""The path of the command API, and the header fields that service and agents add or read.

Fields stand here as they are written; look them up in lower case.
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
"""The operations allowed on a stream, where that isn't all of them. The relay adds it."""
CAMERAS_FIELD: Final = b"X-Service-Cameras"
"""The owner's choices for cameras, where a command lists them. The relay adds it."""
ERROR_FIELD: Final = b"X-Service-Error"
"""The code of a failure that the service answers itself, so it isn't taken for the printer's."""
