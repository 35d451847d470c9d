"""A page of a long list: what was searched for, and the ways to the pages beside it."""

from dataclasses import dataclass
from typing import Final, Generic, TypeVar
from urllib.parse import urlencode

from litestar.params import FromQuery

from printreach.ports.operating import Found, Search

T = TypeVar("T")

LONGEST_SEARCH: Final = 100
HIGHEST_PAGE: Final = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing(Generic[T]):
    """rows: of this page. show: which of all are listed; "" where there is but one way."""

    path: str
    rows: list[T]
    total: int
    search: Search
    show: str = ""

    @property
    def pages(self) -> int:
        return max(1, -(-self.total // self.search.size))

    @property
    def newer(self) -> str:
        """The page before this one; empty where there is none."""
        return self._page(self.search.number - 1)

    @property
    def older(self) -> str:
        """The page after this one; empty where there is none."""
        return self._page(self.search.number + 1)

    def _page(self, number: int) -> str:
        if not 1 <= number <= self.pages:
            return ""
        wanted = {"show": self.show, "q": self.search.text, "page": str(number)}
        return f"{self.path}?{urlencode({key: value for key, value in wanted.items() if value})}"


def provide_search(q: FromQuery[str | None] = None, page: FromQuery[int | None] = None) -> Search:
    """What a list was asked for, in its address."""
    wanted = " ".join((q or "").split())[:LONGEST_SEARCH]
    return Search(text=wanted, number=min(max(1, page or 1), HIGHEST_PAGE))


def listed(path: str, results: Found[T], search: Search, show: str = "") -> Listing[T]:
    return Listing(path=path, rows=results.rows, total=results.total, search=search, show=show)
