"""Processes of `printreach` for rigs, none of which imports anything.

To import the service takes most of a second of CPU, and a run of the tests starts hundreds of
processes. So one process has imported it, and forks for each: fork_server DESCRIPTOR, which is of a
socket that brings orders, each with the descriptors of files and sockets.

tests/run/test_fork_server.py compares such a process with one of the installed command.
"""

import atexit
import gc
import importlib
import json
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Final, NoReturn, TypedDict

from printreach.run.main import main
from tests.rigs.handover import put_in_place
from tests.rigs.peers import ROOT
from tests.rigs.programs import Program, die_with_the_tests

_MODULES: Final = (
    *("printreach.run.admin", "printreach.run.serve", "printreach.run.agent"),
    *("printreach.agent.runtime", "printreach.agent.uplink"),
)
_READ_AT_START: Final = ("PYTHON", "LD_", "MALLOC_", "GLIBC_", "OPENSSL_")
"""Beginnings of the variables that take effect only while a process starts."""
_MESSAGE_BYTES: Final = 1 << 17
_MAX_DESCRIPTORS: Final = 64


class _Order(TypedDict):
    """words: behind `printreach`. environ: all of the process's environment."""

    words: Sequence[str]
    environ: Mapping[str, str]
    cwd: str


class ForkedProcess:
    """A process of the fork server, as far as it is like a `subprocess.Popen`."""

    def __init__(self, server: "_ForkServer", pid: int, pidfd: int) -> None:
        self.pid = pid
        self._server = server
        self._pidfd = pidfd
        self._status: int | None = None

    def poll(self) -> int | None:
        """Return the exit status, a signal's as its negative number; None while it runs."""
        if self._status is None and self._has_ended(0):
            self._status = self._server.reap(self.pid)
            os.close(self._pidfd)
        return self._status

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end. Raises TimeoutExpired."""
        if self._status is None and not self._has_ended(timeout):
            raise subprocess.TimeoutExpired("printreach", timeout or 0.0)
        status = self.poll()
        assert status is not None
        return status

    def _has_ended(self, timeout_s: float | None) -> bool:
        ended = select.poll()  # its number may be beyond what select() takes
        ended.register(self._pidfd, select.POLLIN)
        return bool(ended.poll(None if timeout_s is None else timeout_s * 1000))


class ForkedProgram(Program):
    """A program whose command line is one of the installed `printreach`."""

    def _begin(self, output: int, errors: int) -> ForkedProcess:
        with Path(os.devnull).open("rb") as nothing:
            listeners = [listener.fileno() for listener in self.listeners]
            files = [nothing.fileno(), output, errors]
            return fork(self.words[1:], self.environ, [*files, *listeners], self.cwd)


def program_of(
    name: str,
    argv: Sequence[str | Path],
    *,
    logs: Path,
    env: Mapping[str, str],
    listeners: Sequence[socket.socket] = (),
) -> Program:
    """A program that forks where that makes no difference; benchmarks have what people start."""
    changed = [variable for variable in env if env[variable] != os.environ.get(variable)]
    forks = (
        "PYTEST_VERSION" in os.environ
        and str(argv[0]) == str(Path(sys.executable).with_name("printreach"))
        and argv[1] in {"agent", "serve"}
        and "--processes" not in argv
        and not any(variable.startswith(_READ_AT_START) for variable in changed)
    )
    kind = ForkedProgram if forks else Program
    return kind(name, argv, logs=logs, env=env, listeners=listeners)


def fork(
    words: Sequence[str],
    environ: Mapping[str, str],
    descriptors: Sequence[int],
    cwd: Path | None = None,
) -> ForkedProcess:
    """Begin `printreach WORDS`, as the leader of a session of its own; it ends with the tests.

    environ: all of it. descriptors: of standard input, output and error, then of listening sockets
    that are handed over as systemd does.
    """
    order = _Order(words=words, environ=dict(environ), cwd=str(cwd or Path.cwd()))
    return _fork_server().fork(order, descriptors)


@dataclass(frozen=True)
class _ForkServer:
    """The process that has imported everything. It ends when this one does."""

    process: "subprocess.Popen[bytes]"
    orders: socket.socket
    turn: Lock

    def fork(self, order: _Order, descriptors: Sequence[int]) -> ForkedProcess:
        with self.turn:
            socket.send_fds(self.orders, [json.dumps(order).encode()], descriptors)
            answer, received, *_ = socket.recv_fds(self.orders, _MESSAGE_BYTES, 1)
        assert answer, "the process that forks others has ended"
        return ForkedProcess(self, json.loads(answer), received[0])

    def reap(self, pid: int) -> int:
        """Return the exit status of a process that has ended; its id may be another's then."""
        with self.turn:
            self.orders.sendall(json.dumps(pid).encode())
            status: int = json.loads(self.orders.recv(_MESSAGE_BYTES))
        return status

    def close(self) -> None:
        self.orders.close()
        self.process.kill()
        self.process.wait()


@cache
def _fork_server() -> _ForkServer:
    """The one of this worker."""
    orders, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.rigs.fork_server", str(theirs.fileno())],
            cwd=ROOT,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            preexec_fn=die_with_the_tests,
        )
    server = _ForkServer(process, orders, Lock())
    atexit.register(server.close)
    return server


def _serve(descriptor: int) -> None:
    for name in _MODULES:
        importlib.import_module(name)  # in that process alone
    gc.collect()
    gc.freeze()  # what no child looks through is not copied for it
    orders = socket.socket(fileno=descriptor)
    while True:
        message, descriptors, *_ = socket.recv_fds(orders, _MESSAGE_BYTES, _MAX_DESCRIPTORS)
        if not message:
            return
        order = json.loads(message)
        if isinstance(order, int):
            status = os.waitstatus_to_exitcode(os.waitpid(order, 0)[1])
            orders.sendall(json.dumps(status).encode())
        else:
            _answer(orders, order, descriptors)


def _answer(orders: socket.socket, order: _Order, descriptors: Sequence[int]) -> None:
    """Fork, and say so once signals to the group of the new process arrive."""
    has_begun, beginning = os.pipe()
    child = os.fork()
    if child == 0:
        orders.detach()
        os.setsid()
        die_with_the_tests()
        os.close(beginning)
        _become(order, descriptors)
    os.close(beginning)
    os.read(has_begun, 1)
    for one in (has_begun, *descriptors):
        os.close(one)
    pidfd = os.pidfd_open(child)
    socket.send_fds(orders, [json.dumps(child).encode()], [pidfd])
    os.close(pidfd)


def _become(order: _Order, descriptors: Sequence[int]) -> NoReturn:
    """Be `printreach WORDS`.

    What administers leaves without clearing up what was imported, which takes longer than most
    commands.
    """
    os.environ.clear()
    os.environ.update(order["environ"])
    put_in_place(descriptors, 0)
    os.closerange(len(descriptors), _MAX_DESCRIPTORS)
    time.tzset()
    os.chdir(order["cwd"])
    sys.argv[1:] = order["words"]
    try:
        status = main(order["words"])
    except SystemExit as stopped:  # argparse, at wrong usage
        status = int(stopped.code or 0)
    if order["words"][0] != "admin":
        sys.exit(status)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
