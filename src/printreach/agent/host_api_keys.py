"""API keys of the printer's own software, made for an app whose owner asked for one.

Only the service can ask, by a control message: nothing that an app sends through its connection
leads here, or any app could give itself a key.
"""

import asyncio
import logging
from collections.abc import Callable

from printreach.contract import signin
from printreach.contract.commands import CommandStatus
from printreach.contract.permissions import ALL_PERMISSIONS, Permission
from printreach.languages import N_
from printreach.printers.port import Printer, PrinterRefused, SupportsApiKeys, not_supported
from printreach.rules.connections.permissions import refusal_by_agent

log = logging.getLogger(__name__)

MAX_CONCURRENT = 4
TIMEOUT_S = 20.0


class HostApiKeys:
    """Answers each request once, with a key or with a sentence. A key is never logged.

    allowed: what the agent's owner lets remote callers use: a key opens the printer's own
    interface.
    """

    def __init__(self, printer: Printer, allowed: frozenset[Permission] = ALL_PERMISSIONS) -> None:
        self._printer = printer
        self._allowed = allowed
        self._making: set[asyncio.Task[None]] = set()

    def request_key(
        self, request: signin.MakeHostApiKey, send_message: Callable[[bytes], None]
    ) -> None:
        """Make a key. send_message: sends the answer, as soon as there is one."""
        if len(self._making) >= MAX_CONCURRENT:
            send_message(signin.encode(_refused(request, "Too many keys are being made.")))
            return
        task = asyncio.create_task(self._answer(request, send_message))
        self._making.add(task)
        task.add_done_callback(self._making.discard)

    async def close(self) -> None:
        for task in list(self._making):
            task.cancel()
        await asyncio.gather(*self._making, return_exceptions=True)

    async def _answer(
        self, request: signin.MakeHostApiKey, send_message: Callable[[bytes], None]
    ) -> None:
        try:
            async with asyncio.timeout(TIMEOUT_S):
                key = await self._make(request.app_name)
        except PrinterRefused as refused:
            answer = _refused(request, refused.sentence)
        except TimeoutError:
            answer = _refused(request, "The printer gave no answer in time.")
        except Exception:
            log.exception("creating an API key failed unexpectedly")
            answer = _refused(request, "The agent failed; its log tells more.")
        else:
            log.info("made an API key for %r", request.app_name)
            answer = signin.HostApiKey(request_id=request.request_id, api_key=key)
        send_message(signin.encode(answer))

    async def _make(self, app_name: str) -> str:
        if Permission.INTERFACE not in self._allowed:
            sentence = refusal_by_agent(Permission.INTERFACE)
            raise PrinterRefused(CommandStatus.NOT_SUPPORTED, sentence)
        if not isinstance(self._printer, SupportsApiKeys):
            raise not_supported(N_("This printer can't make API keys for apps."))
        trouble = self._printer.view.trouble
        if trouble is not None:
            raise PrinterRefused(trouble.status, trouble.sentence)
        return await self._printer.make_api_key(app_name)


def _refused(request: signin.MakeHostApiKey, sentence: str) -> signin.HostApiKey:
    return signin.HostApiKey(request_id=request.request_id, error=sentence)
