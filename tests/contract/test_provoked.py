"""Every error code of the interface has a test that provokes it, or is not in use yet."""

import ast
import re
from pathlib import Path

import pytest

from printreach.contract.commands import MEANINGS, CommandStatus
from printreach.contract.detection_api import HTTP_STATUSES, REMEDIES, DetectionError
from printreach.contract.errors import AWAITED, ErrorCode
from printreach.rules.portal import PortalError
from tests.contract.claims import claims_below, claims_in

TESTS = Path(__file__).parents[1]
PRODUCT = TESTS.parent / "src" / "printreach"
CODES: list[ErrorCode | CommandStatus | DetectionError] = [
    *ErrorCode,
    *(status for status in CommandStatus if status is not CommandStatus.OK),
    *DetectionError,
]
CLAIMS = claims_below(TESTS)
TABLES = ("awaited", "errors", "detection_errors")
"""The modules whose tables may name codes that nothing answers with yet."""


@pytest.mark.parametrize("code", [code.value for code in CODES])
def test_a_code_is_provoked_by_a_test_or_is_not_in_use_yet(code: int | str) -> None:
    claimed_by = [claim.test for claim in CLAIMS if claim.code == code]

    assert bool(claimed_by) != (str(code) in AWAITED), claimed_by


def test_whoever_claims_a_code_speaks_of_it() -> None:
    assert [claim.test for claim in CLAIMS if not claim.is_borne_out] == []


def test_every_claim_is_of_a_code_that_there_is() -> None:
    assert {claim.code for claim in CLAIMS} <= {code.value for code in CODES}


@pytest.mark.parametrize("code", AWAITED)
def test_what_is_not_in_use_yet_stands_nowhere_in_the_product(code: str) -> None:
    """Else it is in use, and wants a test instead of a place in that table."""
    names = {f"ErrorCode.{ErrorCode(int(code)).name}"} if code.isdigit() else {f"'{code}'"}
    tables = {PRODUCT / "contract" / f"{table}.py" for table in TABLES}
    users = [
        str(path.relative_to(PRODUCT))
        for path in PRODUCT.rglob("*.py")
        if path not in tables and any(_speaks_of(path, name) for name in names)
    ]

    assert users == []


@pytest.mark.parametrize("error", PortalError)
def test_an_error_of_the_portal_is_provoked_by_a_test(error: PortalError) -> None:
    walks = "".join(path.read_text() for path in (TESTS / "web" / "portal").glob("test_*.py"))

    assert re.search(rf'"error"(\]( ==|)|:) "{error.value}"', walks)


def test_every_error_of_failure_detection_has_its_status_and_meaning() -> None:
    assert set(HTTP_STATUSES) == set(REMEDIES) == set(DetectionError)


def test_every_status_of_a_command_has_its_meaning() -> None:
    assert [CommandStatus.OK, *MEANINGS] == list(CommandStatus)
    assert all(meaning.endswith(".") for meaning in MEANINGS.values())


@pytest.mark.parametrize(
    ("body", "is_borne_out"),
    [
        ("assert status == 785", True),
        ("assert status == CommandStatus.NOT_CONNECTED", True),
        ("assert status == GONE", True),
        ("assert status == TABLE[0]", True),
        ("assert status == 786", False),
        ("assert status == CommandStatus.INVALID_STATE", False),
        ("assert status == OTHER", False),
    ],
)
def test_a_claim_is_borne_out_by_number_name_or_table(body: str, is_borne_out: bool) -> None:
    source = (
        "GONE, HERE = 785, 200\nTABLE = [CommandStatus.NOT_CONNECTED]\nOTHER = 1\n"
        f"@pytest.mark.provokes(785)\nasync def test_it():\n    {body}\n"
    )

    (claim,) = claims_in(source, Path("test_x.py"))

    assert (claim.code, claim.test) == (785, "test_x.py::test_it")
    assert claim.is_borne_out is is_borne_out


def _speaks_of(path: Path, name: str) -> bool:
    source = path.read_text(encoding="utf-8")
    if name.strip("'").rpartition(".")[2] not in source:
        return False
    found = ast.walk(ast.parse(source))
    return any(isinstance(node, ast.expr) and ast.unparse(node) == name for node in found)
