"""Somebody at a keyboard: what they reach by Tab they have to see, and nothing keeps the focus.

No pointer, and no focus that a script sets: so does a person without a mouse.
"""

from dataclasses import dataclass, field
from typing import Final

from playwright.sync_api import Locator, Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from tests.rigs.looks import serious_issues, sticks_out
from tests.rigs.waiting import wait_for

MAX_STOPS: Final = 150
SETTLED_S: Final = 4.0
"""In which what slides away, or is drawn again, has done so; shorter than a toast is shown."""

_HERE: Final = """() => {
    const has = document.activeElement;
    if (!has || has === document.body) return null;
    const stops = window.stops ??= { numbers: new WeakMap(), count: 0 };
    if (!stops.numbers.has(has)) stops.numbers.set(has, ++stops.count);
    return stops.numbers.get(has);
}"""

# The ring may stand around the label of a box. It is seen where two of its sides are not cut off. A
# field for a time has several stops, drawn by the browser.
_UNSEEN: Final = """() => {
    const has = document.activeElement;
    if (!has || has === document.body || has.type === "time") return "";
    const label = has.closest("label");
    const words = has.outerHTML.slice(0, 140);
    const line = has.getClientRects()[0];
    if (!line) return words + ": is not drawn";
    const x = line.left + line.width / 2, y = line.top + line.height / 2;
    const top = document.elementFromPoint(x, y);
    if (!top) return words + `: is out of sight, at ${x}, ${y}`;
    if (!has.contains(top) && !label?.contains(top))
        return words + ": is under " + top.outerHTML.slice(0, 140);
    if (!has.matches(":focus-visible")) return words + ": has no visible focus";
    const ringed = [has, label].find((each) => {
        const style = each && getComputedStyle(each);
        return style && style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
    });
    if (!ringed) return words + ": has no ring";
    const style = getComputedStyle(ringed), box = ringed.getBoundingClientRect();
    const reach = parseFloat(style.outlineOffset) + parseFloat(style.outlineWidth);
    if (reach <= 0) return "";
    const clip = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
    for (let at = ringed.parentElement; at && at !== document.body; at = at.parentElement) {
        if (getComputedStyle(at).overflow === "visible") continue;
        const its = at.getBoundingClientRect();
        clip.left = Math.max(clip.left, its.left); clip.right = Math.min(clip.right, its.right);
        clip.top = Math.max(clip.top, its.top); clip.bottom = Math.min(clip.bottom, its.bottom);
    }
    const besides = [box.left - clip.left, clip.right - box.right];
    const above = [box.top - clip.top, clip.bottom - box.bottom];
    const seen = [...besides, ...above].filter((room) => room >= reach / 2);
    return seen.length < 2 ? words + ": its ring is cut off" : "";
}"""

_AFTER_A_STEP: Final = f"""() =>
    [({_HERE})(), document.activeElement?.type === "time", ({_UNSEEN})()]"""

_IS_BEFORE: Final = """element => {
    const has = document.activeElement;
    return has !== document.body && Boolean(has.compareDocumentPosition(element) & 2);
}"""


@dataclass
class Keyboard:
    """Of the person in front of this page. faults: what they could not see, or not leave."""

    page: Page
    faults: list[str] = field(default_factory=list)

    def reach(self, target: Locator) -> None:
        """Go there by Tab, or back by Shift+Tab where it stands before what has the focus."""
        expect(target).to_be_visible()
        key = "Shift+Tab" if target.evaluate(_IS_BEFORE) else "Tab"
        for _ in range(MAX_STOPS):
            self._step(key)
            if target.evaluate("element => element === document.activeElement"):
                return
        raise AssertionError(f"{key} does not lead to {target}, but to {self._focused()}")

    def press(self, target: Locator, key: str = "Enter") -> None:
        self.reach(target)
        self.page.keyboard.press(key)

    def follow(self, target: Locator) -> None:
        """Press what leads to another page, and look at that."""
        self.reach(target)
        try:
            with self.page.expect_navigation():
                self.page.keyboard.press("Enter")
        except PlaywrightTimeout:
            shown = self.page.locator("body").aria_snapshot()
            raise AssertionError(f"Enter on {target} leads nowhere; there is:\n{shown}") from None
        self.look()

    def type(self, target: Locator, text: str) -> None:
        self.reach(target)
        self.write(text)

    def write(self, text: str) -> None:
        """In place of what stands where the focus is."""
        self.page.keyboard.press("Control+a")
        self.page.keyboard.type(text)

    def look(self) -> None:
        """What a page or a dialog has to be: accessible, and no wider than the window."""
        self.page.wait_for_load_state()
        for words in serious_issues(self.page):
            self._note(words)
        for words in sticks_out(self.page):
            self._note(f"sticks out: {words}")

    def has_focus(self) -> None:
        """After what was done in place: somebody who goes on by Tab goes on from there."""
        if self.page.evaluate(_HERE) is None:
            self._note("the focus is lost")

    def walk_through(self) -> None:
        """Go by Tab to the page's end, and from its beginning until a stop comes again."""
        stops = list[int]()
        has_left = False
        for _ in range(MAX_STOPS):
            here = self._step("Tab")
            if here is None:
                has_left = True
            elif here not in stops:
                stops.append(here)
            elif here != stops[-1]:
                if not has_left:
                    self._note(f"the focus never leaves the page from {self._focused()}")
                return
        raise AssertionError(f"{self.page.url} has no end")

    def _step(self, key: str) -> int | None:
        """To the next stop; its number on this page, or None between its end and its beginning."""
        before = self.page.evaluate(_HERE)
        self.page.keyboard.press(key)
        here: int | None
        here, is_time, unseen = self.page.evaluate(_AFTER_A_STEP)
        if here == before and here is not None and not is_time:
            self._note(f"{key} does not leave {self._focused()}")
        if unseen:
            try:
                wait_for("a visible focus", lambda: not self.page.evaluate(_UNSEEN), SETTLED_S)
            except TimeoutError:
                self._note(f"{key}: {self.page.evaluate(_UNSEEN)}")
        return here

    def _focused(self) -> str:
        words: str = self.page.evaluate("document.activeElement.outerHTML.slice(0, 140)")
        return words

    def _note(self, words: str) -> None:
        fault = f"{self.page.url}: {words}"
        if fault not in self.faults:
            self.faults.append(fault)
