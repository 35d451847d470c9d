"""A printer's files as a page shows them, one folder at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Final
from urllib.parse import quote

import msgspec

from printreach.contract.files import EntryType, FileRoot
from printreach.rules.printers.virtual_paths import MAX_PATH_CHARS, VirtualPath, parse_virtual_path

ROOT: Final = FileRoot.GCODE.value
PAGE_SIZE: Final = 200
MAX_NAME_CHARS: Final = 255
"""Characters of a shown name; no file system allows more."""


class Entry(msgspec.Struct, frozen=True, kw_only=True, rename="pascal"):
    """The parts of `contract.files.FileEntry` that a page needs. children: JSON, decoded when
    opened.
    """

    type: EntryType
    name: str
    virtual_path: str
    size_bytes: Annotated[int, msgspec.Meta(ge=0, le=2**53)] = 0
    modified_time_sec: float = 0.0
    children: msgspec.Raw = msgspec.Raw(b"[]")


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A file or a folder.

    link: the value of `path=` in an address; "" if no address can name it.
    """

    name: str
    link: str
    is_folder: bool
    size_bytes: int
    changed_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Folder:
    """A page of one folder. crumbs: the names on the path with their links; the last is this
    folder.
    """

    path: str
    rows: Sequence[Row]
    crumbs: Sequence[tuple[str, str]]
    found: int
    page: int
    pages: int


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


def folder_of(envelope: bytes, path: VirtualPath, page: int) -> Folder | None:
    """Return a page of a folder's rows, folders first, then the newest files; None if it does not
    exist.

    envelope: the printer's answer to `/files/list`. It may have megabytes, so this runs in a
    thread; each step is short, since msgspec holds the GIL while it decodes. Raises UnreadableList.
    """
    try:
        entries = _entries_at(_envelope.decode(envelope).result.root, path.parts)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
        raise UnreadableList(str(exc)) from exc
    if entries is None:
        return None
    entries.sort(key=_place)
    pages = max(1, -(-len(entries) // PAGE_SIZE))
    page = max(1, min(page, pages))
    shown = entries[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]
    return Folder(
        path=str(path),
        rows=[_row(entry) for entry in shown],
        crumbs=_crumbs(path),
        found=len(entries),
        page=page,
        pages=pages,
    )


def _entries_at(root: msgspec.Raw, parts: Sequence[str]) -> list[Entry] | None:
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
    return list(_entries(inside))


def _entries(items: msgspec.Raw) -> Iterator[Entry]:
    return (_entry.decode(item) for item in _items.decode(items))


def _row(entry: Entry) -> Row:
    is_named = len(entry.virtual_path) <= MAX_PATH_CHARS
    return Row(
        name=entry.name[:MAX_NAME_CHARS],
        link=quote(entry.virtual_path, safe="") if is_named else "",
        is_folder=entry.type is EntryType.FOLDER,
        size_bytes=entry.size_bytes,
        changed_at=_moment(entry.modified_time_sec),
    )


def _moment(unix_s: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(unix_s, UTC) if unix_s > 0 else None
    except (OverflowError, ValueError, OSError):  # a printer may report any number
        return None


def _place(entry: Entry) -> tuple[bool, float, str]:
    is_folder = entry.type is EntryType.FOLDER
    newest_first = 0.0 if is_folder else -entry.modified_time_sec
    return not is_folder, newest_first, entry.name.casefold()


def _crumbs(path: VirtualPath) -> list[tuple[str, str]]:
    so_far, crumbs = ROOT, [("Files", ROOT)]
    for part in path.parts:
        so_far = f"{so_far}/{part}"
        crumbs.append((part, quote(so_far, safe="")))
    return crumbs
