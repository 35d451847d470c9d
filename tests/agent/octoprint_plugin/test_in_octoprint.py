"""The plugin in a real OctoPrint, with a real service at the other end."""

import json
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rigs.calls import Answer, call
from tests.rigs.octoprint_plugin import PLUGIN, PluginRig
from tests.rigs.service import Connection, Service, service_on_localhost
from tests.rigs.waiting import wait_for
from tests.rigs.ways import Header, Way

pytestmark = [pytest.mark.slow, pytest.mark.peer]

COMMANDS = "/service-command-api"
LONG_PRINT = b"G28\n" + b"G1 X10 F9000\nG4 P100\nG1 X20\n" * 600
"""Goes on for a minute if nobody ends it."""
SOON_S = 11.0
"""OctoPrint's own end takes half a second, the agent may take two, and a busy machine some more.
Who does not end by itself is killed after twelve."""


@pytest.fixture
def printer_id(plugin: PluginRig, service: Service) -> str:
    """The printer on the owner's account, its agent connected."""
    return plugin.link(service, "Workshop")


@pytest.fixture
def app(service: Service, printer_id: str) -> Way:
    """The address under which apps reach the printer."""
    words = ("connection", "add", "--app", "journeys", "--printer", printer_id)
    return service.way(Connection.of(service.admin(*words)))


@pytest.fixture
def other_service(tmp_path: Path) -> Iterator[Service]:
    """A service that has nothing to do with the first."""
    with service_on_localhost(tmp_path) as running:
        yield running


def result(answer: Answer) -> dict[str, object]:
    """Return the data of a command; it must have succeeded."""
    envelope = json.loads(answer.body)
    assert envelope["Status"] == 200, envelope
    reported: dict[str, object] = envelope["Result"]
    return reported


def order(app: Way, command: str, **arguments: object) -> dict[str, object]:
    body, kind = json.dumps(arguments).encode(), ("Content-Type", "application/json")
    return result(call(app, f"{COMMANDS}/{command}", method="POST", headers=[kind], body=body))


# --- what everyone is told ------------------------------------------------------------------------


def test_before_an_address_is_given_there_is_no_agent(plugin: PluginRig) -> None:
    reported = plugin.look_up()

    assert set(reported) == {"PrinterId", "PrinterName", "ServiceUrl", "IsLinked", "AgentVersion"}
    assert (reported["ServiceUrl"], reported["IsLinked"]) == ("", False)


def test_apps_on_the_network_find_the_printers_id_without_a_key(
    plugin: PluginRig, service: Service, printer_id: str
) -> None:
    reported = plugin.look_up()

    assert reported["PrinterId"] == printer_id
    assert reported["PrinterName"].startswith("Workshop")
    assert reported["ServiceUrl"] == service.base_url
    assert reported["IsLinked"] is True


def test_the_lookup_never_holds_the_link_code(plugin: PluginRig, service: Service) -> None:
    plugin.connect(service.base_url)
    code = plugin.link_code(service)

    assert code not in json.dumps(plugin.look_up())


@pytest.mark.parametrize(
    "headers",
    [[("Host", "rebound.example")], [("X-Forwarded-Host", "127.0.0.1")]],
    ids=["a foreign name", "a name that anybody can claim"],
)
def test_a_web_page_behind_a_rebound_name_learns_nothing(
    plugin: PluginRig, headers: list[Header]
) -> None:
    host = dict(headers).pop("Host", plugin.way.host)
    rest = [header for header in headers if header[0] != "Host"]

    assert call(plugin.way.named(host), PLUGIN, headers=rest).status == 403
    assert call(plugin.way.named(host), PLUGIN, headers=[*rest, plugin.octoprint.key]).status == 200


# --- who may do what ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "proof",
    [("X-Api-Key", "0" * 32), ("Accept", "*/*"), ("Origin", "http://evil.example")],
    ids=["with a wrong key", "without a CSRF token", "from another site"],
)
def test_strangers_neither_see_nor_change_the_link(
    plugin: PluginRig, service: Service, proof: Header
) -> None:
    assert_refused(plugin, service, 400, proof)


def test_a_page_before_which_nobody_signed_in_neither_sees_nor_changes_the_link(
    plugin: PluginRig, service: Service
) -> None:
    assert_refused(plugin, service, 403, *plugin.csrf_token())


def test_a_user_who_is_no_administrator_neither_sees_nor_changes_the_link(
    plugin: PluginRig, service: Service
) -> None:
    assert_refused(plugin, service, 403, plugin.add_user("operator"))


def assert_refused(plugin: PluginRig, service: Service, status: int, *proof: Header) -> None:
    """No command does anything, and no answer holds the link code."""
    plugin.connect(service.base_url)
    code = plugin.link_code(service)

    for command in ("state", "unlink", "connect"):
        answer = plugin.order(command, *proof, service_url="http://elsewhere.example")
        assert answer.status == status, command
        assert code.encode() not in answer.body
    assert plugin.link_code(service) == code


def test_the_agents_key_and_its_folder_are_nobody_elses(plugin: PluginRig, printer_id: str) -> None:
    files = [plugin.agent_folder, *plugin.agent_folder.rglob("*")]

    assert plugin.agent_folder / "agent.key" in files
    assert [path for path in files if stat.S_IMODE(path.stat().st_mode) & 0o077] == []


# --- through the tunnel ---------------------------------------------------------------------------


