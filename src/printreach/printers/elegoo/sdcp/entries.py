"""Files as an SDCP printer lists them. Pure."""

from typing import NamedTuple

from printreach.contract.files import EntryType, FileDetails, FileEntry, FileRoot
from printreach.contract.unset import UNSET
from printreach.printers import loose
from printreach.printers.loose import Json

STORAGE = "/local"
_FOLDER = 0


class ListedEntry(NamedTuple):
    """inside: below the storage."""

    inside: str
    reported: Json

    @property
    def is_folder(self) -> bool:
        return loose.whole(self.reported, "type") == _FOLDER

    @property
    def name(self) -> str:
        return self.inside.rpartition("/")[2]

    @property
    def size(self) -> int | None:
        """FileSize is what Centauri Carbons tell, usedSize what the protocol's document names."""
        size = loose.size(self.reported, "FileSize")
        return loose.size(self.reported, "usedSize") if size is None else size


def listed(answer: Json) -> list[ListedEntry]:
    """List entries.

    Names are paths that begin with the storage; a bare name counts as one in it.
    """
    found = {}
    for entry in map(loose.obj, loose.items(answer, "FileList")):
        name = loose.text(entry, "name") or ""
        inside = name.removeprefix(STORAGE).strip("/")
        if inside and ".." not in inside.split("/"):
            found[inside] = ListedEntry(inside, entry)
    return list(found.values())


def entry_of(file: ListedEntry, children: list[FileEntry] | None = None) -> FileEntry:
    path = f"{FileRoot.GCODE.value}/{file.inside}"
    return FileEntry(
        type=EntryType.FOLDER if file.is_folder else EntryType.FILE,
        name=file.name,
        virtual_path=path,
        path=path,
        platform_path=f"{STORAGE}/{file.inside}",
        size_bytes=0 if file.is_folder else file.size or 0,
        modified_time_sec=loose.size(file.reported, "CreateTime") or 0.0,
        permissions="rw",
        children=loose.known(children),
    )


def details_of(file: ListedEntry) -> FileDetails:
    made_at, layers = (
        loose.size(file.reported, "CreateTime"),
        loose.count(file.reported, "TotalLayers"),
    )
    size = file.size
    return FileDetails(
        virtual_path=f"{FileRoot.GCODE.value}/{file.inside}",
        platform_path=f"{STORAGE}/{file.inside}",
        file_name=file.name,
        size_bytes=loose.known(size),
        modified_time_sec=UNSET if made_at is None else float(made_at),
        layer_count=layers or UNSET,
        platform_details=loose.plain(file.reported),
    )
