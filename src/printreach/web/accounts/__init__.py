"""Pages of sign-up, sign-in and the settings of an account."""

from typing import Final

from printreach.web.accounts.credentials import CHANGING, PASSKEYS
from printreach.web.accounts.oidc import OTHER
from printreach.web.accounts.overview import OVERVIEW
from printreach.web.accounts.password_reset import RECOVERING
from printreach.web.accounts.signing_in import SIGNING_IN
from printreach.web.accounts.signing_up import SIGNING_UP
from printreach.web.accounts.tokens import TOKENS
from printreach.web.routing import DeclaredRouter
from printreach.web.security import FORM, PUBLIC

ACCOUNT_PAGES: Final = [
    DeclaredRouter(
        "/",
        route_handlers=[*SIGNING_IN, *SIGNING_UP, *RECOVERING],
        include_in_schema=False,
        opt=dict(PUBLIC),
    ),
    DeclaredRouter(
        "/",
        route_handlers=[*OTHER, *OVERVIEW, *CHANGING, *PASSKEYS, *TOKENS],
        include_in_schema=False,
        opt=dict(FORM),
    ),
]