def test_an_app_reaches_octoprint_itself(plugin: PluginRig, app: Way) -> None:
    answer = call(app, "/api/version", headers=[plugin.octoprint.key])

    assert answer.status == 200
    assert json.loads(answer.body)["server"].startswith("1.11")
    assert call(app, "/api/version").status == 403


def test_commands_work_with_the_key_that_octoprint_gave_the_plugin(
    plugin: PluginRig, app: Way
) -> None:
    def state() -> object:
        status = result(call(app, f"{COMMANDS}/status"))
        job = status["JobStatus"]
        assert isinstance(job, dict)
        return job["State"]

    wait_for("the live view", lambda: state() == "idle", 60)
    upload = call(
        app, f"{COMMANDS}/files/upload?path=gcode/plugin.gcode", method="PUT", body=LONG_PRINT
    )
    path = result(upload)["VirtualPath"]
    order(app, "start", Path=path)
    wait_for("the print", lambda: state() == "printing", 60)
    order(app, "cancel")
    wait_for("its end", lambda: state() == "cancelled", 60)
    plugin.octoprint.reset()


def test_the_agents_log_is_read_through_the_tunnel(app: Way, service: Service) -> None:
    log = call(app, f"{COMMANDS}/logs/agent").body.decode()

    assert f"for {service.base_url}" in log


# --- settings -------------------------------------------------------------------------------------


def test_a_bad_address_is_named_and_the_link_stays(
    plugin: PluginRig, service: Service, printer_id: str
) -> None:
    answer = plugin.order("connect", service_url="printreach.example")

    assert answer.status == 400
    assert json.loads(answer.body) == {"error": "The address must start with http:// or https://."}
    state = plugin.state()
    assert (state["Phase"], state["SavedAddress"]) == ("connected", service.base_url)


@pytest.mark.parametrize("address", ["ftp://x", 5, None])
def test_octoprints_own_settings_api_takes_no_bad_address_either(
    plugin: PluginRig, service: Service, address: object
) -> None:
    plugin.connect(service.base_url)

    plugin.save_settings({"service_url": address})

    assert plugin.state()["SavedAddress"] == service.base_url


def test_nobody_changes_the_agents_limits_over_octoprints_own_settings_api(
    plugin: PluginRig, service: Service
) -> None:
    plugin.connect(service.base_url)

    plugin.save_settings({"allow": "", "max_hotend_c": 1, "camera_host": ["192.168.1.1"]})

    answer = call(plugin.way, "/api/settings", headers=[plugin.octoprint.key])
    kept = json.loads(answer.body)["plugins"]["service"]
    assert {kept[name] for name in ("allow", "max_hotend_c", "camera_host")} == {None}
    assert plugin.state()["SavedAddress"] == service.base_url


def test_octoprints_own_settings_api_moves_the_agent(plugin: PluginRig, service: Service) -> None:
    plugin.save_settings({"service_url": service.base_url})

    assert plugin.link_code(service)


def test_another_address_moves_the_agent_and_the_first_link_is_there_on_return(
    plugin: PluginRig, service: Service, other_service: Service, printer_id: str
) -> None:
    plugin.connect(other_service.base_url)
    assert plugin.link_code(other_service)
    assert plugin.look_up()["IsLinked"] is False

    plugin.connect(service.base_url)

    state = plugin.wait_for("connected", Phase="connected", ServiceUrl=service.base_url)
    assert state["PrinterId"] == printer_id


def test_a_service_that_is_not_there_is_named(plugin: PluginRig, other_service: Service) -> None:
    other_service.program.stop()

    plugin.connect(other_service.base_url)

    state = plugin.wait_for("no service", Phase="disconnected")
    assert f"No connection to {other_service.base_url}" in state["LastError"]


def test_unlinking_gives_a_new_code_and_ends_the_access(
    plugin: PluginRig, service: Service, printer_id: str, app: Way
) -> None:
    plugin.order("unlink")

    assert plugin.link_code(service)
    assert plugin.state()["PrinterId"] != printer_id
    assert call(app, "/api/version", headers=[plugin.octoprint.key]).status == 601


# --- beginning and end ----------------------------------------------------------------------------


def test_a_restart_of_octoprint_keeps_the_link(
    plugin: PluginRig, printer_id: str, app: Way
) -> None:
    took_s = plugin.restart()

    assert took_s < SOON_S
    assert plugin.wait_for("connected", Phase="connected")["PrinterId"] == printer_id
    assert call(app, "/api/version", headers=[plugin.octoprint.key]).status == 200


def test_the_agent_takes_its_leave_when_octoprint_ends(plugin: PluginRig, printer_id: str) -> None:
    status = plugin.agent_folder / "status.json"
    assert status.exists()

    plugin.octoprint.program.stop()

    assert not status.exists()
    plugin.octoprint.program.start()
    plugin.octoprint.wait_operational()


def test_octoprint_runs_on_when_the_agent_cannot(plugin: PluginRig, service: Service) -> None:
    plugin.connect(service.base_url)
    plugin.link_code(service)
    plugin.connect("")
    plugin.wait_for("no agent", Running=False)
    key = plugin.agent_folder / "agent.key"
    kept = key.read_bytes()
    key.write_text("damaged")

    plugin.connect(service.base_url)

    state = plugin.wait_for("trouble", Says="The agent cannot run.")
    assert "is damaged" in state["LastError"]
    assert plugin.octoprint.state() == "Operational"
    key.write_bytes(kept)
