"""`printreach admin` for rigs: every command a process, forked as fork_server.py does it."""

import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from typing import Final, TypedDict

from tests.rigs.fork_server import fork

TIMEOUT_S: Final = 100.0
"""A test that waits for longer than two minutes is ended."""


class Done(TypedDict):
    """The result of a command. status: the exit status; a signal's as its negative number."""

    status: int
    stdout: str
    stderr: str


def run_admin(words: Sequence[str], env: Mapping[str, str], stdin: str = "") -> Done:
    """Run `printreach admin WORDS` to its end. env: added to this process's environment."""
    with (
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        given.write(stdin.encode())
        given.seek(0)
        files = [given.fileno(), out.fileno(), err.fileno()]
        process = fork(["admin", *words], {**os.environ, **env}, files)
        try:
            status = process.wait(TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        out.seek(0)
        err.seek(0)
        return Done(status=status, stdout=out.read().decode(), stderr=err.read().decode())
