"""Databases: statements given to a client, and the clients' own destructive commands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..code.sql import mongo_findings, redis_findings, sql_findings
from ..judge.invocation import UNKNOWN, Invocation
from ..verdict import Found
from .names import names
from .rule import Family, approve
from .verbs import has, verb_of, verbs_of

DROPPED = approve("databases.dropped", "drops a database or a role", "dump it first")
RESET = approve("databases.reset", "drops all tables and makes them anew", "dump the database first")
RESTORED = approve(
    "databases.restored-over", "drops what is there before it restores", "restore into a new database"
)
STOPPED = approve("databases.stopped", "stops a database server")
QUEUE = approve("databases.queue-deleted", "deletes queues, topics or what waits in them")
CONFIGURED = approve("databases.reconfigured", "changes where or how a database server writes")
ERASED = approve("databases.keys-deleted", "deletes keys in bulk")

# Options of a client that are followed by a statement.
_STATEMENT = {
    "psql": names("-c --command"),
    "pgcli": names("-c"),
    "usql": names("-c --command"),
    "cockroach": names("-e --execute"),
    "mysql": names("-e --execute --init-command"),
    "mariadb": names("-e --execute"),
    "mycli": names("-e --execute"),
    "sqlcmd": names("-Q -q"),
    "bsqldb": names("-q"),
    "clickhouse-client": names("-q --query"),
    "clickhouse": names("-q --query"),
    "cqlsh": names("-e --execute"),
    "duckdb": names("-c -cmd -s"),
    "snowsql": names("-q --query"),
    "snow": names("-q --query"),
    "impala-shell": names("-q --query"),
    "hive": names("-e"),
    "beeline": names("-e"),
    "spark-sql": names("-e"),
    "trino": names("--execute"),
    "presto": names("--execute"),
    "influx": names("-execute"),
    "sqlite3": names("-cmd"),
    "sqlite": names("-cmd"),
    "litecli": names("-e"),
    "osqueryi": frozenset(),
    "db2": frozenset(),
    "isql": frozenset(),
    "isql-fb": frozenset(),
    "sqlplus": frozenset(),
    "bq": frozenset(),
    "pscale": frozenset(),
    "turso": frozenset(),
    "tsql": frozenset(),
    "ysqlsh": names("-c --command"),
}
_OPERAND_IS_STATEMENT = names("sqlite3 sqlite duckdb bq db2 turso")
_FRAMEWORKS = names(
    "rails rake bin/rails artisan php prisma knex sequelize typeorm drizzle-kit alembic flask mix "
    "django-admin manage.py python python3 supabase dotnet flyway liquibase console symfony npx "
    "bundle flask-migrate dbmate goose sqitch atlas airflow"
)
_RESETS = names(
    "db:drop db:drop:all db:reset db:schema:load db:purge db:wipe migrate:fresh migrate:reset "
    "migrate:refresh db:migrate:reset db:truncate_all doctrine:database:drop doctrine:schema:drop "
    "schema:drop ecto.drop ecto.reset db:migrate:undo:all drop-all dropAll flush reset_db sqlflush "
    "db:setup"
)


def _statements(invocation: Invocation) -> Iterator[str]:
    words = invocation.words()
    name = invocation.name
    options = _STATEMENT[name]
    for index, word in enumerate(words):
        if word in options and index + 1 < len(words):
            yield words[index + 1]
        elif word.startswith("--") and "=" in word and word.partition("=")[0] in options:
            yield word.partition("=")[2]
        elif len(word) > 2 and word[:2] in options and word[0] == "-" and word[1] != "-":
            yield word[2:]
        elif (
            name == "psql"
            and word.startswith("-")
            and not word.startswith("--")
            and word.endswith("c")
            and index + 1 < len(words)
        ):
            yield words[index + 1]
    if name in _OPERAND_IS_STATEMENT:
        operands = list(
            invocation.operands(names("-separator -cmd -init -newline -nullvalue --project_id --format"))
        )
        for argument in operands if name == "bq" else operands[1:]:
            yield argument.text
    if invocation.stdin.text:
        yield invocation.stdin.text


def _client(invocation: Invocation) -> Iterator[Found]:
    statements = list(_statements(invocation))
    if _in_memory(invocation) and not any(map(_OTHER_FILES.search, statements)):
        return
    for statement in statements:
        yield from sql_findings(statement)


_OTHER_FILES = re.compile(r"(?i)\battach\b|\.(?:open|restore|read)\b")


def _in_memory(invocation: Invocation) -> bool:
    """Is it a database that is gone when the client ends?"""
    return invocation.name in ("sqlite3", "duckdb", "litecli") and ":memory:" in invocation.words()


def _mongo(invocation: Invocation) -> Iterator[Found]:
    words = invocation.words()
    for index, word in enumerate(words):
        if word == "--eval" and index + 1 < len(words):
            yield from mongo_findings(words[index + 1])
        elif word.startswith("--eval="):
            yield from mongo_findings(word[7:])
    if invocation.stdin.text:
        yield from mongo_findings(invocation.stdin.text)


def _redis(invocation: Invocation) -> Iterator[Found]:
    operands = verbs_of(
        invocation, names("-h -p -a -n -u -s -i -r --user --pass --cacert --cert --key --sni -x"), most=12
    )
    yield from _redis_command(invocation, list(operands))
    if invocation.stdin.text and not operands:
        for line in invocation.stdin.text.splitlines()[:200]:
            yield from _redis_command(invocation, line.split())


def _redis_command(invocation: Invocation, command: list[str]) -> Iterator[Found]:
    yield from redis_findings(command)
    verb = command[0].upper() if command else ""
    second = command[1].upper() if len(command) > 1 else ""
    if (verb == "CONFIG" and second in ("SET", "REWRITE")) or verb in (
        "SLAVEOF",
        "REPLICAOF",
        "MODULE",
        "ACL",
    ):
        if not (verb == "ACL" and second in ("LIST", "WHOAMI", "CAT", "GETUSER", "USERS")):
            yield CONFIGURED.found(invocation.part)
    elif verb in ("DEL", "UNLINK") and (invocation.appended or any(UNKNOWN in word for word in command[1:])):
        yield ERASED.found(invocation.part)
    elif (verb == "SCRIPT" and second == "FLUSH") or (verb == "CLUSTER" and second in ("RESET", "FORGET")):
        yield CONFIGURED.found(invocation.part)


def _tool(invocation: Invocation) -> Iterator[Found]:
    name = invocation.name
    part = invocation.part
    words = invocation.words()
    verb, _ = verb_of(invocation, names("-h -P -u -p -S --host --port --user -U -d --bootstrap-server -D -n"))
    if "--help" in words:
        return
    if name in ("dropdb", "dropuser"):
        yield DROPPED.found(part)
    elif name in ("mysqladmin", "mariadb-admin"):
        if "drop" in words:
            yield DROPPED.found(part)
        elif "shutdown" in words:
            yield STOPPED.found(part)
    elif name == "pg_ctl":
        if verb in ("stop", "restart", "kill"):
            yield STOPPED.found(part)
    elif name in ("pg_resetwal", "pg_resetxlog", "pg_dropcluster"):
        yield DROPPED.found(part)
    elif name in ("pg_restore", "mongorestore"):
        if has(invocation.arguments, "c" if name == "pg_restore" else "", "--clean", "--drop"):
            yield RESTORED.found(part)
    elif name == "rabbitmqctl":
        if verb in ("reset", "force_reset", "purge_queue", "delete_queue", "delete_vhost", "delete_user"):
            yield QUEUE.found(part)
        elif verb in ("stop", "stop_app", "shutdown"):
            yield STOPPED.found(part)
    elif name in (
        "kafka-topics",
        "kafka-topics.sh",
        "kafka-delete-records.sh",
        "kafka-consumer-groups.sh",
        "kafka-configs.sh",
    ):
        if "--delete" in words or "--offset-json-file" in words or "--reset-offsets" in words:
            yield QUEUE.found(part)
    elif name == "celery":
        if "purge" in words:
            yield QUEUE.found(part)
    elif name == "nats" and any(word in ("rm", "purge", "delete") for word in words):
        yield QUEUE.found(part)


def _framework(invocation: Invocation) -> Iterator[Found]:
    part = invocation.part
    verbs = verbs_of(invocation, names("-m -c -W -X --settings --config -e --env --schema"))
    name = invocation.name
    words = invocation.words()
    if "--help" in words:
        return
    if name in ("python", "python3", "php", "ruby"):
        script = next(
            (word for word in verbs if word.endswith(("manage.py", "artisan", "console", "rails"))), ""
        )
        if not script or verbs[0] != script:
            return
        verbs = verbs[1:]
    first, second, third = (*verbs, "", "", "")[:3]
    reset = first in _RESETS or (name == "rake" and any(word in _RESETS for word in verbs))
    reset = reset or {
        "prisma": (first == "migrate" and second == "reset")
        or (
            first == "db"
            and second == "push"
            and has(invocation.arguments, "", "--force-reset", "--accept-data-loss")
        ),
        "supabase": first == "db" and second == "reset",
        "dotnet": first == "ef" and second == "database" and third == "drop",
        "flyway": "clean" in verbs,
        "liquibase": any(word in ("drop-all", "dropAll", "rollback") for word in verbs),
        "alembic": first == "downgrade" and second == "base",
        "knex": first == "migrate:rollback" and "--all" in words,
        "dbmate": first == "drop",
        "goose": "reset" in verbs or "down-to" in verbs,
        "airflow": first == "db" and second == "reset",
        "drizzle-kit": first == "drop",
        "flask": first == "db" and second == "downgrade" and third == "base",
        "sqitch": first == "revert",
    }.get(name, False)
    if reset:
        yield RESET.found(part)


def _check(invocation: Invocation) -> Iterable[Found]:
    name = invocation.name
    if name in ("mongosh", "mongo"):
        return _mongo(invocation)
    if name in ("redis-cli", "valkey-cli", "keydb-cli"):
        return _redis(invocation)
    if name in _STATEMENT and name not in ("snow", "pscale"):
        return _client(invocation)
    if name in _TOOLS:
        return _tool(invocation)
    return _framework(invocation)


_TOOLS = names(
    "dropdb dropuser mysqladmin mariadb-admin pg_ctl pg_resetwal pg_resetxlog pg_dropcluster "
    "pg_restore mongorestore rabbitmqctl kafka-topics kafka-topics.sh kafka-delete-records.sh "
    "kafka-consumer-groups.sh kafka-configs.sh celery nats"
)

FAMILY = Family(
    "databases",
    frozenset(_STATEMENT) | _TOOLS | _FRAMEWORKS | names("mongosh mongo redis-cli valkey-cli keydb-cli ruby"),
    _check,
    examples=(
        ("dropdb --if-exists production", "databases.dropped"),
        ("mysqladmin -u root drop shop", "databases.dropped"),
        ("pg_restore --clean -d shop shop.dump", "databases.restored-over"),
        ("rails db:reset", "databases.reset"),
        ("php artisan migrate:fresh --seed", "databases.reset"),
        ("python3 manage.py flush --no-input", "databases.reset"),
        ("prisma migrate reset --force", "databases.reset"),
        ("mysqladmin shutdown", "databases.stopped"),
        ("rabbitmqctl purge_queue mails", "databases.queue-deleted"),
        ("redis-cli CONFIG SET dir /var/spool/cron", "databases.reconfigured"),
        ("redis-cli -h cache.example.com FLUSHALL", "redis.flush"),
        ("redis-cli --scan --pattern 'user:*' | xargs redis-cli DEL", "databases.keys-deleted"),
    ),
    silent=(
        "psql -c 'SELECT count(*) FROM users'",
        "sqlite3 app.db 'DELETE FROM users WHERE id=3'",
        "sqlite3 app.db .tables",
        "redis-cli GET user:1",
        "redis-cli DEL user:1",
        "python3 manage.py migrate",
        "rails db:migrate",
        "prisma migrate dev",
        "pg_dump shop",
        "mongosh --eval 'db.users.find()'",
    ),
    rules=(DROPPED, RESET, RESTORED, STOPPED, QUEUE, CONFIGURED, ERASED),
)
