"""The agent's own key, and whom it believes."""

import base64
from pathlib import Path

import pytest

from printreach.agent.data_dir import DataDirRefused
from printreach.agent.keys import (
    KEY_BYTES,
    SIGNATURE_BYTES,
    ServicePin,
    ServicePins,
    is_signed_by,
    load_or_make_key,
)
from printreach.rules.connections.credentials import printer_id_of

HOME = "https://printreach.example"
OTHER = "https://other.example"


def pin(*keys: bytes, name: str = "Voron") -> ServicePin:
    return ServicePin(public_keys=keys, printer_name=name)


def test_the_first_start_makes_a_key_that_later_starts_find(tmp_path: Path) -> None:
    first, later = load_or_make_key(tmp_path), load_or_make_key(tmp_path)

    assert first.public_key == later.public_key
    assert len(first.public_key) == KEY_BYTES


def test_two_agents_have_two_keys(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()

    one, two = load_or_make_key(tmp_path / "one"), load_or_make_key(tmp_path / "two")

    assert one.printer_id != two.printer_id


def test_the_printer_id_follows_from_the_public_key(tmp_path: Path) -> None:
    key = load_or_make_key(tmp_path)

    assert key.printer_id == printer_id_of(key.public_key)


def test_a_signature_is_good_for_its_message_alone(tmp_path: Path) -> None:
    key = load_or_make_key(tmp_path)

    signature = key.sign(b"challenge")

    assert len(signature) == SIGNATURE_BYTES
    assert is_signed_by(key.public_key, b"challenge", signature)
    assert not is_signed_by(key.public_key, b"another", signature)


@pytest.mark.parametrize(
    ("key", "signature"),
    [(b"", b""), (bytes(32), bytes(64)), (b"short", bytes(64)), (b"\xff" * 32, b"x")],
)
def test_a_malformed_key_or_signature_proves_nothing(key: bytes, signature: bytes) -> None:
    assert not is_signed_by(key, b"challenge", signature)


def test_the_key_file_is_for_one_user(tmp_path: Path) -> None:
    load_or_make_key(tmp_path)

    assert (tmp_path / "agent.key").stat().st_mode & 0o777 == 0o600


def test_a_key_others_may_have_read_is_refused_and_kept(tmp_path: Path) -> None:
    load_or_make_key(tmp_path)
    before = (tmp_path / "agent.key").read_bytes()
    (tmp_path / "agent.key").chmod(0o644)

    with pytest.raises(DataDirRefused, match="Others may open"):
        load_or_make_key(tmp_path)

    assert (tmp_path / "agent.key").read_bytes() == before


def damaged_key_files() -> list[bytes]:
    sound = b"printreach-agent-key-v1 " + base64.b64encode(bytes(range(32))) + b"\n"
    return [
        b"",
        b"\n",
        sound[:-3],
        sound.replace(b"v1", b"v2"),
        sound.removeprefix(b"printreach-agent-key-v1 "),
        sound.replace(b"AAEC", b"A*EC"),
        b"printreach-agent-key-v1 " + base64.b64encode(bytes(31)),
        bytes(100),
        b"\xff" * 100,
        sound * 4,
    ]


@pytest.mark.parametrize("content", damaged_key_files())
def test_a_damaged_key_is_refused_with_a_way_out_and_never_replaced(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "agent.key"
    path.write_bytes(content)
    path.chmod(0o600)

    with pytest.raises(DataDirRefused) as refusal:
        load_or_make_key(tmp_path)

    assert str(path) in str(refusal.value)
    assert refusal.value.__cause__ is None
    assert path.read_bytes() == content


def test_a_key_that_cannot_be_written_is_refused_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / ".agent.key.new").mkdir()

    with pytest.raises(DataDirRefused, match="cannot be written"):
        load_or_make_key(tmp_path)


def test_a_key_shows_no_secret_when_it_is_printed(tmp_path: Path) -> None:
    key = load_or_make_key(tmp_path)

    assert repr(key) == f"AgentKey(printer_id='{key.printer_id}')"


def test_a_new_agent_is_linked_nowhere(tmp_path: Path) -> None:
    assert ServicePins.load(tmp_path).get(HOME) is None


def test_a_pin_is_found_after_a_restart(tmp_path: Path) -> None:
    ServicePins.load(tmp_path).put(HOME, pin(bytes(32), b"k" * 32))

    assert ServicePins.load(tmp_path).get(HOME) == pin(bytes(32), b"k" * 32)


def test_each_service_has_its_own_pin(tmp_path: Path) -> None:
    pins = ServicePins.load(tmp_path)
    pins.put(HOME, pin(bytes(32)))
    pins.put(OTHER, pin(b"k" * 32))

    pins.put(HOME, pin(b"n" * 32))

    assert pins.get(HOME) == pin(b"n" * 32)
    assert pins.get(OTHER) == pin(b"k" * 32)


def test_a_dropped_pin_stays_away_after_a_restart(tmp_path: Path) -> None:
    pins = ServicePins.load(tmp_path)
    pins.put(HOME, pin(bytes(32)))
    pins.put(OTHER, pin(b"k" * 32))

    pins.drop(HOME)
    pins.drop(HOME)

    assert pins.get(HOME) is None
    assert ServicePins.load(tmp_path).get(HOME) is None
    assert ServicePins.load(tmp_path).get(OTHER) == pin(b"k" * 32)


def test_a_pin_that_was_not_kept_does_not_count(tmp_path: Path) -> None:
    pins = ServicePins.load(tmp_path)
    (tmp_path / ".service.json.new").mkdir()

    with pytest.raises(OSError, match="service"):
        pins.put(HOME, pin(bytes(32)))

    assert pins.get(HOME) is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"null",
        b"{}",
        b"[]",
        b'{"Services":[{}]}',
        b'{"Services":[{"ServiceUrl":"https://h","PublicKeys":[]}]}',
        b'{"Services":[{"ServiceUrl":"https://h","PublicKeys":["AAAA"]}]}',
        b'{"Services":[{"ServiceUrl":"https://h","PublicKeys":["*"]}]}',
        b'{"Services":[{"ServiceUrl":7,"PublicKeys":[]}]}',
        b'{"Services":[{"ServiceUrl":"\xff","PublicKeys":[]}]}',
        b"[" * 1000,
        b"\xff",
    ],
)
def test_damaged_pins_are_refused_since_none_would_mean_any_service(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "service.json"
    path.write_bytes(content)
    path.chmod(0o600)

    with pytest.raises(DataDirRefused, match=r"service\.json is damaged"):
        ServicePins.load(tmp_path)
