"""When names of apps look the same, and which names only an operator gives."""

import pytest

from printreach.rules.app_names import look_of, problem_with_chosen_name


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
