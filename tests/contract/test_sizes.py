"""The bounds of an agent's report of its printer: cut by the agent, else refused."""

from collections.abc import Iterator
from math import inf, nan

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import inspect

from printreach.contract import signin
from printreach.contract.codec import encode
from printreach.contract.materials import (
    Capabilities,
    Material,
    MaterialSystem,
    Route,
    Source,
    Tool,
    Unit,
)
from printreach.contract.sizes import MAX_NUMBER, cut_to_limits
from printreach.contract.status import (
    CurrentPrint,
    DetectorStatus,
    JobStatus,
    Light,
    ServiceStatus,
    State,
    StatusResult,
    Temps,
    WebcamEntry,
    WebcamList,
)
from printreach.contract.temperatures import PresetList, TemperatureHistory
from printreach.contract.unset import UNSET
from printreach.web.printers.folders import Entry


def status(
    job: JobStatus | None = None,
    *,
    service: ServiceStatus | None = None,
    webcams: WebcamList | None = None,
    version: str = "1",
) -> StatusResult:
    return StatusResult(
        job_status=job or JobStatus(state=State.IDLE),
        service_status=service or ServiceStatus(),
        platform_version=version,
        features=63,
        list_webcams=webcams or WebcamList(),
    )


def with_materials(**lists: object) -> StatusResult:
    empty: dict[str, object] = {"sources": [], "tools": [], "units": [], "routes": []}
    system = MaterialSystem(capabilities=Capabilities(), **{**empty, **lists})  # type: ignore[arg-type]
    return status(JobStatus(state=State.IDLE, material_system=system))


def source(**fields: object) -> Source:
    return Source(**{"id": "s", "index": 0, "name": "slot", **fields})  # type: ignore[arg-type]


LONG = "x" * 513
BEYOND = MAX_NUMBER + 1
LIGHT = Light(name="light", on=True)
TOO_MUCH = {
    "lights": status(JobStatus(state=State.IDLE, lights=[LIGHT] * 65)),
    "a light's name": status(JobStatus(state=State.IDLE, lights=[Light(name=LONG, on=True)])),
    "a sub-state": status(JobStatus(state=State.IDLE, sub_state=LONG)),
    "an error": status(JobStatus(state=State.IDLE, error=LONG)),
    "a file's name": status(
        JobStatus(state=State.IDLE, current_print=CurrentPrint(file_name=LONG))
    ),
    "a version": status(version=LONG),
    "webcams": status(webcams=WebcamList(webcams=[WebcamEntry(name="c")] * 33)),
    "a webcam's name": status(webcams=WebcamList(webcams=[WebcamEntry(name=LONG)])),
    "a webcam's address": status(
        webcams=WebcamList(webcams=[WebcamEntry(name="c", stream_url="http://a/" + "x" * 2048)])
    ),
    "scores": status(service=ServiceStatus(detector=DetectorStatus(score_history=[0.5] * 1001))),
    "a print's id": status(service=ServiceStatus(most_recent_print_id_str=LONG)),
    "sources": with_materials(sources=[source()] * 65),
    "tools": with_materials(tools=[Tool(id="t", index=0, name="t")] * 17),
    "units": with_materials(units=[Unit(id="u", index=0, name="u")] * 9),
    "routes": with_materials(routes=[Route(source_id="s", tool_id="t")] * 65),
    "a material": with_materials(sources=[source(material=Material(name=LONG))]),
    "details": with_materials(platform_details={str(number): 1 for number in range(65)}),
    "a detail's name": with_materials(platform_details={LONG: 1}),
    "a detail": with_materials(sources=[source(platform_details={"a": LONG})]),
    "a list of details": with_materials(platform_details={"a": list(range(65))}),
    "an item of details": with_materials(platform_details={"a": [LONG]}),
    "a whole number": status(
        JobStatus(state=State.IDLE, current_print=CurrentPrint(time_left_sec=BEYOND))
    ),
    "a number below zero": status(service=ServiceStatus(print_start_time_sec=-BEYOND)),
    "a number of many digits": status(
        JobStatus(state=State.IDLE, current_print=CurrentPrint(duration_sec=10**300))
    ),
    "a temperature": status(
        JobStatus(state=State.IDLE, current_print=CurrentPrint(temps=Temps(bed_actual=1e17)))
    ),
    "a score": status(service=ServiceStatus(detector=DetectorStatus(score_history=[1e17]))),
    "a webcam's rotation": status(
        webcams=WebcamList(webcams=[WebcamEntry(name="c", rotation=-(10**30))])
    ),
    "a number in details": with_materials(platform_details={"a": BEYOND}),
    "an item of details that is a number": with_materials(platform_details={"a": [-BEYOND]}),
}


