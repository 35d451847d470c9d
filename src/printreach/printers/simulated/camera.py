"""The printer's webcam: pictures while it has viewers, and no work otherwise.

They are drawn from what the printer has done, as it does it. The camera stands still, so plastic is
painted once, over what was there before, and each frame is that canvas with the head on top. A
print of any size costs the same few milliseconds a frame.
"""

import asyncio
import io
import math
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from PIL import Image, ImageDraw, ImageFilter, ImageFont

from printreach.printers.following import UpdateSignal

from .control import Engine
from .machine import Strand, Strands
from .motion import Point
from .printer import SimulatedPrinter
from .program import HeaterName
from .scenery import (
    FAN_POSITIONS,
    HEATS,
    HEIGHT_PX,
    WIDTH_PX,
    Spot,
    paste_beam,
    paste_head,
    project,
    room,
)

_FRAMES_A_SECOND = 10
"""As OctoPi sets a webcam up, if not told otherwise."""
_REPEAT_S = 1.0
"""An unchanged picture is sent again after this long, so that viewers see that it works."""
_STRANDS_AT_ONCE = 2000
_FAN_TURNS_A_SECOND = 3.1

_FINE = 2
"""The canvas is this much finer than the picture, against jagged lines."""
_LINE_MM, _LOOSE_MM = 0.95, 0.75
_SHADOW_BELOW_MM = 1.0
_PLASTIC = (36, 172, 150)
_LAMP = (-0.64, -0.77)
"""The direction of the light on the bed: from the front left."""
_JPEG_QUALITY = 82
_CAPTION_PX = 20
_MARGIN_PX = 12
_SHADED = [v * 35 // 100 for v in range(256)] * 3


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
        self._published = UpdateSignal()
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

        def is_fresh() -> bool:
            return self._number != shown_number and bool(self._picture)

        try:
            while True:
                await self._published.wait_until(is_fresh, None)
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
                self._number += 1
                self._published.tell()
            due_s = max(due_s + 1 / _FRAMES_A_SECOND, loop.time())
            await asyncio.sleep(due_s - loop.time())

    async def _draw(self) -> bool:
        """Make the picture of this moment; False where it would be the one there is."""
        now = self._scene(), self._strands.generation, len(self._strands)
        if now == self._shown and self._picture:
            return False
        loop = asyncio.get_running_loop()
        self._picture = await loop.run_in_executor(self._thread, self._render, now[0])
        self._shown = now
        return True

    def _render(self, scene: "Scene") -> bytes:
        if self._renderer is None:
            self._renderer = Renderer()
        while not self._renderer.catch_up(self._strands, _STRANDS_AT_ONCE):
            pass
        return self._renderer.frame(scene)

    def _scene(self) -> "Scene":
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Scene:
    """The content of a frame besides the plastic; equal scenes look the same.

    heat, fan: as paste_head takes them. caption: "" for none.
    """

    nozzle: Point
    heat: int
    fan: int
    light_is_on: bool
    caption: str


class Renderer:
    """Keeps the canvas. Not for two threads at once."""

    def __init__(self) -> None:
        self._room = room()
        self._font = ImageFont.load_default(14)
        self._written = "", Image.new("L", (1, 1))
        self._dark = [int(v * 0.2) for v in range(256)] * 2 + [int(v * 0.27) for v in range(256)]
        self._generation = -1
        self._restart()

    def catch_up(self, strands: Strands, at_most: int) -> bool:
        """Paint strands that are new, no more than this many; True when none are left."""
        if strands.generation != self._generation:
            self._restart()
            self._generation = strands.generation
        fresh = list(strands.between(self._painted, self._painted + at_most))
        if fresh:
            self._paint(fresh)
            self._painted += len(fresh)
        return self._painted >= len(strands)

    def frame(self, scene: Scene) -> bytes:
        """Return the picture as a JPEG."""
        picture = self._still.copy()
        paste_beam(picture, scene.nozzle)
        paste_head(picture, scene.nozzle, heat=scene.heat, fan=scene.fan)
        if not scene.light_is_on:
            picture = picture.point(self._dark)
        if scene.caption:
            self._write(picture, scene.caption)
        out = io.BytesIO()
        picture.save(out, "JPEG", quality=_JPEG_QUALITY)
        return out.getvalue()

    def _restart(self) -> None:
        """Start again with an empty bed."""
        self._painted = 0
        self._canvas = Image.new("RGBA", (WIDTH_PX * _FINE, HEIGHT_PX * _FINE))
        self._shadow = Image.new("L", (WIDTH_PX // 2, HEIGHT_PX // 2))
        self._ground = self._room
        self._still = self._room.copy()

    def _paint(self, strands: list[Strand]) -> None:
        draw, shade = ImageDraw.Draw(self._canvas), ImageDraw.Draw(self._shadow)
        spots = []
        for strand in strands:
            start, end = project(strand.start), project(strand.end)
            spots += [start, end]
            _draw_strand(draw, strand, start, end)
            if strand.end.z < _SHADOW_BELOW_MM:
                _draw_shadow(shade, start, end)
        box = _box_around(spots)
        if any(strand.end.z < _SHADOW_BELOW_MM for strand in strands):
            soft = self._shadow.filter(ImageFilter.GaussianBlur(3)).resize((WIDTH_PX, HEIGHT_PX))
            self._ground = Image.composite(self._room.point(_SHADED), self._room, soft)
            box = (0, 0, WIDTH_PX, HEIGHT_PX)
        if box[0] < box[2] and box[1] < box[3]:
            self._put_together(box)

    def _put_together(self, box: tuple[int, int, int, int]) -> None:
        """Renew a part of the still picture: the plastic over the shadows over the room."""
        left, top, right, bottom = (edge * _FINE for edge in box)
        plastic = self._canvas.crop((left, top, right, bottom)).reduce(_FINE)
        self._still.paste(self._ground.crop(box), box)
        self._still.paste(plastic, box, plastic)

    def _write(self, picture: Image.Image, caption: str) -> None:
        if caption != self._written[0]:
            self._written = caption, self._lettered(caption)
        for offset, colour in ((1, (0, 0, 0)), (0, (236, 241, 243))):
            picture.paste(colour, (12 + offset, HEIGHT_PX - 26 + offset), self._written[1])

    def _lettered(self, caption: str) -> Image.Image:
        """Draw the letters as a mask, which is cached: it costs as much as a JPEG."""
        wide = min(math.ceil(self._font.getlength(caption)), WIDTH_PX)
        letters = Image.new("L", (wide, _CAPTION_PX))
        ImageDraw.Draw(letters).text((0, 0), caption, 255, self._font)
        return letters


def _box_around(spots: list[Spot]) -> tuple[int, int, int, int]:
    """Left, top, right, bottom inside the picture, with a margin; empty where all is outside."""
    xs, ys = [int(spot.x) for spot in spots], [int(spot.y) for spot in spots]
    return (
        max(min(xs) - _MARGIN_PX, 0),
        max(min(ys) - _MARGIN_PX, 0),
        min(max(xs) + _MARGIN_PX, WIDTH_PX),
        min(max(ys) + _MARGIN_PX, HEIGHT_PX),
    )


def _draw_strand(draw: ImageDraw.ImageDraw, strand: Strand, start: Spot, end: Spot) -> None:
    width_mm = _LOOSE_MM if strand.is_loose else _LINE_MM
    width = max(round(width_mm * end.scale * _FINE), 1)
    corners = [(start.x * _FINE, start.y * _FINE), (end.x * _FINE, end.y * _FINE)]
    if strand.is_loose:  # each loop stands out from those below by a shadow of its own
        below = [(x + 1, y + width * 0.6) for x, y in corners]
        draw.line(below, fill=(8, 52, 46, 255), width=width)
    draw.line(corners, fill=_colour(strand), width=width)


def _colour(strand: Strand) -> tuple[int, int, int, int]:
    """Lit from one side: a wall that is printed counter-clockwise faces right of its direction."""
    (x0, y0, z0), (x1, y1, z1) = strand.start, strand.end
    length = math.hypot(x1 - x0, y1 - y0) or 1.0
    facing = ((y1 - y0) * _LAMP[0] - (x1 - x0) * _LAMP[1]) / length
    light = 0.6 + 0.42 * facing
    if strand.is_loose:
        light = 0.9 + 0.25 * math.sin(4 * math.atan2(y1 - y0, x1 - x0) + 0.3 * z1)
    elif round(z0 / 0.6) % 2:
        light *= 0.93
    red, green, blue = (min(int(c * light), 255) for c in _PLASTIC)
    return red, green, blue, 255


def _draw_shadow(draw: ImageDraw.ImageDraw, start: Spot, end: Spot) -> None:
    """On the bed, a little to the right: at half the picture's size."""
    corners = [(start.x / 2 + 2, start.y / 2 + 2), (end.x / 2 + 2, end.y / 2 + 2)]
    draw.line(corners, fill=190, width=4)
