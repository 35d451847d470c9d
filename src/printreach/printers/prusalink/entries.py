"""PrusaLink's folders and files, in the words of the contract, and slicers' metadata. Pure.

Names of metadata are PrusaSlicer's. Source: `gcode_metadata` 0.2.0 and Buddy's
`prusa_link_api_v1`.
"""

from printreach.contract.files import EntryType, FileDetails, FileEntry, JsonObject
from printreach.contract.unset import UNSET, UnsetType
from printreach.printers import loose
from printreach.printers.loose import Json

FORBIDDEN = '\\?"%¯°#ˇ'
"""Characters that no name may have, as `FORBIDDEN_CHARACTERS` of prusa.connect.printer 0.8.1."""
_ALLOWED = str.maketrans(dict.fromkeys(FORBIDDEN, "_"))


def storable(path: str) -> str:
    """Return a path that PrusaLink can hold: forbidden characters become underscores."""
    return path.translate(_ALLOWED)


def entries_of(folder: object, above: str) -> list[FileEntry]:
    """Return the entries of one folder, without those in its folders. above: its VirtualPath."""
    return [
        entry
        for reported in loose.items(folder, "children")
        if (entry := _entry(loose.obj(reported), above)) is not None
    ]


def is_folder(reported: object) -> bool:
    return loose.text(reported, "type") == "FOLDER"


def has_children(folder: object) -> bool:
    return bool(loose.items(folder, "children"))


def name_of(reported: object) -> str | None:
    """Buddy's `name` is the short one of a FAT file system; `display_name` works as well in
    addresses (a guess, from `FileInfo` and the long names that its uploads have)."""
    for key in ("display_name", "name"):
        name = loose.obj(reported).get(key)
        if isinstance(name, str) and name not in ("", ".", "..") and "/" not in name:
            return loose.sendable(name)
    return None


def download_path(reported: object) -> str | None:
    """Return where the file can be had; None for one on the printer's SD card."""
    return _path_in(reported, "download")


def thumbnail_path(reported: object) -> str | None:
    """Return where its picture can be had; None where PrusaLink knows none."""
    return _path_in(reported, "thumbnail")


def details_of(reported: object, path: str, inside: str) -> FileDetails:
    meta = loose.obj(reported, "meta")
    return FileDetails(
        virtual_path=path,
        platform_path=inside,
        file_name=path.rpartition("/")[2],
        size_bytes=loose.known(loose.size(reported, "size")),
        modified_time_sec=loose.known(loose.number(reported, "m_timestamp")),
        est_print_time_sec=loose.known(print_time_s(meta)),
        est_filament_used_mm=loose.known(filament_mm(meta)),
        est_filament_weight_mg=loose.known(filament_mg(meta)),
        layer_height_mm=loose.known(loose.number(meta, "layer_height")),
        object_height_mm=loose.known(loose.number(meta, "max_layer_z")),
        nozzle_diameter_mm=loose.known(loose.number(meta, "nozzle_diameter")),
        filament_type=loose.known(loose.text(meta, "filament_type")),
        bed_temp_c=loose.known(loose.number(meta, "bed_temperature")),
        hotend_temp_c=loose.known(loose.number(meta, "temperature")),
        thumbnail_count=_thumbnails(reported),
        platform_details=loose.plain(meta) or UNSET,
    )


def _path_in(reported: object, name: str) -> str | None:
    path = loose.obj(reported, "refs").get(name)
    return path if isinstance(path, str) and path.startswith("/") else None


def _entry(reported: Json, above: str) -> FileEntry | None:
    name = name_of(reported)
    if name is None:
        return None
    path = f"{above}/{name}"
    is_read_only = loose.flag(reported, "ro" if "ro" in reported else "read_only")
    return FileEntry(
        type=EntryType.FOLDER if is_folder(reported) else EntryType.FILE,
        name=name,
        virtual_path=path,
        path=path,
        platform_path=path.partition("/")[2],
        size_bytes=loose.size(reported, "size") or 0,
        modified_time_sec=loose.number(reported, "m_timestamp") or 0.0,
        permissions="" if is_read_only is None else "r" if is_read_only else "rw",
        metadata=_metadata(reported) or UNSET,
        thumbnail_count=_thumbnails(reported),
    )


def _thumbnails(reported: object) -> int | UnsetType:
    return UNSET if thumbnail_path(reported) is None else 1


def _metadata(reported: Json) -> JsonObject:
    return loose.plain({"type": reported["type"]} if "type" in reported else {})


def print_time_s(meta: Json) -> int | None:
    """Return the slicer's estimate."""
    reported_s = loose.count(meta, "estimated_print_time")
    if reported_s is not None:
        return reported_s
    return loose.duration_s(loose.text(meta, "estimated printing time (normal mode)") or "")


def filament_mm(meta: Json) -> int | None:
    return loose.count(meta, "filament used [mm]")


def filament_mg(meta: Json) -> int | None:
    grams = loose.number(meta, "filament used [g]")
    if grams is None or not 0 <= grams <= loose.MAX_INT / 1000:
        return None
    return int(grams * 1000)
