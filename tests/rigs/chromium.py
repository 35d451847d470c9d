"""A real browser: Chromium with a fresh profile, kept from calling home."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    WebSocket,
    expect,
    sync_playwright,
)
from playwright.sync_api import Error as PlaywrightError

from tests.rigs.peers import ROOT, system_program
from tests.rigs.waiting import wait_for

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
TIMEOUT_MS = 60_000  # a printer's page is megabytes of scripts, and the machine may be busy
SCREENS = ROOT / "build" / "screens"
PICTURES = "PRINTREACH_TEST_PICTURES"
"""Set to 0, a run takes no pictures: `make test` does, for each is a tenth of a second of CPU."""


@contextmanager
def chromium(
    profile: Path, *, resolve: str | None = None, scripts: bool = True
) -> Iterator[BrowserContext]:
    """Run it with this empty profile folder.

    resolve: a name pattern that stands for loopback, such as *.printers.test; its certificates
    are then taken as they are. *.localhost needs none.
    scripts: whether pages may run any.
    """
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            profile,
            executable_path=system_program("chromium", "chromium"),
            headless=True,
            args=[*FLAGS, *_resolving(resolve)],
            timeout=TIMEOUT_MS,
            ignore_https_errors=resolve is not None,
            java_script_enabled=scripts,
            viewport={"width": 1280, "height": 900},
        )
        _be_patient(context)
        yield context
        context.close()


@contextmanager
def chromium_for_many(resolve: str | None = None) -> Iterator[Browser]:
    """Run one in which each of many tests has a profile of its own: fresh_profile gives it.

    resolve: a name pattern that stands for loopback.
    """
    with sync_playwright() as playwright:
        path = system_program("chromium", "chromium")
        browser = playwright.chromium.launch(
            executable_path=path,
            headless=True,
            args=[*FLAGS, *_resolving(resolve)],
            timeout=TIMEOUT_MS,
        )
        yield browser
        browser.close()


@contextmanager
def fresh_profile(
    browser: Browser, *, scripts: bool = True, service_workers: bool = True
) -> Iterator[BrowserContext]:
    """One that knows of no other's cookies, storage and cache. scripts: whether pages run any.

    service_workers: not where a test answers for the service, for its worker asks the network.
    """
    context = browser.new_context(
        java_script_enabled=scripts,
        service_workers="allow" if service_workers else "block",
        viewport={"width": 1280, "height": 900},
    )
    _be_patient(context)
    context.new_page()  # stays open: with the last page, processes go that the next would start
    yield context
    context.close()


def wait_until(page: Page, expression: str) -> None:
    """Wait until an expression is true in the page.

    Playwright's own waiting evaluates it within the page, which a Content-Security-Policy forbids
    from the second time on.
    """
    wait_for(expression, lambda: page.evaluate(f"() => Boolean({expression})"), TIMEOUT_MS / 1000)


def close_page(page: Page) -> None:
    """Close it, wherever it is on its way to.

    Chromium ignores that a page is closed while it goes to another one, and playwright then waits
    for ever.
    """
    with suppress(PlaywrightError):  # another navigation of its own may come between
        page.goto("about:blank")
    page.close()


def _resolving(pattern: str | None) -> list[str]:
    return [f"--host-resolver-rules=MAP {pattern} 127.0.0.1"] if pattern else []


def _be_patient(context: BrowserContext) -> None:
    context.set_default_timeout(TIMEOUT_MS)
    expect.set_options(timeout=TIMEOUT_MS)


@dataclass
class PageLog:
    """The console output and requests of a page while a test used it."""

    errors: list[str] = field(default_factory=list)
    frames_received: int = 0
    frames_sent: int = 0
    sockets: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)


def watch(page: Page) -> PageLog:
    """Note console errors, failed requests, WebSocket frames and the hosts asked."""
    seen = PageLog()

    def on_console(message: ConsoleMessage) -> None:
        if message.type == "error":
            seen.errors.append(f"{message.text} ({message.location['url']})")

    def count_received(_: object) -> None:
        seen.frames_received += 1

    def count_sent(_: object) -> None:
        seen.frames_sent += 1

    def on_socket(socket: WebSocket) -> None:
        seen.sockets.append(socket.url)
        socket.on("framereceived", count_received)
        socket.on("framesent", count_sent)

    page.on("console", on_console)
    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    page.on("websocket", on_socket)
    page.on("request", lambda request: seen.hosts.add(request.url.split("/")[2]))
    return seen


def screenshot(page: Page, name: str) -> None:
    """Keep a picture for people to look at."""
    if takes_pictures():
        SCREENS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=SCREENS / f"{name}.png")


def takes_pictures() -> bool:
    """False where nobody will look at them."""
    return os.environ.get(PICTURES) != "0"
