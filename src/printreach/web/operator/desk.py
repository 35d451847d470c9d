"""What the operators' routes work with: who acts, and whether they have proved it."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, TypeVar

from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException
from litestar.params import FromQuery
from litestar.response import Redirect, Template

from printreach.hub.denied import Denied
from printreach.hub.operating import Operating
from printreach.rules.operators import Operator
from printreach.rules.rate_limits import TooSoon
from printreach.rules.sessions import is_fresh
from printreach.web.accounts.forms import Fields, faulty, page
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn

T = TypeVar("T")

PROOF: Final = "password"
"""The field in which an operator proves who they are, before what is dangerous.

A page with several forms has a field of another name in each.
"""
SAID: Final[Mapping[str, str]] = MappingProxyType(
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
"""What a page says once after a form, by the word in its address; no other text gets in."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Desk:
    """One operator before one page. said: what it says once, behind a form."""

    hub: Operating
    signed_in: SignedIn
    said: str = ""

    @property
    def by(self) -> Operator:
        """Who it was, for the record."""
        account = self.signed_in.account
        return Operator(name=account.email, account_id=account.account_id)

    async def proved(self, fields: Fields, field: str = PROOF) -> Denied | TooSoon | None:
        """None where it is the operator who asks, and nobody else at their browser."""
        account, session = self.signed_in.account, self.signed_in.session
        return await self.hub.proof.of_owner(account, session, fields[field])

    async def unproved(self, fields: Fields, template: str, **context: Any) -> Template | None:
        """The page that asks, again, with what is wrong; None where it is that operator."""
        refused = await self.proved(fields)
        return None if refused is None else self.page(template, refused, **context)

    def page(
        self,
        template: str,
        fault: Denied | TooSoon | None = None,
        field: str = PROOF,
        **context: Any,
    ) -> Template:
        """A page with a form, with what is wrong with it."""
        shown = {
            "me": self.signed_in.account,
            "is_fresh": is_fresh(self.signed_in.session, self.hub.clock.now()),
            "said": self.said,
            **context,
        }
        template = f"operator/{template}"
        return page(template, **shown) if fault is None else faulty(template, fault, field, **shown)


async def provide_desk(
    services: NamedDependency[Services],
    signed_in: NamedDependency[SignedIn],
    said: FromQuery[str | None] = None,
) -> Desk:
    """An operator's; to everybody else there is no such page."""
    if not signed_in.is_admin:
        raise NotFoundException
    return Desk(hub=services.operating, signed_in=signed_in, said=SAID.get(said or "", ""))


def found(result: T | Denied) -> T:
    """What a use case gave. Raises NotFoundException where there is none."""
    if isinstance(result, Denied):
        raise NotFoundException(result.sentence)
    return result


def back(path: str, said: str) -> Redirect:
    """Lead on after a form. said: a key of SAID."""
    return Redirect(f"{path}?said={said}", status_code=303)
