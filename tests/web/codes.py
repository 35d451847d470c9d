"""The codes of an authenticator app, for tests of pages that ask for them."""

import re

from printreach.rules.accounts.second_factors import code_of, step_at
from tests.web.world import PASSWORD, Browser, WebWorld, run, send, send_and_follow


def secret_of(world: WebWorld, browser: Browser) -> bytes:
    account = world.people(browser)[0]
    totp = run(
        browser,
        lambda: world.store.read(lambda records: records.second_factors.totp(account.account_id)),
    )
    assert totp is not None
    assert totp.secret is not None
    return totp.secret


def code_now(world: WebWorld, browser: Browser) -> str:
    return code_of(secret_of(world, browser), step_at(world.clock.now()))


def set_up_totp(world: WebWorld, browser: Browser) -> list[str]:
    """The recovery codes."""
    send(browser, "/account/totp", **{"totp-password": PASSWORD})
    page = send_and_follow(browser, "/account/totp/confirm", code=code_now(world, browser)).text
    return re.findall(r"[A-Z0-9]{4}(?:-[A-Z0-9]{4}){4}", page)
