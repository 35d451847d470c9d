"""`printreach admin` for rigs: every command a process, none of which imports anything.

To import what administers takes more than a second of CPU, and a run of the tests gives hundreds of
commands. So one process has imported it, and forks for each: admin_commands.py DESCRIPTOR, which is
of a socket that brings an order a line, and takes what came of it.
"""

import atexit
import gc
import importlib
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from threading import Lock
from typing import Final, NoReturn, TypedDict, cast

from printreach.run.main import main

TIMEOUT_S: Final = 100.0
"""A test that waits for longer than two minutes is ended."""


class Order(TypedDict):
    """words: behind `printreach`. environ: all of the command's environment."""

    words: list[str]
    environ: dict[str, str]
    stdin: str


class Done(TypedDict):
    """The result of a command. status: the exit status; a signal's as its negative number."""

    status: int
    stdout: str
    stderr: str


def run_admin(words: Sequence[str], env: Mapping[str, str], stdin: str = "") -> Done:
    """Run `printreach admin WORDS` to its end. env: added to this process's environment."""
    environ = {**os.environ, **env}
    office = _command_server()
    try:
        return office.carry_out(Order(words=["admin", *words], environ=environ, stdin=stdin))
    except TimeoutError:
        # Its late output would be taken for the answer to the next command.
        _command_server.cache_clear()
        office.close()
        raise


class _CommandServer:
    """The process that has imported everything. It ends when this one does."""

    def __init__(self) -> None:
        self._turn = Lock()
        self._socket, theirs = socket.socketpair()
        self._socket.settimeout(TIMEOUT_S)
        argv = [sys.executable, __file__, str(theirs.fileno())]
        with theirs:
            self._process = subprocess.Popen(
                argv, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL
            )
        self._answers = self._socket.makefile("rb")

    def carry_out(self, order: Order) -> Done:
        with self._turn:
            self._socket.sendall(json.dumps(order).encode() + b"\n")
            line = self._answers.readline()
        assert line, "the process that runs the administration's commands has ended"
        return cast("Done", json.loads(line))

    def close(self) -> None:
        self._answers.close()
        self._socket.close()
        self._process.kill()
        self._process.wait()


@cache
def _command_server() -> _CommandServer:
    """The one of this worker."""
    office = _CommandServer()
    atexit.register(office.close)
    return office


def _serve(descriptor: int) -> None:
    importlib.import_module("printreach.run.admin")  # in that process alone
    gc.freeze()  # what no child looks through is not copied for it
    with socket.socket(fileno=descriptor) as orders, orders.makefile("rb") as lines:
        for line in lines:
            orders.sendall(json.dumps(_carry_out(json.loads(line))).encode() + b"\n")


def _carry_out(order: Order) -> Done:
    with (
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        given.write(order["stdin"].encode())
        given.seek(0)
        child = os.fork()
        if child == 0:
            _become(order, given.fileno(), out.fileno(), err.fileno())
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        out.seek(0)
        err.seek(0)
        return Done(status=status, stdout=out.read().decode(), stderr=err.read().decode())


def _become(order: Order, *descriptors: int) -> NoReturn:
    """Be `printreach WORDS`, with these as standard input, output and error.

    It leaves without clearing up what was imported, which takes longer than most commands.
    """
    for at, descriptor in enumerate(descriptors):
        os.dup2(descriptor, at)
    os.environ.clear()
    os.environ.update(order["environ"])
    try:
        status = main(order["words"])
    except SystemExit as stopped:  # argparse, at wrong usage
        status = int(stopped.code or 0)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
