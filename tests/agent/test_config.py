"""The agent's settings at its start."""

import argparse
from pathlib import Path

import pytest

from printreach.agent.addresses import ListenAddress, WebAddress
from printreach.agent.config import (
    AgentConfig,
    ConfigError,
    PrinterCredentials,
    Webcam,
    add_options,
    read_config,
)
from printreach.agent.owner_limits import OwnerLimits
from printreach.contract.permissions import Permission
from printreach.contract.platforms import PLATFORM_FACTS
from printreach.rules.printers.commands import CommandLimits

SERVICE = ("--service", "https://printreach.example")
DATA_DIR = ("--data-dir", "agent")
OCTOPRINT = (*SERVICE, *DATA_DIR, "--platform", "octoprint")


def read(*words: str, environment: dict[str, str] | None = None) -> AgentConfig:
    parser = argparse.ArgumentParser()
    add_options(parser)
    return read_config(parser.parse_args(words), environment or {})


def refusal(*words: str, environment: dict[str, str] | None = None) -> str:
    with pytest.raises(ConfigError) as error:
        read(*words, environment=environment)
    return str(error.value)


def test_service_folder_and_platform_are_enough() -> None:
    config = read(*OCTOPRINT)

    assert config == AgentConfig(
        service=WebAddress(scheme="https", host="printreach.example", port=443),
        data_dir=Path("agent").absolute(),
        kind=PLATFORM_FACTS["octoprint"],
        printer=WebAddress(scheme="http", host="127.0.0.1", port=5000),
        lan_listen=ListenAddress(host="0.0.0.0", port=8765),
    )


@pytest.mark.parametrize("option", ["--service", "--data-dir", "--platform"])
def test_a_missing_option_is_named(option: str) -> None:
    words = list(OCTOPRINT)
    at = words.index(option)
    del words[at : at + 2]

    assert refusal(*words).startswith(f"{option} is missing")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--service", "printreach.example"),
        ("--service", "https://printreach.example/base"),
        ("--data-dir", "agent\0"),
        ("--platform", "prusa"),
        ("--platform", "OctoPrint"),
        ("--printer-url", "http://"),
        ("--printer-url", "http://user:secret@octopi.local"),
        ("--lan-listen", "8765"),
        ("--webcam", "Nozzle"),
    ],
)
def test_a_wrong_option_is_named_in_one_sentence(option: str, value: str) -> None:
    sentence = refusal(*OCTOPRINT, option, value)

    assert sentence.startswith(option)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert "secret" not in sentence


@pytest.mark.parametrize(
    ("platform", "default"),
    [
        ("octoprint", "http://127.0.0.1:5000"),
        ("moonraker", "http://127.0.0.1:7125"),
    ],
)
def test_a_platform_that_runs_beside_the_agent_is_found_there(platform: str, default: str) -> None:
    assert str(read(*SERVICE, *DATA_DIR, "--platform", platform).printer) == default


@pytest.mark.parametrize("platform", ["prusalink", "elegoo", "duet"])
def test_a_printer_with_an_address_of_its_own_has_to_be_named(platform: str) -> None:
    words = (*SERVICE, *DATA_DIR, "--platform", platform)

    assert refusal(*words).startswith("--printer-url is missing")
    assert str(read(*words, "--printer-url", "192.168.1.30").printer) == "http://192.168.1.30"


def test_a_printer_without_a_web_server_has_to_be_named_as_well() -> None:
    words = (*SERVICE, *DATA_DIR, "--platform", "bambu")

    assert refusal(*words).startswith("--printer-url is missing")


def test_the_address_of_a_printer_without_a_web_server_leads_no_tunnel_there() -> None:
    config = read(*SERVICE, *DATA_DIR, "--platform", "bambu", "--printer-url", "192.168.1.40")

    assert config.printer == WebAddress(scheme="http", host="192.168.1.40", port=8883)
    assert config.web_server is None


def test_a_simulated_printer_without_an_address_is_left_to_the_agent() -> None:
    words = (*SERVICE, *DATA_DIR, "--platform", "simulated")

    assert read(*words).printer is None
    assert str(read(*words, "--printer-url", "127.0.0.1:9000").printer) == "http://127.0.0.1:9000"


