"""The administration commands, as scripts and people use them."""

from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from printreach.run import admin_world
from tests.fakes.clock import FakeClock
from tests.run.admin import ADA, PASSWORD, PRINTER_ID, Admin


def test_an_account_is_added_before_the_service_ever_ran(new_admin: Admin) -> None:
    added = new_admin.add_ada()

    assert added.keys() == {"AccountId", "Email"}
    assert added["Email"] == ADA


def test_a_folder_that_was_not_there_is_named_to_people(new_admin: Admin) -> None:
    _, _, first = new_admin.run("account", "list")
    _, _, second = new_admin.run("account", "list")

    assert f"{new_admin.database.parent} is new" in first
    assert second == ""


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_a_password_is_the_first_line_of_standard_input(admin: Admin, end: bytes) -> None:
    assert admin.json("account", "add", ADA, stdin=PASSWORD.encode() + end)["Email"] == ADA


@pytest.mark.parametrize("stdin", [b"", b"\n", b"short\n", b"\xff\xfe long enough\n"])
def test_a_bad_password_is_refused(admin: Admin, stdin: bytes) -> None:
    assert "assword" in admin.refusal("account", "add", ADA, stdin=stdin)


def test_a_second_account_of_one_address_is_refused(admin: Admin) -> None:
    admin.add_ada()

    assert "already" in admin.refusal("account", "add", ADA.upper(), stdin=PASSWORD.encode())


