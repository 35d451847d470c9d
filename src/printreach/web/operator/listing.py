"""A page of a long list: its search, and the links to the pages beside it."""

from dataclasses import dataclass
from typing import Final, Generic, TypeVar
from urllib.parse import urlencode

from litestar.params import FromQuery

from printreach.store.listings import ListPage, Search

T = TypeVar("T")

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
