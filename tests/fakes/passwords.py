"""Passwords without the work."""

from printreach.backends.passwords import is_common


class PlainPasswords:
    """ports.Passwords that keeps them readable. slow_calls: how often the real one would think."""

    def __init__(self) -> None:
        self.slow_calls = 0

    async def hash(self, password: str, network: str = "") -> str:
        self.slow_calls += 1
        return f"plain:{password}"

    async def matches(self, password: str, password_hash: str, network: str = "") -> bool:
        self.slow_calls += 1
        return bool(password_hash) and password_hash == f"plain:{password}"

    def is_common(self, password: str) -> bool:
        return is_common(password)
