"""The operator's commands about the failure-detection API, as scripts and people use them."""

import asyncio
import sqlite3
from datetime import UTC, datetime, timedelta

import pytest

from printreach.hub.detection.gate import DetectionGate
from printreach.rules.detection.access import CallAdmitted, CallKind, CallRefused
from printreach.rules.detection.address_claims import AddressClaim
from printreach.rules.detection.usage import Calls, Plan, day_of
from printreach.run import admin_world
from printreach.store.store import Records, open_store
from tests.fakes.clock import NOON, FakeClock
from tests.run.admin import ADA, Admin

NOW = datetime.now(UTC)


@pytest.fixture
def admin(admin: Admin) -> Admin:
    """Of a service that has Ada's account."""
    admin.add_ada()
    return admin


def decision(admin: Admin, api_key: str) -> CallAdmitted | CallRefused:
    """What the API is told of that key."""

    async def ask() -> CallAdmitted | CallRefused:
        async with open_store(admin.database) as store:
            gate = DetectionGate(store=store, plan=Plan(), claims_addresses=True)
            return await gate.admit(api_key, "8.8.8.8", NOW, CallKind.PROCESS)

    return asyncio.run(ask())


def use(admin: Admin, key_id: str, at: datetime, calls: Calls) -> None:
    async def write() -> None:
        async with open_store(admin.database) as store:
            await store.write(
                lambda records: records.detection_usage.add(key_id, day_of(at), calls)
            )

    asyncio.run(write())


def test_a_key_is_made_and_works_until_it_is_disabled(admin: Admin) -> None:
    made = admin.json("detector-key", "add", ADA, "--name", "Farm")
    assert made.keys() == {"KeyId", "ApiKey"}
    assert isinstance(decision(admin, made["ApiKey"]), CallAdmitted)

    assert admin.json("detector-key", "disable", made["KeyId"]) == {"KeyId": made["KeyId"]}
    refused = decision(admin, made["ApiKey"])
    assert isinstance(refused, CallRefused)
    assert refused.error == "OE_API_KEY_DISABLED"


def test_a_key_is_kept_as_a_digest(admin: Admin) -> None:
    made = admin.json("detector-key", "add", ADA)
    with sqlite3.connect(admin.database) as database:
        dump = "\n".join(database.iterdump())

    assert made["KeyId"] in dump
    assert made["ApiKey"] not in dump
    assert made["ApiKey"].encode().hex().upper() not in dump.upper()


def test_people_are_told_that_a_key_is_shown_once(admin: Admin) -> None:
    status, out, _ = admin.run("detector-key", "add", ADA)

    assert status == 0
    assert out.startswith("prk_")
    assert "It is shown this once." in out


@pytest.mark.parametrize(
    "words",
    [
        ("detector-key", "add", "nobody@example.org"),
        ("detector-key", "disable", "unknown"),
        ("detector-usage", "nobody@example.org"),
        ("detector-billing", "nobody@example.org", "on"),
    ],
)
def test_what_does_not_exist_is_named_in_a_sentence(admin: Admin, words: tuple[str, ...]) -> None:
    assert "There is no " in admin.refusal(*words)


@pytest.mark.parametrize(
    "words",
    [
        ("detector-key", "add"),
        ("detector-usage",),
        ("detector-usage", ADA, "--month", "2026-13"),
        ("detector-usage", ADA, "--month", "May"),
        ("detector-billing", ADA, "maybe"),
        ("detector-claim", "release"),
    ],
)
def test_wrong_usage_is_status_2(admin: Admin, words: tuple[str, ...]) -> None:
    assert admin.run(*words)[0] == 2


def test_the_usage_of_a_month_is_told_in_numbers(admin: Admin) -> None:
    made = admin.json("detector-key", "add", ADA)
    use(admin, made["KeyId"], datetime(2026, 5, 31, 23, 59, tzinfo=UTC), Calls(all=5_000))
    may = Calls(all=7_345, paid=7_345)
    use(admin, made["KeyId"], datetime(2026, 5, 1, tzinfo=UTC), may)
    use(admin, made["KeyId"], datetime(2026, 6, 1, tzinfo=UTC), Calls(all=90))

    assert admin.json("detector-usage", ADA, "--month", "2026-05") == {
        "Calls": 12_345,
        "PrintHours": 12_345 / 180,
        "FreeCalls": 5_000,
        "CostUsd": 2.938,
    }
    assert admin.json("detector-usage", ADA, "--month", "2026-06") == {
        "Calls": 90,
        "PrintHours": 0.5,
        "FreeCalls": 5_000,
        "CostUsd": 0.0,
    }


