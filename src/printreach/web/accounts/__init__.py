"""Pages of sign-up, sign-in and the settings of an account."""

from typing import Final

from printreach.web.accounts.credentials import CHANGING
from printreach.web.accounts.data import DATA
from printreach.web.accounts.linking import LINKING
from printreach.web.accounts.oidc import OTHER
from printreach.web.accounts.overview import OVERVIEW
from printreach.web.accounts.passkeys import PASSKEYS
from printreach.web.accounts.password_reset import RECOVERING
from printreach.web.accounts.signing_in import SIGNING_IN
from printreach.web.accounts.signing_up import SIGNING_UP
from printreach.web.accounts.supporter import SUPPORTING
from printreach.web.accounts.tokens import TOKENS

ACCOUNT_PAGES: Final = [
    *(SIGNING_IN, SIGNING_UP, RECOVERING, OTHER),
    *(OVERVIEW, CHANGING, PASSKEYS, TOKENS, DATA, LINKING, SUPPORTING),
]
