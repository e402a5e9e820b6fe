"""What Python sends over the network, and does to databases and cloud accounts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..judge.invocation import REMOTE, SECRET, UNKNOWN
from ..rules.names import names
from .acts import quoted
from .python_names import Call
from .sql import mongo_findings, redis_findings, sql_findings
from .value import Value, taint_of

if TYPE_CHECKING:
    from .python_walk import Walk

Handler = Callable[["Walk", Call], "Value | None"]

# Libraries whose calls talk to another machine.
_NETWORK = (
    "requests.", "httpx.", "aiohttp.", "urllib.request.", "urllib3.", "http.client.", "smtplib.",
    "aiosmtplib.",
    "ftplib.", "socket.", "ssl.", "websocket.", "websockets.", "paramiko.", "boto3.", "telnetlib.", "xmlrpc.",
    "dns.", "imaplib.", "pycurl.", "treq.", "google.cloud.", "slack_sdk.", "slack.", "telegram.", "discord.",
    "paho.", "pika.", "kafka.", "azure.", "dropbox.", "asyncssh.", "pysftp.", "nc.", "scp.",
    "tornado.httpclient.",
    "asyncio.open_connection()", "asyncio.open_connection()[]", "httplib2.", "grequests.", "curl_cffi.",
)  # fmt: skip
# Methods that send, whoever they belong to.
_SENDS = names(
    "post put patch send sendall sendto sendmail send_message urlopen upload_file upload_fileobj "
    "put_object storbinary storlines publish send_json send_bytes send_text exfiltrate"
)
# Where a program puts the one credential that a service asks for.
_IDENTITY = names("headers auth cookies cert timeout verify proxies params_auth ssl context")
_FETCHES = re.compile(
    r"(?:requests|httpx|aiohttp|urllib3|urllib\.request|http\.client|httplib2|treq|curl_cffi)\b.*"
    r"\.(?:get|post|request|urlopen|getresponse|read|fetch|put|options|send|stream)\Z"
)
_UPLOADS = frozenset(["upload_file", "put", "upload", "send_file", "upload_from_filename", "files_upload"])


def network(walk: Walk, call: Call) -> Value | None:
    """A call of a network library: what it sends, what comes back."""
    name, method = call.name, call.method or call.name.rpartition(".")[2]
    named = name.startswith(_NETWORK)
    if not named and method not in _SENDS:
        return None
    if named and method in ("urlretrieve",) and len(call.args) + len(call.keywords) > 1:
        target = call.arg(1, "filename")
        if target is not None:
            walk.acts.write(target, Value(taint=frozenset([REMOTE]), source="the network"))
        return Value()
    given = [*call.args, *[value for key, value in call.keywords.items() if key not in _IDENTITY]]
    taint, source = taint_of(given)
    if name.endswith("Request") and named:
        return Value(name="request", items=given, taint=taint, source=source)
    if SECRET in taint:
        walk.acts.send(
            given, call.args[0] if call.args and call.args[0].is_text else call.keywords.get("url")
        )
    if named and method in _UPLOADS:
        for value in given:
            secret = walk.acts.secret(value) if value.is_text else ""
            if secret:
                walk.acts.report("code.secret-sent", secret)
    if not named:
        return None
    if name.startswith(("socket.", "ssl.")):
        if method in ("recv", "recvfrom", "makefile", "read", "readline", "recv_into"):
            return Value(taint=frozenset([REMOTE]), source="a socket", name=f"{name}()")
        kept = call.receiver.taint & {REMOTE}
        return Value(name=f"{name}()", taint=kept, source=call.receiver.source if kept else "")
    if name.startswith("asyncio.") and method in ("read", "readline", "readuntil"):
        return Value(taint=frozenset([REMOTE]), source="a socket", name=f"{name}()")
    if _FETCHES.match(name):
        return Value(name=f"{name}()", taint=frozenset([REMOTE]), source="the network")
    kept = (taint | call.receiver.taint) & {REMOTE}
    source = call.receiver.source or source if kept else ""
    return Value(name=f"{name}()" if len(name) < 160 else "", taint=kept, source=source, of=call.receiver.of)


_EXECUTES = frozenset(
    ["execute", "executescript", "executemany", "exec_driver_sql", "execute_sql", "run_sql"]
)
_IN_MEMORY = re.compile(r":memory:|mode=memory|\Asqlite(?:\+\w+)?://\Z|\A/tmp/|/tmp/")


def _is_throw_away(value: Value | None) -> bool:
    for _ in range(3):
        if value is None:
            return False
        if value.is_text:
            return bool(_IN_MEMORY.search(value.text))
        value = value.of
    return False


def _on_records(walk: Walk, call: Call) -> None:
    """A statement for the agent's own database."""
    path = call.receiver
    for _ in range(3):
        if path is None or path.is_text:
            break
        path = path.of
    if path is None or not path.text.endswith("state.db") or not call.args:
        return
    statement = call.args[0]
    if statement.is_text and UNKNOWN not in statement.text:
        walk.acts.ask(f"sqlite3 {walk.acts.word(path)} {quoted(statement.text)}")


