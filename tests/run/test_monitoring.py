"""/healthz, /readyz and /metrics of workers and of detector nodes."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import httpx
import pytest

from printreach.detector.engine import Engine, ModelUnavailable
from printreach.http1.messages import Answer, Call, text_answer
from printreach.http1.server import serve
from printreach.rules.histogram import Histogram
from printreach.run.embedded import running_service
from printreach.run.monitoring import answering_monitors, health_of
from printreach.run.scoring import running_node
from printreach.run.settings import Settings, settings_from
from printreach.store.store import Store
from tests.detector.stand_in import StandIn
from tests.fakes.readiness import READY

TOKEN = "0123456789abcdef0123456789abcdef"
WORKER = frozenset({"worker"})


def settings_of(tmp_path: Path, **more: str) -> Settings:
    environ = {"DATA_DIR": str(tmp_path / "data"), "LISTEN": "127.0.0.1:0", **more}
    return settings_from({f"PRINTREACH_{name}": value for name, value in environ.items()})


async def asked(address: str, path: str, **headers: str) -> httpx.Response:
    async with httpx.AsyncClient(trust_env=False) as client:
        return await client.get(f"http://{address}{path}", headers=headers)


@pytest.mark.slow
def test_a_worker_alone_answers_monitors_and_nobody_else(tmp_path: Path) -> None:
    async def use() -> None:
        async with running_service(settings_of(tmp_path), WORKER) as address:
            assert (await asked(address, "/healthz")).text == "alive\n"
            assert (await asked(address, "/readyz")).text.startswith("ready\n")
            figures = (await asked(address, "/metrics")).text
            assert re.search(r"^printreach_database_up 1$", figures, re.MULTILINE)
            assert "printreach_database_read_seconds_count" in figures
            assert "process_resident_memory_bytes" in figures
            assert (await asked(address, "/")).status_code == 404

    asyncio.run(use())


@pytest.mark.slow
def test_a_worker_refuses_metrics_to_callers_behind_a_proxy_that_is_not_trusted(
    tmp_path: Path,
) -> None:
    far = {"X-Forwarded-For": "203.0.113.9"}

    async def use() -> None:
        async with running_service(settings_of(tmp_path), WORKER) as address:
            assert (await asked(address, "/metrics", **far)).status_code == 403

    asyncio.run(use())


@pytest.mark.slow
def test_a_worker_without_a_free_address_says_so_at_its_start(tmp_path: Path) -> None:
    async def use() -> None:
        async with running_service(settings_of(tmp_path), WORKER) as address:
            again = settings_of(tmp_path, LISTEN=address)
            with pytest.raises(OSError, match="in use"):
                async with running_service(again, WORKER):
                    pass

    asyncio.run(use())


def test_a_node_without_its_database_is_not_ready_and_says_why(tmp_path: Path) -> None:
    away = SimpleNamespace(is_available=False, read_times=Histogram(), write_times=Histogram())
    health = health_of(settings_of(tmp_path), replace(READY, store=cast("Store", away)))

    assert health.answer(b"/readyz", [], "127.0.0.1").text == b"not ready\nlacks: database\n"


async def _teapot(_call: Call) -> Answer:
    return text_answer(418, "I am a teapot.")


@asynccontextmanager
async def detector(settings: Settings, engine: Engine, *, is_alone: bool) -> AsyncIterator[str]:
    readiness = None if is_alone else READY
    try:
        async with running_node(settings, ("127.0.0.1", 0), engine, readiness=readiness) as address:
            yield address
    finally:
        await engine.close()


@pytest.mark.parametrize("is_alone", [True, False])
def test_a_detector_node_has_metrics(tmp_path: Path, is_alone: bool) -> None:
    settings = settings_of(tmp_path, DETECTOR_TOKEN=TOKEN)

    async def use() -> None:
        engine = Engine(StandIn().load, threads=1)
        async with detector(settings, engine, is_alone=is_alone) as address:
            figures = (await asked(address, "/metrics")).text
            assert re.search(r"^printreach_detector_up 1$", figures, re.MULTILINE)
            assert re.search(r"^printreach_detector_load 0$", figures, re.MULTILINE)
            assert ("printreach_database_up" in figures) is not is_alone
            assert (await asked(address, "/readyz")).text.startswith("ready\n")
            far = {"X-Forwarded-For": "203.0.113.9"}
            assert (await asked(address, "/metrics", **far)).status_code == 403

    asyncio.run(use())


def test_a_worker_whose_detector_has_no_model_is_ready_and_says_what_it_lacks(
    tmp_path: Path,
) -> None:
    def load() -> StandIn:
        raise ModelUnavailable("the detector's weights are not installed")

    async def use() -> None:
        settings = settings_of(tmp_path, DETECTOR_TOKEN=TOKEN)
        async with detector(settings, Engine(load, threads=1), is_alone=False) as address:
            assert (await asked(address, "/readyz")).text.endswith("lacks: model\n")

    asyncio.run(use())


def test_calls_that_are_not_for_monitors_go_on(tmp_path: Path) -> None:
    health = health_of(settings_of(tmp_path), READY)

    async def use() -> None:
        node_handler = answering_monitors(health, _teapot, {b"/metrics"})
        server = await serve(node_handler, "127.0.0.1", 0)
        address = f"127.0.0.1:{server.port}"
        assert (await asked(address, "/healthz")).status_code == 418
        assert (await asked(address, "/metrics")).status_code == 200
        await server.close()

    asyncio.run(use())
