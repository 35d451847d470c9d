"""Moonraker's folders and files in the words of the contract. Pure.

Source: answers of Moonraker 0.11.0 to GET /server/files/directory. Its roots have names of their
own, and a path of it begins with one.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from printreach.contract.files import EntryType, FileEntry, FileRoot
from printreach.contract.unset import UNSET
from printreach.printers import loose

from .metadata import sliced_facts_of

ROOTS: Final[Mapping[FileRoot, str]] = MappingProxyType(
    {FileRoot.GCODE: "gcodes", FileRoot.CONFIG: "config", FileRoot.LOGS: "logs"}
)
PICTURES: Final = ".thumbs"
_LISTED = frozenset({"filename", "size", "modified", "permissions"})


class Place(NamedTuple):
    """A place: a root, and the path below it."""

    root: FileRoot
    inside: str

    @property
    def virtual_path(self) -> str:
        return f"{self.root.value}/{self.inside}"

    @property
    def platform_path(self) -> str:
        return f"{ROOTS[self.root]}/{self.inside}"


class Folder(NamedTuple):
    """The content of one folder: folders and files."""

    folders: list[FileEntry]
    files: list[FileEntry]


def place_of(virtual_path: str) -> Place:
    root, _, inside = virtual_path.partition("/")
    return Place(FileRoot(root), inside)


def folder_of(answer: object, root: FileRoot, inside: str) -> Folder:
    """inside: the folder's path below the root, "" for the root itself."""
    prefix = f"{inside}/" if inside else ""
    folders = [
        _entry(reported, Place(root, prefix + name), EntryType.FOLDER)
        for reported in loose.items(answer, "dirs")
        if (name := _shown_name(reported, "dirname", root)) is not None
    ]
    files = [
        _entry(reported, Place(root, prefix + name), EntryType.FILE)
        for reported in loose.items(answer, "files")
        if (name := _shown_name(reported, "filename", root)) is not None
    ]
    return Folder(folders, files)


def has_pictures(answer: object) -> bool:
    """Return whether it is a folder in which Moonraker keeps thumbnails of files."""
    return any(
        loose.text(reported, "dirname") == PICTURES for reported in loose.items(answer, "dirs")
    )


def is_empty(answer: object) -> bool:
    """Return whether a folder holds at most thumbnails of files that are gone."""
    content = [*loose.items(answer, "files"), *loose.items(answer, "dirs")]
    return len(content) == int(has_pictures(answer))


def stored_at(answer: object, place: Place) -> Place:
    """Return where an upload was put, which need not be where it was sent."""
    item = loose.obj(answer, "item")
    inside = loose.text(item, "path")
    return place if inside is None else Place(place.root, inside)


def _entry(reported: object, place: Place, kind: EntryType) -> FileEntry:
    more = {key: value for key, value in loose.plain(reported).items() if key not in _LISTED}
    is_file = kind is EntryType.FILE
    return FileEntry(
        type=kind,
        name=place.inside.rpartition("/")[2],
        virtual_path=place.virtual_path,
        path=place.virtual_path,
        platform_path=place.platform_path,
        size_bytes=loose.size(reported, "size") or 0 if is_file else 0,
        modified_time_sec=loose.number(reported, "modified") or 0.0,
        permissions=loose.text(reported, "permissions") or "",
        metadata=more if is_file and more else UNSET,
        **sliced_facts_of(reported),
    )


def _shown_name(reported: object, key: str, root: FileRoot) -> str | None:
    """Return a name to list; names that begin with a dot are hidden from people."""
    name = loose.text(reported, key)
    if name is None or "/" in name or (root is FileRoot.GCODE and name.startswith(".")):
        return None
    return name
