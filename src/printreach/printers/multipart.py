"""A form around an uploaded file, so that the file itself can be streamed."""

from collections.abc import Mapping
from urllib.parse import quote


def form_around_file(
    fields: Mapping[str, str],
    file_field: str,
    file_name: str,
    boundary: str,
    *,
    is_plain: bool = False,
) -> tuple[bytes, bytes]:
    """Return the bytes before and after the file's own.

    boundary: something that the file can't hold by chance. Names beyond plain ASCII travel as
    RFC 6266 has it (`filename*`): quotes, percent signs and other alphabets arrive as they are.
    is_plain: in plain UTF-8 instead, without a quotation mark.
    """
    before = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    ]
    named = f'filename="{file_name}"' if is_plain else _file_name(file_name)
    disposition = f'form-data; name="{file_field}"; {named}'
    before.append(f"--{boundary}\r\nContent-Disposition: {disposition}\r\n")
    before.append("Content-Type: application/octet-stream\r\n\r\n")
    return "".join(before).encode(), f"\r\n--{boundary}--\r\n".encode()


def form_type(boundary: str) -> bytes:
    """Return the Content-Type of such a form."""
    return b"multipart/form-data; boundary=" + boundary.encode("ascii")


def _file_name(name: str) -> str:
    if name.isascii() and name.isprintable() and not set(name) & set('"\\%'):
        return f'filename="{name}"'
    return f"filename*=UTF-8''{quote(name, safe='')}"
