"""The front page and the page that an agent's link opens."""

import argparse
import html
import re
import secrets
import shlex
from datetime import timedelta

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from printreach.agent.config import AgentConfig, add_options, read_config
from printreach.contract.platforms import PLATFORM_FACTS
from printreach.rules.connections.credentials import printer_id_of
from printreach.store.relay import SqlAgents
from printreach.web.templating import is_loopback, template_environment
from tests.web.conftest import MakeWorld
from tests.web.world import ADA, WebWorld, run, send, sign_in

Client = TestClient[Litestar]
KEY = b"k" * 32
SERVICE = "https://printreach.example"


@pytest.fixture
def owner(world: WebWorld, browser: Client) -> Client:
    """A browser that is signed in."""
    world.add_account(browser)
    sign_in(browser)
    return browser


def test_the_front_page_says_what_this_is_and_where_to_begin(browser: Client) -> None:
    answer = browser.get("/")

    assert answer.status_code == 200
    assert "Watch and control your 3D printers from anywhere" in answer.text
    assert 'href="/signin"' in answer.text
    assert 'href="/signup"' in answer.text


def test_the_front_page_offers_no_sign_up_where_there_is_none(world_with: MakeWorld) -> None:
    with world_with(SIGN_UP="closed") as (_, browser):
        assert 'href="/signup"' not in browser.get("/").text


def test_a_signed_in_person_begins_with_their_printers(owner: Client) -> None:
    answer = owner.get("/", follow_redirects=False)

    assert (answer.status_code, answer.headers["location"]) == (303, "/printers")


def commands_of(text: str) -> list[list[str]]:
    """The commands that are printed on a page, in their words."""
    printed = re.findall(r"<pre[^>]*><code[^>]*>(.*?)</code></pre>", text, re.DOTALL)
    return [shlex.split(html.unescape(re.sub(r"<[^>]+>", "", one))) for one in printed]


def agents_of(text: str) -> list[AgentConfig]:
    """The agents that the commands on a page would set up, as `agent setup` reads them."""
    parser, found = argparse.ArgumentParser(), []
    add_options(parser)
    for words in commands_of(text):
        if words[0] != "curl":
            continue  # the address of the plugin
        address, _, shell, *options = words[2:]
        assert (words[1], address, shell) == ("-fsSL", f"{SERVICE}/install/agent", "sh")
        always = ["--service", SERVICE, "--data-dir", "."]
        found.append(read_config(parser.parse_args([*always, *options[2:]]), {}))
    return found


def test_the_front_page_has_the_line_that_installs_an_agent(browser: Client) -> None:
    assert commands_of(browser.get("/").text) == [
        ["curl", "-fsSL", f"{SERVICE}/install/agent", "|", "sh"]
    ]


@pytest.mark.parametrize("path", ["/link", "/printers"])
def test_a_person_without_an_agent_is_shown_the_command_for_each_kind_of_printer(
    owner: Client, path: str
) -> None:
    text = owner.get(path).text
    agents = agents_of(text)

    assert [agent.kind.name for agent in agents] == list(PLATFORM_FACTS)


@pytest.mark.parametrize("path", ["/link", "/printers"])
def test_a_person_is_told_what_to_have_at_hand(owner: Client, path: str) -> None:
    text = html.unescape(owner.get(path).text)
    told = re.findall(r"<strong>You.ll need:</strong> (.+?)</p>", text)

    assert len(told) == len(PLATFORM_FACTS)


@pytest.mark.parametrize("path", ["/link", "/printers"])
def test_octoprints_plugin_is_at_the_address_that_is_shown(owner: Client, path: str) -> None:
    [[address]] = [words for words in commands_of(owner.get(path).text) if words[0] != "curl"]

    assert address.startswith(f"{SERVICE}/install/printreach-")
    assert owner.head(address.removeprefix(SERVICE)).status_code == 200


def test_a_kind_of_printer_has_the_name_there_that_it_has_on_every_page(owner: Client) -> None:
    summaries = re.findall(r"<summary>([^<]+)</summary>", owner.get("/link").text)

    assert summaries == [facts.title for facts in PLATFORM_FACTS.values()]


@pytest.mark.parametrize("path", ["/link", "/printers"])
def test_each_command_for_an_agent_has_a_button_that_copies_it(owner: Client, path: str) -> None:
    text = owner.get(path).text
    commands = re.findall(r'<code id="(agent-[a-z]+)">', text)

    assert len(commands) == len(PLATFORM_FACTS) + 1  # and the plugin's address
    assert re.findall(r'data-copy="([^"]+)"', text) == commands


@pytest.mark.parametrize("path", ["/", "/openapi.json", "/static/app.css"])
def test_a_page_can_be_asked_about_without_being_fetched(browser: Client, path: str) -> None:
    answer = browser.head(path)

    assert (answer.status_code, answer.content) == (200, b"")
    assert int(answer.headers["content-length"]) > 100


def test_the_link_of_an_agent_waits_until_somebody_is_signed_in(
    world: WebWorld, browser: Client
) -> None:
    world.add_account(browser)
    answer = browser.get("/link?code=K7QF4MXY", follow_redirects=False)
    assert answer.headers["location"] == "/signin?next=/link%3Fcode%3DK7QF4MXY"

    answer = sign_in(browser, next="/link?code=K7QF4MXY")

    assert 'value="K7QF-4MXY"' in browser.get(answer.headers["location"]).text


