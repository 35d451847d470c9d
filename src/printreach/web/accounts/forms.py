"""What every form of ours does: read a few fields, answer with itself and what is wrong."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, assert_never

from litestar.response import Redirect, Template

from printreach.hub.denied import Denied
from printreach.hub.identity.sessions import Begun
from printreach.rules.own_paths import read_own_path
from printreach.rules.rate_limits import TooSoon
from printreach.rules.sessions import IDLE_TIME
from printreach.web.cookies import SESSION, STEP, Cookies
from printreach.web.problems import AnyRequest
from printreach.web.signed_in import in_words

LARGEST_FORM: Final = 64 * 1024
LONGEST_FIELD: Final = 16 * 1024
"""What an authenticator says is the longest."""
FAULT_STATUS: Final = 400


@dataclass(frozen=True, slots=True)
class Fields:
    """What came with a form; a field that is missing is empty, one that came twice is the first."""

    values: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        return self.values.get(name, "")

    @property
    def next_path(self) -> str:
        """Where to go on to afterwards: a page of ours."""
        return read_own_path(self["next"])


async def provide_fields(request: AnyRequest) -> Fields:
    """The fields of a form, without its files; what is too long for a field is cut."""
    form = await request.form()
    values: dict[str, str] = {}
    for name, value in form.multi_items():
        if isinstance(value, str):
            values.setdefault(name, value[:LONGEST_FIELD])
    return Fields(values)


def page(template: str, **context: Any) -> Template:
    """A page with a form that nobody has sent yet."""
    return Template(template, context={"errors": {}, **context})


def faulty(template: str, fault: Denied | TooSoon, field: str, **context: Any) -> Template:
    """The same page again, with what is wrong, at the field that it is about."""
    headers: dict[str, str] = {}
    status, sentence = FAULT_STATUS, ""
    match fault:
        case TooSoon():
            status, sentence = 429, f"Too many tries. Wait {in_words(fault.wait_seconds)}."
            headers = {"Retry-After": str(fault.wait_seconds)}
        case Denied():
            sentence = fault.sentence
        case _:
            assert_never(fault)
    context = {"errors": {field: sentence}, **context}
    return Template(template, context=context, status_code=status, headers=headers)


def signed_in_redirect(begun: Begun, next_path: str, jar: Cookies) -> Redirect:
    """Go on, signed in by a token that did not exist before."""
    answer = Redirect(read_own_path(next_path), status_code=303)
    answer.set_cookie(jar.set(SESSION, begun.token, IDLE_TIME))
    answer.set_cookie(jar.end(STEP))
    return answer


def step_redirect(path: str, token: str, lifetime: timedelta, jar: Cookies) -> Redirect:
    """Go on to the next step of signing in."""
    answer = Redirect(path, status_code=303)
    answer.set_cookie(jar.set(STEP, token, lifetime))
    return answer


def step_token(request: AnyRequest, jar: Cookies) -> str:
    """The token of a browser on its way in; empty where there is none."""
    return jar.read(request.headers.get("cookie", ""), STEP) or ""
