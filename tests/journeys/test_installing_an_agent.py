"""The line by which an agent is installed from its service: from nothing to a linked printer."""

import json
import os
import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from printreach.web.installing import WHEEL_NAME
from tests.rigs.calls import call
from tests.rigs.installed_agent import Home, need_index, new_home
from tests.rigs.moonraker import moonraker
from tests.rigs.octoprint import OctoPrint
from tests.rigs.service import OWNER, Service
from tests.rigs.waiting import free_port, wait_for
from tests.rigs.ways import Way

pytestmark = [pytest.mark.peer, pytest.mark.slow, pytest.mark.timeout(600)]

LAN = ("--lan-listen", "127.0.0.1:0")


@pytest.fixture(scope="module")
def klipper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The port of a Moonraker that trusts this machine."""
    with moonraker(tmp_path_factory.mktemp("moonraker")) as url:
        yield str(urlsplit(url).port)


@pytest.fixture(scope="module")
def installed(relay: Service, klipper: str) -> Iterator[Home]:
    """A home in which the line has run, on a machine with systemd and a Moonraker."""
    with new_home() as home:
        need_index(home)
        home.add_systemd()
        said = home.pipe(relay.base_url, "--search-ports", klipper, *LAN)
        (home.path / "said").write_text(said)
        yield home
        if home.program.exists():
            home.run(home.program, "agent", "uninstall", "--yes")


def calls_of_systemctl(home: Home) -> list[str]:
    return (home.path / "systemd" / "calls").read_text().splitlines()


def test_the_line_finds_the_printer_and_shows_how_to_link_it(
    relay: Service, installed: Home, klipper: str
) -> None:
    said = (installed.path / "said").read_text()
    status = installed.status()

    assert f"Found Klipper (Moonraker) at http://127.0.0.1:{klipper}" in said
    assert f"{relay.base_url}/link?code={status['LinkCode']}" in said
    assert f"enter this code there: {status['LinkCode']}" in said
    assert calls_of_systemctl(installed)[-3:] == [
        "--user daemon-reload",
        "--user enable printreach-agent.service",
        "--user restart printreach-agent.service",
    ]


def test_what_it_writes_is_for_its_own_user_alone(installed: Home) -> None:
    modes = {
        path.name: path.stat().st_mode & 0o077
        for path in (installed.folder, installed.folder / "data", installed.folder / "secrets.env")
    }

    assert set(modes.values()) == {0}


def test_the_command_is_on_the_path(installed: Home) -> None:
    command = installed.path / ".local" / "bin" / "printreach"

    assert "printreach " in installed.run(command, "--version")


def test_run_again_it_updates_and_the_printer_stays_linked(relay: Service, installed: Home) -> None:
    code = str(installed.status()["LinkCode"])
    linked = relay.admin("printer", "link", code, "--account", OWNER, "--name", "Installed")
    wait_for("the link", lambda: installed.status().get("IsLinked"), 60)

    said = installed.pipe(relay.base_url, "--allow", "camera")

    assert "The agent runs, and Installed can be reached." in said
    assert installed.status()["PrinterId"] == linked["PrinterId"]
    options = (installed.folder / "options").read_text().splitlines()
    assert "--platform=moonraker" in options
    assert "--allow=camera" in options
    assert not (installed.folder / "downloads").exists()


@pytest.mark.parametrize(
    "url", ["http://x' $(touch pwned) \"", "http://`touch pwned`", "'; exit 0"]
)
def test_an_address_with_quotes_is_refused_in_a_sentence(
    relay: Service, installed: Home, url: str
) -> None:
    before = (installed.folder / "options").read_text()

    said = installed.pipe(relay.base_url, "--printer-url", url, status=1)

    assert "printreach agent: --printer-url " in said
    assert not (installed.path / "pwned").exists()
    assert (installed.folder / "options").read_text() == before


def test_the_plugin_installs_from_the_address_that_pages_show(
    relay: Service, installed: Home
) -> None:
    """As OctoPrint's plugin manager does it, in an environment of its own."""
    address = f"{relay.base_url}/install/{WHEEL_NAME}"
    installed.run("python3", "-m", "venv", "octoprints-own")
    python = installed.path / "octoprints-own" / "bin" / "python"

    installed.run(python, "-m", "pip", "install", "--no-cache-dir", address)
    installed.run(python, "-m", "pip", "check")
    shown = "import importlib.metadata as m; print(m.entry_points(group='octoprint.plugin'))"

    assert "printreach.run.octoprint_plugin" in installed.run(python, "-c", shown)
    installed.run("rm", "-r", "octoprints-own")


