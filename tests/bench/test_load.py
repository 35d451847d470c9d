import pytest

from bench.answers import answer_size
from bench.processes import Broken
from bench.wrk import Load, read_output

GOOD = """Running 3s test @ http://127.0.0.1:1/small
  1 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     8.35ms    9.50ms 114.11ms   94.72%
    Req/Sec     8.73k     2.39k   12.43k    56.67%
  Latency Distribution
     50%    6.68ms
     75%    9.15ms
     90%   12.64ms
     99%    1.05s
  26092 requests in 3.00s, 31.03MB read
Requests/sec:   8688.29
Transfer/sec:     10.33MB
"""


def test_the_output_of_wrk_is_read_in_milliseconds() -> None:
    expected = Load(requests=26092, requests_a_second=8688.29, p50_ms=6.68, p99_ms=1050.0)

    assert read_output(GOOD) == expected
    assert read_output(GOOD.replace("6.68ms", "668.00us")).p50_ms == pytest.approx(0.668)


@pytest.mark.parametrize(
    "fault",
    [
        "  Socket errors: connect 0, read 1, write 0, timeout 0",
        "  Non-2xx or 3xx responses: 3",
    ],
)
def test_a_load_with_a_single_bad_answer_is_no_measurement(fault: str) -> None:
    with pytest.raises(Broken, match=fault.strip()):
        read_output(GOOD.replace("Requests/sec", fault + "\nRequests/sec"))


def test_output_that_says_nothing_is_no_measurement() -> None:
    with pytest.raises(Broken):
        read_output("")


def test_an_answer_ends_where_its_length_says() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\nDate: now\r\n\r\n"

    assert answer_size(head + b"of a body") == len(head) + 12
    assert answer_size(head[:-2]) == 0
