"""What a service hands out below /install."""

import hashlib
import re
import shlex
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from printreach.web import installing
from printreach.web.installing import WHEEL_NAME, downloads_route, pack_agent

SERVICE = "https://printreach.example"
NAMES = ["agent", WHEEL_NAME, "requirements-agent.txt", "requirements-demo.txt"]


def client_of(base_url: str) -> TestClient[Litestar]:
    return TestClient(Litestar([downloads_route(base_url)], logging_config=None))


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient[Litestar]]:
    with client_of(SERVICE) as client:
        yield client


def values_of(script: str) -> dict[str, str]:
    """The assignments at the head of the script, as a shell reads them."""
    names = re.findall(r"^([A-Z0-9_]+)=", script.partition("\n{\n")[0], re.MULTILINE)
    shown = "".join(f'printf "%s\\0" "${name}"\n' for name in names)
    head = script.partition("\n{\n")[0]
    done = subprocess.run(["sh", "-c", f"{head}\n{shown}"], capture_output=True, check=True)
    return dict(zip(names, done.stdout.decode().split("\0"), strict=False))


def test_the_script_names_the_service_and_what_it_hands_out(client: TestClient[Litestar]) -> None:
    script = client.get("/install/agent").text
    values = values_of(script)

    assert values["SERVICE"] == SERVICE
    assert values["WHEEL"] == WHEEL_NAME
    for name, digest in (
        (WHEEL_NAME, "WHEEL_SHA256"),
        ("requirements-agent.txt", "AGENT_LIST_SHA256"),
        ("requirements-demo.txt", "DEMO_LIST_SHA256"),
    ):
        content = client.get(f"/install/{name}").content
        assert values[digest] == hashlib.sha256(content).hexdigest()


def test_the_script_is_one_that_shells_can_read(client: TestClient[Litestar]) -> None:
    script = client.get("/install/agent").text

    assert script.startswith("#!/bin/sh\n")
    subprocess.run(["sh", "-n"], input=script, text=True, check=True)


def test_nothing_that_a_caller_says_gets_into_the_script(client: TestClient[Litestar]) -> None:
    headers = {"Host": "evil.example", "X-Forwarded-Host": "evil.example", "Origin": "evil.example"}
    plain = client.get("/install/agent").text

    assert client.get("/install/agent?service=evil.example", headers=headers).text == plain


@pytest.mark.parametrize(
    "base_url",
    ["https://a.example/$(touch x)", "https://a.example/'; touch x; '", 'https://a.example/"`x`"'],
)
def test_an_address_with_characters_of_the_shell_stays_an_address(base_url: str) -> None:
    with client_of(base_url) as client:
        script = client.get("/install/agent").text

    assert values_of(script)["SERVICE"] == base_url
    assert f"SERVICE={shlex.quote(base_url)}\n" in script


@pytest.mark.parametrize("name", NAMES)
def test_who_has_a_file_already_gets_it_not_again(client: TestClient[Litestar], name: str) -> None:
    first = client.get(f"/install/{name}")
    again = client.get(f"/install/{name}", headers={"If-None-Match": first.headers["etag"]})
    head = client.head(f"/install/{name}")

    assert (first.status_code, bool(first.content)) == (200, True)
    assert (again.status_code, again.content) == (304, b"")
    assert (head.status_code, head.headers["content-length"]) == (200, str(len(first.content)))


@pytest.mark.parametrize("name", ["nothing", "printreach-9.9-py3-none-any.whl", "pyproject.toml"])
def test_nothing_else_is_handed_out(client: TestClient[Litestar], name: str) -> None:
    assert client.get(f"/install/{name}").status_code == 404


def test_many_strangers_at_once_have_the_wheel_packed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = threading.Semaphore(0)

    def counted() -> bytes:
        packed.release()
        return pack_agent()

    monkeypatch.setattr(installing, "pack_agent", counted)
    with (
        client_of(SERVICE) as client,
        ThreadPoolExecutor(8) as strangers,
    ):
        answers = list(strangers.map(client.get, [f"/install/{WHEEL_NAME}"] * 16))

    assert {answer.status_code for answer in answers} == {200}
    assert packed.acquire(blocking=False)
    assert not packed.acquire(blocking=False)
