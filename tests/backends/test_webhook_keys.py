"""The keys that webhooks are signed with."""

import stat
from datetime import timedelta
from pathlib import Path

import pytest

from printreach.backends.webhook_keys import (
    KEYS_FILE,
    WebhookKeysRefused,
    open_webhook_keys,
    rotate_webhook_keys,
)
from printreach.rules.webhooks.messages import KEY_OVERLAP
from tests.fakes.clock import NOON


def test_the_first_start_makes_a_key_and_every_later_one_finds_it(tmp_path: Path) -> None:
    [first] = open_webhook_keys(tmp_path).signing(NOON)
    [again] = open_webhook_keys(tmp_path).signing(NOON)

    assert first.public == again.public
    assert first.key_id == again.key_id
    assert first.not_after is None


def test_only_this_user_can_read_them(tmp_path: Path) -> None:
    open_webhook_keys(tmp_path)

    assert stat.S_IMODE((tmp_path / KEYS_FILE).stat().st_mode) == 0o600
    assert [file.name for file in tmp_path.iterdir()] == [KEYS_FILE]


def test_a_service_that_runs_signs_with_both_keys_after_a_rotation(tmp_path: Path) -> None:
    keys = open_webhook_keys(tmp_path)
    [old] = keys.signing(NOON)
    rotate_webhook_keys(tmp_path, NOON)

    new, still = keys.signing(NOON + KEY_OVERLAP - timedelta(seconds=1))
    assert still.public == old.public
    assert still.not_after == NOON + KEY_OVERLAP
    assert new.public != old.public
    assert new.not_after is None
    assert [key.public for key in keys.signing(NOON + KEY_OVERLAP)] == [new.public]


def test_a_rotation_forgets_keys_that_count_no_more(tmp_path: Path) -> None:
    rotate_webhook_keys(tmp_path, NOON)
    later = NOON + KEY_OVERLAP

    assert len(rotate_webhook_keys(tmp_path, later)) == 2


def test_damaged_keys_stop_the_start_with_a_sentence(tmp_path: Path) -> None:
    open_webhook_keys(tmp_path)
    (tmp_path / KEYS_FILE).write_text('{"Keys": [{"PrivateKey": "AAAA"}]}')

    with pytest.raises(WebhookKeysRefused, match="is damaged"):
        open_webhook_keys(tmp_path)


def test_keys_that_are_damaged_while_the_service_runs_go_on_signing(tmp_path: Path) -> None:
    keys = open_webhook_keys(tmp_path)
    [before] = keys.signing(NOON)
    (tmp_path / KEYS_FILE).write_text("nonsense")

    assert [key.public for key in keys.signing(NOON)] == [before.public]


def test_a_folder_that_can_not_be_used_is_told(tmp_path: Path) -> None:
    with pytest.raises(WebhookKeysRefused, match="can't be used"):
        open_webhook_keys(tmp_path / "nowhere")
