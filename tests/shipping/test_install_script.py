"""install.sh installs the service for real, and the container's files agree with it."""

import hashlib
import json
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]  # without types of its own
from playwright.sync_api import Page, expect

from printreach.run.settings import settings_from
from tests.requirements_of_tests import need
from tests.rigs.calls import call
from tests.rigs.chromium import chromium
from tests.rigs.installed_agent import Home, need_index, new_home
from tests.rigs.sites import press
from tests.rigs.timed_walks import BeginWalk
from tests.rigs.waiting import free_port, wait_for
from tests.rigs.ways import Way

REPOSITORY = Path(__file__).parents[2]
SCRIPT = REPOSITORY / "install.sh"
CONTAINER = REPOSITORY / "deploy" / "container"
SETTING = re.compile(r"PRINTREACH_\w+")


@pytest.fixture
def home() -> Iterator[Home]:
    with new_home() as home:
        yield home


def package_in(home: Home) -> Path:
    """The folder that `make package` makes, as somebody gets it who has no clone."""
    folder = home.path / "dist"
    wheel = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(wheel, cwd=REPOSITORY, check=True, capture_output=True)
    shutil.copytree(REPOSITORY / "requirements", folder / "requirements")
    shutil.copytree(REPOSITORY / "deploy" / "systemd", folder / "systemd")
    shutil.copy(SCRIPT, folder)
    subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
    return folder


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.timeout(600)
def test_an_installed_service_shows_a_live_picture_and_hands_out_its_agent(
    home: Home, tmp_path: Path, begin_walk: BeginWalk
) -> None:
    need_index(home)
    package = package_in(home)
    with chromium(tmp_path / "profile") as browser:
        walk = begin_walk("from a bare machine to a live picture", 90)
        said = home.run("sh", package / "install.sh", "--without-detector", "--with", "agent,demo")
        with running_service(home) as url:
            show_a_live_picture(home, browser.new_page(), url)
            walk.end()
            way = Way.straight(url)
            script = call(way, "/install/agent").body.decode()
            name, digest = re.findall(r"^WHEEL(?:_SHA256)?=(.*)$", script, re.MULTILINE)
            wheel = call(way, f"/install/{name}").body

    assert f"    {program_of(home)} serve" in said
    assert (home.path / ".local" / "bin" / "printreach").readlink() == program_of(home)
    assert hashlib.sha256(wheel).hexdigest() == digest


def program_of(home: Home) -> Path:
    return home.path / ".local" / "share" / "printreach" / "bin" / "printreach"


@contextmanager
def running_service(home: Home) -> Iterator[str]:
    """Run what was installed, with an agent of a simulated printer beside it; give its address."""
    port = free_port()
    url = f"http://localhost:{port}"
    domain = f"localhost:{port}"
    settings = {"LISTEN": f"127.0.0.1:{port}", "BASE_URL": url, "TUNNEL_DOMAIN": domain}
    agent = ("--with-agent", "--platform", "simulated", "--lan-listen", "127.0.0.1:0")
    service = home.start(
        *("sh", "-c", 'exec "$0" serve "$@" >log 2>&1', program_of(home), *agent),
        **{f"PRINTREACH_{name}": value for name, value in settings.items()},
    )
    try:
        wait_for("the service", lambda: is_ready(Way.straight(url)), 60)
        yield url
    finally:
        service.send_signal(signal.SIGTERM)
        service.communicate(timeout=60)


def show_a_live_picture(home: Home, page: Page, url: str) -> None:
    """Make the first account by the link in the log, link the printer, and look at its page."""
    page.goto(in_log(home, rf"({re.escape(url)}/\S*invit\S+)"))
    page.get_by_label("E-mail").fill("operator@example.com")
    page.get_by_label("Password").fill("a long enough passphrase")
    with page.expect_navigation():
        press(page, "Create account")
    page.goto(f"{url}/link?code={in_log(home, 'Link code ([A-Z0-9]+)')}")
    page.get_by_label("Name").fill("Workbench")
    with page.expect_navigation():
        press(page, "Link printer")
    page.goto(f"{url}/printers")
    page.get_by_role("link", name="Workbench", exact=True).first.click()
    picture = page.get_by_role("img", name="Workbench, webcam")
    expect(picture).to_have_js_property("naturalWidth", 640)


