"""The tests' own PostgreSQL server gives each test a database that no other one has touched."""

import pytest

from tests.rigs.postgresql import PostgresqlServer, ask

pytestmark = pytest.mark.peer


def test_a_database_has_the_content_of_its_template(postgresql: PostgresqlServer) -> None:
    template = postgresql.make_database()
    ask(postgresql.url(template), lambda it: it.execute("CREATE TABLE kept (word text)"))

    with postgresql.database(template) as url:
        found = ask(url, lambda it: it.fetchval("SELECT count(*) FROM kept"))

    assert found == 0


def test_what_one_database_stores_is_in_no_other(postgresql: PostgresqlServer) -> None:
    with postgresql.database() as mine, postgresql.database() as other:
        ask(mine, lambda it: it.execute("CREATE TABLE mine (word text)"))

        assert ask(other, lambda it: it.fetchval("SELECT to_regclass('mine')")) is None
