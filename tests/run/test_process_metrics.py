"""What a process says of itself."""

import asyncio
import os
import threading
from pathlib import Path

import pytest

from printreach.run.monitoring import process_metrics
from tests.relay.loop import on_a_loop
from tests.requirements_of_tests import need


def read(name: str) -> float:
    need("/proc", Path("/proc/self").is_dir(), "run this test on Linux")
    _, figure = process_metrics()[name]
    return figure()


# Other tests of this process may leave descriptors and threads that go away meanwhile, hence many.


def test_open_descriptors_are_counted() -> None:
    before = read("process_open_fds")
    files = [os.open(os.devnull, os.O_RDONLY) for _ in range(50)]
    try:
        assert 25 < read("process_open_fds") - before < 75
    finally:
        for file in files:
            os.close(file)
    assert 0 < read("process_open_fds") < read("process_max_fds")


def test_threads_are_counted() -> None:
    ends = threading.Event()
    before = read("process_threads")
    threads = [threading.Thread(target=ends.wait) for _ in range(50)]
    for thread in threads:
        thread.start()
    try:
        assert 25 < read("process_threads") - before < 75
    finally:
        ends.set()
        for thread in threads:
            thread.join()


def test_memory_is_told_in_bytes() -> None:
    status = Path("/proc/self/status").read_text()
    kilobytes = int(status.partition("VmRSS:")[2].split()[0])

    assert read("process_resident_memory_bytes") == pytest.approx(1024 * kilobytes, rel=0.1)


def test_cpu_time_only_grows() -> None:
    before = read("process_cpu_seconds_total")
    sum(range(2_000_000))

    assert read("process_cpu_seconds_total") > before


@on_a_loop
async def test_tasks_of_the_event_loop_are_counted() -> None:
    before = read("printreach_asyncio_tasks")
    task = asyncio.create_task(asyncio.sleep(60))

    assert read("printreach_asyncio_tasks") == before + 1
    task.cancel()