def in_log(home: Home, pattern: str) -> str:
    """Return what the group of a pattern finds in the service's log, once it is there."""

    def look() -> str | None:
        found = re.search(pattern, (home.path / "log").read_text())
        return found[1] if found else None

    return wait_for(f"{pattern} in the log", look, 60)


@pytest.mark.parametrize("given", ["agent,demos", "nonsense", "agent, server-only", "*"])
def test_an_unknown_list_is_refused_before_anything_is_installed(
    given: str, tmp_path: Path
) -> None:
    folder = tmp_path / "here"

    done = subprocess.run(
        ["sh", SCRIPT, "--dir", folder, "--with", given],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert "--with knows agent, demo, nats, otel, postgresql, s3 and stripe" in done.stderr
    assert not folder.exists()


@pytest.mark.slow
@pytest.mark.parametrize("given", [["--with", "agent,demo"], ["--with", "agent", "--with", "demo"]])
def test_lists_are_named_with_commas_or_one_by_one(given: list[str], tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()

    done = subprocess.run(
        ["sh", SCRIPT, "--dir", tmp_path / "full", *given],
        capture_output=True,
        text=True,
        check=False,
    )

    # The folder is looked at after the lists.
    assert "holds something else" in done.stderr


def is_ready(way: Way) -> bool:
    try:
        return call(way, "/readyz").status == 200
    except OSError:
        return False


def test_shells_can_read_it() -> None:
    subprocess.run(["sh", "-n", SCRIPT], check=True)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--nonsense"], "--nonsense is no option of it"),
        (["--dir"], "--dir needs a word behind it"),
        (["--dir", "with blank"], "has characters that unit files read otherwise"),
        (["--dir", "pictures"], "holds something else: name another with --dir."),
        (["--dir", "new"], "No wheel of Printreach is in"),
    ],
)
def test_what_it_cannot_do_is_a_sentence(home: Home, words: list[str], sentence: str) -> None:
    home.run("sh", "-c", "mkdir pictures; touch pictures/cat.png")
    script = shutil.copy(SCRIPT, home.path)

    said = home.run("sh", script, *words, status=1)

    assert sentence in said
    assert not (home.path / "new").exists()


@pytest.mark.parametrize(
    ("python", "sentence"),
    [
        ("exit 1", "Python 3.11 or newer is needed"),
        ('case "$*" in *ensurepip*) exit 1 ;; esac', "Python's venv module is missing"),
    ],
)
def test_a_machine_without_what_is_needed_is_told_so(
    home: Home, python: str, sentence: str
) -> None:
    for name in ("python3", *(f"python3.{minor}" for minor in range(11, 15))):
        home.add_program(name, python)

    said = home.run("sh", shutil.copy(SCRIPT, home.path), status=1)

    assert sentence in said


def test_it_installs_nothing_that_is_not_pinned() -> None:
    """Libraries by their hashes, and Printreach from the folder at hand."""
    lines = [line for line in SCRIPT.read_text().splitlines() if "pip install" in line]

    assert lines
    assert all("--require-hashes" in line or "--no-deps --no-index" in line for line in lines)


def test_a_clone_needs_no_tools_of_developers_to_be_installed() -> None:
    need("make", shutil.which("make") is not None, "apt-get install make")
    plan = subprocess.run(
        ["make", "--dry-run", "--always-make", "wheel"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert "requirements/build.txt" in plan
    assert "requirements/dev.txt" not in plan
    assert not re.search(r"(?:^|\s)\.venv/", plan)


def test_the_container_runs_what_the_script_installs() -> None:
    text = (CONTAINER / "Dockerfile").read_text()
    settings = dict(re.findall(r"PRINTREACH_(\w+)=(\S+)", text))

    assert "RUN sh /printreach/install.sh --dir /opt/printreach\n" in text
    assert json.loads(re.findall(r"^ENTRYPOINT (.*)$", text, re.MULTILINE)[0]) == [
        "/opt/printreach/bin/printreach"
    ]
    settings_from({f"PRINTREACH_{name}": value for name, value in settings.items()})


def test_the_compose_file_sets_what_the_service_knows() -> None:
    service = yaml.safe_load((CONTAINER / "compose.yaml").read_text())["services"]["printreach"]
    defaults = {
        name: re.sub(r"^\$\{\w+:-(.*)\}$", r"\1", value)
        for name, value in service["environment"].items()
    }

    settings = settings_from(defaults)

    assert settings.base_url == "http://localhost:8080"
    assert (CONTAINER / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
    assert all(SETTING.fullmatch(name) for name in defaults)
