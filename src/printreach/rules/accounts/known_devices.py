"""Known devices: browsers that have signed in before, by a cookie that outlives the session.

Strangers can use up the attempts of any account whose address they know. A known device has its own
limiter, so they can't lock the owner out of a browser that the owner uses.

The cookie is no credential: a thief gains only another ten attempts. It is
authenticated with the stored password hash, which nobody outside knows and which changes with the
password. So it ends with a new password, and nothing has to be stored.

Source: OWASP, "Slow Down Online Guessing Attacks with Device Cookies".
"""

import hashlib
import hmac
import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from printreach.rules.accounts import Account
from printreach.rules.connections.credentials import TokenBytes, base32_text, new_record_id

DEVICE_LIFETIME: Final = timedelta(days=365)
"""Counted from the last sign-in."""
_MAC_BYTES: Final = 20
_TOKEN: Final = re.compile(r"([a-z2-7]{26})\.([a-z2-7]{26})\.([a-z2-7]{32})")


@dataclass(frozen=True, kw_only=True, slots=True)
class Device:
    """A browser, and the account that it signed in to last."""

    account_id: str
    device_id: str


def new_device_token(account: Account, token_bytes: TokenBytes) -> str:
    """Return the cookie of a browser that signs in now; empty for an account without a password."""
    if not account.password_hash:
        return ""
    device = Device(account_id=account.account_id, device_id=new_record_id(token_bytes))
    return f"{device.account_id}.{device.device_id}.{_mac(device, account)}"


def claimed_device(token: str) -> Device | None:
    """Return what a cookie claims, unchecked; None where it is no such cookie."""
    match = _TOKEN.fullmatch(token)
    return None if match is None else Device(account_id=match[1], device_id=match[2])


def device_of(token: str, account: Account | None) -> Device | None:
    """Return the device, where the cookie was made for that account and its present password."""
    claimed, match = claimed_device(token), _TOKEN.fullmatch(token)
    if claimed is None or match is None or account is None or not account.password_hash:
        return None
    if claimed.account_id != account.account_id:
        return None
    is_ours = hmac.compare_digest(match[3].encode(), _mac(claimed, account).encode())
    return claimed if is_ours else None


def _mac(device: Device, account: Account) -> str:
    message = f"printreach device {device.account_id} {device.device_id}".encode()
    mac = hmac.new(account.password_hash.encode(), message, hashlib.sha256).digest()
    return base32_text(mac[:_MAC_BYTES])