@pytest.mark.parametrize("typed", ["K7QF4MXY", "k7qf4mxy", "K7QF-4MXY", " k7qf 4mxy "])
def test_the_link_page_shows_the_code_however_it_was_typed(owner: Client, typed: str) -> None:
    answer = owner.get("/link", params={"code": typed})

    assert answer.status_code == 200
    assert 'value="K7QF-4MXY"' in answer.text


@pytest.mark.parametrize("code", ["", "K7QF4MX", "K7QF4MXYA", "K7QF4MX0", "K7QF4MXI", "K7QF4MXé"])
def test_what_cannot_be_a_code_is_refused_and_kept_for_correction(owner: Client, code: str) -> None:
    answer = owner.get("/link", params={"code": code})

    assert answer.status_code == 400
    assert f'value="{code}"' in answer.text
    assert 'aria-invalid="true"' in answer.text


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        '" autofocus onfocus="alert(1)',
        "'><img src=x onerror=alert(1)>",
        "{{ 7 * 7 }}",
        "$(reboot)",
    ],
)
def test_a_hostile_code_is_refused_and_stays_text(owner: Client, hostile: str) -> None:
    answers = [
        owner.get("/link", params={"code": hostile}),
        send(owner, "/link", code=hostile, name=hostile),
    ]

    for answer in answers:
        assert answer.status_code == 400
        assert hostile.startswith(("{{", "$")) or hostile not in answer.text
        assert "<script>" not in answer.text
        assert "<img" not in answer.text


def test_a_code_that_nobody_types_is_not_played_back(owner: Client) -> None:
    answer = owner.get("/link", params={"code": "K" * 3000})

    assert answer.status_code == 400
    assert "KKKK" not in answer.text


def test_bytes_that_are_no_text_are_refused(owner: Client) -> None:
    assert owner.get("/link?code=%ff%fe%00").status_code == 400


def test_two_codes_are_never_mixed(owner: Client) -> None:
    answer = owner.get("/link?code=K7QF4MXY&code=ACDEFGHJ")

    assert ("K7QF-4MXY" in answer.text) != ("ACDE-FGHJ" in answer.text)


def test_the_right_code_makes_the_printer_ones_own(world: WebWorld, owner: Client) -> None:
    code = offer(world, owner)

    answer = send(owner, "/link", code=code, name="Workbench")

    assert answer.headers["location"] == f"/printers/{printer_id_of(KEY)}"
    (listed,) = run(owner, world.services.printers.all)
    assert (listed.printer.name, listed.owner_email) == ("Workbench", ADA)


def test_a_printer_needs_a_name(world: WebWorld, owner: Client) -> None:
    answer = send(owner, "/link", code=offer(world, owner), name=" ")

    assert answer.status_code == 400
    assert 'href="#name"' in answer.text


def test_ten_wrong_codes_lock_linking_for_a_quarter_of_an_hour(
    world: WebWorld, owner: Client
) -> None:
    wrong = [send(owner, "/link", code="ACDEFGHJ", name="x").status_code for _ in range(10)]
    locked = send(owner, "/link", code=offer(world, owner), name="Workbench")

    assert wrong == [400] * 10
    assert (locked.status_code, locked.headers["retry-after"]) == (429, "900")
    world.clock.advance(timedelta(minutes=15))
    assert send(owner, "/link", code=offer(world, owner), name="Workbench").status_code == 303


def offer(world: WebWorld, browser: Client) -> str:
    """A code that an agent shows."""
    agents = SqlAgents(world.store, secrets.token_bytes)
    at = world.clock.now()
    return run(browser, lambda: agents.offer_link_code(printer_id_of(KEY), KEY, at)).code


@pytest.mark.parametrize("path", ["/", "/link", "/link?code=K7QF4MXY", "/link?code=x", "/no"])
def test_no_page_has_code_in_it_or_names_another_host(browser: Client, path: str) -> None:
    text = browser.get(path).text

    assert re.search(r"<script(?! type=\"module\" src=\"/static/[^\"]+\"></script>)", text) is None
    assert re.search(r"\son\w+=", text) is None
    assert "style=" not in text
    assert 'src="http' not in text
    assert 'href="http' not in text


@pytest.mark.parametrize("name", ["app.css", "app.js", "icon.svg", "icons.svg", "logo.svg"])
def test_static_files_are_served_to_be_kept_for_a_year(browser: Client, name: str) -> None:
    answer = browser.get(f"/static/{name}")

    assert answer.status_code == 200
    assert "max-age=31536000" in answer.headers["cache-control"]


@pytest.mark.parametrize("path", ["../app.py", "%2e%2e/app.py", "..%2fapp.py", "", "/etc/passwd"])
def test_nothing_beside_the_static_files_is_served(browser: Client, path: str) -> None:
    assert browser.get(f"/static/{path}").status_code == 404


@pytest.mark.parametrize(
    ("base_url", "is_said"),
    [
        ("http://localhost:8080", True),
        ("http://127.0.0.1:8080", True),
        ("http://192.168.1.20:8080", False),
        ("https://printers.example.com", False),
    ],
)
def test_a_line_that_works_on_the_services_own_computer_alone_says_so(
    base_url: str, *, is_said: bool
) -> None:
    assert is_loopback(base_url) is is_said
    drawn = template_environment(base_url).get_template("parts/agent.html").make_module()

    for macro in ("install_agent", "only_here"):
        assert ("PRINTREACH_BASE_URL" in getattr(drawn, macro)(base_url)) is is_said


def test_notifications_are_offered_below_what_a_printer_needs_to_be_linked(owner: Client) -> None:
    page = owner.get("/link").text

    assert page.index("Where to find the code") < page.index("data-push")
