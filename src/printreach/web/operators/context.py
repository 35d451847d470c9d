"""The context of the operators' routes: who acts, reauthentication, and pages of long lists."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar
from urllib.parse import urlencode

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath, FromQuery
from litestar.response import Template

from printreach.hub.denied import Denied
from printreach.hub.operators import Operating
from printreach.rules.operators import Operator
from printreach.rules.rate_limits import TooSoon
from printreach.store.listings import ListPage, Search
from printreach.web.flash import redirect_with_flash
from printreach.web.forms import (
    REAUTH_FIELD,
    Fields,
    page,
    reauthenticate,
    reauthentication_context,
)
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class OperatorContext:
    """The operator who sent a request."""

    signed_in: SignedIn

    @property
    def services(self) -> Services:
        """The use cases of all pages."""
        return self.signed_in.services

    @property
    def hub(self) -> Operating:
        """The use cases of operators."""
        return self.signed_in.services.operating

    @property
    def by(self) -> Operator:
        """The operator, as the record of acts names them."""
        account = self.signed_in.account
        return Operator(name=account.email, account_id=account.account_id)

    async def reauthenticate(
        self, fields: Fields, field: str = REAUTH_FIELD
    ) -> Denied | TooSoon | None:
        """Check the password in the form; None if it is right."""
        return await reauthenticate(self.signed_in, fields, field)

    def page(
        self,
        template: str,
        fault: Denied | TooSoon | None = None,
        field: str = REAUTH_FIELD,
        **context: Any,
    ) -> Template:
        """Render a page with a form. fault: the error to show at `field`."""
        shown = {**reauthentication_context(self.signed_in), **context}
        template = f"operator/{template}"
        return page(template, fault, field, **shown)


async def provide_operator(signed_in: NamedDependency[SignedIn]) -> OperatorContext:
    """Return the context. Raises NotFoundException for anybody who is no operator."""
    if not signed_in.is_admin:
        raise NotFoundException
    return OperatorContext(signed_in=signed_in)


@dataclass(frozen=True, kw_only=True, slots=True)
class ConfirmedAct(Generic[T]):
    """An act on one record. A page asks before, and its form carries the operator's password.

    path: of that page and of its form, with the record's id as `record_id`. find: looks the record
    up; the template has it as `row`. back, flash: the page after the act, and the word of its flash
    message.
    """

    path: str
    template: str
    find: Callable[[Operating, str], Awaitable[T | Denied]]
    act: Callable[[Operating, T, Operator], Awaitable[object]]
    back: str
    flash: str

    def routes(self) -> list[HTTPRouteHandler]:
        """Return the page and its form."""

        @get(self.path, media_type=MediaType.HTML)
        async def ask(
            record_id: FromPath[str], operator: NamedDependency[OperatorContext]
        ) -> Template:
            return operator.page(
                self.template, row=or_404(await self.find(operator.hub, record_id))
            )

        @post(self.path, media_type=MediaType.HTML)
        async def carry_out(
            record_id: FromPath[str],
            fields: NamedDependency[Fields],
            operator: NamedDependency[OperatorContext],
        ) -> Response[Any]:
            row = or_404(await self.find(operator.hub, record_id))
            refused: object = await operator.reauthenticate(fields)
            if refused is None:
                refused = await self.act(operator.hub, row, operator.by)
            if not isinstance(refused, Denied | TooSoon):
                return redirect_with_flash(self.back, self.flash)
            row = or_404(await self.find(operator.hub, record_id))
            return operator.page(self.template, refused, row=row)

        return [ask, carry_out]


def or_404(result: T | Denied) -> T:
    """Return the result of a use case. Raises NotFoundException if it was denied.

    `problems.or_404` would say of an unknown printer that it isn't in the operator's own account.
    """
    if isinstance(result, Denied):
        raise NotFoundException(result.sentence)
    return result


LONGEST_SEARCH: Final = 100
HIGHEST_PAGE: Final = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing(Generic[T]):
    """rows: of this page. show: the filter; "" if there is none."""

    path: str
    rows: list[T]
    total: int
    search: Search
    show: str = ""

    @property
    def pages(self) -> int:
        return max(1, -(-self.total // self.search.size))

    @property
    def is_narrowed(self) -> bool:
        """Whether it shows only some of all there are."""
        return bool(self.search.text) or self.show not in ("", "all")

    @property
    def newer(self) -> str:
        """The link to the page before this one; empty if there is none."""
        return self._page(self.search.number - 1)

    @property
    def older(self) -> str:
        """The link to the page after this one; empty if there is none."""
        return self._page(self.search.number + 1)

    def _page(self, number: int) -> str:
        if not 1 <= number <= self.pages:
            return ""
        wanted = {"show": self.show, "q": self.search.text, "page": str(number)}
        return f"{self.path}?{urlencode({key: value for key, value in wanted.items() if value})}"


def provide_search(q: FromQuery[str | None] = None, page: FromQuery[int | None] = None) -> Search:
    """Parse the search in a list's address."""
    wanted = " ".join((q or "").split())[:LONGEST_SEARCH]
    return Search(text=wanted, number=min(max(1, page or 1), HIGHEST_PAGE))


def listed(path: str, results: ListPage[T], search: Search, show: str = "") -> Listing[T]:
    return Listing(path=path, rows=results.rows, total=results.total, search=search, show=show)
