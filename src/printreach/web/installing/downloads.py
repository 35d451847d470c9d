"""What the service hands out to whoever installs an agent, at addresses below /install."""

import asyncio
import hashlib
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from litestar import Request, Response, route
from litestar.exceptions import NotFoundException
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from printreach.web.installing.wheel import WHEEL_NAME, pack_agent, shipped_file
from printreach.web.safe_methods import READ

SCRIPT: Final = "agent"
"""The name of the script below /install."""
_SCRIPT_BODY: Final = Path(__file__).with_name("agent.sh")
_TEXT: Final = "text/plain"  # the framework adds the charset


@dataclass(frozen=True, slots=True)
class _Download:
    """A file that is handed out."""

    content: bytes
    media_type: str

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


def downloads_route(base_url: str) -> HTTPRouteHandler:
    """Serve the script, the wheel and the lists of libraries.

    They are made once, by the first request for one of them, on a thread; after that,
    strangers cause nothing but reads of memory. base_url: of the settings; nothing that a caller
    says gets into the script.
    """
    made: Mapping[str, _Download] = {}
    making = asyncio.Lock()

    @route("/install/{name:str}", http_method=READ, include_in_schema=False)
    async def download(name: FromPath[str], request: Request[Any, Any, Any]) -> Response[bytes]:
        nonlocal made
        async with making:
            made = made or await asyncio.to_thread(partial(_make_all, base_url))
        if name not in made:
            raise NotFoundException
        return _answer(made[name], request.headers.get("if-none-match", ""))

    return download


def _answer(found: _Download, known: str) -> Response[bytes]:
    tag = f'"{found.digest}"'
    headers = {"ETag": tag, "Cache-Control": "public, no-cache"}
    if tag in known:
        return Response(b"", status_code=304, headers=headers)
    return Response(found.content, media_type=found.media_type, headers=headers)


def _make_all(base_url: str) -> Mapping[str, _Download]:
    wheel = _Download(pack_agent(), "application/zip")
    lists = {
        f"requirements-{extra}.txt": _Download(shipped_file(f"requirements/{extra}.txt"), _TEXT)
        for extra in ("agent", "demo")
    }
    script = _script(
        SERVICE=base_url,
        WHEEL=WHEEL_NAME,
        WHEEL_SHA256=wheel.digest,
        AGENT_LIST_SHA256=lists["requirements-agent.txt"].digest,
        DEMO_LIST_SHA256=lists["requirements-demo.txt"].digest,
    )
    return {WHEEL_NAME: wheel, SCRIPT: _Download(script, _TEXT), **lists}


def _script(**values: str) -> bytes:
    """Return the script with its values before it. Each is one word, whatever is in it."""
    assignments = [f"{name}={shlex.quote(value)}" for name, value in values.items()]
    head = "\n".join(["#!/bin/sh", *assignments, ""])
    return head.encode() + _SCRIPT_BODY.read_bytes()
