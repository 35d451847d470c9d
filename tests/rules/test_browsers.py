"""What a person calls a browser."""

import pytest

from printreach.rules.browsers import browser_in_words

CHROME = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"


@pytest.mark.parametrize(
    ("user_agent", "words"),
    [
        (f"Mozilla/5.0 (X11; Linux x86_64) {CHROME}", "Chrome on Linux"),
        (f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {CHROME} Edg/140.0", "Edge on Windows"),
        (f"Mozilla/5.0 (Linux; Android 16; K) {CHROME}", "Chrome on Android"),
        (
            "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
            "Firefox on Linux",
        ),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) Version/26.0 Safari/604.1",
            "Safari on an iPhone",
        ),
        ("curl/8.5.0", "curl"),
        ("", "A browser"),
    ],
)
def test_a_browser_is_called_what_people_call_it(user_agent: str, words: str) -> None:
    assert browser_in_words(user_agent) == words
