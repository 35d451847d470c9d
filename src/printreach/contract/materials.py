"""The material system: sources of filament, tools that extrude it, and routes between them.

Fields that are left out are unknown: an omitted bool is not false, an omitted measure not zero.
Ids are opaque and mean something within one answer only. Sources and tools are joined by routes and
by nothing else.
"""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from printreach.contract.sizes import MAX_DETAILS, Number, Text, Whole

MAX_SOURCES = 64
MAX_TOOLS = 16
MAX_UNITS = 8
MAX_ROUTES = 64

PlatformDetails = Annotated[
    dict[
        Text,
        Text
        | Whole
        | Number
        | bool
        | Annotated[list[Text | Whole], Meta(max_length=MAX_DETAILS)]
        | None,
    ],
    Meta(max_length=MAX_DETAILS),
]


class Capabilities(Struct, frozen=True, kw_only=True, rename="pascal"):
    supports_multi_material: bool = False
    supports_multi_tool: bool = False
    supports_source_routing: bool = False
    supports_drying: bool = False


class Material(Struct, frozen=True, kw_only=True, rename="pascal"):
    """color_hex: RRGGBB in capitals, without `#`. remaining_percent: 0 to 100."""

    type: Text | UnsetType = UNSET
    name: Text | UnsetType = UNSET
    color_hex: Text | UnsetType = UNSET
    remaining_percent: Number | UnsetType = UNSET
    manufacturer: Text | UnsetType = UNSET


class Source(Struct, frozen=True, kw_only=True, rename="pascal"):
    """print_mapping_value: the platform's own number to select this source for a print."""

    id: Text
    index: Whole
    name: Text
    unit_id: Text | UnsetType = UNSET
    position: Whole | UnsetType = UNSET
    print_mapping_value: Whole | UnsetType = UNSET
    is_empty: bool | UnsetType = UNSET
    material: Material | UnsetType = UNSET
    platform_details: PlatformDetails | UnsetType = UNSET


class Tool(Struct, frozen=True, kw_only=True, rename="pascal"):
    id: Text
    index: Whole
    name: Text
    is_active: bool | UnsetType = UNSET
    is_present: bool | UnsetType = UNSET
    actual_celsius: Number | UnsetType = UNSET
    target_celsius: Number | UnsetType = UNSET
    nozzle_diameter_mm: Number | UnsetType = UNSET
    platform_details: PlatformDetails | UnsetType = UNSET


class Unit(Struct, frozen=True, kw_only=True, rename="pascal"):
    """humidity_percent: measured relative humidity, never a vendor's level."""

    id: Text
    index: Whole
    name: Text
    humidity_percent: Number | UnsetType = UNSET
    temperature_celsius: Number | UnsetType = UNSET
    is_drying: bool | UnsetType = UNSET
    platform_details: PlatformDetails | UnsetType = UNSET


class Route(Struct, frozen=True, kw_only=True, rename="pascal"):
    """state: `loaded`, `loading`…; left out where only the relationship is known."""

    source_id: Text
    tool_id: Text
    state: Text | UnsetType = UNSET


class MaterialSystem(Struct, frozen=True, kw_only=True, rename="pascal"):
    capabilities: Capabilities
    sources: Annotated[list[Source], Meta(max_length=MAX_SOURCES)]
    tools: Annotated[list[Tool], Meta(max_length=MAX_TOOLS)]
    units: Annotated[list[Unit], Meta(max_length=MAX_UNITS)]
    routes: Annotated[list[Route], Meta(max_length=MAX_ROUTES)]
    platform_details: PlatformDetails | UnsetType = UNSET
