"""The rooms know what the architecture says, and a planted violation of each rule is caught."""

from pathlib import Path

import grimp
import pytest

from tests.architecture.rooms import broken_rules

REPOSITORY = Path(__file__).parents[2]
PLANTED = "plantedhouse"

HONEST_HOUSE = {
    "contract/status.py": "import msgspec",
    "wire/frames.py": "import struct",
    "rules/connections/credentials.py": "import hmac\nfrom datetime import datetime",
    "tunnel/tunnel.py": "import asyncio",
    "tunnel/websocket_link.py": "import picows",
    "printers/octoprint/translate.py": f"from {PLANTED}.contract import status",
    "printers/octoprint/api.py": f"import asyncio\nfrom {PLANTED}.http1 import server",
    "printers/octoprint/adapter.py": "from . import api, translate",
    "printers/moonraker/adapter.py": "import asyncio",
    "http1/server.py": "import asyncio",
    "agent/keys.py": "from cryptography.hazmat.primitives.asymmetric import ed25519",
    "web/app.py": "import litestar",
    "run/agent.py": f"from {PLANTED}.agent import keys",
    "run/main.py": "import uvloop",
}


def build_house(folder: Path, files: dict[str, str]) -> grimp.ImportGraph:
    """Write a package of these files and read its imports."""
    house = folder / PLANTED
    for name, text in files.items():
        path = house / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    for package in [house, *(path for path in house.rglob("*") if path.is_dir())]:
        (package / "__init__.py").touch()
    return grimp.build_graph(PLANTED, include_external_packages=True, cache_dir=None)


@pytest.fixture
def lot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that packages can be imported from."""
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_every_room_imports_only_what_it_may() -> None:
    graph = grimp.build_graph("printreach", include_external_packages=True, cache_dir=None)

    assert broken_rules(graph, "printreach") == []


def test_a_house_that_keeps_the_rules_passes(lot: Path) -> None:
    assert broken_rules(build_house(lot, HONEST_HOUSE), PLANTED) == []


@pytest.mark.parametrize(
    ("file", "line", "complaint"),
    [
        ("contract/codec.py", "import pydantic", "contract.codec imports pydantic"),
        ("wire/session.py", "import asyncio", "wire.session imports asyncio"),
        ("wire/session.py", "import msgspec", "wire.session imports msgspec"),
        ("rules/accounts/limits.py", "import time", "rules.accounts.limits imports time"),
        (
            "rules/accounts/limits.py",
            "from random import random",
            "rules.accounts.limits imports random",
        ),
        ("rules/portal/__init__.py", "def f() -> None:\n    import os", "rules.portal imports os"),
        ("rules/portal/__init__.py", "import logging", "rules.portal imports logging"),
        ("rules/portal/__init__.py", "import cryptography", "rules.portal imports cryptography"),
        ("ports.py", "import sqlalchemy", "ports imports sqlalchemy"),
        ("hub/accounts/__init__.py", "import httpx", "hub.accounts imports httpx"),
        ("http1/heads.py", "import socket", "http1.heads imports socket"),
        ("http1/server.py", "import httptools", "http1.server imports httptools"),
        ("tunnel/tunnel.py", "import picows", "tunnel.tunnel imports picows"),
        ("printers/octoprint/api.py", "import aiohttp", "printers.octoprint.api imports aiohttp"),
        (
            "printers/octoprint/translate.py",
            "import asyncio",
            "printers.octoprint.translate imports asyncio",
        ),
        (
            "printers/octoprint/translate.py",
            "from . import api",
            f"printers.octoprint.translate imports {PLANTED}.printers.octoprint.api",
        ),
        (
            "printers/octoprint/translate.py",
            f"import {PLANTED}.wire.frames",
            f"printers.octoprint.translate imports {PLANTED}.wire.frames",
        ),
        (
            "printers/moonraker/api.py",
            f"from {PLANTED}.printers.octoprint import translate",
            "printers.moonraker.api imports printers.octoprint.translate",
        ),
        ("agent/lan.py", "import jinja2", "agent.lan imports jinja2"),
        ("run/agent.py", "import litestar", "run.agent imports litestar"),
        ("relay/front.py", "import litestar", "relay.front imports litestar"),
        ("web/app.py", "import sqlalchemy", "web.app imports sqlalchemy"),
        ("store/prints/events.py", "import httpx", "store.prints.events imports httpx"),
        ("backends/clock.py", "import litestar", "backends.clock imports litestar"),
        ("run/main.py", "import requests", "run.main imports requests"),
        ("helpers/text.py", "import re", "helpers is no room of tests/architecture/rooms.py"),
    ],
)
def test_a_planted_violation_is_caught(lot: Path, file: str, line: str, complaint: str) -> None:
    graph = build_house(lot, {**HONEST_HOUSE, file: line})

    assert broken_rules(graph, PLANTED) == [complaint]


def test_a_room_may_not_hide_an_import_behind_a_type_check(lot: Path) -> None:
    hidden = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import sqlalchemy"

    graph = build_house(lot, {"rules/accounts/limits.py": hidden})

    assert broken_rules(graph, PLANTED) == ["rules.accounts.limits imports sqlalchemy"]
