"""SQL statements, and the words of MongoDB and Redis, that destroy more than some rows."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..rules.names import names
from ..verdict import Found, Verdict

# Characters that are read, and findings after which the rest is not.
LIMIT, MOST = 64_000, 20

# Quoted text, names in quotes, comments, dollar quotes; the end of the text closes what is left open.
_SKIPPED = re.compile(
    r"""
    (?P<string> [eEnNbBxX]?'(?:[^'\\]|''|\\.)*(?:'|\Z) )
  | (?P<name> "(?:[^"]|"")*(?:"|\Z) | `[^`]*(?:`|\Z) | \[[^\]\n'"();]{0,128}\] )
  | (?P<live> /\*!\d*\s? )
  | (?P<comment> --[^\n]* | /\*.*?(?:\*/|\Z) | \#(?=[\s!])[^\n]* )
  | (?P<dollar> \$(?P<tag>[A-Za-z_]*)\$.*?(?:\$(?P=tag)\$|\Z) )
  | (?P<end> ; | ^\s*GO\s*$ | \\g\b )
  | (?P<meta> ^\s*(?:\\|\.)[a-z][^\n]*$ )
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
# The same where a backslash in a string is a character like any other, as in standard SQL.
_SKIPPED_STANDARD = re.compile(
    _SKIPPED.pattern.replace(r"(?:[^'\\]|''|\\.)*", "(?:[^']|'')*", 1), _SKIPPED.flags
)
_WORD = re.compile(r"[\w$.@\0?:%]+|[(),*<>=!]+|'")

_DROPPED = names("table database schema view user role tablespace keyspace collection owned column family")
# Words before a statement's verb that change nothing.
_BEFORE = frozenset(["explain", "analyze", "begin", "transaction", "work", "start"])


def _found(rule: str, verdict: Verdict, why: str, part: str, safer: str) -> Found:
    return Found(rule, verdict, why, " ".join(part.split())[:160], safer)


def statements(text: str, skipped: re.Pattern[str] = _SKIPPED) -> Iterator[tuple[str, str]]:
    """The statements of a script: as written, and with strings emptied and comments taken out."""
    bare: list[str] = []
    last = begun = 0
    for match in skipped.finditer(text):
        bare.append(text[last : match.start()])
        kind = match.lastgroup if match.lastgroup != "tag" else "dollar"
        last = match.end()
        if kind in ("string", "dollar"):
            bare.append(" '' ")
        elif kind == "name":
            bare.append(re.sub(r"\W", "_", match.group()[1:-1]) or "_")
        elif kind in ("end", "meta"):
            yield text[begun : match.start()], "".join(bare)
            bare.clear()
            begun = last
        else:
            bare.append(" ")
    bare.append(text[last:].replace("*/", " "))
    yield text[begun:], "".join(bare)


def _is_true(condition: list[str]) -> bool:
    """A WHERE that every row passes: TRUE, 1, 1=1, 'a'='a', x=x, NOT FALSE, ... OR 1=1."""
    words = [word for word in condition if word not in ("(", ")", "((", "))")]
    for place, word in enumerate(words):
        if word == "or" and _is_true(words[place + 1 :]):
            return True
    if "and" in words:
        place = words.index("and")
        return _is_true(words[:place]) and _is_true(words[place + 1 :])
    if len(words) == 1:
        return words[0] in ("true", "1")
    if words[:2] in (["not", "false"], ["not", "0"]):
        return True
    if len(words) == 3 and words[1] in ("=", "==", "like", "<=", ">=", "is"):
        return words[0] == words[2]
    if len(words) == 3 and words[1] in ("<>", "!=", "<", ">"):
        return words[0].isdigit() and words[2].isdigit() and words[0] != words[2]
    return len(words) == 4 and words[1:] == ["is", "not", "null"] and words[0] in ("id", "rowid", "_id")


def _without_where(words: list[str]) -> bool:
    depth, where = 0, -1
    for place, word in enumerate(words):
        depth += word.count("(") - word.count(")")
        if word == "where" and depth <= 0:
            where = place
    if where < 0:
        return "limit" not in words
    condition = []
    for word in words[where + 1 :]:
        if word in ("returning", "limit", "order"):
            break
        condition += ["''"] if word == "'" and condition[-1:] != ["''"] else [word] if word != "'" else []
    return not condition or _is_true(condition)


def _top_level(words: list[str]) -> set[str]:
    """The words outside of brackets."""
    found, depth = set(), 0
    for word in words:
        depth += word.count("(") - word.count(")")
        if depth <= 0:
            found.add(word)
    return found


def _with_body(words: list[str]) -> list[str]:
    """The statement behind `WITH a AS (...), b AS (...)`."""
    depth = 0
    for place, word in enumerate(words):
        depth += word.count("(") - word.count(")")
        if depth == 0 and word in ("select", "insert", "update", "delete", "merge"):
            return words[place:]
    return []


def _inner(words: list[str]) -> Iterator[list[str]]:
    """Statements inside brackets that change data: `WITH gone AS (DELETE FROM t)`."""
    for place, word in enumerate(words):
        if word.endswith("(") and words[place + 1 : place + 2] in (["delete"], ["update"]):
            depth, end = 1, place + 1
            while end < len(words) and depth > 0:
                depth += words[end].count("(") - words[end].count(")")
                end += 1
            yield words[place + 1 : end - 1]


def _statement(words: list[str], part: str) -> Iterator[Found]:
    while words and (words[0] in ("begin", "transaction", "work", "start", "(") or words[0] in ("''", "'")):
        words = words[1:]
    if not words:
        return
    verb, rest = words[0], words[1:]
    if verb in ("explain", "prepare") and "analyze" not in rest:
        return
    if verb == "explain":
        words = [word for word in rest if word not in ("analyze", "verbose", "(", ")", ",")]
        if words and words[0] in ("delete", "update"):
            yield from _statement(words, part)
        return
    if verb == "with":
        for inner in _inner(words):
            yield from _statement(inner, part)
        body = _with_body(rest)
        if body and body[0] in ("delete", "update"):
            yield from _statement(body, part)
    elif verb == "drop" and rest:
        kind = next((word for word in rest if word in _DROPPED), "")
        if rest[0] in ("temporary", "temp") or (kind == "user" and rest[0] != "user"):
            return
        if rest[0] in _DROPPED or rest[0] in ("materialized", "foreign", "external"):
            what = "database" if rest[0] in ("database", "schema", "keyspace") else rest[0]
            yield _found(
                f"sql.drop-{'database' if what == 'database' else 'table'}",
                Verdict.APPROVE,
                f"DROP {rest[0].upper()} deletes it for good, with all that is in it",
                part,
                "make a dump first, and name what depends on it",
            )
    elif verb == "truncate" and rest:
        yield _found(
            "sql.truncate",
            Verdict.APPROVE,
            "TRUNCATE deletes every row of a table",
            part,
            "delete with a WHERE, inside a transaction",
        )
    elif verb == "delete" and _without_where(rest) and "using" not in rest and "join" not in rest:
        yield _found(
            "sql.delete-all",
            Verdict.APPROVE,
            "DELETE without a WHERE that limits it deletes every row",
            part,
            "add a WHERE, and count the rows with SELECT first",
        )
    elif (
        verb == "update"
        and "set" in rest
        and _without_where(rest)
        and not {"from", "join"} & _top_level(rest)
    ):
        yield _found(
            "sql.update-all",
            Verdict.APPROVE,
            "UPDATE without a WHERE that limits it changes every row",
            part,
            "add a WHERE, and count the rows with SELECT first",
        )
    elif verb == "alter" and rest[:1] in (["table"], ["foreign"]):
        for place, word in enumerate(rest):
            after = rest[place + 1 : place + 2]
            if word == "drop" and after and after[0] not in _KEPT_DROPS:
                yield _found(
                    "sql.drop-column",
                    Verdict.APPROVE,
                    "ALTER TABLE ... DROP deletes a column with its data",
                    part,
                    "make a dump of the column first",
                )
                return


_KEPT_DROPS = names(
    "constraint index key primary foreign default not check identity expression statistics trigger"
)
_ROUTINES = frozenset(["trigger", "function", "procedure", "event"])
_DOLLAR = re.compile(r"\$(?P<tag>[A-Za-z_]*)\$(?P<body>.*?)\$(?P=tag)\$", re.DOTALL)


def sql_findings(text: str) -> list[Found]:
    """What SQL text would destroy; [] for reading, inserting, creating and bounded changes. Never raises."""
    text = text[:LIMIT]
    lowered = text.lower()
    if not any(word in lowered for word in ("drop", "truncate", "delete", "update")):
        return []
    findings: list[Found] = []
    # A backslash before a quote means one thing in one dialect and another in the next.
    for skipped in (_SKIPPED, _SKIPPED_STANDARD) if "\\'" in text else (_SKIPPED,):
        in_routine = False
        for written, bare in statements(text, skipped):
            if len(findings) >= MOST:
                break
            words = [word.lower() for word in _WORD.findall(bare)]
            if in_routine:
                in_routine = words[:1] != ["end"]
            elif words[:1] == ["create"] and _ROUTINES.intersection(words[:6]):
                in_routine = "begin" in words and words[-1] != "end"
            elif words[:1] == ["do"] and (body := _DOLLAR.search(written)):
                findings.extend(
                    sql_findings(re.sub(r"(?i)^\s*(declare.*?)?begin", "", body["body"], flags=re.S))
                )
            elif words:
                findings.extend(_statement(words, written))
    return list(dict.fromkeys(findings))


_MONGO = re.compile(
    r"""
    \.\s*(?P<verb>dropDatabase|dropIndexes|drop|deleteMany|remove|drop_database|drop_collection|delete_many
        |dropCollection|dropAllUsersFromDatabase)
    \s*\(\s*(?P<argument>\{\s*\}|\)|[^)]{0,80})
    """,
    re.VERBOSE,
)
_STRINGS = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|//[^\n]*|/\*.*?\*/", re.DOTALL)


def mongo_findings(script: str) -> list[Found]:
    """What a script for the MongoDB shell deletes as a whole: a database, a collection, all documents."""
    script = script[:LIMIT]
    findings = []
    bare = _STRINGS.sub(lambda quoted: "''" if quoted.group()[0] in "'\"" else " ", script)
    for match in _MONGO.finditer(bare):
        verb, argument = match["verb"], match["argument"].strip()
        if verb in ("dropDatabase", "drop_database", "dropAllUsersFromDatabase"):
            rule, what = "mongo.drop-database", "deletes a whole database"
        elif verb in ("drop", "dropCollection", "drop_collection"):
            rule, what = "mongo.drop", "deletes a collection"
        elif verb in ("deleteMany", "delete_many", "remove") and (
            argument in (")", "") or argument[:1] == "{"
        ):
            if argument not in (")", "") and argument.replace(" ", "") != "{}":
                continue
            if verb == "remove" and argument == ")":
                continue
            rule, what = "mongo.delete-all", "deletes every document of a collection"
        else:
            continue
        findings.append(
            _found(rule, Verdict.APPROVE, f"{verb} {what}", match.group(), "dump it with mongodump first")
        )
    return findings


def redis_findings(words: list[str]) -> list[Found]:
    """What one Redis command would delete: FLUSHALL, FLUSHDB. `words` are the command's words."""
    verb = words[0].lower() if words else ""
    if verb in ("flushall", "flushdb"):
        what = "every database" if verb == "flushall" else "a whole database"
        return [
            _found(
                "redis.flush",
                Verdict.APPROVE,
                f"{verb.upper()} empties {what}",
                " ".join(words),
                "delete the keys by name",
            )
        ]
    if verb == "debug" and [word.lower() for word in words[1:2]] in (["segfault"], ["flushall"]):
        return [_found("redis.debug", Verdict.APPROVE, "the command ends the server", " ".join(words), "")]
    if verb == "shutdown":
        return [_found("redis.shutdown", Verdict.APPROVE, "SHUTDOWN stops the server", " ".join(words), "")]
    return []
