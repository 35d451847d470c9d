"""Requests to agents for API keys of their printers' own software, for apps."""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from printreach.contract import signin
from printreach.rules.connections.credentials import TokenBytes, new_record_id

log = logging.getLogger(__name__)

ANSWER_WITHIN_S: Final = 25.0
"""The time-out of an agent's answer; the agent gives up on its printer after 20 s."""

Send = Callable[[signin.FromService], None]


class HostKeyRequests:
    """ports.HostKeys for printers whose tunnels end at this node. Keys are never logged."""

    def __init__(self, token_bytes: TokenBytes, answer_within_s: float = ANSWER_WITHIN_S) -> None:
        self._token_bytes = token_bytes
        self._answer_within_s = answer_within_s
        self._agents: dict[str, Send] = {}
        self._asked: dict[tuple[str, str], asyncio.Future[str | None]] = {}

    def add_agent(self, printer_id: str, send: Send) -> None:
        """Add an agent that makes keys; send: sends it a control message."""
        self._agents[printer_id] = send

    def remove_agent(self, printer_id: str, send: Send) -> None:
        """Remove an agent, unless a newer tunnel of the same printer has replaced it."""
        if self._agents.get(printer_id) == send:
            del self._agents[printer_id]

    def on_answer(self, printer_id: str, answer: signin.HostApiKey) -> None:
        """Handle an agent's answer, for its own printer only; unrequested answers are dropped."""
        waiting = self._asked.get((printer_id, answer.request_id))
        if waiting is None or waiting.done():
            return
        if answer.api_key is None:
            log.info("agent %s made no API key: %r", printer_id, answer.error)
        waiting.set_result(answer.api_key)

    async def make(self, printer_id: str, app_name: str) -> str | None:
        """Return a key for that app; None if there is none in time."""
        send = self._agents.get(printer_id)
        if send is None:
            return None
        request_id = new_record_id(self._token_bytes)
        waiting: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self._asked[printer_id, request_id] = waiting
        try:
            async with asyncio.timeout(self._answer_within_s):
                send(signin.MakeHostApiKey(request_id=request_id, app_name=app_name))
                return await waiting
        except TimeoutError:
            log.info("agent %s did not say whether it made an API key", printer_id)
            return None
        finally:
            del self._asked[printer_id, request_id]
