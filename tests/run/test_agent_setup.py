"""The questions of `agent setup`, at a terminal and where nobody can be asked."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex

import pytest

from printreach.agent.setup.installation import MARK
from tests.rigs.moonraker import moonraker
from tests.rigs.service import printreach
from tests.rigs.waiting import free_port

SERVICE = ("--service", "https://printreach.example")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / f"agent-{token_hex(4)}"  # no agent of this machine has its name
    folder.mkdir()
    (folder / MARK).touch()
    return folder


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """Both ends of one: a person's, and a program's."""
    person, program = os.openpty()
    yield person, program
    os.close(person)
    os.close(program)


def set_up(
    folder: Path, *words: str, stdin: int = subprocess.DEVNULL, **variables: str
) -> subprocess.CompletedProcess[str]:
    programs = folder.parent / "bin"
    programs.mkdir(exist_ok=True)
    (programs / "systemctl").write_text("#!/bin/sh\nexit 1\n")
    (programs / "systemctl").chmod(0o755)
    env = {"HOME": str(folder.parent), "PATH": f"{programs}:/usr/bin:/bin", **variables}
    return subprocess.run(
        printreach("agent", "setup", "--dir", folder, *SERVICE, *words),
        env=env,
        stdin=stdin,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
        timeout=60,
    )


def answer(person: int, *answers: str) -> None:
    os.write(person, "".join(f"{one}\n" for one in answers).encode())


@pytest.mark.slow
def test_where_nobody_can_be_asked_it_says_what_to_give(folder: Path) -> None:
    done = set_up(folder, "--search-ports", str(free_port()))

    assert done.returncode == 1
    assert "No OctoPrint, Moonraker or PrusaLink answers on this machine." in done.stdout
    assert "Say which printer it is: --platform KIND --printer-url URL." in done.stderr


@pytest.mark.slow
def test_a_folder_that_is_no_installation_is_left_alone(tmp_path: Path) -> None:
    done = set_up(tmp_path / "pictures")

    assert done.returncode == 1
    assert "was not made by the installation script" in done.stderr


@pytest.mark.slow
def test_a_wrong_option_is_refused_before_anything_is_written(folder: Path) -> None:
    done = set_up(folder, "--platform", "typewriter", "--printer-url", "http://127.0.0.1")

    assert done.returncode == 1
    assert "--platform must be one of" in done.stderr
    assert [path.name for path in folder.iterdir()] == [MARK]


@pytest.mark.slow
def test_an_answer_that_is_no_kind_of_printer_is_refused(
    folder: Path, terminal: tuple[int, int]
) -> None:
    person, program = terminal
    answer(person, "typewriter")

    done = set_up(folder, "--search-ports", str(free_port()), stdin=program)

    assert "Kind of printer (octoprint, moonraker, bambu" in done.stdout
    assert "--platform must be one of" in done.stderr


@pytest.mark.peer
@pytest.mark.slow
def test_of_two_printers_neither_is_taken_without_asking(folder: Path, tmp_path: Path) -> None:
    with moonraker(tmp_path / "one") as one, moonraker(tmp_path / "two") as two:
        ports = ",".join(url.rpartition(":")[2] for url in (one, two))
        done = set_up(folder, "--search-ports", ports)

    assert done.returncode == 1
    assert f"--platform moonraker --printer-url {one}" in done.stderr
    assert f"--platform moonraker --printer-url {two}" in done.stderr
