"""Export and deletion of an account's data."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.response import Redirect, Stream, Template

from printreach.hub.accounts.data import Row
from printreach.web.accounts.overview import account_page
from printreach.web.cookies import SESSION, Cookies
from printreach.web.disconnects import closing
from printreach.web.forms import Fields
from printreach.web.signed_in import SignedIn

_DELETED: Final = "/account/deleted"


@get("/account/export", media_type=MediaType.JSON)
async def export(signed_in: NamedDependency[SignedIn]) -> Response[Any]:
    """Stream all data stored about the account as a file; it breaks off if the access ends."""
    head = await signed_in.services.account_data.export(signed_in.account)
    rows = signed_in.services.account_data.rows(signed_in.account)
    name = f"printreach-{signed_in.services.clock.now():%Y-%m-%d}.json"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    file = signed_in.services.leases.pieces(signed_in.access, _file(head, rows))
    return Stream(file, media_type=MediaType.JSON, headers=headers, background=closing(file))


async def _file(
    head: Mapping[str, object], rows: AsyncIterator[tuple[str, Sequence[Row]]]
) -> AsyncGenerator[bytes, None]:
    """Yield one JSON object piece by piece. It stays unfinished if the store or the account goes
    away.
    """
    text = msgspec.json.format(msgspec.json.encode(head), indent=2)
    yield text.removesuffix(b"\n}") + b',\n  "Rows": {'
    table, before = "", b""
    async for name, some in rows:
        lines = [b"\n      " + msgspec.json.encode(row) for row in some]
        if name != table:
            yield before + b"\n    " + msgspec.json.encode(name) + b": ["
            table, before = name, b"],"
            yield b",".join(lines)
        elif lines:
            yield b"," + b",".join(lines)
    yield before.removesuffix(b",") + b"\n  }\n}\n"


@post("/account/delete", media_type=MediaType.HTML)
async def delete(
    fields: NamedDependency[Fields],
    signed_in: NamedDependency[SignedIn],
    jar: NamedDependency[Cookies],
) -> Response[Any]:
    """Delete the account and all of its data for good."""
    refused = await signed_in.services.account_data.delete(
        signed_in.account, signed_in.session, fields["delete-password"]
    )
    if refused is not None:
        return await account_page(signed_in, refused, "delete-password")
    answer = Redirect(_DELETED, status_code=303)
    answer.set_cookie(jar.end(SESSION))
    return answer


@get(_DELETED, media_type=MediaType.HTML, sync_to_thread=False)
def deleted_page() -> Template:
    """Say that the account is deleted."""
    return Template("account/deleted.html")


DATA = [export, delete, deleted_page]
