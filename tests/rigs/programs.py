"""One running program: its output kept in files, its end certain."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from tests.rigs.handover import handover_words
from tests.rigs.waiting import TIMEOUT_S, wait_for

T = TypeVar("T")

PR_SET_PDEATHSIG = 1  # linux/prctl.h
STOP_SECONDS = 40  # the service itself may take 10 s to end what runs, and the machine more
RUNNING: list["Program"] = []


def die_with_the_tests() -> None:
    """Ask Linux to end this child should the test process vanish without a word."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Program:
    """A child process in a group of its own; a context manager that leaves nothing behind."""

    def __init__(
        self,
        name: str,
        argv: Sequence[str | Path],
        *,
        logs: Path,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        listeners: Sequence[socket.socket] = (),
    ) -> None:
        """logs: folder for the two output files; env: added to this process's environment.

        listeners: sockets that are handed over as systemd does.
        """
        self.name = name
        self.words = tuple(str(part) for part in argv)
        self.logs = logs
        self.env = dict(env or {})
        self._listeners = tuple(listeners)
        self._argv = [*handover_words(self._listeners), *(str(part) for part in argv)]
        self._env = {**os.environ, "PYTHONUNBUFFERED": "1", **(env or {})}
        self._cwd = cwd
        self._stdout = logs / f"{name}.out"
        self._stderr = logs / f"{name}.err"
        self._process: subprocess.Popen[bytes] | None = None
        self._begins_at = 0  # where its output starts, behind what earlier starts wrote

    def __enter__(self) -> Self:
        """Start it."""
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it."""
        self.stop()

    def start(self) -> None:
        """Start the process; its output is appended to what earlier starts wrote."""
        with self._stdout.open("ab") as out, self._stderr.open("ab") as err:
            self._begins_at = out.tell()
            self._process = subprocess.Popen(
                self._argv,
                env=self._env,
                cwd=self._cwd,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
                preexec_fn=die_with_the_tests,
                pass_fds=[listener.fileno() for listener in self._listeners],
            )
        RUNNING.append(self)

    def stop(self) -> None:
        """Ask it to end; kill its whole group when it does not."""
        if self._process is None:
            return
        self.ask_to_end()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            pass  # the group is killed below, willing members or not
        self.kill()

    def ask_to_end(self) -> None:
        """Ask it to end, and don't wait for it."""
        self._signal_group(signal.SIGTERM)

    def kill(self) -> None:
        """End it without notice, as a power cut would."""
        if self._process is None:
            return
        self._signal_group(signal.SIGKILL)
        self._process.wait()
        self._process = None
        RUNNING.remove(self)

    def pause(self) -> None:
        """Freeze it: its sockets stay open and nothing answers."""
        self._signal_group(signal.SIGSTOP)

    def resume(self) -> None:
        """Let a frozen program go on."""
        self._signal_group(signal.SIGCONT)

    @property
    def pid(self) -> int:
        """The process id; the program must be running."""
        assert self._process is not None
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """True until the process has ended."""
        return self._process is not None and self._process.poll() is None

    def stdout(self) -> str:
        """Everything it has printed so far."""
        return self._stdout.read_text(errors="replace")

    def stdout_since_start(self) -> str:
        """Return its output since the last start."""
        return self._stdout.read_bytes()[self._begins_at :].decode(errors="replace")

    def log_marks(self) -> tuple[int, int]:
        """Return the present length of both outputs; log_since takes it."""
        return self._stdout.stat().st_size, self._stderr.stat().st_size

    def log_since(self, marks: tuple[int, int]) -> str:
        """Return its output since log_marks."""
        pairs = zip((self._stdout, self._stderr), marks, strict=True)
        return "".join(path.read_bytes()[start:].decode(errors="replace") for path, start in pairs)

    def log_tail(self, lines: int = 40) -> str:
        """The last lines of both outputs."""
        parts = (self._stdout.read_text(errors="replace"), self._stderr.read_text(errors="replace"))
        return "\n".join("\n".join(part.splitlines()[-lines:]) for part in parts)

    def wait_until(self, what: str, look: Callable[[], T | None], seconds: float = TIMEOUT_S) -> T:
        """Poll as wait_for does, but fail at once, with the log, when the program has ended."""

        def look_while_alive() -> T | None:
            found = look()
            if not found and not self.is_running:
                raise RuntimeError(f"{self.name} ended before {what}:\n{self.log_tail()}")
            return found

        try:
            return wait_for(f"{self.name}: {what}", look_while_alive, seconds)
        except TimeoutError as exc:
            raise TimeoutError(f"{exc}\n{self.log_tail()}") from None

    def _signal_group(self, number: signal.Signals) -> None:
        assert self._process is not None
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            pass  # everyone in the group has ended already
