"""The simulated printer, run inside the agent: something to try everything with."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from printreach.agent.addresses import WebAddress
from printreach.agent.config import AgentConfig


class CannotStart(Exception):
    """The agent lacks something it was told to use; the message is a sentence."""


@asynccontextmanager
async def printer_of(config: AgentConfig) -> AsyncIterator[WebAddress | None]:
    """The printer's address; while this is open, a built-in printer runs that was not given one.

    Raises CannotStart when it cannot run.
    """
    if config.printer is not None or not config.kind.is_built_in:
        yield config.printer
        return
    raise CannotStart(
        "--platform simulated needs --printer-url: the agent cannot run one itself yet."
    )
