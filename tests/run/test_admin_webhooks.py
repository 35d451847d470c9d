"""The operator's commands about the keys of webhooks."""

from datetime import datetime

from tests.run.admin import Admin


def test_a_rotation_adds_a_key_and_gives_the_old_one_an_end(admin: Admin) -> None:
    [first] = admin.json("webhook-keys", "list")["Keys"]
    new, old = admin.json("webhook-keys", "rotate")["Keys"]

    assert first["NotAfter"] is None
    assert (old["KeyId"], old["PublicKey"]) == (first["KeyId"], first["PublicKey"])
    assert datetime.fromisoformat(old["NotAfter"]).tzinfo is not None
    assert new["NotAfter"] is None
    assert admin.json("webhook-keys", "list")["Keys"] == [new, old]


def test_people_are_told_what_a_rotation_means(admin: Admin) -> None:
    status, out, _ = admin.run("webhook-keys", "rotate")

    assert status == 0
    assert "7 days with the old" in out
