"""Secrets appear only where needed: not in logs, files, database, pages or listings."""

from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.journeys.journey_of_secrets import Journey, Secrets
from tests.rigs.behaviour.rig import behaviour_printer
from tests.rigs.service import Agent, printreach, service_on_localhost
from tests.rigs.smtp_server import smtp_server
from tests.rigs.straight import DIRECT, goes_straight

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

DATABASE = "service-data/printreach.sqlite3*"
ALLOWED = {
    ("key in the address of a webhook", DATABASE): "the service has to call that address again",
    ("Live Link", DATABASE): "its owner has it listed; it shows a print, and opens nothing",
    ("Live Link", "/connections"): "its owner's own list",
    ("Live Link", "/account/export"): "all that is kept of an account, for its owner",
    ("link code of *", "*.out"): "whoever stands at the agent's machine reads it there",
    ("link code of *", "*.err"): "the same, in the log; it is good for ten minutes, and once",
    (
        "token of the set-up link",
        "*.err",
    ): "the first operator finds it there; then it is worthless",
    ("link code of *", "*log*"): "the same log, read by an app once the code is used up",
    ("service.key in *", "service-data/service.key"): "the file of that key",
    ("sealing.keys in *", "service-data/sealing.keys"): "the file of that key",
    ("webhook-keys.json in *", "service-data/webhook-keys.json"): "the file of that key",
    ("agent.key in *", "*/agent.key"): "the file of that key",
}
"""What may be found: the secret, where, and why."""


@pytest.fixture(scope="module")
def journey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Journey]:
    """The whole of it: one process with an agent inside, and an agent of its own."""
    if goes_straight():
        pytest.skip(f"there is no service, and {DIRECT}=1 leaves it out")
    folder, made = tmp_path_factory.mktemp("outputs"), Secrets()
    inside = ("--with-agent", "--platform", "simulated", "--lan-listen", "127.0.0.1:0")
    with smtp_server() as mails, behaviour_printer(tmp_path_factory.mktemp("printer")) as printer:
        smtp = f"smtp://{made.make('user of the mail server')}:{made.make('password of mail')}"
        settings = {
            "PRINTREACH_SMTP_URL": f"{smtp}@127.0.0.1:{mails.port}?from=it@example.org",
            "PRINTREACH_MQTT_URL": f"mqtt://ha:{made.make('password of the broker')}@127.0.0.1:7",
            "PRINTREACH_OIDC_ISSUER": "http://127.0.0.1:7/realm",
            "PRINTREACH_OIDC_CLIENT_ID": "printreach",
            "PRINTREACH_OIDC_CLIENT_SECRET": made.make("client secret of the provider"),
            "PRINTREACH_DETECTOR_TOKEN": made.make("token of detector nodes"),
            "PRINTREACH_WEBHOOK_ALLOW_PRIVATE": "true",
        }
        beside = {
            "PRINTREACH_PRINTER_API_KEY": made.make("printer API key"),
            "PRINTREACH_PRINTER_LAN_WEBHOOKS": f"http://127.0.0.1:9/?k={made.make('LAN webhook')}",
        }
        camera = f"door=http://me:{made.make('password of a camera')}@127.0.0.1:9/jpg,"

        def agent(*words: str | Path) -> list[str]:
            return printreach(*words, "--webcam", camera)

        with (
            service_on_localhost(
                folder, command=lambda *words: printreach(*words, *inside), more_env=settings
            ) as service,
            service.agent("beside", printer.url, env=beside, command=agent) as outside,
        ):
            one = Journey(service=service, mails=mails, secrets=made)
            data = Path(service.env["PRINTREACH_DATA_DIR"])
            one.sign_in_and_protect()
            one.link("inside", Agent(service.program, data / "agent"))
            one.link("outside", outside)
            one.make_keys()
            one.connect(one.printers["inside"])
            one.connect_briefly(one.printers["outside"])
            one.ask_for_everything()
            one.keep_key_files(data, data / "agent", outside.data_dir)
        yield one


def written(journey: Journey) -> dict[str, bytes]:
    """Everything: files below the folder by their path, and what callers were told."""
    folder = journey.service.folder
    files = (file for file in sorted(folder.rglob("*")) if file.is_file())
    return {
        **{file.relative_to(folder).as_posix(): file.read_bytes() for file in files},
        **journey.outputs,
    }


def found(journey: Journey) -> list[tuple[str, str]]:
    """Which secret stands where."""
    spellings = journey.secrets.spellings()
    return sorted(
        (name, place)
        for place, content in written(journey).items()
        for name, spelled in spellings.items()
        if any(one in content for one in spelled)
    )


def is_allowed(name: str, place: str) -> bool:
    return any(fnmatch(name, secret) and fnmatch(place, where) for secret, where in ALLOWED)


def test_no_secret_is_written_where_it_need_not_be(journey: Journey) -> None:
    unforeseen = [one for one in found(journey) if not is_allowed(*one)]

    assert unforeseen == [], unforeseen


def test_whatever_may_be_written_is_really_there(journey: Journey) -> None:
    """So the search finds what there is, and the list of exceptions holds no old ones."""
    every = found(journey)

    unused = [
        (secret, where)
        for secret, where in ALLOWED
        if not any(fnmatch(name, secret) and fnmatch(place, where) for name, place in every)
    ]
    assert unused == []


def test_the_journey_has_been_everywhere(journey: Journey) -> None:
    places = written(journey)

    assert len(journey.secrets.values) > 35
    assert places["service-data/printreach.sqlite3"]
    assert any(name.endswith("beside.err") and content for name, content in places.items())
    assert b"ada@example.org" in places["/account/export"]
    assert b"printreach_" in places["/metrics"]
