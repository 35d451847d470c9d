"""OctoPrint with this project's plugin in it, as pip puts it there."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.rigs.calls import Answer, call
from tests.rigs.octoprint import CONFIG, OctoPrint, octoprint
from tests.rigs.peers import ROOT, peer_program
from tests.rigs.service import OWNER, Service
from tests.rigs.standstills import standstills
from tests.rigs.waiting import wait_for
from tests.rigs.ways import Header, Way

PLUGIN = "/api/plugin/service"
TIMEOUT_S = 60.0

_JSON: Header = ("Content-Type", "application/json")
_OFFLINE = ("--quiet", "--disable-pip-version-check", "--no-deps", "--no-index")


def install_plugin(folder: Path) -> Path:
    """Build the wheel and let OctoPrint's own pip install it into this folder.

    OctoPrint's environment has what the plugin needs, and never the plugin itself: other tests
    run there at the same time, and want OctoPrint as it is.
    """
    wheels, site = folder / "wheel", folder / "site"
    python = peer_program("octoprint", "python")
    _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", wheels)
    wheel = next(wheels.glob("*.whl"))
    _run(python, "-m", "pip", "install", *_OFFLINE, "--target", site, wheel)
    return site


def _run(*command: str | Path) -> None:
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)


@dataclass(frozen=True)
class PluginRig:
    """A running OctoPrint whose plugin is there. folder: OctoPrint's own."""

    octoprint: OctoPrint
    folder: Path

    @property
    def way(self) -> Way:
        """To OctoPrint itself."""
        return Way.straight(self.octoprint.url)

    @property
    def agent_folder(self) -> Path:
        """The folder of the agent's key."""
        return self.folder / "data" / "service" / "agent"

    def look_up(self) -> dict[str, Any]:
        """Return the facts for an app on the network, without a key."""
        answer = call(self.way, PLUGIN)
        assert answer.status == 200, answer.body
        reported: dict[str, Any] = json.loads(answer.body)
        return reported

    def order(self, command: str, *headers: Header, **more: str) -> Answer:
        """Call the settings page's API, with the administrator's key unless headers are given."""
        body = json.dumps({"command": command, **more}).encode()
        proof = headers or (self.octoprint.key,)
        return call(self.way, PLUGIN, method="POST", headers=[*proof, _JSON], body=body)

    def state(self) -> dict[str, Any]:
        """Return the content of the settings page."""
        reported: dict[str, Any] = json.loads(self.order("state").body)
        return reported

    def connect(self, address: str) -> None:
        """Give the service's address."""
        answer = self.order("connect", service_url=address)
        assert answer.status == 200, answer.body

    def wait_for(self, what: str, **wanted: object) -> dict[str, Any]:
        """Wait until the settings page shows all of this; gives everything that it shows."""

        def found() -> dict[str, Any] | None:
            state = self.state()
            return state if wanted.items() <= state.items() else None

        return wait_for(f"the plugin: {what}", found, TIMEOUT_S)

    def link_code(self, service: Service) -> str:
        """Wait for the code that this service has given."""
        wanted = {"Phase": "unlinked", "ServiceUrl": service.base_url}
        return str(self.wait_for("a link code", **wanted)["LinkCode"])

    def link(self, service: Service, name: str) -> str:
        """Connect and link it; gives the printer's id."""
        self.connect(service.base_url)
        code = self.link_code(service)
        linked = service.admin("printer", "link", code, "--account", OWNER, "--name", name)
        self.wait_for("connected", Phase="connected", PrinterId=linked["PrinterId"])
        return linked["PrinterId"]

    def save_settings(self, settings: dict[str, object]) -> None:
        """Save settings through OctoPrint's own API."""
        body = json.dumps({"plugins": {"service": settings}}).encode()
        headers = [self.octoprint.key, _JSON]
        answer = call(self.way, "/api/settings", method="POST", headers=headers, body=body)
        assert answer.status == 200, answer.body

    def add_user(self, name: str) -> Header:
        """Add a user who may do everything but administer; gives the header with its key."""
        user = {"name": name, "password": name * 3, "active": True, "admin": False}
        headers = [self.octoprint.key, _JSON]
        body = json.dumps({**user, "groups": ["users"]}).encode()
        made = call(self.way, "/api/access/users", method="POST", headers=headers, body=body)
        assert made.status in (200, 201, 409), made.body
        key = call(
            self.way,
            f"/api/access/users/{name}/apikey",
            method="POST",
            headers=[self.octoprint.key],
        )
        return "X-Api-Key", str(json.loads(key.body)["apikey"])

    def csrf_token(self) -> list[Header]:
        """Return the headers that a page without a sign-in sends along."""
        page = call(self.way, "/")
        cookies = [one.partition(";")[0] for one in page.all("Set-Cookie")]
        token = next(one for one in cookies if one.startswith("csrf_token"))
        return [("Cookie", "; ".join(cookies)), ("X-CSRF-Token", token.partition("=")[2])]

    def restart(self) -> float:
        """End OctoPrint and start it again; gives how long its end took, in seconds.

        For how long the machine itself stood still meanwhile is left out.
        """
        with standstills() as still:
            began = time.monotonic()
            self.octoprint.program.stop()
            took = still.running_s(began)
        self.octoprint.program.start()
        self.octoprint.wait_operational()
        return took

    def log(self) -> str:
        """Return OctoPrint's log."""
        return (self.folder / "logs" / "octoprint.log").read_text()


@contextmanager
def octoprint_with_plugin(folder: Path, site: Path, config: str = CONFIG) -> Iterator[PluginRig]:
    """Run one. site: what install_plugin gave."""
    with octoprint(folder, config, env={"PYTHONPATH": str(site)}) as running:
        yield PluginRig(running, folder)
