"""Registering apps: who may, ids, logos, numbers of connections, and names that look alike."""

from dataclasses import replace

import pytest

from printreach.rules.accounts import Account
from printreach.rules.apps import App, problem_with_app, problem_with_return_prefix
from printreach.rules.apps.registration import (
    MAX_QUOTA,
    AppDraft,
    AppIdHolder,
    AppPolicy,
    logo_of,
    look_of,
    may_register_apps,
    may_take_id,
    problem_with_chosen_name,
    problem_with_logo,
    problem_with_quota,
    problems_with,
    problems_with_own,
    quota_reached,
)
from tests.fakes.clock import NOON

ADA = Account(
    account_id="ada",
    email="ada@example.org",
    password_hash="",
    is_admin=False,
    supporter_granted=False,
    supporter_until=None,
    created_at=NOON,
    verified_at=NOON,
)
APP = App(app_id="demo", name="Demo", return_prefixes=(), created_at=NOON)
LOGO = "https://cdn.example/logo.png"
SENT = "https://elsewhere.example/logo.png"


@pytest.mark.parametrize(
    ("policy", "is_admin", "may"),
    [
        (AppPolicy.OPEN, False, True),
        (AppPolicy.OPERATORS, False, False),
        (AppPolicy.OPERATORS, True, True),
    ],
)
def test_the_operator_decides_who_registers_apps(
    policy: AppPolicy, is_admin: bool, may: bool
) -> None:
    assert may_register_apps(policy, replace(ADA, is_admin=is_admin)) is may


def test_who_has_shown_no_mail_address_registers_no_app() -> None:
    assert not may_register_apps(AppPolicy.OPEN, replace(ADA, verified_at=None))


@pytest.mark.parametrize(
    ("holder", "owner", "may"),
    [
        (None, "ada", True),
        (AppIdHolder(owner_id="ada", is_removed=False), "ada", False),
        (AppIdHolder(owner_id="ada", is_removed=True), "ada", True),
        (AppIdHolder(owner_id="bob", is_removed=False), "ada", False),
        (AppIdHolder(owner_id="bob", is_removed=True), "ada", False),
        (AppIdHolder(owner_id=None, is_removed=True), "ada", False),
        (AppIdHolder(owner_id=None, is_removed=True), None, True),
        (AppIdHolder(owner_id="bob", is_removed=True), None, False),
    ],
)
def test_an_id_stays_with_who_had_it(
    holder: AppIdHolder | None, owner: str | None, may: bool
) -> None:
    assert may_take_id([holder] if holder else [], owner) is may


@pytest.mark.parametrize(
    "logo",
    [
        *("http://a.example/l.png", "javascript:alert(1)", "https://", "//a.example/l.png"),
        *("https://u@a.example/l.png", "data:image/png;base64,x", "https://[::1]/l.png"),
        "https://a.example;script-src 'unsafe-inline'/",
    ],
)
def test_a_logo_is_an_https_address_that_a_policy_can_name(logo: str) -> None:
    assert problem_with_logo(logo, takes_other_logos=True) is not None


def test_an_app_needs_no_logo_unless_it_is_to_be_the_only_one() -> None:
    assert problem_with_logo(None, takes_other_logos=True) is None
    assert problem_with_logo(LOGO, takes_other_logos=False) is None
    assert problem_with_logo(None, takes_other_logos=False) is not None


@pytest.mark.parametrize(
    ("registered", "takes_others", "sent", "shown"),
    [
        (None, True, None, None),
        (None, True, SENT, SENT),
        (LOGO, True, None, LOGO),
        (LOGO, True, SENT, SENT),
        (LOGO, False, SENT, LOGO),
    ],
)
def test_the_registered_logo_stands_where_no_other_may(
    registered: str | None, takes_others: bool, sent: str | None, shown: str | None
) -> None:
    app = replace(APP, logo_url=registered, takes_other_logos=takes_others)

    assert logo_of(app, sent) == shown


@pytest.mark.parametrize(
    ("quota", "is_fine"),
    [(None, True), (0, False), (-1, False), (1, True), (MAX_QUOTA, True), (MAX_QUOTA + 1, False)],
)
def test_a_quota_is_a_number_above_nothing(quota: int | None, is_fine: bool) -> None:
    assert (problem_with_quota(quota) is None) is is_fine


