"""Sessions: how long a browser stays signed in, when its use is recorded, and its name."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from printreach.languages import _

IDLE_TIME: Final = timedelta(days=30)
"""A browser that was not used for this long is signed out."""
LONGEST_TIME: Final = timedelta(days=365)
"""Every browser must sign in again after this, however often it was used."""
NOTE_EVERY: Final = timedelta(minutes=5)
"""The precision of `seen_at`: a write on every request would be too many."""
FRESH_TIME: Final = timedelta(minutes=10)
"""The time for which a sign-in proves the person's identity if there is no password to ask for."""
MAX_SESSIONS: Final = 50
"""The most sessions of one account; one more evicts the least recently used one."""
LONGEST_BROWSER: Final = 300
"""The most characters of a User-Agent that are stored."""
# The first match counts: each browser names those below it as well.
_BROWSERS: Final = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
    ("curl/", "curl"),
)
_SYSTEMS: Final = (
    ("iPhone", "an iPhone"),
    ("iPad", "an iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Macintosh", "a Mac"),
    ("Linux", "Linux"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """One browser that is signed in.

    address: the caller's, at the last note. browser: its User-Agent.
    """

    session_id: str
    account_id: str
    started_at: datetime
    seen_at: datetime
    address: str
    browser: str


def is_live(session: Session, at: datetime) -> bool:
    """Whether the browser is still signed in; the last instant is excluded."""
    return at < ends_at(session)


def ends_at(session: Session) -> datetime:
    """Return when it ends by itself, unless it is used again before."""
    return min(session.seen_at + IDLE_TIME, session.started_at + LONGEST_TIME)


def is_note_due(session: Session, at: datetime) -> bool:
    """Whether it is time to write down that it was used. The clock may have been ahead."""
    return abs(at - session.seen_at) >= NOTE_EVERY


def is_fresh(session: Session, at: datetime) -> bool:
    """Whether the person proved who they are a moment ago. The clock may have been ahead."""
    return abs(at - session.started_at) < FRESH_TIME


def browser_in_words(user_agent: str) -> str:
    """Return a name such as `Firefox on Linux`; an unknown User-Agent is some browser."""
    browser = next((name for mark, name in _BROWSERS if mark in user_agent), _("A browser"))
    system = next((name for mark, name in _SYSTEMS if mark in user_agent), "")
    return _("%(browser)s on %(system)s", browser=browser, system=system) if system else browser
