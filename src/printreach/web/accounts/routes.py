"""Every page about people."""

from printreach.web.accounts.signing_in import SIGNING_IN

ACCOUNT_PAGES = [SIGNING_IN]
