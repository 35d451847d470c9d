"""A camera that looks at a print: good at first, and a heap of spaghetti when a test says so."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from PIL import Image, ImageDraw

BED = Path(__file__).with_name("bed")
GOOD, SPAGHETTI = BED / "good.jpg", BED / "spaghetti.jpg"


@dataclass
class PrintCamera:
    """shows: the picture that it takes from now on. taken: how many it has taken."""

    url: str = ""
    shows: Path = GOOD
    taken: int = 0
    by_picture: dict[Path, int] = field(default_factory=dict)

    def take(self) -> bytes:
        """With a number in its corner, as cameras write the time: no two are the very same."""
        self.taken += 1
        self.by_picture[self.shows] = self.by_picture.get(self.shows, 0) + 1
        picture = Image.open(self.shows)
        ImageDraw.Draw(picture).text((8, picture.height - 16), f"{self.taken:06}", fill="white")
        out = io.BytesIO()
        picture.save(out, "JPEG", quality=85)
        return out.getvalue()


@contextmanager
def print_camera() -> Iterator[PrintCamera]:
    """It gives a snapshot at each request, whatever is asked for."""
    camera = PrintCamera()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            picture = camera.take()
            self.send_response(200)
            self.send_header("Content-Type", "image/jpeg")
            self.send_header("Content-Length", str(len(picture)))
            self.end_headers()
            self.wfile.write(picture)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its base names it
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        camera.url = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield camera
        finally:
            server.shutdown()
            thread.join()
