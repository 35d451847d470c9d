"""`printreach serve --processes N`: N nodes on this machine, each a process with its own socket.

The kernel hands each new connection to one of the sockets (SO_REUSEPORT). This process opens them
and keeps them, so callers wait a moment in the queue of one whose process is replaced. It starts a
process again that has ended, passes a stop on, and does nothing else.
"""

import ctypes
import json
import logging
import os
import selectors
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from printreach.rules.backoff import Backoff
from printreach.run.settings import PREFIX, Settings
from printreach.run.sockets import FIRST_DESCRIPTOR, port_of

log = logging.getLogger(__name__)

RESTART: Final = Backoff.doubling(0.5, 30.0)
STEADY_S: Final = 60.0
"""A process that ran for so long and ends is started again at once."""
STOP_DEADLINE_S: Final = 20.0
"""Longer than a node takes for its running requests."""
BACKLOG: Final = 1024
MAX_PROCESSES: Final = 256

_FIRST_ALONE: Final = f"{PREFIX}DETECTOR_LISTEN"
"""A setting for the first process, since a port can't be shared."""
_READY: Final = b"ready "
_PR_SET_PDEATHSIG: Final = 1  # linux/prctl.h


@dataclass
class _Process:
    """One node. ready: the facts of its ready line, once it has printed that."""

    number: int
    listeners: Sequence[socket.socket]
    pid: int = 0
    output: int = -1
    unread: bytes = b""
    ready: Mapping[str, str] | None = None
    started_at: float = 0.0
    failures: int = 0
    start_at: float = 0.0
    status: int | None = None


@dataclass
class Processes:
    """Runs the nodes until a signal comes.

    words: the command line of each, without --processes.
    """

    count: int
    words: Sequence[str]
    settings: Settings
    listeners: Sequence[socket.socket]
    now: Callable[[], float] = time.monotonic
    _all: list[_Process] = field(default_factory=list)
    _is_stopping: bool = False
    _has_reported: bool = False
    _kill_at: float = 0.0
    _port: int = 0

    def run(self) -> int:
        """Return the exit status. Raises OSError for an address in use."""
        self._all = [_Process(number, self._sockets()) for number in range(self.count)]
        selector = selectors.DefaultSelector()
        woken, waking = os.pipe()
        os.set_blocking(waking, False)
        os.set_blocking(woken, False)
        signal.set_wakeup_fd(waking)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._stop())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        selector.register(woken, selectors.EVENT_READ)
        while True:
            self._start_due(selector)
            for key, _ in selector.select(0.25):
                if key.data is None:
                    _drain(woken)
                else:
                    self._read(key.data, selector)
            failed = self._reap(selector)
            if failed is not None:
                return failed
            if self._is_stopping and not any(one.pid for one in self._all):
                return 0

    # --- starting and ending ----------------------------------------------------------------------

    def _start_due(self, selector: selectors.BaseSelector) -> None:
        """Start what has to run. Others wait for the first: it makes the keys and the database."""
        if self._is_stopping:
            self._kill_late()
            return
        first = self._all[0]
        for one in self._all:
            may_start = one is first or self._has_reported or first.ready is not None
            if not one.pid and may_start and self.now() >= one.start_at:
                self._start(one)
                selector.register(one.output, selectors.EVENT_READ, one)

    def _start(self, one: _Process) -> None:
        output, theirs = os.pipe()
        environ, words = self._environ(one), self._words(one)
        pid = os.fork()
        if not pid:
            _become(words, environ, one.listeners, theirs)
        os.close(theirs)
        one.pid, one.output, one.unread, one.ready = pid, output, b"", None
        one.started_at = self.now()

    def _stop(self) -> None:
        if not self._is_stopping:
            self._is_stopping = True
            self._kill_at = self.now() + STOP_DEADLINE_S
        self._signal(signal.SIGTERM)

    def _kill_late(self) -> None:
        if self.now() >= self._kill_at:
            self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        for one in self._all:
            if one.pid:
                os.kill(one.pid, number)  # not reaped yet, so the id is still its own

    def _reap(self, selector: selectors.BaseSelector) -> int | None:
        """Note which processes have ended; return the exit status if the service can't start."""
        for one in self._all:
            if not one.pid:
                continue
            pid, status = os.waitpid(one.pid, os.WNOHANG)
            if not pid:
                continue
            self._read(one, selector)
            one.pid = 0
            self._note_end(one, os.waitstatus_to_exitcode(status))
        never_ready = next((one for one in self._all if one.status is not None), None)
        if never_ready is None or self._has_reported or self._is_stopping:
            return None
        # It said why; the others would fail alike.
        self._stop()
        self._await_all()
        return never_ready.status

    def _note_end(self, one: _Process, code: int) -> None:
        if self._is_stopping:
            return
        if not self._has_reported:
            one.status = code if code > 0 else 1
            return
        ran_s = self.now() - one.started_at
        one.failures = 1 if ran_s >= STEADY_S else one.failures + 1
        pause_s = 0.0 if ran_s >= STEADY_S else RESTART.pause_s(one.failures)
        one.start_at = self.now() + pause_s
        log.error(
            "process %d ended with %d; it is started again in %.1f s", one.number, code, pause_s
        )

    def _await_all(self) -> None:
        for one in self._all:
            if one.pid:
                os.waitpid(one.pid, 0)
                one.pid = 0

    # --- what they print --------------------------------------------------------------------------

    def _read(self, one: _Process, selector: selectors.BaseSelector) -> None:
        """Pass on what a process prints, except its ready line."""
        if one.output < 0:
            return
        data = os.read(one.output, 65536)
        if not data:
            selector.unregister(one.output)
            os.close(one.output)
            one.output = -1
            return
        *lines, one.unread = (one.unread + data).split(b"\n")
        for line in lines:
            if line.startswith(_READY):
                one.ready = json.loads(line[len(_READY) :])
                self._report_ready()
            else:
                _print(line)

    def _report_ready(self) -> None:
        if self._has_reported or any(one.ready is None for one in self._all):
            return
        self._has_reported = True
        _print(_READY + json.dumps(self._all[0].ready).encode())

    # --- what each of them gets -------------------------------------------------------------------

    def _sockets(self) -> Sequence[socket.socket]:
        """Open the sockets of one process; those that a parent handed over are for all of them."""
        if self.listeners:
            return self.listeners
        host, port = self.settings.listen_host, self._port or self.settings.listen_port
        opened = [_listening(host, each) for each in (port, *self.settings.tunnel_ports)]
        self._port = port_of(opened[0])  # where the system picked it, the others take the same
        return opened

    def _words(self, one: _Process) -> list[str]:
        words = [sys.executable, "-m", "printreach.run.main", *self.words, "--processes", "1"]
        if one.number:  # one agent for the printer of this machine is enough
            words = [word for word in words if not _names_agent(word)]
        return words

    def _environ(self, one: _Process) -> dict[str, str]:
        environ = dict(os.environ)
        if one.number:
            environ.pop(_FIRST_ALONE, None)
        host, port = self.settings.node_listen or ("127.0.0.1", 0)
        port += one.number if port else 0
        environ[f"{PREFIX}NODE_LISTEN"] = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        if self.settings.node_url:
            start, _, last = self.settings.node_url.rpartition(":")
            environ[f"{PREFIX}NODE_URL"] = f"{start}:{int(last) + one.number}"
        return environ


