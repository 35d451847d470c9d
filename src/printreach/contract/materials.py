"""Where filament comes from and what extrudes it.

Fields that are left out are unknown: an omitted bool is not false, an omitted measure not zero.
Ids are opaque and mean something within one answer only. Sources and tools are joined by routes and
by nothing else.
"""

from msgspec import UNSET, Struct, UnsetType

PlatformDetails = dict[str, str | int | float | bool | list[str | int] | None]

MAX_SOURCES = 64
MAX_TOOLS = 16
MAX_UNITS = 8
MAX_ROUTES = 64
MAX_TEXT_CHARS = 512


class Capabilities(Struct, frozen=True, kw_only=True, rename="pascal"):
    supports_multi_material: bool = False
    supports_multi_tool: bool = False
    supports_source_routing: bool = False
    supports_drying: bool = False


class Material(Struct, frozen=True, kw_only=True, rename="pascal"):
    """color_hex: RRGGBB in capitals, without `#`. remaining_percent: 0 to 100."""

    type: str | UnsetType = UNSET
    name: str | UnsetType = UNSET
    color_hex: str | UnsetType = UNSET
    remaining_percent: float | UnsetType = UNSET
    manufacturer: str | UnsetType = UNSET


class Source(Struct, frozen=True, kw_only=True, rename="pascal"):
    """print_mapping_value: the platform's own number to select this source for a print."""

    id: str
    index: int
    name: str
    unit_id: str | UnsetType = UNSET
    position: int | UnsetType = UNSET
    print_mapping_value: int | UnsetType = UNSET
    is_empty: bool | UnsetType = UNSET
    material: Material | UnsetType = UNSET
    platform_details: PlatformDetails | UnsetType = UNSET


class Tool(Struct, frozen=True, kw_only=True, rename="pascal"):
    id: str
    index: int
    name: str
    is_active: bool | UnsetType = UNSET
    is_present: bool | UnsetType = UNSET
    actual_celsius: float | UnsetType = UNSET
    target_celsius: float | UnsetType = UNSET
    nozzle_diameter_mm: float | UnsetType = UNSET
    platform_details: PlatformDetails | UnsetType = UNSET


class Unit(Struct, frozen=True, kw_only=True, rename="pascal"):
    """humidity_percent: measured relative humidity, never a vendor's level."""

    id: str
    index: int
    name: str
    humidity_percent: float | UnsetType = UNSET
    temperature_celsius: float | UnsetType = UNSET
    is_drying: bool | UnsetType = UNSET
    platform_details: PlatformDetails | UnsetType = UNSET


class Route(Struct, frozen=True, kw_only=True, rename="pascal"):
    """state: `loaded`, `loading`…; left out where only the relationship is known."""

    source_id: str
    tool_id: str
    state: str | UnsetType = UNSET


class MaterialSystem(Struct, frozen=True, kw_only=True, rename="pascal"):
    capabilities: Capabilities
    sources: list[Source]
    tools: list[Tool]
    units: list[Unit]
    routes: list[Route]
    platform_details: PlatformDetails | UnsetType = UNSET