def test_a_person_at_a_terminal_is_asked_for_what_the_printer_wants(installed: Home) -> None:
    with new_home() as home:
        folder = home.path / "asked"
        home.run("mkdir", folder)
        home.run("touch", folder / ".printreach-agent")
        words = ("agent", "setup", "--dir", folder, "--service", "http://localhost:1", *LAN)
        person, terminal = os.openpty()
        os.write(person, b"bambu\n192.0.2.1\n")
        ports = str(free_port())
        asked = home.start_at(terminal, installed.program, *words, "--search-ports", ports)
        assert asked.stdout is not None
        said = ""
        while "Access code, on the printer's screen: " not in said:
            character = asked.stdout.read(1)
            assert character, said
            said += character
        # What was typed before the question is not taken for a secret.
        os.write(person, b"12345678\n")
        asked.communicate(timeout=60)
        os.close(person)
        os.close(terminal)
        options = (folder / "options").read_text().splitlines()
        secrets = (folder / "secrets.env").read_text()

    assert {"--platform=bambu", "--printer-url=192.0.2.1"} < set(options)
    assert secrets == 'PRINTREACH_PRINTER_ACCESS_CODE="12345678"\n'


def test_octoprint_gives_a_key_when_its_owner_presses_allow(
    installed: Home, octoprint: OctoPrint
) -> None:
    port = str(urlsplit(octoprint.url).port)
    with new_home() as home:
        folder = home.path / "printreach-agent-octoprint"
        home.run("mkdir", folder)
        home.run("touch", folder / ".printreach-agent")
        words = ("agent", "setup", "--dir", folder, "--service", "http://localhost:1", *LAN)
        setting_up = home.start(installed.program, *words, "--search-ports", port)
        allow(octoprint)
        said, _ = setting_up.communicate(timeout=60)
        secrets = (folder / "secrets.env").read_text()
        again = home.run(installed.program, *words)

    assert "press Allow" in said
    assert "OctoPrint gave the agent a key." in said
    key = re.fullmatch(r'PRINTREACH_PRINTER_API_KEY="([\w-]+)"\n', secrets)
    assert key is not None
    headers = [("X-Api-Key", key[1])]
    assert call(Way.straight(octoprint.url), "/api/settings", headers=headers).status == 200
    assert "press Allow" not in again


def test_octoprint_gives_no_key_when_its_owner_presses_deny(
    installed: Home, octoprint: OctoPrint
) -> None:
    port = str(urlsplit(octoprint.url).port)
    with new_home() as home:
        folder = home.path / "denied"
        home.run("mkdir", folder)
        home.run("touch", folder / ".printreach-agent")
        words = ("agent", "setup", "--dir", folder, "--service", "http://localhost:1", *LAN)
        setting_up = home.start(installed.program, *words, "--search-ports", port)
        allow(octoprint, decision=False)
        said, _ = setting_up.communicate(timeout=60)

    assert "OctoPrint's owner did not allow it." in said
    assert "PRINTREACH_PRINTER_API_KEY" in said


def allow(octoprint: OctoPrint, *, decision: bool = True) -> None:
    """Answer the request for a key as the owner does in the browser."""

    def pending() -> str | None:
        told = json.loads(octoprint.get("/api/plugin/appkeys").body)
        return next(iter(told["pending"]), None)

    token = wait_for("a request for a key", pending, 60)
    answer = call(
        Way.straight(octoprint.url),
        f"/plugin/appkeys/decision/{token}",
        method="POST",
        headers=[octoprint.key, ("Content-Type", "application/json")],
        body=json.dumps({"decision": decision}).encode(),
    )
    assert answer.status == 204


def test_uninstalling_asks_and_then_removes_all_of_it(installed: Home) -> None:
    """The last test of this file, for nothing is installed after it."""
    refused = installed.run(installed.program, "agent", "uninstall", status=1)
    assert "Nothing was removed" in refused

    said = installed.run(installed.program, "agent", "uninstall", "--yes")

    assert "Removed." in said
    left = [path for path in installed.path.rglob("*printreach*") if path.name != "__pycache__"]
    assert left == []
    assert not list((installed.path / "systemd").glob("running.json"))
