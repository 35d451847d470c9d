"""Look at a page as people do: three sizes, light and dark, and as a screen reader would.

Any browser test can call `look_at(page, "name")` once the page shows what matters. Its pictures lie
in build/screens afterwards; what no machine can judge is for eyes to judge there.
"""

import os
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal, TypedDict, cast

from playwright.sync_api import Page

from tests.requirements_of_tests import need
from tests.rigs.chromium import screenshot, takes_pictures
from tests.rigs.peers import ROOT

Scheme = Literal["light", "dark"]


@dataclass(frozen=True)
class Size:
    """A window."""

    name: str
    width: int
    height: int


PHONE: Final = Size("phone", 390, 844)
TABLET: Final = Size("tablet", 820, 1180)
DESKTOP: Final = Size("desktop", 1440, 900)
SIZES: Final = (PHONE, TABLET, DESKTOP)
SCHEMES: Final[tuple[Scheme, ...]] = ("light", "dark")

LOOKS: Final = "PRINTREACH_TEST_LOOKS"
"""Set to `few`, a run asks axe three times about a page, not twice for each size: `make test` does,
`make test-pages` doesn't. Each time is a tenth of a second of CPU."""

# Levels A and AA of the guidelines, and what axe's authors hold to be good practice. Not the size
# of targets: axe takes a button that is just now under the phone's tabs for one too small.
_RULES: Final = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]
_COLOURS: Final = {"type": "rule", "values": ["color-contrast"]}

_TOO_WIDE: Final = """() => {
    const most = document.documentElement.clientWidth + 1;
    if (document.documentElement.scrollWidth <= most) return [];
    return [...document.body.querySelectorAll("*")]
        .filter((each) => each.getBoundingClientRect().right > most)
        .slice(0, 5).map((each) => each.outerHTML.slice(0, 120));
}"""


class Violation(TypedDict):
    """axe's finding on one rule."""

    id: str
    impact: str
    help: str
    nodes: list[dict[str, object]]


def look_at(
    page: Page, name: str, *, sizes: Sequence[Size] = SIZES, besides: Set[str] = frozenset()
) -> None:
    """Photograph the page in each size and scheme, and check what a machine can.

    Fails where axe finds a serious issue, or something sticks out at the right.
    besides: rules of axe that this page breaks on purpose.
    """
    page.wait_for_load_state()  # after a press, words may be there before their styles are
    for size in sizes:
        page.set_viewport_size({"width": size.width, "height": size.height})
        assert sticks_out(page) == [], f"{name} is too wide for a {size.name}"
        schemes = _schemes(size, sizes)
        for scheme in schemes:
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            screenshot(page, f"{name}-{size.name}-{scheme}")
            found = serious_issues(page, besides, colours_alone=scheme != schemes[0])
            assert found == [], f"{name}, {size.name}, {scheme}:\n" + "\n".join(found)
        if takes_pictures():
            _photograph_whole(page, f"{name}-{size.name}-whole")


def _schemes(size: Size, sizes: Sequence[Size]) -> Sequence[Scheme]:
    """In which the page is looked at in this one of the sizes."""
    if os.environ.get(LOOKS) != "few" or size == sizes[0]:
        return SCHEMES
    return ("dark",) if size == sizes[-1] else ()


def sticks_out(page: Page) -> list[str]:
    """The first elements that stick out at the right."""
    found: list[str] = page.evaluate(_TOO_WIDE)
    return found


def serious_issues(
    page: Page, besides: Set[str] = frozenset(), *, colours_alone: bool = False
) -> list[str]:
    """Say what axe holds to be serious or critical, each with the elements it is about.

    colours_alone: the rest has been looked at; only colours are others now.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(_axe())
    violations = cast(
        "list[Violation]",
        page.evaluate(
            "runOnly => axe.run({runOnly, resultTypes: ['violations']})"
            ".then(result => result.violations)",
            _COLOURS if colours_alone else _RULES,
        ),
    )
    return [
        f"{each['id']}: {each['help']}: {[node.get('html') for node in each['nodes'][:4]]}"
        for each in violations
        if each["impact"] in ("serious", "critical") and each["id"] not in besides
    ]


def _photograph_whole(page: Page, name: str) -> None:
    """With what lies below the window's edge."""
    window = page.viewport_size
    assert window is not None
    page.set_viewport_size({**window, "height": page.evaluate("document.body.scrollHeight")})
    screenshot(page, name)


@cache
def _axe() -> str:
    source = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
    need("axe-core", source.is_file(), "make install")
    return source.read_text()
