"""Dispatches a stream of the tunnel: to the command API, or to the printer's own web server."""

import json
import logging
from typing import Final

from printreach.agent.commands.api import CommandApi
from printreach.agent.local_http import LocalRequests
from printreach.agent.remote_lock import RemoteLock
from printreach.contract.commands import COMMAND_PREFIX, PERMISSIONS_FIELD, CommandStatus
from printreach.contract.permissions import ALL_PERMISSIONS, Permission
from printreach.http1.request_ids import REQUEST_ID, about
from printreach.rules.connections.permissions import (
    is_command,
    refusal_by_agent,
    refusal_of,
    required_of,
)
from printreach.tunnel.stream import Stream
from printreach.wire.errors import Reason
from printreach.wire.events import StreamOpened
from printreach.wire.heads import (
    RequestHead,
    RequestLine,
    decode_fields,
    decode_request_line,
    encode_response,
    get,
)

log = logging.getLogger(__name__)

_MAX_SHOWN_BYTES: Final = 100


class StreamServer:
    """Serves the streams of one agent.

    local: None for a printer without a web server; no_server says so. commands: None for a kind
    of printer that has no adapter. remote_lock: whether anybody may control the printer remotely.
    allowed: what the agent's owner allows.
    """

    def __init__(
        self,
        local: LocalRequests | None,
        no_server: str,
        commands: CommandApi | None = None,
        *,
        remote_lock: RemoteLock,
        allowed: frozenset[Permission] = ALL_PERMISSIONS,
    ) -> None:
        self._is_verbose = log.isEnabledFor(logging.DEBUG)
        self._allowed = allowed
        self._allows_all = allowed == ALL_PERMISSIONS
        self._local = local
        self._no_server = no_server
        self._remote_lock = remote_lock
        self._commands = commands

    def serve(self, stream: Stream, opened: StreamOpened) -> None:
        """Raises RemoteProtocolError for a head that can't be read."""
        line = decode_request_line(opened.head)
        refusal = self._refusal(line)
        if self._is_verbose:
            _log(line, refusal or "taken")
        if refusal is not None:
            stream.reset(Reason.NOT_ALLOWED, refusal)
        elif is_command(line.target):
            head = RequestHead(line.method, line.target, decode_fields(line.lines))
            if self._commands is None:
                _answer_unknown_command(stream, head)
                return
            # The command's task takes it along.
            before = REQUEST_ID.set(line.request_id.decode("ascii"))
            self._commands.serve(stream, opened, head)
            REQUEST_ID.reset(before)
        elif self._local is None:
            stream.reset(Reason.REFUSED, self._no_server)
        else:
            self._local.serve(stream, opened, line)

    def _refusal(self, line: RequestLine) -> str | None:
        """Return why the stream may not do this.

        The relay has decided by the stamp before. What the agent's owner allows is decided here
        alone.
        """
        is_stamped = line.lines.find(PERMISSIONS_FIELD) >= 0  # `in` takes twice as long
        is_locked = self._remote_lock.is_locked
        if self._allows_all and not (is_stamped or is_locked):  # as most are
            return None
        requirement = required_of(line.method, line.target)
        if requirement.permission is not None and requirement.permission not in self._allowed:
            return refusal_by_agent(requirement.permission)
        stamp = get(decode_fields(line.lines), PERMISSIONS_FIELD.lower()) if is_stamped else None
        return refusal_of(requirement, self._remote_lock.access(stamp))


def _log(line: RequestLine, outcome: str) -> None:
    """Without the query, which may hold credentials of the printer's."""
    path = line.target.partition(b"?")[0][:_MAX_SHOWN_BYTES].decode("latin-1")
    log.debug("%s %s: %s", line.method.decode("ascii"), path, outcome, extra=about(line.request_id))


def _answer_unknown_command(stream: Stream, head: RequestHead) -> None:
    """Answer with the command API's envelope: failures, too, travel with status 200."""
    path = head.target.partition(b"?")[0]
    command = path[len(COMMAND_PREFIX) :][:_MAX_SHOWN_BYTES].decode("latin-1")
    sentence = f"There is no command {command!r} here."
    body = json.dumps({"Status": CommandStatus.UNKNOWN_COMMAND, "Error": sentence}).encode()
    headers = [
        (b"Content-Type", b"application/json"),
        (b"Content-Length", b"%d" % len(body)),
        (b"Cache-Control", b"no-store"),
    ]
    answer = encode_response(200, b"OK", headers)
    stream.respond(answer, b"" if head.method == b"HEAD" else body, fin=True)
