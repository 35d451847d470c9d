"""A Duet's files, in the words of the contract. Pure."""

from datetime import datetime

from printreach.contract.files import EntryType, FileDetails, FileEntry
from printreach.contract.unset import UNSET
from printreach.printers import loose
from printreach.printers.loose import Json

_OUTER = frozenset({"err", "fileName", "lastModified", "size"})


def is_folder(reported: Json) -> bool:
    return loose.text(reported, "type") == "d"


def name_of(reported: Json) -> str | None:
    """Return the name; None for what is no name of an entry in a folder."""
    name = reported.get("name")
    if not isinstance(name, str) or not name or "/" in name or name in (".", ".."):
        return None
    return loose.sendable(name)


def entry_of(
    reported: Json, path: str, platform_path: str, children: list[FileEntry] | None
) -> FileEntry:
    """children: None for a file."""
    return FileEntry(
        type=EntryType.FILE if children is None else EntryType.FOLDER,
        name=path.rpartition("/")[2],
        virtual_path=path,
        path=path,
        platform_path=platform_path,
        size_bytes=loose.size(reported, "size") or 0,
        modified_time_sec=unix_time(reported, "date") or 0.0,
        children=loose.known(children),
    )


def details_of(reported: Json, path: str, platform_path: str) -> FileDetails:
    """Return what a file's metadata says.

    Values that the firmware did not find are 0 in its answer.
    """
    slicer, version = _slicer(reported)
    thumbnails = loose.items(reported, "thumbnails")
    return FileDetails(
        virtual_path=path,
        platform_path=platform_path,
        file_name=path.rpartition("/")[2],
        size_bytes=loose.known(loose.size(reported, "size")),
        modified_time_sec=loose.known(unix_time(reported, "lastModified")),
        est_print_time_sec=loose.known(
            loose.count(reported, "simulatedTime") or loose.count(reported, "printTime") or None
        ),
        est_filament_used_mm=loose.known(
            loose.length_mm(map(loose.as_number, loose.items(reported, "filament")))
        ),
        layer_count=loose.known(loose.count(reported, "numLayers") or None),
        layer_height_mm=loose.known(loose.positive(reported, "layerHeight")),
        first_layer_height_mm=loose.known(loose.positive(reported, "firstLayerHeight")),
        object_height_mm=loose.known(loose.positive(reported, "height")),
        slicer=loose.known(slicer),
        slicer_version=loose.known(version),
        thumbnail_count=len(thumbnails) if "thumbnails" in reported else UNSET,
        platform_details=loose.plain({key: reported[key] for key in reported if key not in _OUTER})
        or UNSET,
    )


def unix_time(reported: Json, key: str) -> float | None:
    """Boards write times without a zone; theirs is taken to be the agent's."""
    try:
        return datetime.fromisoformat(loose.text(reported, key) or "").timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _slicer(reported: Json) -> tuple[str | None, str | None]:
    """`PrusaSlicer 2.7.1+linux-x64 on 2024-01-02`: a name, then a version where there is one."""
    words = (loose.text(reported, "generatedBy") or "").split()
    for place, word in enumerate(words):
        number = word.lstrip("vV(")
        if place and number[:1].isdigit():
            return " ".join(words[:place]), number.rstrip(",)")
    return " ".join(words) or None, None
