"""The detector role: where it listens, who may ask, and processes that are nothing else."""

import asyncio
import json
from pathlib import Path

import pytest

from printreach.backends.scorer_http import HttpScorer, NodeAddress
from printreach.detector.engine import Engine
from printreach.ports.scoring import ImageScore, ScorerBusy, ScorerUnavailable
from printreach.rules.detection.detector import DetectorOff
from printreach.run import scoring as scoring_module
from printreach.run.embedded import ROLES, running_service
from printreach.run.main import main
from printreach.run.monitoring import Readiness
from printreach.run.scoring import (
    DetectorCannotStart,
    node_address,
    running_node,
    scoring_of,
    why_prints_are_not_watched,
)
from printreach.run.settings import SettingsError, settings_from
from tests.detector.images import scene, written
from tests.detector.stand_in import StandIn
from tests.fakes.readiness import READY
from tests.rigs.programs import Program
from tests.rigs.service import printreach
from tests.rigs.waiting import free_port

TOKEN = "0123456789abcdef0123456789abcdef"
ALONE = frozenset({"detector"})
EVERY = frozenset(ROLES)
SERVICE = ("127.0.0.1", 8080)
SCORE_TIMEOUT_S = 60.0
OWN = ("127.0.0.1", 8081)


@pytest.mark.parametrize(
    ("roles", "listen", "address"),
    [
        (ALONE, "", SERVICE),
        (ALONE, "127.0.0.1:8081", OWN),
        (EVERY, "", None),
        (EVERY, "127.0.0.1:8081", OWN),
        (frozenset({"worker", "detector"}), "", SERVICE),
        (frozenset({"web", "worker", "detector"}), "", None),
        (frozenset({"web", "relay", "worker"}), "127.0.0.1:8081", None),
    ],
)
def test_the_role_listens_where_it_was_told_or_where_nobody_else_does(
    roles: frozenset[str], listen: str, address: tuple[str, int] | None
) -> None:
    environ = {"PRINTREACH_DETECTOR_LISTEN": listen, "PRINTREACH_DETECTOR_TOKEN": TOKEN}

    assert node_address(settings_from(environ), roles) == address


def test_without_a_token_nothing_listens() -> None:
    with pytest.raises(SettingsError, match="PRINTREACH_DETECTOR_TOKEN"):
        node_address(settings_from({}), ALONE)
    assert node_address(settings_from({}), EVERY) is None


