"""What is written beside an installed agent, and its unit."""

import argparse
import asyncio
import re
import shlex
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from printreach.agent.config import read_config
from printreach.agent.data_dir import DataDirRefused
from printreach.agent.setup.installation import MARK, Installation
from printreach.agent.setup.systemd import Systemd, SystemdFailed, unit_text
from printreach.run.agent import add_arguments
from tests.agent.test_systemd_unit import MAX_EXPOSED, UNIT, analyze
from tests.requirements_of_tests import need

HOSTILE = "quote\" dollar$HOME back`id`tick slash\\ apostrophe' hash# semi; ü"


def installation(folder: Path, *, is_system: bool = False) -> Installation:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARK).touch()
    return Installation.at(folder, is_system=is_system, home=folder.parent)


def test_secrets_of_any_characters_are_read_as_they_were_written(tmp_path: Path) -> None:
    made = installation(tmp_path / "agent")
    secrets = {"PRINTREACH_PRINTER_PASSWORD": HOSTILE, "PRINTREACH_PRINTER_USER": "maker"}

    made.write(["--platform=duet"], secrets)

    assert made.read_secrets() == secrets
    assert made.secrets.stat().st_mode & 0o777 == 0o600


def test_a_shell_reads_the_same_secrets(tmp_path: Path) -> None:
    made = installation(tmp_path / "agent")
    made.write(["--platform=duet"], {"PRINTREACH_PRINTER_PASSWORD": HOSTILE})
    made.program.parent.mkdir(parents=True)
    made.program.write_text(
        '#!/bin/sh\nprintf "%s\\n" "$PRINTREACH_PRINTER_PASSWORD" "$@"\n', encoding="utf-8"
    )
    made.program.chmod(0o755)

    told = subprocess.run([made.runner], capture_output=True, text=True, check=True).stdout

    assert told.splitlines() == [HOSTILE, "agent", "run", f"@{made.options}"]


def test_options_of_any_characters_reach_the_agent(tmp_path: Path) -> None:
    made = installation(tmp_path / "agent")
    webcam = "--webcam=A 'cam' $x=http://cam.local/s?a=1&b=%20,"
    made.write([webcam, "--printer-url=http://127.0.0.1"], {})
    parser = argparse.ArgumentParser()
    add_arguments(parser)

    options = parser.parse_args(["run", f"@{made.options}"])

    assert options.webcam == [webcam.removeprefix("--webcam=")]
    assert options.printer_url == "http://127.0.0.1"


def test_each_installation_has_a_unit_and_data_of_its_own(tmp_path: Path) -> None:
    one = Installation.at(Path("/opt/printreach-agent"), is_system=True, home=tmp_path)
    other = Installation.at(Path("/opt/voron"), is_system=True, home=tmp_path)

    assert one.unit.name == "printreach-agent.service"
    assert (other.unit.name, other.data_dir) == (
        "printreach-agent-voron.service",
        Path("/var/lib/printreach-agent-voron"),
    )


@pytest.mark.slow
@pytest.mark.parametrize("is_system", [True, False])
def test_systemd_understands_every_line_of_the_unit(tmp_path: Path, *, is_system: bool) -> None:
    need("systemd-analyze", shutil.which("systemd-analyze") is not None, "apt-get install systemd")
    made = installation(tmp_path / "agent", is_system=is_system)
    made.program.parent.mkdir(parents=True)
    made.program.symlink_to("/bin/true")
    unit = tmp_path / made.unit.name
    unit.write_text(unit_text(made))

    checked = analyze("verify", "--man=no", unit)

    assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.slow
def test_the_agent_of_the_machine_is_exposed_to_little(tmp_path: Path) -> None:
    need("systemd-analyze", shutil.which("systemd-analyze") is not None, "apt-get install systemd")
    made = installation(tmp_path / "agent", is_system=True)
    unit = tmp_path / made.unit.name
    unit.write_text(unit_text(made))

    rated = analyze("security", "--offline=yes", f"--threshold={MAX_EXPOSED}", unit)

    assert rated.returncode == 0, rated.stdout[-200:]


def test_the_unit_confines_the_agent_as_the_one_in_deploy_does(tmp_path: Path) -> None:
    made = installation(tmp_path / "agent", is_system=True)
    confining = r"^(?:Protect|Private|Restrict|System|Lock|Memory|Capab|Ambient|NoNew|Tasks).*$"

    lines = set(re.findall(confining, unit_text(made), re.MULTILINE))

    assert lines == set(re.findall(confining, UNIT.read_text(), re.MULTILINE))


def test_the_units_command_is_one_the_agent_takes(tmp_path: Path) -> None:
    made = installation(tmp_path / "agent")
    made.write(
        ["--service=https://a.example", f"--data-dir={made.data_dir}", "--platform=octoprint"], {}
    )
    line = re.search(r"^ExecStart=(.*)$", unit_text(made), re.MULTILINE)
    assert line is not None
    parser = argparse.ArgumentParser()
    add_arguments(parser)

    program, agent, *words = shlex.split(line[1])
    config = read_config(parser.parse_args(words), {})

    assert (program, agent) == (str(made.program), "agent")
    assert config.data_dir == made.data_dir


