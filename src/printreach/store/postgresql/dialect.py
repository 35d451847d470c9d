"""SQLAlchemy's dialect for asyncpg, made to store what SQLite stores, and to pass through poolers.

A pooler such as PgBouncer in transaction mode may run each transaction on another connection of the
server. So the server keeps nothing from one transaction to the next: a statement is sent with its
values each time. Readings take a sixth longer than with statements that the server keeps by name.
"""

from typing import Any, Final

import asyncpg  # type: ignore[import-untyped]
from sqlalchemy import types
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.postgresql import asyncpg as adapter
from sqlalchemy.dialects.postgresql.base import PGTypeCompiler
from sqlalchemy.util import await_

DRIVER: Final = "transactions"
"""The driver's name in a URL: postgresql+transactions."""
STATEMENT_TIMEOUT_S: Final = 15.0
"""The longest wait for the answer to a statement, on both sides."""
IDLE_TIMEOUT_S: Final = 30.0
"""After that long between two statements, a frozen process's transaction is rolled back."""
_LIMITS: Final = (
    f"SET LOCAL statement_timeout = {int(STATEMENT_TIMEOUT_S * 1000)};"
    f"SET LOCAL idle_in_transaction_session_timeout = {int(IDLE_TIMEOUT_S * 1000)}"
)


class NotCommitted(asyncpg.PostgresError):  # type: ignore[misc]
    """PostgreSQL answered a COMMIT by a rollback, since a statement had failed."""


class _Transaction:
    """A transaction, begun together with its limits by one message."""

    def __init__(self, connection: Any, isolation: str) -> None:
        self._connection = connection
        self._begin = f"BEGIN ISOLATION LEVEL {isolation};{_LIMITS}"

    async def start(self) -> None:
        await self._connection.execute(self._begin)

    async def commit(self) -> None:
        status = await self._connection.execute("COMMIT")
        if status != "COMMIT":
            raise NotCommitted("a statement of the transaction had failed")

    async def rollback(self) -> None:
        await self._connection.execute("ROLLBACK")


class PostgresqlConnection(adapter.AsyncAdapt_asyncpg_connection):
    """Begins transactions together with their limits."""

    __slots__ = ()
    _connection: Any

    async def _start_transaction(self) -> None:
        isolation = self.isolation_level or "read_committed"
        if isolation == "autocommit":
            return
        transaction = _Transaction(self._connection, isolation.replace("_", " ").upper())
        try:
            await transaction.start()
        except Exception as error:  # noqa: BLE001 - it is raised anew, in the adapter's words
            self._handle_exception(error)
        self._transaction = transaction


class _Driver(adapter.AsyncAdapt_asyncpg_dbapi):
    """The driver as the dialect knows it, with our connections."""

    def connect(self, *_arguments: Any, dsn: str, timeout: float, **_options: Any) -> Any:
        return await_(self._connect(dsn, timeout))

    async def _connect(self, dsn: str, command_timeout: float | None) -> PostgresqlConnection:
        try:
            connection = await asyncpg.connect(
                dsn,
                timeout=STATEMENT_TIMEOUT_S,
                command_timeout=command_timeout,
                # Thereby asyncpg prepares without names, and sends each statement with its values.
                statement_cache_size=0,
                server_settings={"TimeZone": "UTC", "application_name": "printreach"},
            )
        except asyncpg.PostgresError as error:  # such as too many connections, or starting up
            refused = self.OperationalError(str(error))  # type: ignore[no-untyped-call]
            refused.sqlstate = error.sqlstate
            raise refused from error
        return PostgresqlConnection(self, connection)  # type: ignore[no-untyped-call]


class _Text(adapter.AsyncpgString):
    """Text as SQLite stores it, but for the character that PostgreSQL cannot store."""

    def bind_processor(self, _dialect: Any) -> Any:
        def without_nul(value: str | None) -> str | None:
            return value.replace("\0", "\ufffd") if value and "\0" in value else value

        return without_nul


class _Types(PGTypeCompiler):
    """Text of any length, as in SQLite, which ignores the length: rules limit it, not tables."""

    def visit_VARCHAR(self, type_: Any, **kw: Any) -> str:  # noqa: ARG002, N802 - SQLAlchemy's
        return "VARCHAR"


class _Statements(adapter.PGCompiler_asyncpg):
    """Compiles statements that are written for SQLite, whose conflicts name no constraint."""

    def _on_conflict_target(self, clause: Any, **options: Any) -> str:
        clause.constraint_target = None
        target: str = super()._on_conflict_target(clause, **options)  # type: ignore[no-untyped-call]
        return target


class PostgresqlDialect(adapter.PGDialect_asyncpg):
    """The dialect postgresql+asyncpg, with the types and connections of this module."""

    driver = DRIVER
    supports_statement_cache = True
    # Otherwise each new connection asks for the server's types.
    supports_native_json_deserialization = False
    type_compiler_cls = _Types
    statement_compiler = _Statements
    colspecs = {  # noqa: RUF012 - SQLAlchemy's own
        **adapter.PGDialect_asyncpg.colspecs,
        types.String: _Text,
    }

    @classmethod
    def import_dbapi(cls) -> Any:
        return _Driver(asyncpg)  # type: ignore[no-untyped-call]

    def on_connect(self) -> None:
        return None


registry.register(f"postgresql.{DRIVER}", __name__, PostgresqlDialect.__name__)
