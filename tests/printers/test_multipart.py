"""The form around an uploaded file."""

import email.parser
import email.policy

import pytest

from printreach.printers.uploads import form_around_file, form_type

NAMES = ["plain.gcode", "two words.gcode", 'a "quoted" name', "100%.gcode", "Würfel 立方体.gcode"]


@pytest.mark.parametrize("name", NAMES)
def test_another_parser_reads_fields_name_and_file(name: str) -> None:
    head, tail = form_around_file({"path": "parts/ü"}, "file", name, "b0undary")
    message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(
        b"Content-Type: " + form_type("b0undary") + b"\r\n\r\n" + head + b"G28\r\n" + tail
    )
    path, file = message.iter_parts()

    assert path.get_param("name", header="content-disposition") == "path"
    assert path.get_payload(decode=True) == "parts/ü".encode()
    assert file.get_param("name", header="content-disposition") == "file"
    assert file.get_filename() == name
    assert file.get_payload(decode=True) == b"G28\r\n"


def test_a_plain_name_is_written_plainly_for_old_servers() -> None:
    head, _ = form_around_file({}, "file", "plain.gcode", "b")

    assert b'filename="plain.gcode"' in head
