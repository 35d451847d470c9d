"""OctoPrint's lists of files, in the words of the contract. Pure."""

from urllib.parse import quote

from printreach.contract.files import (
    EntryType,
    FileDetails,
    FileEntry,
    FileRoot,
    JsonObject,
)
from printreach.contract.unset import UNSET, UnsetType
from printreach.printers import loose
from printreach.printers.loose import Json

MAX_DEPTH = 32
_OUTER = frozenset({"children", "date", "name", "path", "prints", "refs", "size", "type"})


def entries_of(answer: object, root: str) -> list[FileEntry]:
    """Read the entries of /api/files/local."""
    return _entries(loose.items(answer, "files"), root, MAX_DEPTH)


def log_entries_of(answer: object) -> list[FileEntry]:
    """Read the entries of /plugin/logging/logs, which has no folders."""
    return [
        entry
        for item in loose.items(answer, "files")
        if (entry := _file(loose.obj(item), FileRoot.LOGS.value, "name")) is not None
    ]


def has_children(answer: object) -> bool:
    return loose.text(answer, "type") == "folder" and bool(loose.items(answer, "children"))


def details_of(answer: object, path: str, inside: str) -> FileDetails:
    """Read the details of /api/files/local/PATH.

    The analysis comes some seconds after an upload.
    """
    reported = loose.obj(answer)
    analysis = loose.obj(reported, "gcodeAnalysis")
    return FileDetails(
        virtual_path=path,
        platform_path=inside,
        file_name=inside.rpartition("/")[2],
        size_bytes=loose.known(loose.size(reported, "size")),
        modified_time_sec=loose.known(loose.number(reported, "date")),
        est_print_time_sec=loose.known(loose.count(analysis, "estimatedPrintTime")),
        est_filament_used_mm=loose.known(_filament_mm(analysis)),
        object_height_mm=loose.known(loose.number(loose.obj(analysis, "dimensions"), "height")),
        thumbnail_count=_thumbnails(reported),
        platform_details=_metadata(reported) or UNSET,
    )


def stored_path(answer: object) -> str | None:
    """Return where an upload was put: OctoPrint drops characters that it doesn't like."""
    return _path(loose.obj(answer, "files", "local"), "path")


def response_of(answer: object) -> JsonObject | UnsetType:
    """Return what OctoPrint answered to an upload, without the fields that are listed elsewhere."""
    reported = loose.obj(answer)
    effective = {
        key: reported[key] for key in ("effectivePrint", "effectiveSelect") if key in reported
    }
    return loose.plain(effective) or UNSET


def _entries(listed: list[object], root: str, depth: int) -> list[FileEntry]:
    entries = []
    for item in listed:
        reported = loose.obj(item)
        is_folder = loose.text(reported, "type") == "folder"
        entry = _folder(reported, root, depth) if is_folder else _file(reported, root, "path")
        if entry is not None:
            entries.append(entry)
    return entries


def _folder(reported: Json, root: str, depth: int) -> FileEntry | None:
    path = _path(reported, "path")
    if path is None or depth == 0:
        return None
    return FileEntry(
        type=EntryType.FOLDER,
        name=path.rpartition("/")[2],
        virtual_path=f"{root}/{path}",
        path=f"{root}/{path}",
        platform_path=path,
        size_bytes=loose.size(reported, "size") or 0,
        modified_time_sec=loose.number(reported, "date") or 0.0,
        children=_entries(loose.items(reported, "children"), root, depth - 1),
    )


def _file(reported: Json, root: str, path_key: str) -> FileEntry | None:
    path, analysis = _path(reported, path_key), loose.obj(reported, "gcodeAnalysis")
    if path is None:
        return None
    return FileEntry(
        type=EntryType.FILE,
        name=path.rpartition("/")[2],
        virtual_path=f"{root}/{path}",
        path=f"{root}/{path}",
        platform_path=path,
        size_bytes=loose.size(reported, "size") or 0,
        modified_time_sec=loose.number(reported, "date") or 0.0,
        metadata=_metadata(reported) or UNSET,
        est_print_time_sec=loose.known(loose.count(analysis, "estimatedPrintTime")),
        est_filament_used_mm=loose.known(_filament_mm(analysis)),
        thumbnail_count=_thumbnails(reported),
    )


def _filament_mm(analysis: Json) -> int | None:
    tools = loose.obj(analysis, "filament").values()
    return loose.length_mm(loose.number(tool, "length") for tool in tools)


def _metadata(reported: Json) -> JsonObject:
    """Return everything of OctoPrint that has no field of its own."""
    return loose.plain({key: value for key, value in reported.items() if key not in _OUTER})


def _path(reported: Json, key: str) -> str | None:
    path = reported.get(key)
    return loose.sendable(path) if isinstance(path, str) and path else None


def thumbnail_target(answer: object) -> str | None:
    """Return the address of a plugin's picture on OctoPrint itself; None where there is none.

    `plugin/prusaslicerthumbnails/thumbnail/part.png?20240102` is what PrusaSlicer Thumbnails and
    Slicer Thumbnails write. Addresses elsewhere are not followed.
    """
    address = loose.text(answer, "thumbnail") or ""
    target = quote(f"/{address.removeprefix('/')}", safe="/?=&%:+,;@~!$'()*")
    is_ours = "://" not in address and not address.startswith("//")
    return target if address and is_ours and ".." not in address.split("/") else None


def _thumbnails(reported: Json) -> int | UnsetType:
    """Plugins that draw previews add `thumbnail`; OctoPrint itself has none."""
    return 1 if loose.text(reported, "thumbnail") else UNSET
