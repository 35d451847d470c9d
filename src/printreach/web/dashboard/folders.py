"""The files of a printer as a page shows them: one folder at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote

import msgspec

from printreach.contract.files import EntryType, FileRoot
from printreach.rules.virtual_paths import VirtualPath, read_virtual_path

ROOT: Final = FileRoot.GCODE.value
PAGE_SIZE: Final = 200


class Entry(msgspec.Struct, frozen=True, kw_only=True, rename="pascal"):
    """What a page needs of `contract.files.FileEntry`."""

    type: EntryType
    name: str
    virtual_path: str
    size_bytes: int = 0
    modified_time_sec: float = 0.0
    children: list["Entry"] = msgspec.field(default_factory=list)


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A file or a folder. link: what stands behind `path=` in an address."""

    name: str
    path: str
    link: str
    is_folder: bool
    size_bytes: int
    changed_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Folder:
    """crumbs: the names on the way here with their links, the last is this one."""

    path: str
    rows: Sequence[Row]
    crumbs: Sequence[tuple[str, str]]
    found: int
    page: int
    pages: int


class _List(msgspec.Struct, rename="pascal"):
    root: list[Entry]


class _ListEnvelope(msgspec.Struct, rename="pascal"):
    result: _List


def read_list(envelope: bytes) -> list[Entry] | None:
    """What a printer answered to `/files/list`; None where that can't be read."""
    try:
        return msgspec.json.decode(envelope, type=_ListEnvelope).result.root
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def read_folder(typed: str | None) -> VirtualPath | None:
    """The folder that an address names; None where it can be none."""
    path = read_virtual_path(typed or ROOT, (FileRoot.GCODE,))
    return path if isinstance(path, VirtualPath) else None


def folder_of(root: Sequence[Entry], path: VirtualPath, page: int) -> Folder | None:
    """Its rows, folders first, then the newest files; None where there is no such folder."""
    entries = _entries_at(root, path.parts)
    if entries is None:
        return None
    rows = sorted((_row(entry) for entry in entries), key=_place)
    pages = max(1, -(-len(rows) // PAGE_SIZE))
    page = max(1, min(page, pages))
    return Folder(
        path=str(path),
        rows=rows[(page - 1) * PAGE_SIZE : page * PAGE_SIZE],
        crumbs=_crumbs(path),
        found=len(rows),
        page=page,
        pages=pages,
    )


def _entries_at(root: Sequence[Entry], parts: Sequence[str]) -> Sequence[Entry] | None:
    entries = root
    for part in parts:
        inside = next(
            (one for one in entries if one.type is EntryType.FOLDER and one.name == part), None
        )
        if inside is None:
            return None
        entries = inside.children
    return entries


def _row(entry: Entry) -> Row:
    return Row(
        name=entry.name,
        path=entry.virtual_path,
        link=quote(entry.virtual_path, safe=""),
        is_folder=entry.type is EntryType.FOLDER,
        size_bytes=entry.size_bytes,
        changed_at=_moment(entry.modified_time_sec),
    )


def _moment(unix_s: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(unix_s, UTC) if unix_s > 0 else None
    except (OverflowError, ValueError, OSError):  # a printer may say anything
        return None


def _place(row: Row) -> tuple[bool, float, str]:
    newest_first = 0.0 if row.is_folder or row.changed_at is None else -row.changed_at.timestamp()
    return not row.is_folder, newest_first, row.name.casefold()


def _crumbs(path: VirtualPath) -> list[tuple[str, str]]:
    so_far, crumbs = ROOT, [("Files", ROOT)]
    for part in path.parts:
        so_far = f"{so_far}/{part}"
        crumbs.append((part, quote(so_far, safe="")))
    return crumbs
