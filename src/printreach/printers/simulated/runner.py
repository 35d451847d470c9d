"""The simulated printer as a whole: printer, files, webcam and web server in this event loop."""

import asyncio
from pathlib import Path

from printreach.http1.connection import ServerLimits
from printreach.http1.request_body import BodyLimits
from printreach.http1.server import Server, serve

from .camera import Camera
from .control import Control, Engine
from .files import FileStore
from .printer import SimulatedPrinter
from .sample import NAME, sample_gcode
from .site import PrinterSite

_LIMITS = ServerLimits(body=BodyLimits(max_bytes=2 << 30))


class RunningPrinter:
    """Made by run_simulated_printer(); runs until it is closed.

    control: for code that controls it directly, as the demo does.
    """

    def __init__(self, engine: Engine, control: Control, camera: Camera, server: Server) -> None:
        self.printer = engine.printer
        self.control = control
        self.camera = camera
        self._server = server
        self._running = asyncio.create_task(engine.run())

    @property
    def port(self) -> int:
        return self._server.port

    async def close(self) -> None:
        await self._server.close()
        self.camera.close()
        self._running.cancel()
        await asyncio.gather(self._running, return_exceptions=True)


async def run_simulated_printer(
    host: str, port: int, *, folder: Path, speed: float = 1.0, seed: int = 1
) -> RunningPrinter:
    """Serve a printer; port 0 picks a free one.

    folder: for its G-code files; where it is empty, a sample is put there.
    speed: simulated seconds a second. seed: of everything that looks random.
    """
    files = FileStore(folder)
    if not files.list():
        with files.receive() as upload:
            upload.write(sample_gcode().encode())
            upload.commit(NAME)
    engine = Engine(SimulatedPrinter(seed), speed)
    control = Control(engine, files)
    camera = Camera(engine)
    web = PrinterSite(engine, control, files, camera)
    server = await serve(web.answer, host, port, limits=_LIMITS)
    return RunningPrinter(engine, control, camera, server)
