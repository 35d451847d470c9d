"""The context of the operators' routes: who acts, reauthentication, and pages of long lists."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar
from urllib.parse import urlencode

from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException
from litestar.params import FromQuery
from litestar.response import Template

from printreach.hub.denied import Denied
from printreach.hub.operators import Operating
from printreach.rules.accounts.sessions import is_fresh
from printreach.rules.operators import Operator
from printreach.rules.rate_limits import TooSoon
from printreach.store.listings import ListPage, Search
from printreach.web.forms import REAUTH_FIELD, Fields, page, page_with_error
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn

T = TypeVar("T")

FLASH_MESSAGES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "granted": "Supporter status is granted.",
        "taken": "The grant is taken back.",
        "forgotten": "The customer is forgotten. The account can pay anew.",
        "limits": "The limits are saved. They hold within 30 seconds.",
        "operator": "Saved.",
        "blocked": "The account is blocked. Its browsers are signed out.",
        "unblocked": "The account is open again.",
        "disabled": "The key is disabled.",
        "deleted": "The account is deleted.",
        "registered": "The app is registered.",
        "changed": "The app is changed.",
        "removed": "Removed.",
        "ended": "The connection has ended.",
    }
)
"""Flash messages by their key in the query parameter `said`; no other text gets in."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OperatorContext:
    """The operator who sent a request. flash_message: shown once, after a form; may be empty."""

    hub: Operating
    signed_in: SignedIn
    flash_message: str = ""

    @property
    def by(self) -> Operator:
        """The operator, as the record of acts names them."""
        account = self.signed_in.account
        return Operator(name=account.email, account_id=account.account_id)

    async def reauthenticate(
        self, fields: Fields, field: str = REAUTH_FIELD
    ) -> Denied | TooSoon | None:
        """Check the password in the form; None if it is right.

        An account without a password needs a fresh session instead.
        """
        account, session = self.signed_in.account, self.signed_in.session
        return await self.hub.core.proof.of_owner(account, session, fields[field])

    async def require_reauthentication(
        self, fields: Fields, template: str, **context: Any
    ) -> Template | None:
        """Reauthenticate; return None, or the form again with the error."""
        refused = await self.reauthenticate(fields)
        return None if refused is None else self.page(template, refused, **context)

    def page(
        self,
        template: str,
        fault: Denied | TooSoon | None = None,
        field: str = REAUTH_FIELD,
        **context: Any,
    ) -> Template:
        """Render a page with a form. fault: the error to show at `field`."""
        shown = {
            "me": self.signed_in.account,
            "is_fresh": is_fresh(self.signed_in.session, self.hub.core.clock.now()),
            "flash_message": self.flash_message,
            **context,
        }
        template = f"operator/{template}"
        return (
            page(template, **shown)
            if fault is None
            else page_with_error(template, fault, field, **shown)
        )


async def provide_operator(
    services: NamedDependency[Services],
    signed_in: NamedDependency[SignedIn],
    said: FromQuery[str | None] = None,
) -> OperatorContext:
    """Return the context. Raises NotFoundException for anybody who is no operator."""
    if not signed_in.is_admin:
        raise NotFoundException
    return OperatorContext(
        hub=services.operating,
        signed_in=signed_in,
        flash_message=FLASH_MESSAGES.get(said or "", ""),
    )


def or_404(result: T | Denied) -> T:
    """Return the result of a use case. Raises NotFoundException if it was denied."""
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
