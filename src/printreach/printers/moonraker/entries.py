"""Moonraker's folders, files and metadata of G-code, in the words of the contract. Pure.

Source: answers of Moonraker 0.11.0 to GET /server/files/directory and to server.files.metadata. Its
roots have names of their own, and a path of it begins with one. What the slicer didn't write into a
file is missing there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, NamedTuple, TypedDict

from printreach.contract.files import EntryType, FileDetails, FileEntry, FileRoot
from printreach.contract.unset import UNSET, UnsetType
from printreach.printers import loose

ROOTS: Final[Mapping[FileRoot, str]] = MappingProxyType(
    {FileRoot.GCODE: "gcodes", FileRoot.CONFIG: "config", FileRoot.LOGS: "logs"}
)
PICTURES: Final = ".thumbs"
_IN_EACH_ENTRY = frozenset({"filename", "size", "modified", "permissions"})

MG_PER_G = 1000.0
_UNKNOWN_SLICERS = frozenset({"Unknown", "?"})
_IN_DETAILS = frozenset(
    {
        *("filename", "size", "modified", "slicer", "slicer_version", "estimated_time"),
        *("filament_total", "filament_weight_total", "layer_count", "layer_height"),
        *("first_layer_height", "object_height", "nozzle_diameter", "filament_type"),
        *("filament_name", "first_layer_bed_temp", "first_layer_extr_temp", "chamber_temp"),
    }
)


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
    more = {key: value for key, value in loose.plain(reported).items() if key not in _IN_EACH_ENTRY}
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """The metadata that a running print needs; None is unknown.

    first_byte, last_byte: where the G-code begins and ends, between pictures and settings.
    """

    estimated_s: float | None = None
    filament_mm: int | None = None
    filament_mg: int | None = None
    layers: int | None = None
    layer_mm: float | None = None
    first_layer_mm: float | None = None
    first_byte: int | None = None
    last_byte: int | None = None


NOTHING_KNOWN = Metadata()


def metadata_of(answer: object) -> Metadata:
    """answer: of server.files.metadata."""
    layer_mm = loose.positive(answer, "layer_height")
    first_mm = loose.positive(answer, "first_layer_height") or layer_mm
    return Metadata(
        estimated_s=loose.positive(answer, "estimated_time"),
        filament_mm=_whole(loose.positive(answer, "filament_total")),
        filament_mg=_weight_mg(answer),
        layers=loose.count(answer, "layer_count") or _layers(answer, layer_mm, first_mm),
        layer_mm=layer_mm,
        first_layer_mm=first_mm,
        first_byte=loose.size(answer, "gcode_start_byte"),
        last_byte=loose.size(answer, "gcode_end_byte"),
    )


def details_of(
    answer: object,
    *,
    virtual_path: str,
    platform_path: str,
    size: int | None,
    modified: float | None,
) -> FileDetails:
    """answer: of server.files.metadata, or nothing. size, modified: as the file system has them."""
    rest = {key: value for key, value in loose.plain(answer).items() if key not in _IN_DETAILS}
    return FileDetails(
        virtual_path=virtual_path,
        platform_path=platform_path,
        file_name=virtual_path.rpartition("/")[2],
        size_bytes=loose.known(size),
        modified_time_sec=loose.known(modified),
        **sliced_facts_of(answer),
        layer_height_mm=loose.known(loose.positive(answer, "layer_height")),
        first_layer_height_mm=loose.known(loose.positive(answer, "first_layer_height")),
        object_height_mm=loose.known(loose.positive(answer, "object_height")),
        nozzle_diameter_mm=loose.known(loose.positive(answer, "nozzle_diameter")),
        filament_type=loose.text(answer, "filament_type") or UNSET,
        filament_name=loose.text(answer, "filament_name") or UNSET,
        bed_temp_c=loose.known(loose.positive(answer, "first_layer_bed_temp")),
        hotend_temp_c=loose.known(loose.positive(answer, "first_layer_extr_temp")),
        chamber_temp_c=loose.known(loose.positive(answer, "chamber_temp")),
        slicer=_slicer(answer, "slicer"),
        slicer_version=_slicer(answer, "slicer_version"),
        platform_details=rest or UNSET,
    )


class SlicedFacts(TypedDict):
    """The facts in a list of files and in the details of each; unknown ones are UNSET."""

    est_print_time_sec: int | UnsetType
    est_filament_used_mm: int | UnsetType
    est_filament_weight_mg: int | UnsetType
    layer_count: int | UnsetType
    thumbnail_count: int | UnsetType


def sliced_facts_of(answer: object) -> SlicedFacts:
    """answer: of server.files.metadata, or an entry of a list; both have the same keys."""
    is_read = "slicer" in loose.obj(answer)  # which Moonraker writes even where it knows none
    return SlicedFacts(
        est_print_time_sec=loose.known(_whole(loose.positive(answer, "estimated_time"))),
        est_filament_used_mm=loose.known(_whole(loose.positive(answer, "filament_total"))),
        est_filament_weight_mg=loose.known(_weight_mg(answer)),
        layer_count=loose.count(answer, "layer_count") or UNSET,
        thumbnail_count=len(loose.items(answer, "thumbnails")) if is_read else UNSET,
    )


class ListedThumbnail(NamedTuple):
    """path: beside the file, without `..`."""

    width: int
    height: int
    path: str


def thumbnails_in(answer: object) -> list[ListedThumbnail]:
    """answer: of server.files.metadata, or nothing."""
    found = []
    for reported in loose.items(answer, "thumbnails"):
        width, height = loose.count(reported, "width"), loose.count(reported, "height")
        path = loose.text(reported, "relative_path")
        if width and height and path is not None and ".." not in path.split("/"):
            found.append(ListedThumbnail(width, height, path))
    return found


def _layers(answer: object, layer_mm: float | None, first_mm: float | None) -> int | None:
    """Compute the layers from the print's height, where the slicer didn't count them."""
    height_mm = loose.positive(answer, "object_height")
    if height_mm is None or layer_mm is None or first_mm is None:
        return None
    above = (height_mm - first_mm) / layer_mm  # may be infinite
    return round(above) + 1 if -0.5 < above < loose.MAX_INT else None


def _weight_mg(answer: object) -> int | None:
    grams = loose.positive(answer, "filament_weight_total")
    return None if grams is None else _whole(grams * MG_PER_G)


def _whole(value: float | None) -> int | None:
    return round(value) if value is not None and value <= loose.MAX_INT else None


def _slicer(answer: object, key: str) -> str | UnsetType:
    """Moonraker says `Unknown` and `?` where it doesn't know."""
    value = loose.text(answer, key)
    return UNSET if value is None or value in _UNKNOWN_SLICERS else value
