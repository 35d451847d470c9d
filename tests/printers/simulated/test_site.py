"""The simulated printer's web server, over real sockets: orders and pages."""

import aiohttp
import pytest

from .rig import complete, run, site

# Printing.


def test_a_file_is_printed_from_start_to_end() -> None:
    async def test() -> None:
        async with site() as printer:
            started = await printer.order("print", Action="start", Path="part.gcode")
            assert started["Http"] == 200
            assert started["State"] == "warmingup"
            assert started["TimeLeftSec"] > 0

            done = await printer.until(complete)
            assert done["Progress"] == 100
            assert done["FileName"] == "part.gcode"
            assert done["FilamentUsedMm"] == 80
            assert (await printer.order("print", Action="clear"))["State"] == "idle"

    run(test())


def test_a_print_is_paused_resumed_and_cancelled() -> None:
    async def test() -> None:
        async with site(speed=1.0) as printer:
            await printer.order("print", Action="start", Path="part.gcode")
            assert (await printer.order("print", Action="pause"))["State"] == "paused"
            assert (await printer.order("print", Action="resume"))["State"] == "resuming"
            assert (await printer.order("print", Action="cancel"))["State"] == "cancelled"

    run(test())


@pytest.mark.parametrize(
    ("order", "arguments", "status"),
    [
        ("print", {"Action": "pause"}, 409),
        ("print", {"Action": "start", "Path": "none.gcode"}, 404),
        ("print", {"Action": "start", "Path": "../part.gcode"}, 400),
        ("print", {"Action": "start"}, 400),
        ("print", {"Action": "explode"}, 400),
        ("print", {}, 400),
        ("print", {"Action": "pause", "Why": "x"}, 400),
        ("temperature", {"ToolC": 301}, 400),
        ("temperature", {"ToolC": "hot"}, 400),
        ("temperature", {"ToolC": True}, 400),
        ("temperature", {"BedC": -1}, 400),
        ("temperature", {"BedD": 1}, 400),
        ("light", {"On": "yes"}, 400),
        ("light", {"On": 1}, 400),
        ("light", {}, 400),
        ("move", {"Axis": "E", "DistanceMm": 1}, 400),
        ("move", {"Axis": "X", "DistanceMm": 501}, 400),
        ("move", {"Axis": "X"}, 400),
        ("simulate", {"Failure": "fire"}, 400),
        ("simulate", {"Speed": 0}, 400),
        ("fly", {}, 404),
    ],
)
def test_an_order_that_can_not_be_carried_out_is_refused_in_a_sentence(
    order: str, arguments: dict[str, object], status: int
) -> None:
    async def test() -> None:
        async with site() as printer:
            before = await printer.status()
            answer = await printer.order(order, **arguments)

            assert answer["Http"] == status
            assert answer["Error"].endswith(".")
            assert await printer.status() == before

    run(test())


@pytest.mark.parametrize("body", [b"{", b"[]", b"\xff", b'"x"', b'{"On":NaN}'])
def test_a_body_that_is_no_json_object_is_refused(body: bytes) -> None:
    async def test() -> None:
        async with site() as printer, printer.http.post("/api/light", data=body) as answer:
            assert answer.status == 400

    run(test())


def test_temperatures_light_head_and_failures_obey() -> None:
    async def test() -> None:
        async with site() as printer:
            await printer.order("temperature", ToolC=50, BedC=40, ChamberC=None)
            await printer.order("light", On=False)
            await printer.order("home")
            await printer.order("move", Axis="X", DistanceMm=30)
            now = await printer.order("simulate", Failure="spaghetti")
            assert now["Temps"]["HotendTarget"] == 50
            assert now["LightOn"] is False
            assert now["Failure"] == "spaghetti"
            await printer.until(lambda status: status["Temps"]["BedActual"] == 40)
            await printer.until(lambda status: status["Position"] == {"X": 30, "Y": 0, "Z": 0})

    run(test())


def test_a_page_of_another_site_can_not_order_anything() -> None:
    async def test() -> None:
        async with site() as printer:
            for origin in ("http://evil.example", "null"):
                headers = {"Origin": origin}
                async with printer.http.post("/api/home", headers=headers) as answer:
                    assert answer.status == 403
                with pytest.raises(aiohttp.WSServerHandshakeError, match="403"):
                    await printer.http.ws_connect("/ws", headers=headers)
                async with printer.http.get("/api/status", headers=headers) as answer:
                    assert answer.status == 200

    run(test())


def test_the_printers_own_page_may_order_under_any_name_it_is_known_by() -> None:
    async def test() -> None:
        async with site() as printer:
            own = {"Origin": f"http://127.0.0.1:{printer.running.port}"}
            relayed = {"Origin": "https://own-x.example", "X-Forwarded-Host": "own-x.example"}
            for headers in (own, relayed):
                async with printer.http.post("/api/home", headers=headers) as answer:
                    assert answer.status == 200

    run(test())


# The page.


@pytest.mark.parametrize("path", ["/", "/style.css", "/app.js", "/favicon.svg"])
def test_the_page_loads_nothing_from_elsewhere(path: str) -> None:
    async def test() -> None:
        async with site() as printer, printer.http.get(path) as answer:
            text = await answer.text()

            assert answer.status == 200
            assert "//" not in text.replace("// ", "").replace("http://www.w3.org/2000/svg", "")
            assert 'src="/' not in text
            assert 'href="/' not in text

    run(test())


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing", 404),
        ("POST", "/", 405),
        ("PATCH", "/api/files/part.gcode", 405),
        ("DELETE", "/api/files", 405),
        ("GET", "/webcam/?action=dance", 400),
        ("GET", "/ws", 426),
        ("HEAD", "/", 200),
        ("HEAD", "/api/files/part.gcode", 200),
    ],
)
def test_other_addresses_and_methods_are_answered_properly(
    method: str, path: str, status: int
) -> None:
    async def test() -> None:
        async with site() as printer, printer.http.request(method, path) as answer:
            assert answer.status == status

    run(test())
