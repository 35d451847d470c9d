"""Permissions of connections, and the lock of remote control, by the command line."""

from tests.hub.world import ADA, PRINTER_ID
from tests.run.admin import Admin


def test_an_account_is_locked_and_unlocked(admin: Admin) -> None:
    admin.add_ada()

    assert admin.json("account", "lock", ADA)["IsLocked"] is True
    assert admin.json("account", "list")["Accounts"][0]["IsLocked"] is True
    assert admin.json("account", "unlock", ADA)["IsLocked"] is False


def test_a_connection_is_made_with_the_permissions_that_are_named(admin: Admin) -> None:
    admin.set_up()
    words = ("connection", "add", "--app", "demo", "--printer", PRINTER_ID)
    admin.json(*words)
    admin.json(*words, "--permissions", "camera, files")
    listed = admin.json("connection", "list")["Connections"]

    assert sorted(one["Permissions"] for one in listed) == [
        ["control", "files", "camera", "interface"],
        ["files", "camera"],
    ]


def test_a_word_that_is_no_permission_is_wrong_usage(admin: Admin) -> None:
    words = ("connection", "add", "--app", "demo", "--printer", PRINTER_ID)
    status, _, error = admin.run(*words, "--permissions", "cameras")

    assert status == 2
    assert "no permission 'cameras'" in error