@pytest.mark.parametrize(
    ("given", "webcam"),
    [
        (
            "Nozzle=http://cam/snap,http://cam/stream",
            Webcam(name="Nozzle", snapshot_url="http://cam/snap", stream_url="http://cam/stream"),
        ),
        (
            "Bed=http://cam/?size=1,2&a=b,https://cam/?x=3,4",
            Webcam(
                name="Bed",
                snapshot_url="http://cam/?size=1,2&a=b",
                stream_url="https://cam/?x=3,4",
            ),
        ),
        (
            "Still=http://cam/snap,",
            Webcam(name="Still", snapshot_url="http://cam/snap", stream_url=None),
        ),
        (
            "Live=,http://cam/stream",
            Webcam(name="Live", snapshot_url=None, stream_url="http://cam/stream"),
        ),
    ],
)
def test_a_webcam_has_a_name_and_two_urls_of_which_one_may_be_empty(
    given: str, webcam: Webcam
) -> None:
    assert read(*OCTOPRINT, "--webcam", given).webcams == (webcam,)


@pytest.mark.parametrize(
    "given",
    [
        "Nozzle=",
        "Nozzle=,",
        "Nozzle=http://cam/snap",
        "=http://cam/snap,http://cam/stream",
        "Nozzle=rtsp://cam/snap,http://cam/stream",
        "Nozzle=http://cam/snap,rtsp://cam/stream",
        "Nozzle=http://cam/a b,http://cam/stream",
        "Nozzle=/snap,/stream",
        "Noz\x1bzle=http://cam/snap,http://cam/stream",
        "N" * 61 + "=http://cam/snap,http://cam/stream",
    ],
)
def test_a_webcam_that_cannot_be_read_is_refused(given: str) -> None:
    assert refusal(*OCTOPRINT, "--webcam", given).startswith("--webcam ")


def test_two_webcams_may_not_share_a_name() -> None:
    one = "Nozzle=http://cam/snap,http://cam/stream"

    assert "same name" in refusal(*OCTOPRINT, "--webcam", one, "--webcam", one)


def test_secrets_come_from_the_environment() -> None:
    environment = {
        "PRINTREACH_PRINTER_API_KEY": "key",
        "PRINTREACH_PRINTER_USER": "maker",
        "PRINTREACH_PRINTER_PASSWORD": "pass word",
        "PRINTREACH_PRINTER_ACCESS_CODE": "12345678",
        "PRINTREACH_PRINTER_SERIAL": "01S00A",
        "PRINTREACH_DATA_DIR": "the service's, and none of the agent's business",
    }

    assert read(*OCTOPRINT, environment=environment).credentials == PrinterCredentials(
        api_key="key",
        user="maker",
        password="pass word",
        access_code="12345678",
        serial="01S00A",
    )


