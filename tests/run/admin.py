"""The administration commands on a data directory, as scripts give them."""

import asyncio
import io
import json
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from printreach.rules.connections.credentials import printer_id_of
from printreach.run.main import main
from printreach.store.relay import SqlAgents
from printreach.store.store import open_store

ADA = "ada@example.org"
PASSWORD = "a long enough passphrase"
KEY = b"k" * 32
PRINTER_ID = printer_id_of(KEY)


class Admin:
    """Runs commands on a data directory of their own."""

    def __init__(
        self, folder: Path, patch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]
    ) -> None:
        self.database = folder / "data" / "printreach.sqlite3"
        self._patch = patch
        self._capture = capture
        patch.setenv("PRINTREACH_DATA_DIR", str(folder / "data"))

    def run(self, *words: str, stdin: bytes = b"") -> tuple[int, str, str]:
        """Exit status, standard output, standard error."""
        self._patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        self._capture.readouterr()
        try:
            status = main(["admin", *words])
        except SystemExit as stopped:  # argparse, at wrong usage
            status = int(stopped.code or 0)
        output = self._capture.readouterr()
        return status, output.out, output.err

    def json(self, *words: str, stdin: bytes = b"") -> Any:
        """What a command that succeeds prints for programs: one object, on one line."""
        status, out, err = self.run(*words, "--json", stdin=stdin)
        assert (status, err) == (0, "")
        assert out.count("\n") == 1
        return json.loads(out)

    def refusal(self, *words: str, stdin: bytes = b"") -> str:
        """The sentence of a command that fails."""
        status, out, err = self.run(*words, stdin=stdin)
        assert (status, out) == (1, "")
        assert err.startswith("printreach admin: ")
        assert err.endswith(".\n")
        return err

    def add_ada(self) -> Mapping[str, str]:
        added: Mapping[str, str] = self.json("account", "add", ADA, stdin=f"{PASSWORD}\n".encode())
        return added

    def link_code(self) -> str:
        """As the service would have given it to an agent."""

        async def offer() -> str:
            async with open_store(self.database) as store:
                agents = SqlAgents(store, secrets.token_bytes)
                return (await agents.offer_link_code(PRINTER_ID, KEY, datetime.now(UTC))).code

        return asyncio.run(offer())

    def link_printer(self) -> None:
        self.json("printer", "link", self.link_code(), "--account", ADA, "--name", "Workshop")

    def set_up(self) -> None:
        """Ada with a printer, and an app."""
        self.add_ada()
        self.json("app", "add", "demo", "--name", "Demo", "--return-url", "https://a.example/")
        self.link_printer()

    def connect(self) -> Mapping[str, str]:
        made: Mapping[str, str] = self.json(
            "connection", "add", "--app", "demo", "--printer", PRINTER_ID
        )
        return made
