"""The agent's log when file descriptors run out."""

import errno

import pytest

from printreach.agent.uplink import TELL_EVERY_S, DescriptorShortage

FULL = OSError(errno.EMFILE, "Too many open files")


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_shortage_is_told_at_once_and_then_now_and_then(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = Clock()
    shortage = DescriptorShortage(clock)
    for _ in range(100):
        shortage.log_if_short(FULL)
    assert caplog.text.count("file descriptors run out") == 1

    clock.now += TELL_EVERY_S
    shortage.log_if_short(OSError(errno.ENFILE, "Too many open files in system"))
    assert caplog.text.count("file descriptors run out") == 2


@pytest.mark.parametrize(
    "failure", [ConnectionRefusedError(errno.ECONNREFUSED, "refused"), OSError("no number")]
)
def test_a_printer_that_is_away_is_no_shortage(
    caplog: pytest.LogCaptureFixture, failure: OSError
) -> None:
    DescriptorShortage(Clock()).log_if_short(failure)

    assert caplog.text == ""
