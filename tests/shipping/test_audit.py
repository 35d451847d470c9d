"""make audit: nothing found, something found, and nobody to ask are three things."""

import json
import sys

import pytest

from shipping.audit import audit, found_in

NOTHING = {"dependencies": [{"name": "a", "version": "1", "vulns": []}], "fixes": []}
WEAK = {"dependencies": [{"name": "a", "version": "1", "vulns": [{"id": "PYSEC-1"}]}]}
WEAK_NPM = {"vulnerabilities": {"b": {"severity": "high"}}}
NO_NETWORK = {"error": {"code": "ENOTFOUND"}}


def printing(text: str) -> list[str]:
    return [sys.executable, "-c", f"print({text!r})"]


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (NOTHING, []),
        (WEAK, ["a 1: PYSEC-1"]),
        (WEAK_NPM, ["b: high"]),
        ({"vulnerabilities": {}}, []),
        (NO_NETWORK, None),
        ({"dependencies": [{"name": "a", "skip_reason": "not found on PyPI"}]}, None),
        ({}, None),
    ],
)
def test_what_an_auditor_found_is_read(said: object, found: list[str] | None) -> None:
    assert found_in(json.dumps(said)) == found


def test_a_known_weakness_fails_the_audit(capsys: pytest.CaptureFixture[str]) -> None:
    assert audit("server", printing(json.dumps(WEAK)), is_required=False) == 1
    assert "PYSEC-1" in capsys.readouterr().out


@pytest.mark.parametrize("command", [printing("no network"), ["/no/such/auditor"]])
@pytest.mark.parametrize("is_required", [False, True])
def test_without_a_database_it_says_so_and_fails_only_where_it_is_required(
    command: list[str], is_required: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert audit("server", command, is_required=is_required) == int(is_required)
    assert "no advisory database could be had" in capsys.readouterr().out
