"""The key by which push services recognise this service."""

import stat
from pathlib import Path

import pytest

from printreach.backends.web_push import KEY_FILE, load_or_make_push_key
from printreach.store.key_files import KeyFileRefused


def test_the_key_is_made_once_and_read_by_nobody_else(tmp_path: Path) -> None:
    first = load_or_make_push_key(tmp_path)
    again = load_or_make_push_key(tmp_path)

    assert first.private_numbers() == again.private_numbers()
    assert stat.S_IMODE((tmp_path / KEY_FILE).stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [b"", b"no key", b"-----BEGIN PRIVATE KEY-----\n"])
def test_a_damaged_key_is_refused_and_not_replaced(tmp_path: Path, content: bytes) -> None:
    (tmp_path / KEY_FILE).write_bytes(content)

    with pytest.raises(KeyFileRefused, match="damaged"):
        load_or_make_push_key(tmp_path)

    assert (tmp_path / KEY_FILE).read_bytes() == content
