"""Programs that send images of many prints to the failure-detection API."""

import asyncio
import io
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Final

import numpy as np
from PIL import Image

from bench.answers import read_answer

CREATE: Final = "/api/detector/v1/createcontext"
CONNECTIONS: Final = 8
_BOUNDARY: Final = "a-boundary-as-programs-make-it"


def camera_frames(width: int, height: int, count: int) -> list[bytes]:
    """Return JPEGs like a webcam's, with soft shapes, sharp edges and sensor noise."""
    numbers = np.random.default_rng(7)
    return [_frame(width, height, numbers) for _ in range(count)]


def _frame(width: int, height: int, numbers: np.random.Generator) -> bytes:
    shapes = numbers.integers(20, 236, (9, 12, 3), dtype=np.uint8)
    soft = Image.fromarray(shapes).resize((width, height), Image.Resampling.BICUBIC)
    sharp = Image.fromarray(shapes[::-1]).resize((width, height), Image.Resampling.NEAREST)
    noise = numbers.normal(0, 4, (height, width, 1))
    mixed = np.asarray(Image.blend(soft, sharp, 0.25)) + noise
    file = io.BytesIO()
    Image.fromarray(np.clip(mixed, 0, 255).astype(np.uint8)).save(file, "JPEG", quality=85)
    return file.getvalue()


@dataclass(frozen=True, slots=True)
class Detector:
    """The detection API of a service. host: of its base URL."""

    port: int
    host: str
    api_key: str

    async def contexts(self, count: int) -> list[str]:
        """Create `count` contexts; return the paths to which their images are sent."""
        calls = [self._request(CREATE, "application/json", b"{}")] * count
        made = await _answers(self.port, iter(calls))
        return [json.loads(one)["ProcessRequestUrl"].partition(self.host)[2] for one in made]

    def messages(self, contexts: Sequence[str], frames: Sequence[bytes]) -> Iterator[bytes]:
        """Yield one image of each print in turn, without end."""
        kind = f"multipart/form-data; boundary={_BOUNDARY}"
        bodies = cycle([_form(frame) for frame in frames])
        for context in cycle(contexts):
            yield self._request(context, kind, next(bodies))

    def _request(self, path: str, kind: str, body: bytes) -> bytes:
        head = (
            f"POST {path} HTTP/1.1\r\nHost: {self.host}\r\nX-API-Key: {self.api_key}\r\n"
            f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body


async def keep_sending(port: int, messages: Iterator[bytes], seconds: float) -> float:
    """Return images per second from CONNECTIONS callers, each of which waits only for its
    response.
    """
    began = time.perf_counter()

    def until_then() -> Iterator[bytes]:
        while time.perf_counter() < began + seconds:
            yield next(messages)

    answers = await _answers(port, until_then())
    return len(answers) / (time.perf_counter() - began)


async def send_all(port: int, messages: Iterator[bytes], count: int) -> None:
    """Send `count` images as fast as they are accepted."""
    await _answers(port, (next(messages) for _ in range(count)))


async def send_evenly(
    port: int, messages: Iterator[bytes], rate: float, seconds: float
) -> list[float]:
    """Return the latency of each response in ms, from the time at which its image was due."""
    began = time.perf_counter() + 0.1
    due = iter([began + number / rate for number in range(int(rate * seconds))])
    taken: list[float] = []

    async def caller() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for at in due:
            await asyncio.sleep(max(0.0, at - time.perf_counter()))
            writer.write(next(messages))
            await read_answer(reader)
            taken.append(1e3 * (time.perf_counter() - at))
        writer.close()

    await asyncio.gather(*(caller() for _ in range(CONNECTIONS)))
    return taken


async def _answers(port: int, messages: Iterator[bytes]) -> list[bytes]:
    """Return the bodies of all responses, in any order."""
    answers: list[bytes] = []

    async def caller() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for message in messages:
            writer.write(message)
            answers.append(await read_answer(reader))
        writer.close()

    await asyncio.gather(*(caller() for _ in range(CONNECTIONS)))
    return answers


def _form(image: bytes) -> bytes:
    head = (
        f"--{_BOUNDARY}\r\nContent-Type: image/jpeg\r\n"
        'Content-Disposition: form-data; name="file"; filename="snapshot.jpg"\r\n\r\n'
    )
    return head.encode() + image + f"\r\n--{_BOUNDARY}--\r\n".encode()
