"""The installation script where something is missing, wrong or hostile: each is a sentence."""

import hashlib
import shlex
import shutil
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from printreach.web import installing
from tests.rigs.installed_agent import Home, new_home

TOOLS = ("cat", "id", "ls", "mkdir", "rm", "sed", "sh", "touch")
WHEEL = "printreach-0.0-py3-none-any.whl"
FILES = {
    "requirements-agent.txt": b"",
    WHEEL: b"not even a zip",
    "requirements-demo.txt": b"",
}
PYTHON_3_9 = """
case "$*" in
--version) echo Python 3.9.2 ;;
*) exit 1 ;;
esac"""
WITHOUT_VENV = """
case "$*" in
*ensurepip*) exit 1 ;;
esac"""


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002  # its own name


@pytest.fixture
def home() -> Iterator[Home]:
    with new_home() as home:
        yield home


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A web server that hands out the files, and their folder."""
    folder = tmp_path / "install"
    folder.mkdir()
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    handler = partial(QuietHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}", folder
        server.shutdown()


def script(home: Home, service: str = "http://127.0.0.1:1", wheel: bytes = FILES[WHEEL]) -> Path:
    """Write the script as a service hands it out. wheel: the content whose digest it names."""
    body = installing._script(  # the one function that makes it, with other values
        SERVICE=service,
        WHEEL=WHEEL,
        WHEEL_SHA256=hashlib.sha256(wheel).hexdigest(),
        AGENT_LIST_SHA256=hashlib.sha256(b"").hexdigest(),
        DEMO_LIST_SHA256=hashlib.sha256(b"").hexdigest(),
    )
    path = home.path / "agent.sh"
    path.write_bytes(body)
    path.chmod(0o644)
    return path


def programs(home: Home, **pythons: str) -> str:
    """A PATH with little more than the shell's own commands, and these Pythons."""
    folder = home.path / "bin"
    for tool in TOOLS:
        (folder / tool).symlink_to(shutil.which(tool) or "/bin/false")
    for name, body in pythons.items():
        home.add_program(name, body)
    return str(folder)


@pytest.mark.parametrize(
    ("python", "sentence"),
    [
        (PYTHON_3_9, "Python 3.11 or newer is needed, and this machine has Python 3.9.2."),
        (None, "Python 3.11 or newer is needed, and this machine has none"),
        (WITHOUT_VENV, "Python's venv module is missing. Install it, then run this again"),
    ],
)
def test_a_machine_without_what_is_needed_is_told_so(
    home: Home, python: str | None, sentence: str
) -> None:
    path = programs(home, **({"python3": python} if python is not None else {}))

    said = home.run("/bin/sh", script(home), status=1, PATH=path)

    assert sentence in said
    assert not home.folder.exists()


def test_neither_curl_nor_wget_is_needed_once_the_script_is_there(
    home: Home, served: tuple[str, Path]
) -> None:
    path = programs(home, python3='PATH=/usr/local/bin:/usr/bin exec python3 "$@"')

    said = home.run("/bin/sh", script(home, served[0]), status=1, PATH=path)

    assert "Installing it in" in said
    assert "The agent could not be installed; pip says why above." in said


@pytest.mark.parametrize("cut", [0, 3])
def test_a_download_that_is_not_what_the_script_names_installs_nothing(
    home: Home, served: tuple[str, Path], cut: int
) -> None:
    """Another file, or one whose end is missing."""
    service, folder = served
    content = FILES[WHEEL][:cut] if cut else b"another wheel"
    (folder / WHEEL).write_bytes(content)

    said = home.run("sh", script(home, service), status=1)

    assert "is not what this script names, so nothing was installed" in said
    assert not (home.folder / "venv").exists()
    assert not (home.folder / "downloads").exists()


def test_a_service_that_does_not_answer_is_named(home: Home) -> None:
    said = home.run("sh", script(home), status=1)

    assert "http://127.0.0.1:1/install/requirements-agent.txt could not be downloaded" in said


def test_a_script_that_came_in_part_does_nothing(home: Home) -> None:
    whole = script(home).read_bytes()
    part = home.path / "part.sh"
    ends = [at for at, byte in enumerate(whole) if byte == ord("\n")][:-1:7]
    for end in (*ends, *range(len(whole) - 24, len(whole) - 2)):
        part.write_bytes(whole[:end])
        part.chmod(0o644)
        said = home.start("sh", part).communicate()[0]
        assert "Getting the agent" not in said, whole[:end][-40:]
    assert not home.folder.exists()


@pytest.mark.parametrize("folder", ["with blank", "per%cent", 'quo"te', "dol$lar", "semi;colon"])
def test_a_folder_whose_name_units_read_otherwise_is_refused(home: Home, folder: str) -> None:
    said = home.run("sh", script(home), "--dir", home.path / folder, status=1)

    assert "has characters that unit files read otherwise: name another with --dir." in said


def test_a_folder_that_holds_something_else_is_left_alone(home: Home) -> None:
    home.run("sh", "-c", "mkdir pictures; touch pictures/cat.png")

    said = home.run("sh", script(home), "--dir", home.path / "pictures", status=1)

    assert "holds something else: name another with --dir." in said
    assert home.run("ls", "-A", "pictures") == "cat.png\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--dir"], "--dir needs the name of a folder."),
        (["--dir", "/proc/agent"], "The folder /proc/agent can't be made"),
    ],
)
def test_a_wrong_folder_is_a_sentence(home: Home, words: list[str], sentence: str) -> None:
    assert sentence in home.run("sh", script(home), *words, status=1)


def test_a_name_that_another_agent_of_root_has_is_refused_before_the_download(home: Home) -> None:
    """All folders of the machine are below the test's."""
    home.run("mkdir", "-p", "lib/printreach-agent", "opt/printreach-agent")
    home.run("touch", "opt/printreach-agent/.printreach-agent")
    owner = home.path / "opt" / "printreach-agent"
    home.run("sh", "-c", f"echo {owner} > lib/printreach-agent/installation")
    home.add_program("id", "echo 0")
    path = script(home)
    path.write_text(path.read_text().replace("/var/lib/", f"{home.path}/lib/"))

    new = home.path / "srv" / "printreach-agent"
    said = home.run("sh", path, "--dir", f"{new}/", status=1)

    assert f"The agent in {owner} has that name: choose a --dir that ends in another one." in said
    assert "Getting the agent" not in said
    assert not new.exists()
    assert "has that name" not in home.run("sh", path, "--dir", owner, status=1)


def test_help_tells_the_options_and_installs_nothing(home: Home) -> None:
    said = home.run("sh", script(home), "--help")

    assert "curl -fsSL http://127.0.0.1:1/install/agent | sh" in said
    assert f"default {shlex.quote(str(home.folder))}" in said
    assert not home.folder.exists()
