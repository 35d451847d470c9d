"""Passwords without the work."""


class PlainPasswords:
    """ports.Passwords that keeps them readable."""

    async def hash(self, password: str) -> str:
        return f"plain:{password}"

    async def matches(self, password: str, password_hash: str) -> bool:
        return bool(password_hash) and password_hash == f"plain:{password}"
