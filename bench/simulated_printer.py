"""The simulated printer as a process: `python -m bench.simulated_printer PORT FOLDER`."""

import asyncio
import sys
from pathlib import Path

import uvloop

from printreach.printers.simulated.runner import run_simulated_printer


async def main(port: int, folder: Path) -> None:
    await run_simulated_printer("127.0.0.1", port, folder=folder)
    await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1]), Path(sys.argv[2])))
