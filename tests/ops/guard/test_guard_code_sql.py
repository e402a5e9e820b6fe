"""SQL, MongoDB and Redis: what destroys more than some rows, and what only speaks of it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_ops.guard.code.sql import mongo_findings, redis_findings, sql_findings, statements
from hermes_ops.guard.verdict import Verdict

DESTROYS = [
    ("DROP TABLE users CASCADE;", "sql.drop-table"),
    ("drop table if exists x", "sql.drop-table"),
    ("DROP MATERIALIZED VIEW sums", "sql.drop-table"),
    ("DROP DATABASE analytics", "sql.drop-database"),
    ("BEGIN; DROP SCHEMA legacy CASCADE; COMMIT;", "sql.drop-database"),
    ("/*!50000 DROP TABLE x */", "sql.drop-table"),
    ("DROP/**/TABLE/**/x", "sql.drop-table"),
    ("-- note\nDROP\n  TABLE\n  x", "sql.drop-table"),
    ("SELECT 1; drop table x", "sql.drop-table"),
    ("SELECT 'a;b'; DROP TABLE x", "sql.drop-table"),
    ("SELECT '\\'; DROP TABLE users; --'", "sql.drop-table"),
    ("TRUNCATE orders", "sql.truncate"),
    ("truncate table a, b restart identity", "sql.truncate"),
    ("DELETE FROM sessions", "sql.delete-all"),
    ("delete sessions", "sql.delete-all"),
    ("DELETE FROM t WHERE 1=1", "sql.delete-all"),
    ("DELETE FROM t WHERE TRUE", "sql.delete-all"),
    ("DELETE FROM t WHERE (1 = 1)", "sql.delete-all"),
    ("DELETE FROM t WHERE 'a'='a'", "sql.delete-all"),
    ("DELETE FROM t WHERE id = 3 OR 1=1", "sql.delete-all"),
    ("DELETE FROM t WHERE not false", "sql.delete-all"),
    ("DELETE FROM t WHERE id IS NOT NULL", "sql.delete-all"),
    ("DELETE FROM [my table]", "sql.delete-all"),
    ('DELETE FROM "my table"', "sql.delete-all"),
    ("DELETE FROM t RETURNING *", "sql.delete-all"),
    ("WITH gone AS (DELETE FROM t RETURNING *) SELECT * FROM gone", "sql.delete-all"),
    ("WITH a AS (SELECT 1) DELETE FROM t", "sql.delete-all"),
    ("EXPLAIN ANALYZE DELETE FROM t", "sql.delete-all"),
    ("UPDATE users SET admin = true", "sql.update-all"),
    ("UPDATE users SET note = 'where id = 3'", "sql.update-all"),
    ("UPDATE t SET a = (SELECT max(b) FROM u WHERE c = 1)", "sql.update-all"),
    ("ALTER TABLE t DROP COLUMN a", "sql.drop-column"),
    ("ALTER TABLE t ADD b int, DROP a", "sql.drop-column"),
    ("select 1\nGO\ndrop table x\nGO", "sql.drop-table"),
    ("DO $$ BEGIN DROP TABLE x; END $$", "sql.drop-table"),
]


@pytest.mark.parametrize(("text", "rule"), DESTROYS)
def test_statements_that_destroy_ask(text: str, rule: str) -> None:
    found = sql_findings(text)
    assert [one.rule for one in found] == [rule]
    assert found[0].verdict is Verdict.APPROVE


@pytest.mark.parametrize(
    "text",
    [
        "",
        "SELECT * FROM t WHERE id = 1",
        "SELECT 'DROP TABLE x; DELETE FROM y'",
        'SELECT "drop table x" FROM t',
        "-- DROP TABLE x\nSELECT 1",
        "/* TRUNCATE x; */ SELECT 1",
        "INSERT INTO log VALUES ('truncate table x; drop table y')",
        "INSERT INTO t(a) SELECT 1 ON CONFLICT DO UPDATE SET a = 1",
        "CREATE TABLE drops (id int, deleted bool)",
        "CREATE INDEX i ON t (a)",
        "DROP INDEX i",
        "DROP TEMPORARY TABLE x",
        "DELETE FROM sessions WHERE id = 42",
        "DELETE FROM t WHERE id = ?",
        "DELETE FROM t WHERE id = \0",
        "DELETE FROM t WHERE a = b",
        "DELETE FROM t ORDER BY id LIMIT 5",
        "DELETE FROM t USING u WHERE t.id = u.id",
        "DELETE FROM t WHERE id IN (SELECT id FROM u WHERE 1=1)",
        "UPDATE t SET a = 1 WHERE id = 2",
        "UPDATE t SET a = 1 WHERE id = 2 AND 1 = 1",
        "UPDATE t SET a = u.a FROM u",
        "EXPLAIN DELETE FROM t",
        "ALTER TABLE t ADD COLUMN a int",
        "ALTER TABLE t DROP CONSTRAINT c",
        "ALTER TABLE t ALTER COLUMN a DROP NOT NULL",
        "GRANT DELETE ON t TO bob",
        "CREATE TRIGGER x AFTER DELETE ON t BEGIN DELETE FROM a; UPDATE t SET b = 1; END; SELECT 1",
        "CREATE FUNCTION f() RETURNS void AS $$ DELETE FROM t; $$ LANGUAGE sql",
        "MERGE INTO t USING u ON t.id = u.id WHEN MATCHED THEN DELETE",
        "VACUUM; ANALYZE; PRAGMA table_info(t)",
    ],
)
def test_other_statements_are_silent(text: str) -> None:
    assert sql_findings(text) == []


def test_each_statement_is_found_with_its_own_text() -> None:
    found = sql_findings("DROP TABLE a;\nDELETE FROM b;")
    assert [one.part for one in found] == ["DROP TABLE a", "DELETE FROM b"]


def test_statements_end_outside_quotes_and_comments_only() -> None:
    bare = [text.split() for _, text in statements("select ';' /* ; */ -- ;\n, \"a;b\"; select 2")]
    assert len(bare) == 2


@given(st.text(alphabet="'\"`;-/*$[]() \nadeoprtl", max_size=80))
def test_no_text_makes_the_reader_of_sql_raise(text: str) -> None:
    sql_findings(f"drop {text} table delete")


@pytest.mark.parametrize(
    ("script", "rule"),
    [
        ("db.dropDatabase()", "mongo.drop-database"),
        ("db.getSiblingDB('x').dropDatabase( )", "mongo.drop-database"),
        ("db.users.drop()", "mongo.drop"),
        ("db.getCollection('a').drop()", "mongo.drop"),
        ("db.users.deleteMany({})", "mongo.delete-all"),
        ("db.users.deleteMany( { } )", "mongo.delete-all"),
        ("db.users.remove({})", "mongo.delete-all"),
    ],
)
def test_mongo_scripts_that_delete_as_a_whole_ask(script: str, rule: str) -> None:
    assert [one.rule for one in mongo_findings(script)] == [rule]


@pytest.mark.parametrize(
    "script",
    [
        "db.users.find({}).limit(3)",
        "db.users.deleteMany({expired: true})",
        "db.users.deleteOne({_id: 3})",
        "print('db.dropDatabase()')",
        "// db.users.drop()\ndb.stats()",
        "db.users.find({name: 'x.drop()'})",
    ],
)
def test_other_mongo_scripts_are_silent(script: str) -> None:
    assert mongo_findings(script) == []


def test_redis_commands_that_empty_or_stop_ask() -> None:
    assert [one.rule for one in redis_findings(["FLUSHALL"])] == ["redis.flush"]
    assert [one.rule for one in redis_findings(["flushdb", "async"])] == ["redis.flush"]
    assert [one.rule for one in redis_findings(["SHUTDOWN"])] == ["redis.shutdown"]
    assert redis_findings(["GET", "flushall"]) == []
    assert redis_findings([]) == []


def test_brackets_that_never_close_take_time_in_proportion():
    def seconds(count: int) -> float:
        text = "UPDATE accounts SET balance = 0" + "[[done" * count
        began = time.process_time()
        assert sql_findings(text)
        return time.process_time() - began

    seconds(100)
    assert min(seconds(8_000) for _ in range(3)) < 40 * min(seconds(1_000) for _ in range(3)) + 0.02
