"""A program that answers as OctoPrint: nothing of it reaches the terminal or the settings raw."""

import asyncio
import json

import pytest

from printreach.agent.addresses import WebAddress
from printreach.agent.setup.printer_software import NoKey, PrinterKeys
from printreach.http1.fetch import FetchedAnswer
from printreach.rules.safe_text import lines
from printreach.run import agent_questions

ADDRESS = WebAddress(scheme="http", host="127.0.0.1", port=5000)
OURS = "http://127.0.0.1:5000/plugin/appkeys/auth/abc"


class Answering(PrinterKeys):
    """OctoPrint at that address that answers with this dialog and this key."""

    def __init__(self, dialog: object, key: object) -> None:
        super().__init__(ADDRESS)
        self._dialog, self._key = dialog, key

    async def _ask(
        self, method: str, target: str, *, key: str | None = None, body: bytes = b""
    ) -> FetchedAnswer:
        del target, key, body
        if method == "POST":
            told = {"app_token": "abc", "auth_dialog": self._dialog}
            return FetchedAnswer(201, [], json.dumps(told).encode())
        return FetchedAnswer(200, [], json.dumps({"api_key": self._key}).encode())


def ask(dialog: object, key: object) -> tuple[str, str]:
    """The path that is shown, and the key."""
    paths: list[str] = []

    async def body() -> str:
        return await Answering(dialog, key).octoprint_key(paths.append)

    got = asyncio.run(body())
    return paths[0], got


@pytest.mark.parametrize(
    "dialog",
    [
        "http://127.0.0.1/\x1b]0;pwned\x07\x1b[2J",
        "http://127.0.0.1/a\r\nfake line",
        "http://127.0.0.1/a b",
        "http://evil.example/plugin/appkeys/auth/abc",
        "@evil.example/auth",
        "http://[evil/",
        7,
        None,
    ],
)
def test_only_a_plain_path_of_the_host_that_was_asked_is_shown(dialog: object) -> None:
    assert ask(dialog, "key") == ("", "key")


@pytest.mark.parametrize("dialog", [OURS, "/plugin/appkeys/auth/abc"])
def test_the_page_of_octoprint_is_shown(dialog: str) -> None:
    assert ask(dialog, "key")[0] == "/plugin/appkeys/auth/abc"


@pytest.mark.parametrize("key", ['k"\nsecond line', "a b", "\x1b[2J", "ä"])
def test_a_key_that_is_none_is_refused(key: str) -> None:
    with pytest.raises(NoKey):
        ask(OURS, key)


def test_the_terminal_obeys_nothing_in_what_setup_says(capsys: pytest.CaptureFixture[str]) -> None:
    agent_questions.say("one\ntwo \x1b[2J\r\u202e")

    assert capsys.readouterr().out == "one\ntwo \\x1b[2J\\r\\u202e\n"
    assert lines("a\nb") == "a\nb"