def test_a_detector_without_a_token_is_wrong_usage(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("PRINTREACH_DETECTOR_TOKEN", raising=False)

    assert main(["serve", "--role", "detector"]) == 2
    assert "PRINTREACH_DETECTOR_TOKEN" in capsys.readouterr().err


def test_a_process_asks_the_nodes_that_are_named_and_else_itself() -> None:
    nodes = {
        "PRINTREACH_DETECTOR_NODES": "http://10.0.0.7:8081, http://10.0.0.8:8081",
        "PRINTREACH_DETECTOR_TOKEN": TOKEN,
    }

    async def use() -> None:
        async with scoring_of(settings_from({}), EVERY) as scoring:
            assert scoring.scorer is scoring.engine
        async with scoring_of(settings_from(nodes), EVERY) as scoring:
            assert isinstance(scoring.scorer, HttpScorer)

    asyncio.run(use())


@pytest.mark.parametrize(
    ("environ", "is_installed", "off"),
    [
        ({}, True, None),
        ({}, False, DetectorOff.NOT_INSTALLED),
        ({"PRINTREACH_DETECTOR_WATCH": "false"}, True, DetectorOff.SWITCHED_OFF),
    ],
)
def test_a_service_knows_from_its_start_why_it_looks_at_no_print(
    monkeypatch: pytest.MonkeyPatch,
    environ: dict[str, str],
    is_installed: bool,
    off: DetectorOff | None,
) -> None:
    if not is_installed:
        monkeypatch.setattr(scoring_module, "find_spec", lambda name: None)
    settings = settings_from(environ)

    async def use() -> None:
        async with scoring_of(settings, EVERY) as made:
            assert why_prints_are_not_watched(settings, made.scorer) is off

    asyncio.run(use())


def test_a_model_that_cannot_be_loaded_switches_failure_detection_off() -> None:
    async def use() -> None:
        engine = Engine(broken, threads=1)
        known = [engine.off]
        with pytest.raises(ScorerUnavailable):
            await engine.ready()
        assert [*known, engine.off] == [None, DetectorOff.BROKEN]
        await engine.close()

    asyncio.run(use())


def broken() -> StandIn:
    raise RuntimeError("no such operator")


@pytest.mark.parametrize("readiness", [None, READY])
def test_without_a_model_only_a_process_that_does_nothing_else_refuses_to_start(
    readiness: Readiness | None,
) -> None:
    settings = settings_from({"PRINTREACH_DETECTOR_TOKEN": TOKEN})

    async def use() -> None:
        engine = Engine(broken, threads=1)
        async with running_node(settings, ("127.0.0.1", 0), engine, readiness=readiness) as where:
            assert where.startswith("127.0.0.1:")

    if readiness is None:
        with pytest.raises(DetectorCannotStart, match="model can't be loaded"):
            asyncio.run(use())
    else:
        asyncio.run(use())


def test_an_address_that_is_taken_is_named() -> None:
    settings = settings_from({"PRINTREACH_DETECTOR_TOKEN": TOKEN})

    async def use() -> None:
        async with running_node(
            settings, ("127.0.0.1", 0), Engine(StandIn().load, threads=1), readiness=None
        ) as where:
            port = int(where.rpartition(":")[2])
            again = Engine(StandIn().load, threads=1)
            async with running_node(settings, ("127.0.0.1", port), again, readiness=READY):
                pass

    with pytest.raises(DetectorCannotStart, match=r"Can't score for others on 127.0.0.1:\d+: "):
        asyncio.run(use())


@pytest.mark.slow
def test_a_process_of_the_detector_alone_scores_for_others_and_has_no_database(
    tmp_path: Path,
) -> None:
    port = free_port()
    env = {
        "PRINTREACH_DATA_DIR": str(tmp_path / "data"),
        "PRINTREACH_LISTEN": f"127.0.0.1:{port}",
        "PRINTREACH_DETECTOR_TOKEN": TOKEN,
    }
    argv = printreach("serve", "--role", "detector")
    with Program("detector", argv, logs=tmp_path, env=env) as program:
        program.wait_until("ready line", lambda: program.stdout().endswith("}\n"), SCORE_TIMEOUT_S)
        ready = json.loads(program.stdout().removeprefix("ready "))
        scored = asyncio.run(_ask(port))

    assert ready["Listen"] == f"127.0.0.1:{port}"
    assert 0 <= scored.assessment.probability <= 1
    assert not (tmp_path / "data").exists()


async def _ask(port: int) -> ImageScore:
    """A picture's score. It is asked for again where it comes too late for a print."""
    scorer = HttpScorer([NodeAddress("127.0.0.1", port, is_tls=False)], TOKEN, look_again_s=0.1)
    try:
        async with asyncio.timeout(SCORE_TIMEOUT_S):
            while True:
                try:
                    return await scorer.score(written(scene()))
                except (ScorerBusy, ScorerUnavailable):
                    await asyncio.sleep(0.1)
    finally:
        await scorer.close()


@pytest.mark.slow
def test_the_role_runs_beside_others_in_one_process(tmp_path: Path) -> None:
    port = free_port()
    settings = settings_from(
        {
            "PRINTREACH_DATA_DIR": str(tmp_path / "data"),
            "PRINTREACH_LISTEN": f"127.0.0.1:{port}",
            "PRINTREACH_DETECTOR_TOKEN": TOKEN,
        }
    )

    async def use() -> ImageScore:
        async with running_service(settings, frozenset({"worker", "detector"})) as address:
            assert address == f"127.0.0.1:{port}"
            return await _ask(port)

    # Where the first try came too late, it may still be in the queue.
    assert 0 <= asyncio.run(use()).load < 1