def database(walk: Walk, call: Call) -> Value | None:
    """SQL that is executed, collections that are dropped, rows deleted through a mapper."""
    method = call.method
    if method in _EXECUTES:
        _on_records(walk, call)
        if _is_throw_away(call.receiver):
            return None
        statement = call.arg(0, "sql", "query", "statement", "script")
        for one in statement.each() if statement is not None else ():
            if one.is_text and one.text != UNKNOWN:
                walk.acts.add(sql_findings(one.text))
            elif one.name.startswith("sqlalchemy.delete()") and ".where" not in one.name:
                walk.acts.report("code.rows-deleted")
    elif method in ("drop_database", "dropDatabase", "drop_collection"):
        walk.acts.add(mongo_findings(f"db.{method}('x')"))
    elif method in ("delete_many", "deleteMany") and call.args and call.args[0].pairs == {}:
        walk.acts.add(mongo_findings(f"db.c.{method}({{}})"))
    elif method == "drop" and call.name.startswith(("pymongo.", "motor.")):
        walk.acts.add(mongo_findings("db.c.drop()"))
    elif method in ("flushall", "flushdb"):
        walk.acts.add(redis_findings([method]))
    elif method == "execute_command" and call.args and call.args[0].is_text:
        walk.acts.add(redis_findings(call.args[0].text.split()))
    elif (
        method == "delete"
        and call.name.endswith(("objects.all().delete", ".query.delete", ".query().delete"))
        and not call.args
    ):
        walk.acts.report("code.rows-deleted")
    elif method == "drop_all" and not any(_is_throw_away(one) for one in [call.receiver, *call.all()]):
        walk.acts.add(sql_findings("DROP TABLE all_tables"))
    return None


_CLOUD = (
    "boto3.",
    "kubernetes.",
    "docker.",
    "google.cloud.",
    "googleapiclient.",
    "azure.",
    "digitalocean.",
    "hcloud.",
)
# One object of many: what a program does all day.
_SMALL = frozenset(
    ["delete_object", "delete_message", "delete_item", "delete_message_batch", "delete_tags", "delete_blob"]
)
_ENDS = ("delete", "terminate_", "purge_", "destroy", "prune", "deregister_", "begin_delete")
_EACH_PROCESS = frozenset(f"psutil.process_iter()[].{name}" for name in ("kill", "terminate", "send_signal"))


def cloud(walk: Walk, call: Call) -> Value | None:
    """Resources of a cloud account, a cluster or a container engine that are deleted."""
    if call.name.startswith(_CLOUD) and call.method.startswith(_ENDS) and call.method not in _SMALL:
        walk.acts.report("code.cloud-deletion", call.method)
    elif call.name in _EACH_PROCESS:
        if walk.acts.guarded:
            walk.acts.ask("pkill -9 name")
        else:
            walk.acts.report("code.processes-ended")
    return None
