"""Files as a Centauri Carbon 2 lists them. Pure."""

from typing import NamedTuple

from printreach.contract.files import EntryType, FileDetails, FileEntry, FileRoot
from printreach.contract.unset import UNSET
from printreach.printers import loose
from printreach.printers.loose import Json


class ListedEntry(NamedTuple):
    """inside: below the storage."""

    inside: str
    reported: Json

    @property
    def is_folder(self) -> bool:
        return loose.text(self.reported, "type") in ("dir", "folder")

    @property
    def name(self) -> str:
        return self.inside.rpartition("/")[2]


def listed(answer: Json, folder: str) -> list[ListedEntry]:
    """folder: below the storage, "" for the storage itself."""
    found = {}
    for entry in map(loose.obj, loose.items(answer, "file_list")):
        name = (loose.text(entry, "filename") or "").strip("/").rpartition("/")[2]
        if name and name not in (".", ".."):
            inside = f"{folder}/{name}" if folder else name
            found[inside] = ListedEntry(inside, entry)
    return list(found.values())


def entry_of(file: ListedEntry, children: list[FileEntry] | None = None) -> FileEntry:
    path = f"{FileRoot.GCODE.value}/{file.inside}"
    return FileEntry(
        type=EntryType.FOLDER if file.is_folder else EntryType.FILE,
        name=file.name,
        virtual_path=path,
        path=path,
        platform_path=file.inside,
        size_bytes=0 if file.is_folder else loose.size(file.reported, "size") or 0,
        modified_time_sec=loose.size(file.reported, "create_time") or 0.0,
        permissions="rw",
        children=loose.known(children),
    )


def details_of(file: ListedEntry) -> FileDetails:
    """total_filament_used stays among the platform's details: its unit is not known."""
    reported = file.reported
    size, made_at = loose.size(reported, "size"), loose.size(reported, "create_time")
    return FileDetails(
        virtual_path=f"{FileRoot.GCODE.value}/{file.inside}",
        platform_path=file.inside,
        file_name=file.name,
        size_bytes=loose.known(size),
        modified_time_sec=UNSET if made_at is None else float(made_at),
        est_print_time_sec=loose.count(reported, "print_time") or UNSET,
        layer_count=loose.count(reported, "layer") or UNSET,
        platform_details=loose.plain(reported),
    )