def test_a_secret_may_come_from_a_file_that_ends_in_a_line_break(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("from a file\n")

    config = read(*OCTOPRINT, environment={"PRINTREACH_PRINTER_API_KEY_FILE": str(file)})

    assert config.credentials.api_key == "from a file"


def test_an_empty_secret_counts_as_none(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.touch()
    environment = {
        "PRINTREACH_PRINTER_API_KEY_FILE": str(file),
        "PRINTREACH_PRINTER_USER": "",
    }

    assert read(*OCTOPRINT, environment=environment).credentials == PrinterCredentials()


def test_a_secret_given_twice_is_refused(tmp_path: Path) -> None:
    environment = {
        "PRINTREACH_PRINTER_API_KEY": "key",
        "PRINTREACH_PRINTER_API_KEY_FILE": str(tmp_path / "key"),
    }

    assert "both set" in refusal(*OCTOPRINT, environment=environment)


@pytest.mark.parametrize(
    "content", [b"two\nlines\n", b"with\0nul", b"\xff\xfe", b"k" * 2000, b"bell\x07"]
)
def test_a_file_that_holds_no_secret_is_refused_by_the_variables_name(
    tmp_path: Path, content: bytes
) -> None:
    file = tmp_path / "key"
    file.write_bytes(content)

    sentence = refusal(*OCTOPRINT, environment={"PRINTREACH_PRINTER_PASSWORD_FILE": str(file)})

    assert sentence.startswith("PRINTREACH_PRINTER_PASSWORD_FILE ")


def test_a_secret_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    environment = {"PRINTREACH_PRINTER_API_KEY_FILE": str(tmp_path / "missing")}

    assert "cannot be read" in refusal(*OCTOPRINT, environment=environment)


def test_a_misspelt_variable_is_refused_rather_than_passed_over() -> None:
    sentence = refusal(*OCTOPRINT, environment={"PRINTREACH_PRINTER_APIKEY": "key"})

    assert sentence == "PRINTREACH_PRINTER_APIKEY is not a setting of the agent."


def test_a_configuration_shows_no_secret_when_it_is_printed() -> None:
    config = read(
        *OCTOPRINT,
        "--webcam",
        "Nozzle=http://user:hunter2@cam/snap,",
        environment={"PRINTREACH_PRINTER_API_KEY": "hunter2"},
    )

    assert "hunter2" not in repr(config)


def test_lan_webhooks_come_from_the_option_and_from_where_nobody_else_looks() -> None:
    hidden = {"PRINTREACH_PRINTER_LAN_WEBHOOKS": "https://b.example/x?key=1 http://10.0.0.9:81/y"}

    config = read(*OCTOPRINT, "--lan-webhook", "http://nas.local/hook", environment=hidden)

    assert config.lan_webhooks == (
        "http://nas.local/hook",
        "https://b.example/x?key=1",
        "http://10.0.0.9:81/y",
    )
    assert "key=1" not in repr(config)


@pytest.mark.parametrize(
    "url", ["nas.local", "ftp://nas", "http://", "http://u:p@nas", "http://ñ/"]
)
def test_a_lan_webhook_that_is_no_address_is_named(url: str) -> None:
    assert refusal(*OCTOPRINT, "--lan-webhook", url).startswith("--lan-webhook")
    hidden = {"PRINTREACH_PRINTER_LAN_WEBHOOKS": url}
    assert refusal(*OCTOPRINT, environment=hidden).startswith("PRINTREACH_PRINTER_LAN_WEBHOOKS")


def test_lan_webhooks_are_few() -> None:
    many = [word for number in range(9) for word in ("--lan-webhook", f"http://h{number}/")]

    assert "8 times" in refusal(*OCTOPRINT, *many)


def test_remote_callers_may_do_all_that_the_command_api_allows_unless_the_owner_says_less() -> None:
    assert read(*OCTOPRINT).limits == OwnerLimits()
    limits = read(
        *OCTOPRINT,
        *("--allow", "control, camera"),
        *("--max-hotend-c", "240", "--max-bed-c", "60.5", "--max-chamber-c", "0"),
        *("--max-move-mm", "50", "--max-extrude-mm", "20"),
        *("--camera-host", "cam.lan", "--camera-host", "192.168.1.0/24"),
    ).limits

    assert limits == OwnerLimits(
        allowed=frozenset({Permission.CONTROL, Permission.CAMERA}),
        commands=CommandLimits(hotend_c=240, bed_c=60.5, chamber_c=0, move_mm=50, extrude_mm=20),
        camera_hosts=("cam.lan", "192.168.1.0/24"),
    )


def test_an_agent_may_allow_nothing_at_all() -> None:
    assert read(*OCTOPRINT, "--allow", "").limits.allowed == frozenset()


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--allow", "control,everything", "everything"),
        ("--max-hotend-c", "261", "0 to 260"),
        ("--max-hotend-c", "hot", "0 to 260"),
        ("--max-hotend-c", "nan", "0 to 260"),
        ("--max-bed-c", "-1", "0 to 75"),
        ("--max-chamber-c", "76", "0 to 75"),
        ("--max-move-mm", "501", "0 to 500"),
        ("--max-extrude-mm", "inf", "0 to 500"),
        ("--camera-host", "http://cam.lan/", "http://cam.lan/"),
        ("--camera-host", "192.168.1.7/24", "192.168.1.7/24"),
    ],
)
def test_a_limit_that_is_none_is_named(option: str, value: str, said: str) -> None:
    reported = refusal(*OCTOPRINT, f"{option}={value}")

    assert reported.startswith(option)
    assert said in reported
