"""What a test needs of the machine, and what happens where that is missing.

A newcomer's laptop lacks Caddy or a browser, and the other tests are still worth running, so a
test whose part is missing is skipped with the way to get it. Where everything is meant to be
installed, PRINTREACH_TEST_REQUIRE_ALL=1 turns each such skip into a failure: otherwise a broken
installation step would look like a green run.
"""

import os
from collections.abc import Callable

import pytest

REQUIRE_ALL = "PRINTREACH_TEST_REQUIRE_ALL"


def everything_is_required() -> bool:
    """True where a missing part is a failure: the setting is 1, and nothing else counts."""
    return os.environ.get(REQUIRE_ALL) == "1"


def need(part: str, found: bool, how: str) -> None:
    """Go on when part was found; else skip the test, or fail it where everything is required.

    part: what is missing, as a person would call it ("Caddy").
    how: how to get it, as a command or a sentence ("apt-get install caddy").
    """
    if found:
        return
    missing = f"{part} is missing: {how}"
    if everything_is_required():
        pytest.fail(f"{missing} ({REQUIRE_ALL}=1)", pytrace=False)
    pytest.skip(missing)


def missing_of(look: Callable[[], object]) -> str | None:
    """Return what `need` says of a missing part within the call, where no test would be skipped."""
    try:
        look()
    except (pytest.skip.Exception, pytest.fail.Exception) as missing:
        return str(missing)
    return None
