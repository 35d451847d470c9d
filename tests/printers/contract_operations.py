"""Contract: what the platform's table says it can't do is refused, and nothing else is."""

import asyncio
from collections.abc import Awaitable, Callable

from printreach.contract.status import Feature
from printreach.printers.operations import SMART_PAUSE, Operation
from printreach.printers.port import RestoresPauses, SupportsApiKeys, SupportsPresets
from tests.printers.asking import Json, Reply
from tests.printers.bench import Bench, on_the_bench

NOT_SUPPORTED, BAD_ARGUMENTS = 788, 751
A_MOMENT_S = 20.0
NO_FILE: Json = {"path": "gcode/there is no such file.gcode"}

Probe = Callable[[Bench], Awaitable[bool]]


def order(command: str, body: Json | None = None, **query: object) -> Probe:
    """Return whether a command isn't refused for lack of support."""

    async def probe(bench: Bench) -> bool:
        return _is_supported(await bench.calls.post(command, body, **query))

    return probe


def question(command: str, **query: object) -> Probe:
    async def probe(bench: Bench) -> bool:
        return _is_supported(await bench.calls.get(command, **query))

    return probe


def has_feature(feature: Feature) -> Probe:
    """Ask the status alone: what comes after an emergency stop is refused for other reasons."""

    async def probe(bench: Bench) -> bool:
        return feature in Feature((await bench.status())["Features"])

    return probe


def root(name: str) -> Probe:
    async def probe(bench: Bench) -> bool:
        return (await bench.calls.get("files/list", root=name)).status != BAD_ARGUMENTS

    return probe


def upload(folder: str) -> Probe:
    async def probe(bench: Bench) -> bool:
        file = bench.rig.short_print()
        path = f"gcode/{folder}{file.name}"
        reply = await bench.calls.put("files/upload", [file.data], len(file.data), path)
        return reply.status not in (NOT_SUPPORTED, BAD_ARGUMENTS)

    return probe


async def has_material_system(bench: Bench) -> bool:
    """Some platforms tell of their tools a moment after they tell of themselves."""

    async def is_told() -> bool:
        status = await bench.status(IncludeMaterialSystem="true")
        return status["JobStatus"]["MaterialSystem"] is not None

    try:
        return await bench.until_true("a material system", is_told, A_MOMENT_S)
    except AssertionError:
        return False


def in_a_smart_pause(operation: Operation) -> Probe:
    """A smart pause is never refused; what it does, the tests of each platform's orders tell."""

    async def probe(bench: Bench) -> bool:
        return operation in bench.rig.smart_pause

    return probe


async def gives_a_picture(bench: Bench) -> bool:
    return (await bench.calls.get("webcam/snapshot")).http_status == 200


async def gives_a_stream(bench: Bench) -> bool:
    asked = bench.calls.ask(b"GET", "webcam/stream")
    while asked.head is None:
        await asked.more()
    asked.leave()
    return asked.head.startswith(b"200")


async def has_a_broker(bench: Bench) -> bool:
    return bench.printer.mqtt is not None


async def makes_api_keys(bench: Bench) -> bool:
    return isinstance(bench.printer, SupportsApiKeys)


async def keeps_presets(bench: Bench) -> bool:
    assert (await bench.calls.get("presets")).status == 200
    return isinstance(bench.printer, SupportsPresets)


async def is_the_agents_own(_bench: Bench) -> bool:
    return True


PROBES: dict[Operation, Probe] = {
    Operation.STATUS: question("status"),
    Operation.MATERIAL_SYSTEM: has_material_system,
    Operation.PAUSE: order("pause"),
    **{one: in_a_smart_pause(one) for one in Operation if one in SMART_PAUSE},
    Operation.RESUME: order("resume"),
    Operation.CANCEL: order("cancel"),
    Operation.START: order("start", {"Path": NO_FILE["path"]}),
    Operation.SET_LIGHT: order("set-light", {"Name": "no such light", "On": True}),
    Operation.MOVE_AXIS: order("move-axis", {"Axis": "X", "DistanceMm": 1}),
    Operation.HOME: order("home"),
    Operation.HOME_AXIS: order("home", {"Axes": ["X"]}),
    Operation.EXTRUDE: order("extrude", {"Extruder": 0, "DistanceMm": 1}),
    Operation.HEAT_TOOL: order("set-temp", {"ToolC": 0}),
    Operation.HEAT_BED: order("set-temp", {"BedC": 0}),
    Operation.HEAT_CHAMBER: order("set-temp", {"ChamberC": 0}),
    Operation.PRESETS: keeps_presets,
    Operation.SET_SPEED: order("adjust", {"SpeedPercent": 100}),
    Operation.SET_SPEED_LEVEL: order("adjust", {"SpeedLevel": "standard"}),
    Operation.SET_FLOW: order("adjust", {"FlowPercent": 100}),
    Operation.SET_FAN: order("adjust", {"FanPercent": 0}),
    Operation.SET_Z_OFFSET: order("adjust", {"ZOffsetByMm": 0}),
    Operation.EMERGENCY_STOP: has_feature(Feature.EMERGENCY_STOP),
    Operation.RESTART_FIRMWARE: has_feature(Feature.FIRMWARE_RESTART),
    Operation.LIST_FILES: question("files/list"),
    Operation.FILE_DETAILS: question("files/details", **NO_FILE),
    Operation.THUMBNAIL: question("files/thumbnail", **NO_FILE),
    Operation.UPLOAD: upload(""),
    Operation.UPLOAD_INTO_FOLDER: upload("folder/"),
    Operation.DOWNLOAD: question("files/download", **NO_FILE),
    Operation.DELETE: order("files/delete", **NO_FILE),
    Operation.CONFIG_FILES: root("config"),
    Operation.LOG_FILES: root("logs"),
    Operation.WEBCAM_LIST: question("webcam/list"),
    Operation.WEBCAM_SNAPSHOT: gives_a_picture,
    Operation.WEBCAM_STREAM: gives_a_stream,
    Operation.AGENT_LOG: is_the_agents_own,
    Operation.MQTT_PROXY: has_a_broker,
    Operation.HOST_API_KEY: makes_api_keys,
}


class OperationContract:
    @on_the_bench
    async def test_the_platforms_table_says_what_this_printer_can(self, bench: Bench) -> None:
        platform, lacks = bench.rig.platform, bench.rig.lacks
        assert lacks <= platform.only_where.keys()
        refused = [operation for operation in Operation if not await _probe(bench, operation)]

        expected = platform.cannot.keys() | lacks
        assert refused == [operation for operation in Operation if operation in expected], refused

    @on_the_bench
    async def test_a_restore_can_be_ended_by_a_lock(self, bench: Bench) -> None:
        assert isinstance(bench.printer, RestoresPauses) == bool(bench.rig.smart_pause)

    def test_every_operation_is_probed(self) -> None:
        assert list(PROBES) == list(Operation)


async def _probe(bench: Bench, operation: Operation) -> bool:
    async with asyncio.timeout(2 * bench.rig.patience_s):
        return await PROBES[operation](bench)


def _is_supported(reply: Reply) -> bool:
    return reply.http_status != 501 and reply.status != NOT_SUPPORTED
