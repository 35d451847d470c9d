"""`printreach admin doctor` beside a service that runs."""

import pytest

from tests.rigs.service import LinkedPrinter, Service

pytestmark = pytest.mark.slow


def test_nothing_fails_beside_a_running_service(
    relay: Service, behaviour_linked: LinkedPrinter
) -> None:
    assert behaviour_linked.id
    answer: dict[str, object] = dict(relay.admin("doctor"))
    checks = answer["Checks"]
    assert isinstance(checks, list)

    assert {one["Check"]: one["Result"] for one in checks if one["Result"] != "ok"} == {
        "mail": "warning"
    }
