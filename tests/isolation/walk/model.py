"""The model: who has which printer now, and what each credential may do. It is small on purpose.

It knows nothing of how the service decides. Whatever the service does is held against it.
"""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from printreach.contract.permissions import ALL_PERMISSIONS, Permission
from printreach.rules.printers.members import Role


@dataclass(eq=False)
class Person:
    """An account, and what it is at the moment."""

    number: int
    email: str
    account_id: str
    password: str
    is_supporter: bool = True
    is_blocked: bool = False
    is_locked: bool = False
    is_operator: bool = False
    operator_until: float = 0.0
    """When it last ceased to be an operator who is let in; Home Assistant hears of it later."""


@dataclass(eq=False)
class Tenure:
    """The time for which one person has one printer. ended_at: seconds of the loop's clock.

    members: who was let in to it, and as what. ever_members: who was at any time.
    """

    number: int
    printer: str
    person: Person
    ended_at: float | None = None
    members: dict[Person, Role] = field(default_factory=dict)
    ever_members: set[Person] = field(default_factory=set)

    def role_of(self, person: Person) -> Role | None:
        """What the person may do with the printer now; None if nothing."""
        if self.ended_at is not None:
            return None
        if person is self.person:
            return Role.OWNER
        return None if self.person.is_blocked else self.members.get(person)

    def may(self, person: Person, needed: Role) -> bool:
        """Whether the person may do what the role may. Who locked their own controls none."""
        role = self.role_of(person)
        is_locked = person is not self.person and person.is_locked and needed is not Role.WATCH
        return role is not None and role.includes(needed) and not is_locked


class Kind(StrEnum):
    """What opens something."""

    SESSION = "session"
    ACCESS_TOKEN = "access token"
    APP = "App Connection"
    SHARED = "Shared Connection"
    SHARED_COOKIE = "cookie of a Shared Connection"
    OWN = "own connection"
    TICKET = "ticket of an own connection"
    OWN_COOKIE = "cookie of an own connection"
    LIVE = "Live Link"


OF_RELAY: Final = frozenset({Kind.APP, Kind.SHARED, Kind.SHARED_COOKIE, Kind.OWN_COOKIE})
"""Those with which requests go to a printer's host."""


@dataclass(eq=False, kw_only=True)
class Key:
    """A credential, as whoever holds it knows it.

    tenure: None for what is the account's and not one printer's. parents: it ends with any of them.
    secret: cookie, token, ticket or address. more: other secrets, by name. unsure_until: till then
    a part of the service may go by what it knew before, in seconds of the loop's clock.
    """

    number: int
    kind: Kind
    person: Person
    tenure: Tenure | None = None
    id: str = ""
    host: str = ""
    secret: str = ""
    more: dict[str, str] = field(default_factory=dict)
    parents: tuple["Key", ...] = ()
    permissions: frozenset[Permission] = ALL_PERMISSIONS
    expires_at: datetime | None = None
    has_ended: bool = False
    unsure_until: float = 0.0

    def is_over(self, at: datetime) -> bool:
        """Whether it has ended for good."""
        if self.has_ended or (self.tenure is not None and self.tenure.ended_at is not None):
            return True
        has_expired = self.expires_at is not None and at >= self.expires_at
        return has_expired or any(parent.is_over(at) for parent in self.parents)

    def is_good(self, at: datetime) -> bool:
        """Whether it opens now what it is for."""
        rests = self.kind is Kind.APP and not self.person.is_supporter
        return not (self.is_over(at) or self.person.is_blocked or rests)

    def may(self, permission: Permission | None) -> bool:
        """Whether its owner allows it that. None: what everybody may."""
        connection = self.parents[0] if self.kind is Kind.SHARED_COOKIE else self
        return permission is None or permission in connection.permissions

    def __str__(self) -> str:
        of = f" to {self.tenure.printer}" if self.tenure is not None else ""
        return f"{self.kind.value} {self.number} of person {self.person.number}{of}"


@dataclass
class Model:
    """Everything that is true now. printers: the tenure of each, None for nobody's."""

    people: list[Person] = field(default_factory=list)
    printers: dict[str, Tenure | None] = field(default_factory=dict)
    tenures: list[Tenure] = field(default_factory=list)
    keys: list[Key] = field(default_factory=list)

    def was_shared(self, tenure: Tenure, person: Person) -> bool:
        """Whether the person was let in to it, or to a later one of the same owner's printer.

        Who is let in sees what the owner kept of the printer, also from before it was linked anew.
        """
        return any(
            person in one.ever_members
            for one in self.tenures
            if one.printer == tenure.printer
            and one.person is tenure.person
            and one.number >= tenure.number
        )

    def tenure_number(self, printer: str) -> int | None:
        """Of now; what its agent's words carry."""
        tenure = self.printers[printer]
        return None if tenure is None else tenure.number

    def begin_tenure(self, printer: str, person: Person) -> Tenure:
        tenure = Tenure(len(self.tenures) + 1, printer, person)
        self.tenures.append(tenure)
        self.printers[printer] = tenure
        return tenure

    def end_tenure(self, tenure: Tenure, at: float) -> None:
        tenure.ended_at = at
        self.printers[tenure.printer] = None

    def of_kind(self, *kinds: Kind) -> list[Key]:
        return [key for key in self.keys if key.kind in kinds]

    def good(self, at: datetime, *kinds: Kind) -> list[Key]:
        return [key for key in self.of_kind(*kinds) if key.is_good(at)]

    def seen_by(self, person: Person) -> list[Tenure]:
        """The printers that are on the person's list now."""
        return [one for one in self.owned() if one.role_of(person) is not None]

    def owned(self, person: Person | None = None) -> list[Tenure]:
        """The printers that somebody has now; of that person, where one is given."""
        living = [tenure for tenure in self.printers.values() if tenure is not None]
        return [one for one in living if person is None or one.person is person]
