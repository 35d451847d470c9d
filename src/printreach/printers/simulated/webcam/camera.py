"""The printer's webcam: pictures while it has viewers, and no work otherwise."""

import asyncio
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor

from printreach.printers.simulated.engine import Engine
from printreach.printers.simulated.model.printer import SimulatedPrinter
from printreach.printers.simulated.model.program import HeaterName

from .render import Renderer, Scene
from .toolhead import FAN_POSITIONS, HEATS

_FRAMES_A_SECOND = 10
"""As OctoPi sets a webcam up, if not told otherwise."""
_REPEAT_S = 1.0
"""An unchanged picture is sent again after this long, so that viewers see that it works."""
_STRANDS_AT_ONCE = 2000
_FAN_TURNS_A_SECOND = 3.1


class Camera:
    """Draws one picture for all who watch. Pictures are made in a thread of their own."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._strands = engine.printer.machine.strands
        # One thread: a renderer is not for two at once, nor after a cancelled wait.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="webcam")
        self._renderer: Renderer | None = None
        self._shown: tuple[Scene, int, int] | None = None
        self._picture = b""
        self._number = 0
        self._published = asyncio.Event()
        self.watchers = 0
        self._filming: asyncio.Task[None] | None = None

    @property
    def is_filming(self) -> bool:
        return self._filming is not None

    async def snapshot(self) -> bytes:
        """Return a picture of this moment, as JPEG."""
        await self._draw()
        return self._picture

    async def pictures(self) -> AsyncGenerator[bytes, None]:
        """Pictures as they are made, the latest first; a slow viewer misses some."""
        self.watchers += 1
        if self._filming is None:
            self._filming = asyncio.create_task(self._film())
        shown_number = -1
        try:
            while True:
                while self._number == shown_number or not self._picture:
                    await self._published.wait()
                shown_number = self._number
                yield self._picture
        finally:
            self.watchers -= 1
            if self.watchers == 0 and self._filming is not None:
                self._filming.cancel()
                self._filming = None

    def close(self) -> None:
        if self._filming is not None:
            self._filming.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _film(self) -> None:
        loop = asyncio.get_running_loop()
        due_s, published_s = loop.time(), 0.0
        while True:
            if await self._draw() or due_s - published_s >= _REPEAT_S:
                published_s = due_s
                self._publish()
            due_s = max(due_s + 1 / _FRAMES_A_SECOND, loop.time())
            await asyncio.sleep(due_s - loop.time())

    def _publish(self) -> None:
        self._number += 1
        published, self._published = self._published, asyncio.Event()
        published.set()

    async def _draw(self) -> bool:
        """Make the picture of this moment; False where it would be the one there is."""
        now = self._scene(), self._strands.generation, len(self._strands)
        if now == self._shown and self._picture:
            return False
        loop = asyncio.get_running_loop()
        self._picture = await loop.run_in_executor(self._thread, self._render, now[0])
        self._shown = now
        return True

    def _render(self, scene: Scene) -> bytes:
        if self._renderer is None:
            self._renderer = Renderer()
        while not self._renderer.catch_up(self._strands, _STRANDS_AT_ONCE):
            pass
        return self._renderer.frame(scene)

    def _scene(self) -> Scene:
        printer, machine = self._engine.printer, self._engine.printer.machine
        hot = (machine.heaters[HeaterName.HOTEND].actual_c - 50) / 200
        turns = printer.duration_s * _FAN_TURNS_A_SECOND if machine.fan_percent else 0.0
        return Scene(
            nozzle=machine.position,
            heat=round(min(max(hot, 0.0), 1.0) * HEATS),
            fan=int(turns * FAN_POSITIONS) % FAN_POSITIONS,
            light_is_on=machine.light_is_on,
            caption=_caption(printer),
        )


def _caption(printer: SimulatedPrinter) -> str:
    if not printer.file_name:
        return printer.state.value
    minutes, seconds = divmod(int(printer.duration_s), 60)
    layer = f"   layer {printer.current_layer} / {printer.total_layers or '?'}"
    return f"{printer.state.value}   {minutes // 60:02}:{minutes % 60:02}:{seconds:02}{layer}"
