"""The simulated printer, run inside the agent, for trying the product."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from printreach.agent.addresses import WebAddress
from printreach.agent.config import AgentConfig

if TYPE_CHECKING:
    from printreach.printers.simulated.runner import RunningPrinter

FILES: Final = "simulated-printer"

_LOOPBACK: Final = "127.0.0.1"
# The import names of the packages that the extra "demo" installs.
_DEMO_LIBRARIES: Final = frozenset({"PIL", "msgspec", "multipart", "websockets"})
_log: Final = logging.getLogger(__name__)


class CannotStart(Exception):
    """The agent lacks something it was told to use; the message is a sentence."""


@asynccontextmanager
async def printer_of(config: AgentConfig) -> AsyncIterator[WebAddress | None]:
    """Give the printer's address, and run a built-in printer if no address was given.

    Raises CannotStart when it cannot run.
    """
    if config.printer is not None or not config.kind.is_simulated:
        yield config.printer
        return
    printer = await _run_simulated_printer(config.data_dir / FILES)
    try:
        address = WebAddress(scheme="http", host=_LOOPBACK, port=printer.port)
        _log.info("The simulated printer's own page is at %s", address)
        yield address
    finally:
        await printer.close()


async def _run_simulated_printer(folder: Path) -> "RunningPrinter":
    try:
        # Here, because an agent beside a real printer must neither need nor carry this.
        from printreach.printers.simulated.runner import run_simulated_printer
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in _DEMO_LIBRARIES:
            raise
        raise CannotStart(
            f"The simulated printer needs {error.name}: install it by"
            " pip install --require-hashes -r requirements/demo.txt."
        ) from error
    try:
        return await run_simulated_printer(_LOOPBACK, 0, folder=folder)
    except OSError as error:
        raise CannotStart(f"The simulated printer cannot start: {error.strerror}.") from error