@pytest.mark.parametrize("said", TOO_MUCH.values(), ids=TOO_MUCH)
def test_a_status_with_more_than_its_type_allows_is_refused(said: StatusResult) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(encode(said), type=StatusResult)


@pytest.mark.parametrize("said", TOO_MUCH.values(), ids=TOO_MUCH)
def test_an_agent_cuts_what_is_too_much_and_the_rest_arrives(said: StatusResult) -> None:
    cut = cut_to_limits(said)

    assert msgspec.json.decode(encode(cut), type=StatusResult) == cut
    assert cut.features == said.features
    assert cut_to_limits(cut) == cut


def test_a_text_keeps_its_beginning_and_a_list_its_first_items() -> None:
    lights = [Light(name=f"{number} {LONG}", on=True) for number in range(100)]
    cut = cut_to_limits(status(JobStatus(state=State.PAUSED, lights=lights)))

    assert cut.job_status.lights is not None
    assert [one.name[:3].split()[0] for one in cut.job_status.lights] == [
        str(number) for number in range(64)
    ]
    assert cut.job_status.lights[0].name == "0 " + "x" * 510


def test_what_fits_is_left_as_it_is() -> None:
    said = status(
        JobStatus(
            state=State.PRINTING,
            error="x" * 512,
            lights=[LIGHT] * 64,
            current_print=CurrentPrint(progress=3.5, duration_sec=2**31 - 1, total_layers=7),
        )
    )

    assert cut_to_limits(said) is said


def test_a_number_beyond_the_limit_becomes_the_limit() -> None:
    now = CurrentPrint(time_left_sec=10**300, current_layer=-BEYOND, progress=10**400)
    cut = cut_to_limits(status(JobStatus(state=State.IDLE, current_print=now))).job_status

    assert (cut.current_print.time_left_sec, cut.current_print.current_layer) == (2**53, -(2**53))
    assert cut.current_print.progress == 2.0**53


def test_a_yes_or_no_in_details_is_no_number() -> None:
    cut = cut_to_limits(with_materials(platform_details={"a": True})).job_status

    assert isinstance(cut.material_system, MaterialSystem)
    assert encode(cut.material_system.platform_details) == b'{"a":true}'


AnyNumber = inspect.IntType | inspect.FloatType


def numbers_in(kind: object) -> Iterator[tuple[str, AnyNumber]]:
    """All numbers in what a type describes, each by where it stands."""
    told: set[object] = set()

    def walk(shape: inspect.Type, at: str) -> Iterator[tuple[str, AnyNumber]]:
        match shape:
            case inspect.IntType() | inspect.FloatType():
                yield at, shape
            case inspect.UnionType(types=types):
                for member in types:
                    yield from walk(member, at)
            case inspect.ListType(item_type=inner) | inspect.DictType(value_type=inner):
                yield from walk(inner, f"{at}[]")
            case inspect.StructType(cls=cls, fields=fields) if cls not in told:
                told.add(cls)
                for field in fields:
                    yield from walk(field.type, f"{cls.__name__}.{field.name}")

    return walk(inspect.type_info(kind), "")


TOLD_BY_AGENTS = (StatusResult, TemperatureHistory, PresetList, Entry, signin.FromAgent)
TOLD_TO_AGENTS = (signin.FromService,)


@pytest.mark.parametrize("kind", [*TOLD_BY_AGENTS, *TOLD_TO_AGENTS], ids=str)
def test_each_number_between_agent_and_service_has_bounds(kind: object) -> None:
    unbounded = {at for at, shape in numbers_in(kind) if shape.ge is None or shape.le is None}

    assert unbounded == set()


@pytest.mark.parametrize("number", [nan, inf, -inf])
def test_a_number_that_json_has_no_word_for_costs_no_status(number: float) -> None:
    temps = Temps(bed_actual=number, chamber_actual=number)
    said = status(JobStatus(state=State.IDLE, current_print=CurrentPrint(temps=temps)))
    arrived = msgspec.json.decode(encode(cut_to_limits(said)), type=StatusResult)

    assert arrived.job_status.current_print.temps == Temps(bed_actual=0.0, chamber_actual=0.0)


def test_what_is_left_out_stays_left_out() -> None:
    cut = cut_to_limits(with_materials(sources=[source(name=LONG)]))

    assert isinstance(cut.job_status.material_system, MaterialSystem)
    assert cut.job_status.material_system.sources[0].position is UNSET
    assert cut.job_status.current_print.time_left_sec is None


@pytest.mark.slow
@given(st.text(min_size=513), st.floats())
def test_whatever_a_printer_says_its_status_arrives(text: str, share: float) -> None:
    said = status(
        JobStatus(
            state=State.ERROR,
            sub_state=text,
            current_print=CurrentPrint(progress=share),
        ),
        version=text,
    )
    cut = cut_to_limits(said)

    assert msgspec.json.decode(encode(cut), type=StatusResult) == cut
