"""The bytes of frames and of what they carry."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.wire import frames
from printreach.wire.errors import Reason, reason_of
from printreach.wire.frames import MAX_TEXT_BYTES

# --- texts ----------------------------------------------------------------------------------------


@given(
    number=st.integers(0, 0xFFFF), text=st.text(st.characters(categories=["L", "N"]), max_size=100)
)
def test_every_short_text_arrives_as_it_was_sent(number: int, text: str) -> None:
    assert frames.decode_text(frames.encode_text(number, text)) == (number, text)


@pytest.mark.parametrize("character", ["x", "é", "日", "🖨"])
def test_a_long_text_is_cut_between_characters(character: str) -> None:
    _, arrived = frames.decode_text(frames.encode_text(1, "a" + character * MAX_TEXT_BYTES))

    assert set(arrived) == {"a", character}
    assert MAX_TEXT_BYTES - 4 < len(arrived.encode()) <= MAX_TEXT_BYTES


@pytest.mark.parametrize("hidden", ["\n", "\r", "\0", "\t", "\x1b", "\x7f", "\u202e", "\ufeff"])
def test_a_text_cannot_forge_a_line_or_a_colour_in_a_log(hidden: str) -> None:
    payload = frames.U16.pack(1) + f"a{hidden}b".encode()

    assert frames.decode_text(payload) == (1, "a\ufffdb")


def test_a_text_that_is_no_text_is_still_shown() -> None:
    assert frames.decode_text(b"\x00\x01\xff\xfe") == (1, "\ufffd\ufffd")
    assert frames.encode_text(1, "\ud800") == b"\x00\x01?"


# --- numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", [one for one in Reason if not 6 <= one <= 7])
def test_reasons_are_known_by_their_numbers(reason: Reason) -> None:
    assert reason_of(int(reason)) is reason


@pytest.mark.parametrize("number", [Reason.TUNNEL_LOST, Reason.TUNNEL_SILENT, 11, 0xFFFF])
def test_a_reason_that_never_travels_or_is_unknown_still_cancels(number: int) -> None:
    assert reason_of(number) is Reason.CANCELLED
