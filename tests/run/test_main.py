"""The command line's first word."""

import asyncio
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import uvloop

from printreach import __version__
from printreach.agent.addresses import join_host_port
from printreach.run.main import main
from printreach.run.serve import cannot_serve
from printreach.run.settings import settings_from
from printreach.wire.build import BUILD
from tests.rigs.admin_commands import run_admin
from tests.rigs.service import OWNER, PASSWORD, printreach


def run_python(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])

    assert stopped.value.code == 0
    assert capsys.readouterr().out == f"printreach {__version__} ({BUILD})\n"


@pytest.mark.parametrize("words", [[], ["nonsense"], ["--nonsense"]])
def test_wrong_usage_is_status_2(words: list[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(words)

    assert stopped.value.code == 2


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])

    shown = capsys.readouterr().out
    assert all(command in shown for command in ("serve", "admin", "agent"))


@pytest.mark.slow
def test_a_command_that_is_not_installed_says_what_to_install() -> None:
    without = (
        "import sys\n"
        "sys.modules['sqlalchemy'] = None\n"
        "from printreach.run.main import main\n"
        "sys.exit(main(['admin', 'account', 'list']))\n"
    )

    done = run_python(without)

    assert done.returncode == 1
    assert done.stderr == (
        "printreach admin needs sqlalchemy; install it with: "
        "pip install --require-hashes -r requirements/server.txt\n"
    )


def test_a_module_of_our_own_that_is_missing_is_not_taken_for_a_library(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "printreach.run.admin", None)

    with pytest.raises(ModuleNotFoundError):
        main(["admin", "account", "list"])


@pytest.mark.slow
def test_the_agents_command_imports_nothing_of_the_server() -> None:
    asks = (
        "import sys\n"
        "from printreach.run.main import main\n"
        "try: main(['agent', 'status', '--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'sqlalchemy', 'alembic', 'aiosqlite', 'argon2', 'litestar', 'granian'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )

    done = run_python(asks)

    assert done.stderr.strip() == "[]"


@pytest.mark.slow
def test_the_installed_command_administers_as_the_rigs_commands_do(tmp_path: Path) -> None:
    env = {"PRINTREACH_DATA_DIR": str(tmp_path / "data")}
    words = ("admin", "account", "add", OWNER)
    installed = subprocess.run(
        printreach(*words),
        env={**os.environ, **env},
        input=PASSWORD + "\n",
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    again = run_admin(words[1:], env, PASSWORD + "\n")

    assert installed.returncode == 0
    assert f"{tmp_path / 'data'} is new." in installed.stderr
    assert OWNER in installed.stdout
    assert again["status"] == 1
    assert again["stderr"] == f"printreach admin: There is an account {OWNER} already.\n"


@pytest.mark.parametrize(
    ("host", "setting", "remedy"),
    [
        ("::1", "LISTEN", "PRINTREACH_LISTEN chooses another address or port."),
        ("::1", "TUNNEL_PORTS", "PRINTREACH_TUNNEL_PORTS chooses other ports."),
        ("127.0.0.1", "NODE_LISTEN", "PRINTREACH_NODE_LISTEN chooses another address or port."),
    ],
)
@pytest.mark.parametrize("is_of_a_loop", [True, False])
def test_an_address_that_is_taken_is_named_with_its_own_setting(
    host: str, setting: str, remedy: str, is_of_a_loop: bool
) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET

    async def listen_by_loop(port: int) -> None:
        await asyncio.get_running_loop().create_server(asyncio.Protocol, host, port)

    def listen(port: int) -> None:
        if is_of_a_loop:
            uvloop.run(listen_by_loop(port))
        else:
            socket.create_server((host, port), family=family)

    with socket.create_server((host, 0), family=family) as taken:
        port = taken.getsockname()[1]
        address = join_host_port(host, port)
        given = {
            "PRINTREACH_LISTEN": "[::1]:8080",
            f"PRINTREACH_{setting}": f"{port}-{port}" if setting == "TUNNEL_PORTS" else address,
        }
        with pytest.raises(OSError, match="in use") as failed:
            listen(port)

    said = cannot_serve(failed.value, settings_from(given))
    assert said == f"Can't serve on {address}: Address already in use. {remedy}"


@pytest.mark.slow
@pytest.mark.parametrize("module", ["printreach.run.main serve", "printreach.run.demo"])
def test_a_taken_port_is_told_in_a_sentence_that_names_the_setting(
    module: str, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        done = subprocess.run(
            [sys.executable, "-m", *module.split()],
            env={
                **os.environ,
                "PRINTREACH_DATA_DIR": str(tmp_path),
                "PRINTREACH_LISTEN": listen,
                "PRINTREACH_BASE_URL": f"http://localhost:{listen.rpartition(':')[2]}",
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    sentence = done.stderr.splitlines()[-1]
    assert "PRINTREACH_LISTEN" in sentence
    assert listen.rpartition(":")[2] in sentence