def test_a_unit_of_somebody_else_is_not_ours(tmp_path: Path) -> None:
    made, other = installation(tmp_path / "agent"), installation(tmp_path / "x" / "agent")
    made.unit.parent.mkdir(parents=True)
    made.unit.write_text(unit_text(other))
    assert not Systemd(made).is_ours

    made.unit.write_text(unit_text(made))
    assert Systemd(made).is_ours


@pytest.mark.parametrize("folder", ["/home/ada/agent", "/tmp/agent"])
def test_a_folder_that_the_machines_unit_cannot_see_is_refused(folder: str) -> None:
    made = Installation.at(Path(folder), is_system=True, home=Path("/root"))

    with pytest.raises(SystemdFailed, match="doesn't see"):
        asyncio.run(Systemd(made).start())


def test_removing_leaves_other_folders_and_commands_alone(tmp_path: Path) -> None:
    made = installation(tmp_path / "agent")
    made.command.parent.mkdir(parents=True)
    made.command.write_text("somebody else's")
    (tmp_path / "kept").touch()
    made.add_command()

    made.remove(made.parts(has_data=True))

    assert sorted(path.name for path in tmp_path.iterdir()) == [".local", "kept"]
    assert made.command.read_text() == "somebody else's"


def of_the_machine(root: Path, folder: str) -> Installation:
    """An agent that root installed; all folders of the machine are below a root of the test's."""
    made = installation(root / folder, is_system=True)
    (root / "lib").mkdir(exist_ok=True)
    return replace(
        made,
        data_dir=root / "lib" / made.name,
        unit=root / f"{made.name}.service",
        command=root / "bin" / "printreach",
    )


def uninstall(made: Installation) -> None:
    made.remove(made.parts(has_data=Systemd(made).has_data))


def test_data_that_systemd_made_a_link_of_is_removed_with_the_link(tmp_path: Path) -> None:
    made = of_the_machine(tmp_path, "opt/printreach-agent")
    real = tmp_path / "lib" / "private" / "printreach-agent"
    real.mkdir(parents=True)
    made.data_dir.symlink_to("private/printreach-agent")
    made.unit.write_text(unit_text(made))

    assert made.parts(has_data=True) == [made.folder, made.data_dir, real]
    uninstall(made)

    assert not real.exists()
    assert not made.data_dir.is_symlink()


@pytest.mark.parametrize("is_system", [True, False])
def test_what_another_link_leads_to_is_left_alone(tmp_path: Path, *, is_system: bool) -> None:
    photos = tmp_path / "photos" / "private" / "printreach-agent"
    photos.mkdir(parents=True)
    (photos / "wedding.jpg").touch()
    made = (
        of_the_machine(tmp_path, "opt/printreach-agent")
        if is_system
        else installation(tmp_path / "printreach-agent")
    )
    link = made.data_dir if is_system else made.folder / "data"
    link.symlink_to(photos)
    made.unit.parent.mkdir(parents=True, exist_ok=True)
    made.unit.write_text(unit_text(made))

    uninstall(made)

    assert (photos / "wedding.jpg").exists()
    assert not link.is_symlink()
    assert not made.folder.exists()


@pytest.mark.parametrize("has_unit", [True, False])
def test_the_data_of_another_agent_of_the_same_name_is_left_alone(
    tmp_path: Path, *, has_unit: bool
) -> None:
    one = of_the_machine(tmp_path, "opt/printreach-agent")
    other = of_the_machine(tmp_path, "srv/printreach-agent")
    assert one.data_dir == other.data_dir
    for each in (one, other):
        each.write([f"--data-dir={each.data_dir}"], {})
    if has_unit:
        one.unit.write_text(unit_text(one))
        one.data_dir.mkdir(mode=0o700)
    else:
        one.claim_data()
    (one.data_dir / "agent.key").touch()

    assert other.parts(has_data=Systemd(other).has_data) == [other.folder]
    uninstall(other)
    assert (one.data_dir / "agent.key").exists()
    uninstall(one)
    assert not one.data_dir.exists()


def test_data_that_no_installation_claims_is_left_alone(tmp_path: Path) -> None:
    made = of_the_machine(tmp_path, "opt/printreach-agent")
    made.data_dir.mkdir()

    uninstall(made)

    assert made.data_dir.exists()


def test_an_agent_that_was_set_up_before_there_was_a_mark_has_its_data(tmp_path: Path) -> None:
    made = of_the_machine(tmp_path, "opt/printreach-agent")
    made.write([f"--data-dir={made.data_dir}"], {})
    made.data_dir.mkdir()

    uninstall(made)

    assert not made.data_dir.exists()


def test_two_agents_of_the_same_name_are_not_set_up_on_one_folder(tmp_path: Path) -> None:
    one = of_the_machine(tmp_path, "opt/printreach-agent")
    one.claim_data()
    one.claim_data()

    other = of_the_machine(tmp_path, "srv/printreach-agent")
    for ask in (other.refuse_data_of_another, other.claim_data):
        with pytest.raises(DataDirRefused, match="ends in another name"):
            ask()

    shutil.rmtree(one.folder)
    of_the_machine(tmp_path, "srv/printreach-agent").claim_data()


def test_a_link_to_a_program_that_is_gone_is_replaced(tmp_path: Path) -> None:
    made = of_the_machine(tmp_path, "opt/printreach-agent")
    made.command.parent.mkdir()
    made.command.symlink_to(tmp_path / "gone")

    made.add_command()

    assert made.command.readlink() == made.program
