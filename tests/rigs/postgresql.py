"""A PostgreSQL server of the tests' own, and databases in it."""

import asyncio
import getpass
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Self, TypeVar
from urllib.parse import quote

import asyncpg  # type: ignore[import-untyped]

from tests.requirements_of_tests import need
from tests.rigs.programs import die_with_the_tests
from tests.rigs.waiting import wait_for

T = TypeVar("T")

USER: Final = "printreach"
_INSTALLED: Final = Path("/usr/lib/postgresql")
_MEMORY: Final = Path("/dev/shm")
_OLDEST: Final = 15
# A machine that loses its power loses the tests as well.
_SETTINGS: Final = (
    *("fsync=off", "synchronous_commit=off", "full_page_writes=off", "listen_addresses="),
    *("max_connections=200", "shared_buffers=32MB", "autovacuum=off", "wal_level=minimal"),
    *("max_wal_senders=0", "unix_socket_permissions=0777", "jit=off"),
    # In its folder, since a server that is killed leaves what it had in memory.
    "dynamic_shared_memory_type=mmap",
)

REPLICATED: Final = ("wal_level=replica", "max_wal_senders=4")
"""For a server that has a standby."""
DURABLE: Final = ("fsync=on", "synchronous_commit=on", "full_page_writes=on")
"""For a server whose speed is measured: what it has stored survives a loss of power."""


def postgresql_programs() -> Path:
    """Return the folder of the newest server's programs; skip the test if there is none."""
    found = sorted(
        (int(folder.name), folder / "bin")
        for folder in (_INSTALLED.iterdir() if _INSTALLED.is_dir() else ())
        if folder.name.isdigit() and int(folder.name) >= _OLDEST
    )
    if not found and (initdb := shutil.which("initdb")):
        return Path(initdb).resolve().parent
    need("PostgreSQL", bool(found), f"apt-get install postgresql (at least {_OLDEST})")
    return found[-1][1]


class PostgresqlServer:
    """A server that listens on a Unix socket alone; a context manager that leaves nothing behind.

    PostgreSQL refuses to run as root, so then it runs as the system's user for it.
    """

    def __init__(
        self, *settings: str, parent: Path | None = None, standby_of: Self | None = None
    ) -> None:
        """settings: more of them, as DURABLE. parent: of its folder; by default in memory.

        standby_of: a running server, made with REPLICATED, whose changes it follows.
        """
        self._programs = postgresql_programs()
        self._standby_of = standby_of
        self._settings = (*_SETTINGS, *settings)
        self._user = other_user()
        memory = _MEMORY if _MEMORY.is_dir() else Path(tempfile.gettempdir())
        self.folder = Path(tempfile.mkdtemp(prefix="printreach-pg-", dir=parent or memory))
        self._data = self.folder / "data"
        self._names = (f"db{number}" for number in itertools.count())
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            if self._user:
                shutil.chown(self.folder, self._user)
            # Other users connect to the socket in it.
            self.folder.chmod(0o755)
            if self._standby_of is None:
                how = ["-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C", "-N"]
                self._run("initdb", "-D", self._data, *how)
            else:
                how = ["-U", USER, "--write-recovery-conf", "--checkpoint=fast", "--no-sync"]
                self._run("pg_basebackup", "-D", self._data, "-h", self._standby_of.folder, *how)
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self) -> None:
        """Start it, and wait until it takes connections."""
        words: list[str | Path] = [self._programs / "postgres", "-D", self._data, "-k", self.folder]
        for setting in self._settings:
            words += ["-c", setting]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                words,
                user=self._user,
                group=self._group,
                extra_groups=[] if self._user else None,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=die_with_the_tests,
            )
        wait_for("PostgreSQL accepts connections", self._is_ready, 60)

    def promote(self) -> None:
        """Let a standby be the server that takes changes."""
        self._run("pg_ctl", "promote", "-D", self._data, "-w")

    def stop(self) -> None:
        """End it at once, and its connections with it; what was committed is stored."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """End it without notice."""
        self._end(signal.SIGQUIT)

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """Let it do nothing meanwhile, as on a disk that doesn't answer. Connections stay open."""
        assert self._process is not None
        server = self._process.pid
        children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
        # The server first, so that it starts no more of them.
        stopped = [server, *map(int, children)]
        try:
            for pid in stopped:
                os.kill(pid, signal.SIGSTOP)
            yield
        finally:
            for pid in stopped:
                os.kill(pid, signal.SIGCONT)

    def url(self, database: str = "postgres") -> str:
        """Return the URL of one of its databases, as people set it."""
        return f"postgresql://{USER}@/{database}?host={quote(str(self.folder), safe='')}"

    def make_database(self, template: str = "template0") -> str:
        """Create a database with another's content; return its name."""
        name = next(self._names)
        self.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}" STRATEGY file_copy')
        return name

    def drop_database(self, name: str) -> None:
        self.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    @contextmanager
    def database(self, template: str = "template0") -> Iterator[str]:
        """Yield the URL of a database with another's content, which is dropped afterwards."""
        name = self.make_database(template)
        try:
            yield self.url(name)
        finally:
            self.drop_database(name)

    def execute(self, statement: str) -> None:
        """Run a statement outside of any transaction, in a database that nobody uses."""
        ask(self.url(), lambda connection: connection.execute(statement))

    def pids(self) -> list[int]:
        """Return the server's process and those of its connections."""
        assert self._process is not None
        pid = self._process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text()
        return [pid, *map(int, children.split())]

    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")

    @property
    def _group(self) -> int | None:
        return pwd.getpwnam(self._user).pw_gid if self._user else None

    def _is_ready(self) -> bool | None:
        assert self._process is not None
        if self._process.poll() is not None:
            raise RuntimeError(f"PostgreSQL ended:\n{self.log()}")
        try:
            self.execute("SELECT 1")
        except (OSError, asyncpg.PostgresError):
            return None
        return True

    def _run(self, name: str, *arguments: str | Path) -> None:
        subprocess.run(
            [self._programs / name, *arguments],
            check=True,
            capture_output=True,
            user=self._user,
            group=self._group,
            extra_groups=[] if self._user else None,
            cwd=self.folder,
        )

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(how)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def ask(url: str, work: Callable[[Any], Awaitable[T]]) -> T:
    """Run the work on a connection of its own, from code that isn't a coroutine."""

    async def run() -> T:
        connection = await asyncpg.connect(url, timeout=10)
        try:
            return await work(connection)
        finally:
            await connection.close()

    return asyncio.run(run())


def other_user() -> str | None:
    """Return whom PostgreSQL runs as; None: as the one who runs the tests."""
    if getpass.getuser() != "root" and os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"
