"""Files on a printer: entries, details, and the answer to an upload.

A VirtualPath begins with the root (`gcode`, `config`, `logs`), with `/` between its parts and at
neither end. PlatformPath is the printer's own name for the same thing.
"""

from enum import StrEnum

from msgspec import UNSET, Struct, UnsetType

from printreach.contract.sizes import Number, Whole

JsonValue = str | Whole | Number | bool | None | list["JsonValue"] | dict[str, "JsonValue"]
JsonObject = dict[str, JsonValue]


class FileRoot(StrEnum):
    """The virtual root folders."""

    GCODE = "gcode"
    CONFIG = "config"
    LOGS = "logs"


class EntryType(StrEnum):
    FOLDER = "folder"
    FILE = "file"


class FileEntry(Struct, frozen=True, kw_only=True, rename="pascal"):
    """virtual_path and path are the same. modified_time_sec: Unix time, 0 when unknown.

    permissions: `r`, `rw` or "", as the platform reports it. What the slicer wrote is left out
    where the platform's list does not tell it; the details of a file may tell more.
    """

    type: EntryType
    name: str
    virtual_path: str
    path: str
    platform_path: str
    size_bytes: Whole = 0
    modified_time_sec: Number = 0.0
    permissions: str = ""
    metadata: JsonObject | UnsetType = UNSET
    est_print_time_sec: Whole | UnsetType = UNSET
    est_filament_used_mm: Whole | UnsetType = UNSET
    est_filament_weight_mg: Whole | UnsetType = UNSET
    layer_count: Whole | UnsetType = UNSET
    thumbnail_count: Whole | UnsetType = UNSET
    children: list["FileEntry"] | UnsetType = UNSET


class FileList(Struct, frozen=True, kw_only=True, rename="pascal"):
    root: list[FileEntry]


class FileDetails(Struct, frozen=True, kw_only=True, rename="pascal"):
    """The details of one file; unknown ones are left out."""

    virtual_path: str
    platform_path: str
    file_name: str
    size_bytes: Whole | UnsetType = UNSET
    modified_time_sec: Number | UnsetType = UNSET
    est_print_time_sec: Whole | UnsetType = UNSET
    est_filament_used_mm: Whole | UnsetType = UNSET
    est_filament_weight_mg: Whole | UnsetType = UNSET
    layer_count: Whole | UnsetType = UNSET
    layer_height_mm: Number | UnsetType = UNSET
    first_layer_height_mm: Number | UnsetType = UNSET
    object_height_mm: Number | UnsetType = UNSET
    nozzle_diameter_mm: Number | UnsetType = UNSET
    filament_type: str | UnsetType = UNSET
    filament_name: str | UnsetType = UNSET
    bed_temp_c: Number | UnsetType = UNSET
    hotend_temp_c: Number | UnsetType = UNSET
    chamber_temp_c: Number | UnsetType = UNSET
    slicer: str | UnsetType = UNSET
    slicer_version: str | UnsetType = UNSET
    thumbnail_count: Whole | UnsetType = UNSET
    platform_details: JsonObject | UnsetType = UNSET


class FileDone(Struct, frozen=True, kw_only=True, rename="pascal"):
    """The answer to an upload (with size_bytes), a deletion or a start."""

    virtual_path: str
    platform_path: str
    size_bytes: Whole | UnsetType = UNSET
    printer_response: JsonObject | UnsetType = UNSET
