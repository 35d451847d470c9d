"""The administration commands about operators, limits and what was done."""

from tests.run.admin import ADA, Admin


def test_what_commands_do_is_written_down(admin: Admin) -> None:
    admin.add_ada()
    admin.json("account", "supporter", ADA, "on", "--until", "2030-12-31")

    latest, first = admin.json("acts")["Acts"]

    assert (first["Act"], first["Subject"]) == ("account-added", ADA)
    assert latest["Operator"] == "printreach admin"
    assert latest["Detail"] == "until 2031-01-01T00:00:00+00:00"


def test_acts_are_found_by_what_they_were_about(admin: Admin) -> None:
    admin.add_ada()
    admin.json("app", "add", "demo", "--name", "Demo")

    _, out, _ = admin.run("acts", "--search", "demo")

    assert "app-added" in out
    assert ADA not in out


def test_an_account_is_made_an_operators_and_the_last_one_stays(admin: Admin) -> None:
    admin.add_ada()

    assert admin.json("operator", ADA, "on") == {"Email": ADA, "IsAdmin": True}
    assert "at least one operator" in admin.refusal("operator", ADA, "off")


def test_an_account_is_blocked_and_let_in_again(admin: Admin) -> None:
    admin.add_ada()

    assert admin.json("account", "block", ADA, "on")["IsBlocked"]
    assert [one["IsBlocked"] for one in admin.json("account", "list")["Accounts"]] == [True]
    assert "blocked" in admin.run("account", "list")[1]
    assert not admin.json("account", "block", ADA, "off")["IsBlocked"]
    assert [one["Act"] for one in admin.json("acts")["Acts"]][:2] == [
        "account-unblocked",
        "account-blocked",
    ]


def test_the_last_operator_is_neither_blocked_nor_deleted_before_the_others(admin: Admin) -> None:
    admin.add_ada()
    admin.json("account", "add", "bob@example.org", stdin=b"another long passphrase")
    admin.json("operator", ADA, "on")

    assert "at least one operator" in admin.refusal("account", "block", ADA, "on")
    assert "Make somebody else an operator first" in admin.refusal("account", "delete", ADA)
    admin.json("account", "delete", "bob@example.org")
    assert admin.json("account", "delete", ADA)["Email"] == ADA


def test_limits_are_shown_and_decided(admin: Admin) -> None:
    admin.add_ada()
    assert admin.json("limits")["UploadBytes"] == 1024**3

    admin.json("limits", "--upload-bytes", "1000", "--requests-a-minute", "60")
    of_ada = admin.json("limits", "--account", ADA, "--upload-bytes", "5000")

    assert of_ada == {
        "UploadBytes": 5000,
        "DownloadBytes": 1024**3,
        "WebcamStreamS": 3600,
        "AppConnections": 20,
        "RequestsAMinute": 60,
    }
    back = admin.json("limits", "--account", ADA, "--upload-bytes", "default")
    assert back["UploadBytes"] == 1000


def test_a_limit_that_makes_no_sense_is_wrong_usage(admin: Admin) -> None:
    assert admin.run("limits", "--requests-a-minute", "1")[0] == 2
    assert admin.run("limits", "--upload-bytes", "much")[0] == 2
    assert "no account" in admin.refusal("limits", "--account", "nobody@example.org")


def test_an_app_is_removed(admin: Admin) -> None:
    admin.json("app", "add", "demo", "--name", "Demo")

    assert admin.json("app-remove", "demo") == {"AppId": "demo", "Name": "Demo"}
    assert admin.json("app", "list") == {"Apps": []}
    assert "no app demo" in admin.refusal("app-remove", "demo")
