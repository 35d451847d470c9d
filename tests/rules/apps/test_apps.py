"""Apps that may be registered."""

import pytest

from printreach.rules.apps import problem_with_app, problem_with_return_prefix


@pytest.mark.parametrize(
    "prefix",
    [
        "https://app.example/done",
        "http://localhost:8123/",
        "http://127.0.0.1/done",
        "http://192.168.1.20:7125/auth",
        "http://[fd00::1]/x",
        "myapp://done",
        "org.example.app://back",
    ],
)
def test_an_app_may_be_returned_to(prefix: str) -> None:
    assert problem_with_return_prefix(prefix) is None


@pytest.mark.parametrize(
    "prefix",
    [
        "",
        "app.example/done",
        "http://app.example/done",
        "http://8.8.8.8/",
        "https:///done",
        "https://user@app.example/",
        "https://user:x@app.example/",
        "https://app.example/?a=1",
        "https://app.example/#a",
        "https://app.example:99999/",
        "https://app.example\\@evil.example/",
        "https://app.example/ x",
        "javascript://alert(1)",
        "data://text",
        "file:///etc/passwd",
        "1app://done",
        "https://[::1",
    ],
)
def test_an_app_may_not_be_returned_to(prefix: str) -> None:
    assert problem_with_return_prefix(prefix) is not None


def test_a_problem_names_the_prefix_it_is_about() -> None:
    problem = problem_with_app("app", "App", ("https://ok.example/", "http://bad.example/"))

    assert problem is not None
    assert "http://bad.example/" in problem


@pytest.mark.parametrize("app_id", ["", "-x", "a b", "a/b", "x" * 65])
def test_an_app_id_is_plain(app_id: str) -> None:
    assert problem_with_app(app_id, "App", ()) is not None


@pytest.mark.parametrize("name", ["", "A", "A" * 61, " App", "A\x07pp"])
def test_an_apps_name_has_2_to_60_characters(name: str) -> None:
    assert problem_with_app("app", name, ()) is not None


def test_an_app_without_return_prefixes_is_fine() -> None:
    assert problem_with_app("org.example_app-1", "Äpp", ()) is None


@pytest.mark.parametrize(
    "scheme",
    [
        *(
            "ms-settings",
            "ms-msdt",
            "search-ms",
            "vscode",
            "itms-services",
            "steam",
            "shell",
            "jar",
        ),
        *("ldap", "git", "ssh", "smb", "web+x", "x-apple", "chrome", "javascript", "view-source"),
    ],
)
def test_no_app_returns_to_a_scheme_that_a_system_acts_on(scheme: str) -> None:
    assert problem_with_return_prefix(f"{scheme}://done") is not None