def _names_agent(word: str) -> bool:
    """Return whether the word is --with-agent, which may be cut short."""
    return len(word) > len("--w") - 1 and "--with-agent".startswith(word)


def _become(
    words: list[str],
    environ: dict[str, str],
    listeners: Sequence[socket.socket],
    output: int,
) -> None:
    """Turn the forked child into a node, with its sockets as systemd hands them over."""
    try:
        os.dup2(output, 1)
        # First out of the way: one of them may stand where another has to be.
        copies = [os.dup(each.fileno()) for each in listeners]
        spare = max([*copies, FIRST_DESCRIPTOR + len(copies)]) + 1
        copies = [os.dup2(copy, spare + at) for at, copy in enumerate(copies)]
        for at, copy in enumerate(copies):
            os.dup2(copy, FIRST_DESCRIPTOR + at)
            os.set_inheritable(FIRST_DESCRIPTOR + at, True)
        for copy in copies:
            os.close(copy)
        environ["LISTEN_PID"], environ["LISTEN_FDS"] = str(os.getpid()), str(len(copies))
        signal.set_wakeup_fd(-1)
        if sys.platform == "linux":
            # A node without this process would be replaced by nobody, and stopped by nobody.
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        os.execve(words[0], words, environ)  # noqa: S606 - its own program, no shell
    finally:
        os._exit(127)


def _listening(host: str, port: int) -> socket.socket:
    """Raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=BACKLOG, reuse_port=True)


def _print(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


def _drain(descriptor: int) -> None:
    try:
        while os.read(descriptor, 4096):
            pass
    except BlockingIOError:
        pass  # all read
