"""The limits of an account: the service's defaults, and an operator's changes for one account."""

from dataclasses import dataclass, fields, replace

from printreach.rules.connections import DEFAULT_LIMITS, MAX_APP_CONNECTIONS, Limits

MAX_BYTES = 1024**4
MAX_WEBCAM_S = 7 * 24 * 3600
MAX_COUNT = 100_000


@dataclass(frozen=True, kw_only=True, slots=True)
class AccountLimits:
    """upload_bytes, download_bytes: of one request to a printer. webcam_stream_s: of one stream.

    app_connections: living ones of one printer. requests_a_minute: to the service's own host.
    """

    upload_bytes: int = DEFAULT_LIMITS.upload_bytes
    download_bytes: int = DEFAULT_LIMITS.download_bytes
    webcam_stream_s: int = DEFAULT_LIMITS.webcam_stream_s
    app_connections: int = MAX_APP_CONNECTIONS
    requests_a_minute: int = 600

    @property
    def of_connection(self) -> Limits:
        """The limits of each connection of the account."""
        return replace(
            DEFAULT_LIMITS,
            upload_bytes=self.upload_bytes,
            download_bytes=self.download_bytes,
            webcam_stream_s=self.webcam_stream_s,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class LimitChanges:
    """An operator's changes to an account's limits; None keeps the default."""

    upload_bytes: int | None = None
    download_bytes: int | None = None
    webcam_stream_s: int | None = None
    app_connections: int | None = None
    requests_a_minute: int | None = None


NO_CHANGES = LimitChanges()
DEFAULT_ACCOUNT_LIMITS = AccountLimits()
_MAX = LimitChanges(
    upload_bytes=MAX_BYTES,
    download_bytes=MAX_BYTES,
    webcam_stream_s=MAX_WEBCAM_S,
    app_connections=MAX_COUNT,
    requests_a_minute=MAX_COUNT,
)
_MIN_REQUESTS = 30
"""A page and its pictures have to fit, or an account could not be viewed."""


def with_changes(limits: AccountLimits, changes: LimitChanges) -> AccountLimits:
    """Return the limits, but for what was decided otherwise."""
    decided = {
        limit.name: value
        for limit in fields(changes)
        if (value := getattr(changes, limit.name)) is not None
    }
    return replace(limits, **decided)


def problem_with_limits(changes: LimitChanges) -> str | None:
    """Return a sentence where these limits are not valid."""
    for limit in fields(changes):
        value, most = getattr(changes, limit.name), getattr(_MAX, limit.name)
        least = _MIN_REQUESTS if limit.name == "requests_a_minute" else 0
        if value is not None and not least <= value <= most:
            return f"{limit.name} is between {least} and {most}."
    return None