def test_without_a_month_it_is_the_present_one(
    admin: Admin, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = admin.json("detector-key", "add", ADA)
    monkeypatch.setattr(admin_world, "SystemClock", FakeClock)
    use(admin, made["KeyId"], NOON, Calls(all=1))
    use(admin, made["KeyId"], NOON - timedelta(days=1), Calls(all=100))
    monkeypatch.setenv("PRINTREACH_DETECTOR_FREE_CALLS", "7")

    told = admin.json("detector-usage", ADA)
    assert (told["Calls"], told["FreeCalls"]) == (1, 7)
    assert "1 calls, 7 a month are free" in admin.run("detector-usage", ADA)[1]


def test_an_operator_prices_calls(admin: Admin, monkeypatch: pytest.MonkeyPatch) -> None:
    made = admin.json("detector-key", "add", ADA)
    use(admin, made["KeyId"], datetime(2026, 5, 1, tzinfo=UTC), Calls(all=30, paid=20))
    monkeypatch.setenv("PRINTREACH_DETECTOR_FREE_CALLS", "10")
    monkeypatch.setenv("PRINTREACH_DETECTOR_PRICES", "20:0.5, 0.25")

    assert admin.json("detector-usage", ADA, "--month", "2026-05")["CostUsd"] == 7.5


def test_billing_is_switched_for_an_account(admin: Admin) -> None:
    told = admin.json("detector-billing", ADA, "on")
    assert told == {"Billing": "on", "FreeOnly": True}
    assert "free-only mode" in admin.run("detector-billing", ADA, "on")[1]

    admin.json("detector-billing", ADA, "blocked")
    made = admin.json("detector-key", "add", ADA)
    refused = decision(admin, made["ApiKey"])
    assert isinstance(refused, CallRefused)
    assert refused.error == "OE_API_KEY_BLOCKED_PAYMENT_FAILED"
    admin.json("detector-billing", ADA, "off")
    assert isinstance(decision(admin, made["ApiKey"]), CallAdmitted)


def test_claims_are_listed_and_released(admin: Admin) -> None:
    made = admin.json("detector-key", "add", ADA)

    async def claim() -> None:
        async with open_store(admin.database) as store:

            async def put(records: Records) -> None:
                key = await records.detection_keys.get(made["KeyId"])
                assert key is not None
                await records.detection_claims.put(
                    AddressClaim(
                        network="2a00:1450:4001:81b::/64",
                        account_id=key.account_id,
                        claimed_at=NOW,
                        used_at=NOW,
                    )
                )

            await store.write(put)

    asyncio.run(claim())
    [listed] = admin.json("detector-claim", "list")["Claims"]
    assert (listed["Network"], listed["Account"]) == ("2a00:1450:4001:81b::/64", ADA)

    released = admin.json("detector-claim", "release", "2a00:1450:4001:81b::200e")
    assert released == {"Network": "2a00:1450:4001:81b::/64"}
    assert admin.json("detector-claim", "list") == {"Claims": []}
    assert "Nobody has claimed" in admin.refusal("detector-claim", "release", "8.8.8.8")
    assert "no public address" in admin.refusal("detector-claim", "release", "10.0.0.1")


def test_what_the_operator_does_is_written_down(admin: Admin) -> None:
    key_id = admin.json("detector-key", "add", ADA, "--name", "Farm")["KeyId"]
    admin.json("detector-key", "disable", key_id)
    admin.json("detector-billing", ADA, "blocked")

    acts = [(one["Act"], one["Subject"]) for one in admin.json("acts")["Acts"]]
    assert set(acts) >= {
        ("key-made", ADA),
        ("key-disabled", key_id),
        ("billing-changed", ADA),
    }