def test_accounts_are_listed_with_their_supporter_status(
    admin: Admin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRINTREACH_SUPPORTERS", "granted")
    added = admin.json("account", "add", ADA, "--supporter", "--admin", stdin=PASSWORD.encode())

    assert admin.json("account", "list") == {
        "Accounts": [
            {
                "AccountId": added["AccountId"],
                "Email": ADA,
                "IsAdmin": True,
                "IsBlocked": False,
                "IsLocked": False,
                "IsSupporter": True,
                "SupporterUntil": None,
                "PaidUntil": None,
            }
        ]
    }


def test_supporter_status_is_granted_and_taken_back(
    admin: Admin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRINTREACH_SUPPORTERS", "granted")
    admin.add_ada()

    assert admin.json("account", "supporter", ADA, "on")["IsSupporter"] is True
    assert admin.json("account", "supporter", ADA, "off")["IsSupporter"] is False


def test_supporter_status_until_a_date_holds_through_that_day(
    admin: Admin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRINTREACH_SUPPORTERS", "granted")
    late = FakeClock(datetime(2026, 2, 1, 23, 59, 59, tzinfo=UTC))
    monkeypatch.setattr(admin_world, "SystemClock", lambda: late)
    admin.add_ada()

    lasting = admin.json("account", "supporter", ADA, "on", "--until", "2026-02-01")
    over = admin.json("account", "supporter", ADA, "on", "--until", "2026-01-31")

    assert lasting["IsSupporter"] is True
    assert over["IsSupporter"] is False
    assert over["SupporterUntil"] == "2026-02-01T00:00:00+00:00"


def test_where_everyone_is_a_supporter_the_list_says_so(admin: Admin) -> None:
    admin.add_ada()

    assert "on, as for everyone" in admin.run("account", "list")[1]


def test_a_deleted_account_is_gone_with_its_printers(admin: Admin) -> None:
    admin.set_up()
    admin.connect()

    assert admin.json("account", "delete", ADA)["Email"] == ADA
    assert admin.json("account", "list") == {"Accounts": []}
    assert admin.json("printer", "list") == {"Printers": []}
    [connection] = admin.json("connection", "list")["Connections"]
    assert connection["HasEnded"] is True


def test_an_app_is_registered(admin: Admin) -> None:
    added = admin.json(
        *("app", "add", "demo", "--name", "Demo"),
        *("--return-url", "https://a.example/", "demo://x", "--return-url", "https://b.example/"),
    )

    assert added == {"AppId": "demo", "Name": "Demo"}
    [app] = admin.json("app", "list")["Apps"]
    assert app["ReturnUrls"] == ["https://a.example/", "demo://x", "https://b.example/"]
    assert app["ReturnsToLan"] is False


def test_an_app_is_registered_that_returns_to_the_lan(admin: Admin) -> None:
    admin.json("app", "add", "demo", "--name", "Demo", "--return-to-lan")

    [app] = admin.json("app", "list")["Apps"]
    assert app["ReturnsToLan"] is True


def test_a_printer_is_linked_and_listed(admin: Admin) -> None:
    admin.add_ada()

    linked = admin.json(
        "printer", "link", admin.link_code(), "--account", ADA, "--name", "Workshop"
    )

    assert linked == {"PrinterId": PRINTER_ID, "Name": "Workshop"}
    assert admin.json("printer", "list") == {
        "Printers": [
            {"PrinterId": PRINTER_ID, "Name": "Workshop", "Account": ADA, "IsOnline": False}
        ]
    }


def test_a_wrong_link_code_is_refused(admin: Admin) -> None:
    admin.add_ada()

    said = admin.refusal("printer", "link", "AAAAAAAA", "--account", ADA, "--name", "Workshop")

    assert "link code" in said


def test_a_removed_printer_is_listed_no_more(admin: Admin) -> None:
    admin.set_up()

    assert admin.json("printer", "remove", PRINTER_ID)["PrinterId"] == PRINTER_ID
    assert admin.json("printer", "list") == {"Printers": []}


def test_a_printer_is_opened_by_a_link_on_its_own_host(admin: Admin) -> None:
    admin.set_up()

    opened = admin.json("printer", "open", PRINTER_ID)

    assert opened.keys() == {"Url"}
    parts = urlsplit(opened["Url"])
    assert parts.scheme == "http"
    assert parts.netloc.startswith("own-")
    assert parts.netloc.endswith(".localhost:8080")
    assert parts.path == "/service-command-api/open"
    assert parts.query.startswith("ticket=")


def test_a_connection_prints_the_completion_parameters_of_the_portal(admin: Admin) -> None:
    admin.set_up()

    made = admin.connect()

    assert made.keys() == {
        "success",
        "id",
        "url",
        "appApiToken",
        "printername",
        "userPrinterAccessUrl",
        "authBasicHttpUser",
        "authBasicHttpPassword",
        "authbasichttpuser",
        "authbasichttppassword",
        "authBearerToken",
    }
    assert all(isinstance(value, str) for value in made.values())
    assert made["success"] == "true"
    assert made["url"].startswith("http://app-")
    assert made["url"].endswith(".localhost:8080")


def test_the_settings_decide_what_a_connection_is_called(
    admin: Admin, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin.set_up()
    monkeypatch.setenv("PRINTREACH_BASE_URL", "https://reach.example")
    monkeypatch.setenv("PRINTREACH_TUNNEL_DOMAIN", "tunnel.example")

    assert admin.connect()["url"].endswith(".tunnel.example")

    monkeypatch.setenv("PRINTREACH_TUNNEL_PORTS", "18000-18001")
    assert admin.connect()["url"] == "https://reach.example:18000"


def test_a_revoked_connection_has_ended(admin: Admin) -> None:
    admin.set_up()
    made = admin.connect()

    assert admin.json("connection", "revoke", made["id"]) == {"Id": made["id"]}

    [listed] = admin.json("connection", "list")["Connections"]
    assert (listed["Id"], listed["HasEnded"]) == (made["id"], True)


@pytest.mark.parametrize(
    "words",
    [
        ("account", "supporter", ADA, "on"),
        ("account", "delete", ADA),
        ("printer", "link", "AAAAAAAA", "--account", ADA, "--name", "Workshop"),
        ("printer", "open", "p"),
        ("printer", "remove", "p"),
        ("connection", "add", "--app", "demo", "--printer", "p"),
        ("connection", "revoke", "c"),
    ],
)
def test_what_does_not_exist_is_named_in_a_sentence(admin: Admin, words: tuple[str, ...]) -> None:
    assert "There is no " in admin.refusal(*words)


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("account",),
        ("account", "add"),
        ("account", "supporter", ADA, "maybe"),
        ("account", "supporter", ADA, "on", "--until", "tomorrow"),
        ("account", "supporter", ADA, "off", "--until", "2030-12-31"),
        ("app", "add", "demo"),
        ("connection", "add", "--app", "demo"),
        ("detector-key", "add"),
    ],
)
def test_wrong_usage_is_status_2(admin: Admin, words: tuple[str, ...]) -> None:
    status, out, err = admin.run(*words)

    assert (status, out) == (2, "")
    assert err != ""


@pytest.mark.parametrize(
    "words", [("account", "list"), ("app", "list"), ("printer", "list"), ("connection", "list")]
)
def test_an_empty_list_is_said_in_words(admin: Admin, words: tuple[str, ...]) -> None:
    status, out, _ = admin.run(*words)

    assert (status, out.split()[:3]) == (0, ["There", "are", "no"])


def test_people_read_text_and_are_told_that_secrets_are_shown_once(admin: Admin) -> None:
    admin.set_up()

    _, out, _ = admin.run("connection", "add", "--app", "demo", "--printer", PRINTER_ID)

    assert "authBearerToken: " in out
    assert "shown this once" in out
    assert f"{PRINTER_ID}  Workshop  {ADA}  offline" in admin.run("printer", "list")[1]


def test_a_wrong_setting_is_named(admin: Admin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRINTREACH_LISTEN", "nowhere")

    assert "PRINTREACH_LISTEN" in admin.refusal("account", "list")


def test_a_data_directory_that_cannot_be_used_is_named(
    admin: Admin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("PRINTREACH_DATA_DIR", str(tmp_path / "file"))

    assert str(tmp_path / "file") in admin.refusal("account", "list")


def test_an_argument_that_is_no_text_is_refused(admin: Admin) -> None:
    assert "UTF-8" in admin.refusal("connection", "revoke", "\udcff")


def test_an_invitation_is_a_link_that_makes_one_account(admin: Admin) -> None:
    made = admin.json("account", "invite", ADA, "--admin")

    assert made["Url"].startswith("http://localhost:8080/signup?invite=")
    assert "works once, for a week" in admin.run("account", "invite")[1]
    assert "nobody" in admin.refusal("account", "invite", "nobody")


def test_a_reset_is_a_link_to_choose_another_password(admin: Admin) -> None:
    admin.add_ada()

    made = admin.json("account", "reset", ADA, "--second-factor")

    assert made["Url"].startswith("http://localhost:8080/reset/new?token=")
    assert "nobody@example.org" in admin.refusal("account", "reset", "nobody@example.org")
