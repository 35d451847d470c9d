"""Running out of file descriptors: connections that are refused, and the log."""

import logging

import pytest

from printreach.relay.caller_exchange import CallerExchange
from printreach.relay.connection import IncomingRequest
from printreach.relay.front import WARN_INTERVAL_S, DescriptorLimit, Front
from tests.fakes.loop import on_a_loop
from tests.relay.rig import QUICK
from tests.relay.waiting import until

PLENTY, FEW = 1024, 16


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records]


def test_descriptors_are_reserved_for_running_requests() -> None:
    descriptors = DescriptorLimit(lambda: PLENTY)

    assert descriptors.may_take(PLENTY - 65, now=0.0)
    assert not descriptors.may_take(PLENTY - 64, now=0.0)


def test_a_small_limit_keeps_a_small_reserve() -> None:
    descriptors = DescriptorLimit(lambda: FEW)

    assert descriptors.may_take(FEW - 3, now=0.0)
    assert not descriptors.may_take(FEW - 2, now=0.0)


def test_a_limit_that_is_raised_counts_at_once() -> None:
    limits = iter([FEW, PLENTY])
    descriptors = DescriptorLimit(lambda: next(limits))

    assert not descriptors.may_take(FEW, now=0.0)
    assert descriptors.may_take(FEW, now=0.0)


def test_a_shortage_is_warned_at_once_and_then_now_and_then(
    caplog: pytest.LogCaptureFixture,
) -> None:
    descriptors = DescriptorLimit(lambda: FEW)
    for tenth in range(250):
        descriptors.may_take(FEW, now=tenth / 10)

    assert len(told(caplog)) == 3
    assert "1 so far" in told(caplog)[0]
    assert "201 so far" in told(caplog)[2]
    assert descriptors.refused_count == 250


def test_the_end_of_a_shortage_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    descriptors = DescriptorLimit(lambda: FEW)
    descriptors.may_take(FEW, now=0.0)
    caplog.clear()
    caplog.set_level(logging.WARNING)
    for second in range(30):
        descriptors.look_again(now=float(second))

    assert told(caplog) == ["file descriptors are free again: new connections are accepted"]


def test_a_shortage_that_lasts_has_no_end(caplog: pytest.LogCaptureFixture) -> None:
    descriptors = DescriptorLimit(lambda: FEW)
    for second in range(30):
        descriptors.may_take(FEW, now=float(second))
        descriptors.look_again(now=float(second))

    assert not any("free again" in line for line in told(caplog))


def test_a_second_shortage_is_warned_at_once_again(caplog: pytest.LogCaptureFixture) -> None:
    descriptors = DescriptorLimit(lambda: FEW)
    descriptors.may_take(FEW, now=0.0)
    descriptors.look_again(now=WARN_INTERVAL_S)
    caplog.clear()
    descriptors.may_take(FEW, now=WARN_INTERVAL_S + 1)

    assert len(told(caplog)) == 1


def nothing(incoming: IncomingRequest) -> CallerExchange | None:
    return None


@on_a_loop
async def test_the_front_tells_of_the_end_of_a_shortage(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    front = Front(nothing, QUICK, DescriptorLimit(lambda: FEW))
    front.descriptors.may_take(FEW, now=front.now() - WARN_INTERVAL_S)

    await until(lambda: any("are free again" in line for line in told(caplog)))
    await front.stop(0.0)
