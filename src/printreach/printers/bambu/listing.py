"""Lines of a folder's list, as FTP servers write them. Pure."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

VENDOR_FOLDERS = frozenset(
    {
        *("ipcam", "timelapse", "logger", "image", "corelogger", "recorder", "verify_job"),
        *("System Volume Information", "lost+found"),
    }
)
"""Folders at the top of the card with the printer's own files, which are no prints."""

_LIST = re.compile(
    r"(?P<mode>[-dlbcps][-rwxsStT]{9})[.+@]?\s+\d+\s+\S+\s+\S+\s+(?P<size>\d+)\s+"
    r"(?P<month>[A-Z][a-z]{2})\s+(?P<day>\d{1,2})\s+(?P<when>\d{4}|\d{1,2}:\d{2})\s(?P<name>.+)",
    re.ASCII,
)
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_A_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedEntry:
    """An entry of a folder. modified_s: Unix time, 0 when unknown."""

    name: str
    is_folder: bool
    size: int = 0
    modified_s: float = 0.0


def read_mlsd(line: str) -> ListedEntry | None:
    """`type=file;size=5;modify=20260101120000; name`; None for what is no file or folder."""
    facts_text, blank, name = line.partition(" ")
    facts = {
        key.lower(): value
        for key, equals, value in (fact.partition("=") for fact in facts_text.split(";"))
        if equals
    }
    kind = facts.get("type", "").lower()
    if not blank or kind not in ("file", "dir") or not _is_name(name):
        return None
    return ListedEntry(
        name=name,
        is_folder=kind == "dir",
        size=_number(facts.get("size", "")),
        modified_s=_seconds(facts.get("modify", "")),
    )


def read_list(line: str, now_s: float) -> ListedEntry | None:
    """Parse a line as `ls -l` writes it. now_s: gives the year of a date that comes without."""
    entry = _LIST.fullmatch(line)
    if entry is None or entry["mode"][0] not in "-d" or not _is_name(entry["name"]):
        return None
    return ListedEntry(
        name=entry["name"],
        is_folder=entry["mode"][0] == "d",
        size=_number(entry["size"]),
        modified_s=_list_seconds(entry["month"], entry["day"], entry["when"], now_s),
    )


def _is_name(name: str) -> bool:
    """Return whether a name can stand in a virtual path."""
    return name not in ("", ".", "..") and not any(
        sign in "/\\" or sign < " " or sign == "\x7f" or "\ud800" <= sign <= "\udfff"
        for sign in name
    )


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0


def _seconds(text: str) -> float:
    try:
        return datetime.strptime(text[:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return 0.0


def _list_seconds(month: str, day: str, when: str, now_s: float) -> float:
    if month not in _MONTHS:
        return 0.0
    number = _MONTHS.index(month) + 1
    try:
        if ":" not in when:
            return datetime(int(when), number, int(day), tzinfo=UTC).timestamp()
        hour, minute = (int(part) for part in when.split(":"))
        now = datetime.fromtimestamp(now_s, UTC)
        then = datetime(now.year, number, int(day), hour, minute, tzinfo=UTC)
        if then > now + _A_DAY:
            then = then.replace(year=now.year - 1)
        return then.timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0
