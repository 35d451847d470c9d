"""Readings for the gallery: four printers, each in a state that looks different."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from printreach.contract.status import Temps
from printreach.hub.printers.readings import TemperatureReading
from printreach.rules.detection.scene import ViewCondition
from printreach.rules.printers.cameras import Pose
from printreach.rules.watch.choices import Look
from printreach.web.printers.temperature_chart import temperature_chart
from printreach.web.watch.chart import quality_chart

NOW = datetime(2026, 11, 21, 15, 28, tzinfo=UTC)
STARTED = datetime(2026, 11, 21, 13, 31, tzinfo=UTC)
READY = datetime(2026, 11, 21, 16, 40, tzinfo=UTC)

Row = dict[str, object]


@dataclass(frozen=True, kw_only=True)
class Card:
    """What templates/parts/printer_card.html asks of a printer."""

    id: str
    name: str
    state: str
    file: str = ""
    sentence: str = ""
    emphasis: str = ""
    attention: str = ""
    progress: float | None = None
    time_left_s: int | None = None
    started_at: datetime | None = None
    ready_at: datetime | None = None
    temps: list[Row] = field(default_factory=list)
    webcam: Row = field(default_factory=dict)
    looks: list[Row] = field(default_factory=list)
    quality: int | None = None
    look_age: str = ""
    alarm: str = "none"
    shared_by: str = ""

    @property
    def href(self) -> str:
        return f"/printers/{self.id}"


def webcam(state: str = "live", age: str = "", picture: str = "/picture.jpg") -> Row:
    return {
        "picture": picture,
        "state": state,
        "age": age,
        "pose": Pose(),
    }


def temps(hotend: float, hotend_target: float, bed: float, bed_target: float) -> list[Row]:
    return [
        {"label": "Hotend", "icon": "nozzle", "actual": hotend, "target": hotend_target},
        {"label": "Bed", "icon": "heat", "actual": bed, "target": bed_target},
    ]


def looks(*qualities: int | None) -> list[Row]:
    return [
        {
            "score": None if quality is None else 100 - 10 * quality + index % 7,
            "quality": quality,
        }
        for index, quality in enumerate(qualities)
    ]


CALM = looks(*[9] * 20, 10, 9, 9, None, None, *[9] * 14, 7, 6, 8, *[9] * 10)
FAILED = looks(*[9] * 36, 8, 7, 6, 5, 5, 4, 3, 3, 2, 1, 1)
MIXED = quality_chart(
    [
        Look(
            at=STARTED + timedelta(seconds=98 * index),
            probability=0.1,
            score=100 - 10 * quality + index % 7,
            quality=quality,
            view=ViewCondition.CLEAR,
            warned=index == 38,
        )
        for index, quality in enumerate([*[9] * 34, 7, 7, 6, 5, 4, 5, 6, 7, *[9] * 30])
    ],
    begins_at=STARTED,
    ends_at=NOW,
    progress=62.4,
)

GARAGE = Card(
    id="garage",
    name="Garage",
    state="paused",
    file="cable_tray_x4_PETG.gcode",
    attention="needs-you",
    emphasis="Paused by failure detection",
    sentence="4 min ago, at quality 1 of 10. Look before you resume.",
    progress=41,
    time_left_s=9_300,
    temps=temps(32, 0, 70, 70),
    webcam=webcam(),
    looks=FAILED,
    quality=1,
)
WORKBENCH = Card(
    id="workbench",
    name="Workbench",
    state="printing",
    file="twisted_vase_0.2mm_PLA.gcode",
    progress=62.4,
    time_left_s=4_320,
    started_at=STARTED,
    ready_at=READY,
    temps=temps(215.2, 215, 60, 60),
    webcam=webcam(),
    looks=CALM,
    quality=9,
)
ATTIC = Card(
    id="attic",
    name="Attic",
    state="warmingup",
    file="drawer_handle.gcode",
    temps=temps(148, 240, 71, 75),
    webcam=webcam("stale", "Picture from 50 s ago"),
)
LEFT_SHELF = Card(
    id="left-shelf",
    name="Left shelf",
    state="offline",
    file="Was printing planter_small.gcode",
    emphasis="No contact since 14:02.",
    sentence="The print may still be running. We can't see or stop it from here.",
    webcam=webcam("gone", "Last picture 14:02"),
)
IDLE = Card(
    id="spare",
    name="The spare one in the cellar, behind the washing machine",
    state="idle",
    temps=temps(21, 0, 20, 0),
    webcam=webcam("none", picture=""),
)
BROKEN = Card(
    id="broken",
    name="Prusa",
    state="error",
    file="a_very_long_name_without_a_blank_that_has_to_break_somewhere_or_be_cut_0.2mm_PETG_MK4.gcode",
    attention="is-broken",
    emphasis="Heating failed.",
    sentence="The hotend did not reach 215°.",
    temps=temps(43, 0, 30, 0),
    webcam=webcam(),
)
FOUR = [GARAGE, WORKBENCH, ATTIC, LEFT_SHELF]
EIGHT = [GARAGE, BROKEN, WORKBENCH, ATTIC, LEFT_SHELF, IDLE]


def farm(count: int) -> list[Card]:
    """So many printers that only rows will do."""
    kinds = [GARAGE, BROKEN, *[WORKBENCH] * 5, ATTIC, LEFT_SHELF, IDLE]
    return [
        Card(
            **{
                **{name: getattr(kind, name) for name in Card.__dataclass_fields__},
                "id": f"p{index}",
                "name": f"Rack {index // 8 + 1}, printer {index % 8 + 1}",
            }
        )
        for index, kind in enumerate(kinds[index % len(kinds)] for index in range(count))
    ]


def slot(number: str, name: str = "", colour: str = "", left: float | None = None) -> Row:
    return {
        "id": f"s{number}",
        "number": number,
        "name": name,
        "colour": colour,
        "left": left,
        "is_empty": False if name else None,
    }


EMPTY_SLOT: Row = {**slot("4"), "is_empty": True}
UNIT: Row = {
    "name": "Unit A",
    "about": ["24% humidity", "31°"],
    "slots": [
        slot("1", "PLA Jade", "1f9e89", 62),
        slot("2", "PLA White", "f4f4f0", 88),
        slot("3", "PETG Black", "22262a"),
        EMPTY_SLOT,
    ],
}
TWO_TOOLS: list[Row] = [
    {"name": "Left", "about": "0.4 mm", "routes": [{"slot": "s1", "loaded": True}]},
    {
        "name": "Right",
        "about": "0.6 mm",
        "routes": [{"slot": "s5", "loaded": True}, {"slot": "s6", "loaded": False}],
    },
]
UNKNOWN_UNIT: Row = {
    "name": "Unit B",
    "about": [],
    "slots": [slot("5", "PETG", "d2392c", 40), slot("6")],
}
TWO_UNITS = [UNIT, UNKNOWN_UNIT]
TOOL: Row = {
    "name": "Hotend",
    "about": "0.4 mm",
    "routes": [
        {"slot": "s1", "loaded": True},
        {"slot": "s2", "loaded": False},
        {"slot": "s3", "loaded": False},
        {"slot": "s4", "loaded": False},
    ],
}
CHART = temperature_chart(
    [
        TemperatureReading(
            NOW - timedelta(minutes=60 - minute),
            Temps(
                hotend_actual=215 - 190 * 0.8**minute,
                hotend_target=215,
                bed_actual=60 - 38 * 0.9**minute,
                bed_target=60,
                chamber_actual=24 + minute / 4,
            ),
        )
        for minute in range(61)
    ],
    NOW,
)
ONCE = [
    ("Address", "https://shared-7m2kq9x4v8tn3c6rw1zp5hy0da.reach.example"),
    ("User name", "u-9tk4x2vm"),
    ("Password", "n7Qm-4tVx-9KcR-2pWz-8sHd-3yLb"),
    ("Bearer token", "prt_s_4GqN8vTz2XkYc7LmRb9WpH3dJf6sEa1uKx5MtQ"),
]
