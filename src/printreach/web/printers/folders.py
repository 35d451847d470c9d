"""One page of a printer's files, out of the list that its agent sent: searched, sorted, cut.

The list may have megabytes, so this runs in a thread; each step is short, since msgspec holds the
GIL while it decodes.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, Final
from urllib.parse import quote, urlencode

import msgspec

from printreach.contract.codec import BAD_JSON
from printreach.contract.files import EntryType, FileRoot
from printreach.contract.platforms import can_print
from printreach.contract.sizes import MAX_NUMBER, Number, Whole
from printreach.rules.printers.virtual_paths import MAX_PATH_CHARS, VirtualPath, parse_virtual_path
from printreach.web.wording import filament_words

ROOT: Final = FileRoot.GCODE.value
PAGE_SIZE: Final = 200
MAX_NAME_CHARS: Final = 255
"""Characters of a shown name; no file system allows more."""
MAX_SEARCH_CHARS: Final = 100
MAX_SEARCH_DEPTH: Final = 32

Count = Annotated[int, msgspec.Meta(ge=0, le=MAX_NUMBER)]


class Entry(msgspec.Struct, frozen=True, kw_only=True, rename="pascal"):
    """The parts of `contract.files.FileEntry` that a page needs; 0 is unknown.

    thumbnail_count: -1 where the printer does not tell. children: JSON, decoded when opened.
    """

    type: EntryType
    name: str
    virtual_path: str
    size_bytes: Count = 0
    modified_time_sec: Number = 0.0
    est_print_time_sec: Count = 0
    est_filament_used_mm: Count = 0
    est_filament_weight_mg: Count = 0
    thumbnail_count: Whole = -1
    children: msgspec.Raw = msgspec.Raw(b"[]")


class Sort(StrEnum):
    """The order of files; folders come before them."""

    NEWEST = "newest"
    NAME = "name"
    LARGEST = "largest"
    LONGEST = "longest"


@dataclass(frozen=True, kw_only=True, slots=True)
class FolderQuery:
    """The query of the page's address. page: from 1."""

    path: VirtualPath
    search: str = ""
    sort: Sort = Sort.NEWEST
    page: int = 1

    def address(self, base: str, **changes: str | int) -> str:
        """Return the address of this page with some values changed. Usual values are left out."""
        values: dict[str, str | int] = {
            "folder": str(self.path),
            "q": self.search,
            "sort": self.sort.value,
            "page": self.page,
            **changes,
        }
        usual = {"folder": ROOT, "q": "", "sort": Sort.NEWEST.value, "page": 1}
        told = {name: value for name, value in values.items() if value != usual[name]}
        return f"{base}?{urlencode(told, quote_via=quote)}" if told else base


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A file or a folder.

    link: the value of `path=` in an address; "" if no address can name it. place: the folder of a
    file that was searched for, "" for the folder that is shown. thumbnail: the query of its
    picture's address, "" where it has none. time_s: 0 is unknown.
    """

    name: str
    link: str
    place: str
    is_folder: bool
    is_printable: bool
    thumbnail: str
    size_bytes: int
    changed_at: datetime | None
    time_s: int
    filament: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Folder:
    """A page of one folder. crumbs: the names on the path with their links; the last is this
    folder.
    """

    query: FolderQuery
    rows: Sequence[Row]
    crumbs: Sequence[tuple[str, str]]
    found: int
    page: int
    pages: int

    @property
    def path(self) -> str:
        return str(self.query.path)


class UnreadableList(Exception):
    """The printer's answer is not a list of files."""


class _List(msgspec.Struct, rename="pascal"):
    root: msgspec.Raw


class _ListEnvelope(msgspec.Struct, rename="pascal"):
    result: _List


_envelope = msgspec.json.Decoder(_ListEnvelope)
_items = msgspec.json.Decoder(list[msgspec.Raw])
_entry = msgspec.json.Decoder(Entry)


def parse_folder(typed: str | None) -> VirtualPath | None:
    """Parse the folder in an address; None if it is invalid."""
    path = parse_virtual_path(typed or ROOT, (FileRoot.GCODE,))
    return path if isinstance(path, VirtualPath) else None


def parse_folder_query(
    folder: str | None, search: str | None, sort: str | None, page: int | None
) -> FolderQuery | None:
    """Parse the query of an address; None if it names no folder. Other faults count as missing."""
    path = parse_folder(folder)
    if path is None:
        return None
    return FolderQuery(
        path=path,
        search=" ".join((search or "").split())[:MAX_SEARCH_CHARS],
        sort=Sort(sort) if sort in list(Sort) else Sort.NEWEST,
        page=max(1, min(page or 1, 1_000_000)),
    )