@pytest.mark.parametrize(("living", "is_full"), [(1, False), (2, True), (3, True)])
def test_an_app_has_so_many_connections_and_no_more(living: int, is_full: bool) -> None:
    app = replace(APP, max_connections=2)

    assert (quota_reached(app, living, 0) is not None) is is_full
    assert (quota_reached(replace(APP, max_connections_a_printer=2), 9, living) is not None) is (
        is_full
    )


def test_without_quotas_an_app_has_any_number() -> None:
    assert quota_reached(APP, MAX_QUOTA, MAX_QUOTA) is None


@pytest.mark.parametrize(("count", "is_fine"), [(20, True), (21, False)])
def test_an_app_has_20_return_addresses_at_most(count: int, is_fine: bool) -> None:
    assert (problem_with_app("a", "App", ("https://a.example/",) * count) is None) is is_fine


@pytest.mark.parametrize(("length", "is_fine"), [(500, True), (501, False)])
def test_a_return_address_has_500_characters_at_most(length: int, is_fine: bool) -> None:
    prefix = "https://a.example/".ljust(length, "a")

    assert (problem_with_return_prefix(prefix) is None) is is_fine


@pytest.mark.parametrize(
    ("prefix", "is_fine"),
    [
        *(
            ("com.example.app://done", True),
            ("https://a.example/", True),
            ("HTTPS://a.ex/", True),
        ),
        *(("http://192.168.1.5:80/", True), ("mobileraker://x", True), ("octopod://x", True)),
        *(("myapp://done", False), ("MyApp://done", False), ("layerlark://", False)),
    ],
)
def test_a_developer_needs_a_scheme_that_is_theirs(prefix: str, is_fine: bool) -> None:
    draft = AppDraft(app_id="demo", name="Demo", return_prefixes=(prefix,))

    assert (problems_with_own(draft) == {}) is is_fine
    assert problems_with(draft) == {}  # an operator may


def test_what_an_app_has_from_before_stays() -> None:
    before = replace(APP, name="Printreach tools", return_prefixes=("myapp://done",))
    draft = AppDraft(
        app_id="demo", name=before.name, return_prefixes=("myapp://done", "https://a.example/")
    )

    assert problems_with_own(draft, before) == {}
    assert set(problems_with_own(replace(draft, return_prefixes=("other://",)), before)) == {
        "return_prefixes"
    }


@pytest.mark.parametrize(
    "name",
    [
        *("Mobileraker", "MOBILERAKER", "mobile raker", "Mobile-Raker", "Mob\u0456leraker"),
        *("M\u043ebileraker", "Mobi1eraker", "Mobiieraker", "M0bileraker", "M\u00f6bileraker"),
        *("\uff2dobileraker", "Mobileraker.", "Mobileraker\u200b", "rnobileraker"),
    ],
)
def test_names_that_look_the_same_are_the_same(name: str) -> None:
    assert look_of(name) == look_of("Mobileraker")


@pytest.mark.parametrize("name", ["Mobileraker 2", "Mobile", "OctoPod", "\u30d7\u30ea\u30f3\u30bf"])
def test_names_that_look_different_are_different(name: str) -> None:
    assert look_of(name) != look_of("Mobileraker")


def test_names_of_symbols_alone_are_told_apart() -> None:
    assert look_of("\u2605\u2605") != look_of("\u2606\u2606")


@pytest.mark.parametrize("name", ["Printreach", "Print Reach Pro", "Pr1ntreach", "\u0420rintreach"])
def test_the_name_of_the_service_is_not_an_apps(name: str) -> None:
    assert "name of this service" in str(problem_with_chosen_name(name))


def test_a_name_of_mixed_scripts_is_refused() -> None:
    assert "mixes letters" in str(problem_with_chosen_name("Lay\u0435rlark"))


@pytest.mark.parametrize(
    "name",
    [
        *("Layerlark", "L\u00e4yer 2.0", "3D-Farm", "42"),
        *("\u041f\u0440\u0438\u043d\u0442\u0435\u0440", "\u5370\u5237 \u30d7\u30ea\u30f3\u30bf"),
    ],
)
def test_an_ordinary_name_is_taken(name: str) -> None:
    assert problem_with_chosen_name(name) is None
