"""Bytes from outside, read strictly: upload forms, ranges, JSON arguments."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.printers.simulated.web.arguments import Arguments, BadArguments, read_json
from printreach.printers.simulated.web.multipart import BadForm, FormReader, PartBegins, PartData
from printreach.printers.simulated.web.ranges import Span, UnsatisfiableRange, read_range

TYPE = b"multipart/form-data; boundary=XyZ"


def part(disposition: str, data: bytes) -> bytes:
    head = f"--XyZ\r\nContent-Disposition: form-data; {disposition}\r\nContent-Type: x/y\r\n\r\n"
    return head.encode() + data + b"\r\n"


def form(*parts: bytes) -> bytes:
    return b"".join(parts) + b"--XyZ--\r\n"


def read(body: bytes, pieces: list[int] | None = None) -> list[tuple[str, str | None, bytes]]:
    """Name, file name and data of each field, the body fed in pieces of these sizes."""
    reader, fields = FormReader(TYPE), list[tuple[str, str | None, bytes]]()
    rest = body
    for size in [*(pieces or []), len(body)]:
        for event in reader.feed(rest[:size]):
            match event:
                case PartBegins():
                    fields.append((event.name, event.filename, b""))
                case PartData():
                    name, filename, data = fields.pop()
                    fields.append((name, filename, data + event.data))
        rest = rest[size:]
    reader.finish()
    return fields


FIELDS = [
    ("path", None, b"sub"),
    ("file", "a.gcode", b"G28\r\n--XyNot\r\n-\r\n--Xy"),
    ("empty", None, b""),
]
BODY = form(
    part('name="path"', FIELDS[0][2]),
    part('name="file"; filename="a.gcode"', FIELDS[1][2]),
    part('name="empty"', b""),
)


def test_a_form_is_its_fields() -> None:
    assert read(BODY) == FIELDS


@given(sizes=st.lists(st.integers(1, 40), max_size=60))
def test_a_form_may_come_in_pieces_of_any_size(sizes: list[int]) -> None:
    assert read(BODY, sizes) == FIELDS


def test_what_stands_before_and_behind_the_fields_is_skipped() -> None:
    assert read(b"hello\r\n" + BODY + b"bye\r\n--XyZ\r\n") == FIELDS


@pytest.mark.parametrize(
    ("disposition", "filename"),
    [
        ('name="f"; filename="a b.gcode"', "a b.gcode"),
        ('name="f"; filename="größe.gcode"', "größe.gcode"),
        ('name="f"; filename="a %22q%22.gcode"', 'a "q".gcode'),
        (r'name="f"; filename="a \"q\".gcode"', 'a "q".gcode'),
        ('name="f"; filename="C:/x/a.gcode"', "a.gcode"),
        (r'name="f"; filename="C:\\x\\a.gcode"', "a.gcode"),
        ("name=f; filename=a.gcode", "a.gcode"),
        ('name="f"; filename="x"; filename*=UTF-8\'\'gr%C3%B6%C3%9Fe.gcode', "größe.gcode"),
        ('name="f"; filename=""', ""),
    ],
)
def test_a_file_has_the_name_that_browsers_and_curl_mean(disposition: str, filename: str) -> None:
    assert read(form(part(disposition, b"")))[0][1] == filename


@pytest.mark.parametrize(
    "body",
    [
        b"",
        BODY[:-5],
        BODY[:40],
        b"--XyZ\r\n\r\ndata\r\n--XyZ--",
        b"--XyZ\r\nContent-Disposition: attachment\r\n\r\n\r\n--XyZ--",
        form(part("filename=a", b"")),
        b"--XyZjunk\r\n" + BODY,
        b"--XyZ\r\nX: " + b"x" * 9000 + b"\r\n\r\n",
        b'--XyZ\r\nContent-Disposition: form-data; name="\xff"\r\n\r\n\r\n--XyZ--',
    ],
)
def test_a_broken_form_is_refused(body: bytes) -> None:
    with pytest.raises(BadForm):
        read(body)


@pytest.mark.parametrize("content_type", [None, b"", b"text/plain", b"multipart/form-data"])
def test_a_body_that_is_no_form_is_refused(content_type: bytes | None) -> None:
    with pytest.raises(BadForm):
        FormReader(content_type)


@pytest.mark.parametrize(
    ("header", "span"),
    [
        (None, None),
        (b"bytes=0-9", Span(0, 10)),
        (b"bytes=90-", Span(90, 100)),
        (b"bytes=90-500", Span(90, 100)),
        (b"bytes=-10", Span(90, 100)),
        (b"bytes=-500", Span(0, 100)),
        (b"Bytes=0-0", Span(0, 1)),
        (b"bytes=0-1,5-6", None),
        (b"bytes=9-1", None),
        (b"bytes=-", None),
        (b"lines=1-2", None),
        (b"bytes=a-b", None),
    ],
)
def test_a_range_is_one_span_or_the_whole(header: bytes | None, span: Span | None) -> None:
    assert read_range(header, 100) == span


@pytest.mark.parametrize(
    ("header", "size"), [(b"bytes=100-", 100), (b"bytes=-0", 9), (b"bytes=0-", 0)]
)
def test_a_range_outside_the_file_is_told_apart(header: bytes, size: int) -> None:
    with pytest.raises(UnsatisfiableRange):
        read_range(header, size)


@pytest.mark.parametrize(
    "data", [b"{", b"\xff", b"NaN", b'{"A": Infinity}', b"[" * 100_000, b"1" * 5000]
)
def test_what_is_not_json_is_refused(data: bytes) -> None:
    with pytest.raises(BadArguments):
        read_json(data)


@pytest.mark.parametrize("value", ["5", True, -1, 11, 1e400, [5], {}])
def test_a_number_has_to_be_one_and_within_its_limits(value: object) -> None:
    with pytest.raises(BadArguments, match="Level"):
        Arguments({"Level": value}, "Level").number("Level", 0, 10)


@pytest.mark.parametrize("value", [0, 1, "true", []])
def test_a_flag_is_true_or_false_and_nothing_like_it(value: object) -> None:
    with pytest.raises(BadArguments, match="On"):
        Arguments({"On": value}, "On").flag("On")


def test_an_argument_that_nobody_knows_is_named() -> None:
    with pytest.raises(BadArguments, match="Levle"):
        Arguments({"Levle": 1}, "Level")


@pytest.mark.parametrize("arguments", [{}, {"A": None}])
def test_absent_and_null_are_the_same(arguments: dict[str, object]) -> None:
    assert Arguments(arguments, "A").text("A") is None
    assert Arguments(arguments, "A").number("A", 0, 1) is None
    assert Arguments(arguments, "A").flag("A") is None