def folder_of(envelope: bytes, query: FolderQuery, platform: str | None) -> Folder | None:
    """Return a page of a folder's rows; None if it does not exist.

    envelope: the printer's answer to `/files/list`. platform: decides what can be printed. A search
    finds files in the folders of the folder, too. Raises UnreadableList.
    """
    try:
        inside = _children_of(_envelope.decode(envelope).result.root, query.path.parts)
        if inside is None:
            return None
        words = query.search.casefold().split()
        entries = list(_found(inside, words, MAX_SEARCH_DEPTH) if words else _entries(inside))
    except BAD_JSON as exc:
        raise UnreadableList(str(exc)) from exc
    entries.sort(key=_ORDERS[query.sort])
    pages = max(1, -(-len(entries) // PAGE_SIZE))
    page = min(query.page, pages)
    shown = entries[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]
    return Folder(
        query=query,
        rows=[_row(entry, query.path, platform) for entry in shown],
        crumbs=_crumbs(query.path),
        found=len(entries),
        page=page,
        pages=pages,
    )


def find_file(envelope: bytes, name: str) -> str | None:
    """Return the VirtualPath of the file that a print was made of; None if there is none, or
    several.

    name: as the printer's status says it: a path below the root, or the file's name alone. Raises
    UnreadableList.
    """
    try:
        root = _envelope.decode(envelope).result.root
        files = [
            entry.virtual_path
            for entry in _found(root, [_base(name).casefold()], MAX_SEARCH_DEPTH)
            if entry.type is EntryType.FILE
        ]
    except BAD_JSON as exc:
        raise UnreadableList(str(exc)) from exc
    whole = f"{ROOT}/{name.removeprefix('/').removeprefix(f'{ROOT}/')}"
    if whole in files:
        return whole
    same_name = [path for path in files if _base(path) == _base(name)]
    return same_name[0] if len(same_name) == 1 else None


def thumbnail_query(path: str, version: str) -> str:
    """Return the query of a thumbnail's address. version: changes with the file."""
    return urlencode({"path": path, "v": version}, quote_via=quote, safe="")


def moment_of(unix_s: float) -> datetime | None:
    """Return the time; None where a printer reported none, or a number that is no time."""
    try:
        return datetime.fromtimestamp(unix_s, UTC) if unix_s > 0 else None
    except (OverflowError, ValueError, OSError):
        return None


def _base(path: str) -> str:
    return path.rpartition("/")[2]


def _children_of(root: msgspec.Raw, parts: Sequence[str]) -> msgspec.Raw | None:
    inside = root
    for part in parts:
        folders = (
            entry.children
            for entry in _entries(inside)
            if entry.type is EntryType.FOLDER and entry.name == part
        )
        folder = next(folders, None)
        if folder is None:
            return None
        inside = folder
    return inside


def _entries(items: msgspec.Raw) -> Iterator[Entry]:
    return (_entry.decode(item) for item in _items.decode(items))


def _found(items: msgspec.Raw, words: Sequence[str], depth: int) -> Iterator[Entry]:
    """Yield what has all words in its name, in this folder and those below it."""
    for entry in _entries(items):
        name = entry.name.casefold()
        if all(word in name for word in words):
            yield entry
        if entry.type is EntryType.FOLDER and depth > 0:
            yield from _found(entry.children, words, depth - 1)


def _row(entry: Entry, shown: VirtualPath, platform: str | None) -> Row:
    is_named = len(entry.virtual_path) <= MAX_PATH_CHARS
    is_file = entry.type is EntryType.FILE
    is_printable = is_named and is_file and can_print(platform, entry.name)
    version = f"{entry.modified_time_sec:.0f}-{entry.size_bytes}"
    has_thumbnail = is_printable and entry.thumbnail_count != 0
    folder = entry.virtual_path.rpartition("/")[0]
    return Row(
        name=entry.name[:MAX_NAME_CHARS],
        link=quote(entry.virtual_path, safe="") if is_named else "",
        place="" if folder == str(shown) else folder.removeprefix(f"{ROOT}/")[:MAX_NAME_CHARS],
        is_folder=not is_file,
        is_printable=is_printable,
        thumbnail=thumbnail_query(entry.virtual_path, version) if has_thumbnail else "",
        size_bytes=entry.size_bytes,
        changed_at=moment_of(entry.modified_time_sec),
        time_s=entry.est_print_time_sec,
        filament=filament_words(entry.est_filament_used_mm, entry.est_filament_weight_mg),
    )


def _order(value: Callable[[Entry], float]) -> Callable[[Entry], tuple[Any, ...]]:
    """Return a key for sorting: folders by name, then files by falling value, then by name."""

    def key(entry: Entry) -> tuple[bool, float, str]:
        is_folder = entry.type is EntryType.FOLDER
        return not is_folder, 0.0 if is_folder else -value(entry), entry.name.casefold()

    return key


_ORDERS: Final = {
    Sort.NEWEST: _order(lambda entry: entry.modified_time_sec),
    Sort.NAME: _order(lambda _: 0.0),
    Sort.LARGEST: _order(lambda entry: entry.size_bytes),
    Sort.LONGEST: _order(lambda entry: entry.est_print_time_sec),
}


def _crumbs(path: VirtualPath) -> list[tuple[str, str]]:
    so_far, crumbs = ROOT, [("Files", ROOT)]
    for part in path.parts:
        so_far = f"{so_far}/{part}"
        crumbs.append((part, quote(so_far, safe="")))
    return crumbs
