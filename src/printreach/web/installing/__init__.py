"""What the service hands out to whoever installs an agent, at addresses below /install.

The agent's wheel is packed from the files of this very package. So a service hands out the agent
that belongs to it, whether it runs from a clone or from a wheel. The wheel is called printreach, as
the whole is, and installs the agent and the plugin for OctoPrint with nothing of the server.
Format: https://packaging.python.org/en/latest/specifications/binary-distribution-format/
"""

import asyncio
import base64
import hashlib
import io
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from litestar import Request, Response, route
from litestar.exceptions import NotFoundException
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from printreach import __version__
from printreach.web.safe_methods import READ

SCRIPT: Final = "agent"
"""The name of the script below /install."""
_SCRIPT_BODY: Final = Path(__file__).with_name("agent.sh")
_TEXT: Final = "text/plain"  # the framework adds the charset

WHEEL_NAME: Final = f"printreach-{__version__}-py3-none-any.whl"

_PACKAGE: Final = Path(__file__).parents[2]
_PARTS: Final = (
    *("__init__.py", "py.typed", "agent", "contract", "http1", "limiters", "printers", "rules"),
    *(f"languages/{name}.py" for name in ("__init__", "catalogues", "recognising", "values")),
    *(
        "run/__init__.py",
        "run/agent.py",
        "run/agent_questions.py",
        "run/agent_setup.py",
        "run/main.py",
        "run/octoprint_plugin.py",
    ),
    *("run/process.py", "tunnel", "wire"),
)
"""What an agent is made of, below the package."""
_LEFT_OUT: Final = frozenset({".pyc", ".so"})
"""What holds for one machine only: the wheel is pure Python."""
_EXTRAS: Final = ("agent", "demo")
_INFO: Final = f"printreach-{__version__}.dist-info"


def shipped_file(name: str) -> bytes:
    """Return a file of the repository's root, which a wheel has beside this module.

    Raises FileNotFoundError.
    """
    shipped = Path(__file__).with_name("shipped") / name
    return (shipped if shipped.is_file() else _PACKAGE.parents[1] / name).read_bytes()


def pack_agent() -> bytes:
    """Return the wheel, whose bytes depend on nothing but its files.

    Nothing is compressed: two machines of one service may have compressors that differ, and must
    agree on the digest.
    """
    import tomllib  # few services are ever asked for their agent
    import zipfile

    project = tomllib.loads(shipped_file("pyproject.toml").decode())["project"]
    contents = {
        **{
            f"printreach/{path.relative_to(_PACKAGE).as_posix()}": path.read_bytes()
            for path in _files()
        },
        f"{_INFO}/licenses/LICENSE": shipped_file("LICENSE"),
        f"{_INFO}/METADATA": _metadata(project),
        f"{_INFO}/WHEEL": _lines(
            "Wheel-Version: 1.0",
            "Generator: printreach",
            "Root-Is-Purelib: true",
            "Tag: py3-none-any",
        ),
        f"{_INFO}/entry_points.txt": _entry_points(project),
    }
    contents[f"{_INFO}/RECORD"] = _record(contents)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name, content in contents.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, content)
    return packed.getvalue()


def _files() -> Iterator[Path]:
    for part in _PARTS:
        path = _PACKAGE / part
        found: Iterable[Path] = [path] if path.is_file() else sorted(path.rglob("*"))
        yield from (one for one in found if one.is_file() and one.suffix not in _LEFT_OUT)


def _metadata(project: Mapping[str, Any]) -> bytes:
    """Return the core metadata. What the agent needs is no extra here, but needed by all of it:
    OctoPrint's plugin manager installs a plain address."""
    extras: Mapping[str, Sequence[str]] = project["optional-dependencies"]
    return _lines(
        "Metadata-Version: 2.1",
        "Name: printreach",
        f"Version: {__version__}",
        f"Summary: {project['description']}",
        f"License: {project['license']}",
        f"Requires-Python: {project['requires-python']}",
        *(f"Provides-Extra: {extra}" for extra in _EXTRAS),
        *(f"Requires-Dist: {needed}" for needed in extras["agent"]),
        *(f'Requires-Dist: {needed}; extra == "demo"' for needed in extras["demo"]),
    )


def _entry_points(project: Mapping[str, Any]) -> bytes:
    groups = {"console_scripts": project["scripts"], **project["entry-points"]}
    return _lines(
        *(
            line
            for group, entries in groups.items()
            for line in (f"[{group}]", *(f"{name} = {target}" for name, target in entries.items()))
        )
    )


def _record(contents: Mapping[str, bytes]) -> bytes:
    rows = [
        f"{name},sha256={_digest(content)},{len(content)}" for name, content in contents.items()
    ]
    return _lines(*rows, f"{_INFO}/RECORD,,")


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def _lines(*lines: str) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


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
