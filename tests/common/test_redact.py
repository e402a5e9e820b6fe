"""Redaction: every made-up secret of the corpus disappears wherever it stands, all else stays as it is."""

import json
import random
import re
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote

import pytest

from hermes_unroll._common.redact import (
    CIRCULAR,
    FAILED,
    MAX_DEPTH,
    PLACEHOLDER,
    TOO_DEEP,
    RedactionError,
    Redactor,
)
from tests.common.redaction_corpus import KEEP, PLACED, PRIVATE_KEYS, TOKENS, body, private_key

MARKS = ("…", "...", " ... [truncated 200 chars]", "[truncated", "... [1234 chars truncated]", "<truncated",
         "", "\n... [output truncated]", "\\u2026")  # fmt: skip


def in_json(text):
    return json.dumps({"note": text})


def in_json_twice(text):
    return json.dumps({"arguments": json.dumps({"note": [text]}, indent=2)}, ensure_ascii=False)


def in_python(text):
    return repr({"note": text})


def in_ascii_source(text):
    return "STEPS = " + ascii([{"content": json.dumps({"note": text})}]) + "\n"


def between_escaped_newlines(text):
    return "line one\\n" + text + "\\nline three"


def between_lines(text):
    return "line one\n" + text + "\nline three\n"


EMBEDDINGS = (
    str,
    in_json,
    in_json_twice,
    in_python,
    in_ascii_source,
    between_escaped_newlines,
    between_lines,
)


def remains(secret, text):
    """Whether the secret, or eight characters of its random part, stand in the text."""
    tail = secret[10:]
    return secret in text or any(tail[i : i + 8] in text for i in range(max(0, len(tail) - 7)))


def label(sample):
    return sample.kind if sample.kind != "placed" else sample.before[-24:] or sample.after[:24]


# ---- what must go ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("sample", TOKENS, ids=label)
def test_a_token_is_replaced_whole_by_a_placeholder_of_its_kind(sample):
    assert re.fullmatch(f"<redacted:{sample.kind}:1>", Redactor().text(sample.text))


@pytest.mark.parametrize("sample", TOKENS + PLACED, ids=label)
@pytest.mark.parametrize("embed", EMBEDDINGS, ids=lambda embed: embed.__name__)
def test_a_secret_disappears_in_every_embedding(sample, embed):
    redacted = Redactor().text(embed(sample.text))
    assert not remains(sample.secret, redacted)
    assert PLACEHOLDER.search(redacted)


@pytest.mark.parametrize("sample", PLACED, ids=label)
def test_what_stands_around_a_secret_stays(sample):
    redacted = Redactor().text(sample.text)
    assert redacted.startswith(sample.before) and redacted.endswith(sample.after)
    assert PLACEHOLDER.fullmatch(redacted[len(sample.before) : len(redacted) - len(sample.after)])


@pytest.mark.parametrize("sample", TOKENS, ids=label)
def test_a_token_disappears_from_urls_colours_markup_and_diffs(sample):
    token = sample.secret
    in_authority = token.translate({ord("/"): "a", ord(":"): "a", ord("+"): "a"})
    for text in (
        f"https://h.example/p?x={token}&y=1",
        f"https://h.example/p?x={quote(token, safe='')}&y=1",
        f"https://h.example/{token}/y",
        f"https://x:{in_authority}@h.example/y",
        f"x=%22{token}%22",
        f"\x1b[32m{token}\x1b[0m",
        f"\\x1b[32m{token}\\x1b[0m",
        f"\\t{token}\\t",
        f"\\u003d{token}\\u0026",
        f"<b>{token}</b>",
        f"`{token}`, ({token}).",
        f"+{token}\n-{token}\n",
    ):
        assert not remains(token, Redactor().text(text)), text


@pytest.mark.parametrize(
    "prefix",
    ("gh|p_", "github|_pat_", "gl|pat-", "sk|-ant-api03-", "sk|-proj-", "xo|xb-", "h|f_", "np|m_", "AI|za",
     "AK|IA",
     "GOC|SPX-", "S|G.", "hv|s.", "shp|at_", "eyJh|bGciOi", "sk|_live_", "gs|k_", "xa|i-"),
)  # fmt: skip
@pytest.mark.parametrize("mark", MARKS, ids=repr)
def test_a_token_cut_by_a_truncation_mark_is_redacted(prefix, mark):
    alphabet = "hex" if prefix.startswith("shp") else "upper" if prefix == "AK|IA" else "alnum"
    part = prefix.replace("|", "") + body(alphabet, 9, prefix)
    assert part not in Redactor().text("output: " + part + mark)
    assert part not in Redactor().text(json.dumps("output: " + part + mark)) or not mark


@pytest.mark.parametrize("block", PRIVATE_KEYS, ids=lambda block: block[11:31])
def test_a_private_key_disappears_whole_and_cut(block):
    lines = block.split("\n")
    numbered = "\n".join(f"{n:6}|{line}" for n, line in enumerate(lines))
    for text in (
        block,
        block.replace("\n", "\\n"),
        block.replace("\n", "\r\n"),
        json.dumps({"key": block}),
        json.dumps([json.dumps([block])]),
        repr(block),
        "    " + block.replace("\n", "\n    "),
        numbered,
        block[:300],
        block[:300] + "… [truncated]",
        json.dumps(block[:300]) + ", more",
        json.dumps({"source": [line + "\n" for line in lines]}),
    ):
        redacted = Redactor().text(text)
        assert not any(line[:20] in redacted for line in lines[1:-1]), text
    assert Redactor().text(f"before\n{block}\nafter") == "before\n<redacted:private-key:1>\nafter"


def test_the_lines_of_a_private_key_without_its_beginning_disappear():
    lines = private_key().split("\n")[3:]
    putty = "\n".join(["Private-Lines: 4", *lines[:4], "Private-MAC: 0eeaef44e6e4984b171dc3af666a2282"])
    for text in ("[truncated]\n" + "\n".join(lines) + "\nnext", putty):
        for embed in EMBEDDINGS:
            redacted = Redactor().text(embed(text))
            assert not any(line[20:40] in redacted for line in lines[:4])
            assert PLACEHOLDER.search(redacted)
    kept = "[truncated]\nsome words\n" + lines[-1] + "\n"
    assert Redactor().text(kept) == kept


def test_a_private_key_in_a_list_of_lines_disappears():
    lines = private_key().split("\n")
    redacted = Redactor().value({"lines": ["cat id_rsa", *lines, "done"]})["lines"]
    assert redacted[:2] == ["cat id_rsa", lines[0]] and redacted[-2:] == [lines[-1], "done"]
    assert all("<redacted:private-key:" in line for line in redacted[2:-2])


@pytest.mark.parametrize(
    "key",
    ("api-key", "aws_secret_access_key", "passwd", "set-cookie", "db_password", "password", "PASSWORD",
     "authToken",
     "clientSecret", "X-Api-Key", "Authorization", "cookie", "refresh_token", "private_key", "APIKEY",
     "credentials",
     "passphrase", "client-key-data", "dbPassword", "secret", "my password", "MYSQL_PWD", "smtp_pass"),
)  # fmt: skip
def test_a_text_under_a_secret_name_is_replaced_whole(key):
    kind = "cookie" if "cookie" in key else "secret"
    redactor = Redactor()
    assert redactor.value({key: "S"}) == {key: f"<redacted:{kind}:1>"}
    assert redactor.value("S", key) == f"<redacted:{kind}:1>"
    assert redactor.value({key: ["S", "T"]}) == {key: [f"<redacted:{kind}:1>", f"<redacted:{kind}:2>"]}
    assert json.loads(redactor.text(json.dumps({key: "S"}))) == {key: f"<redacted:{kind}:1>"}


def test_numbers_are_secrets_under_names_of_passwords_alone():
    given = {
        "password": 123456,
        "pin": 4711,
        "token": 99,
        "api_key": 5,
        "token_count": 123,
        "passcode": True,
        "pwd": None,
    }
    wanted = {**given, "password": "<redacted:secret:1>", "pin": "<redacted:secret:2>"}
    redactor = Redactor()
    assert redactor.value(given) == wanted
    assert json.loads(redactor.text(json.dumps(given))) == wanted
    assert json.loads(json.loads(redactor.text(json.dumps(json.dumps(given))))) == wanted


def test_secrets_in_keys_bytes_and_named_entries_disappear():
    token = TOKENS[0].secret
    redactor = Redactor()
    assert redactor.value({f"seen {token}": 1}) == {"seen <redacted:github-pat:1>": 1}
    assert redactor.value({b"out": b"\xff " + token.encode()}) == {b"out": b"\xff <redacted:github-pat:1>"}
    assert redactor.value(bytearray(b"\xff x")) == bytearray(b"\xff x")
    assert redactor.value({"name": "DB_PASSWORD", "value": "S"})["value"] == "<redacted:secret:1>"
    assert redactor.value({"set": {token}, "tuple": (token, 1)}) == {
        "set": {"<redacted:github-pat:1>"},
        "tuple": ("<redacted:github-pat:1>", 1),
    }


# ---- what must stay -------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", KEEP)
def test_ordinary_material_stays_as_it_is(text):
    for embed in EMBEDDINGS:
        given = embed(text)
        assert Redactor().text(given) == given
    value = {"note": [text, {"content": text}]}
    assert Redactor().value(value) is value


def test_the_sources_of_the_standard_library_stay_but_for_addresses_and_examples():
    redactor = Redactor()
    for module in (
        "ast",
        "argparse",
        "tokenize",
        "secrets",
        "getpass",
        "hmac",
        "ssl",
        "json/decoder",
        "asyncio/streams",
    ):
        text = (Path(ast_folder()) / f"{module}.py").read_text(encoding="utf-8")
        assert [f for f in redactor.find(text) if f.kind != "email"] == []


def ast_folder():
    import ast

    return Path(ast.__file__).parent


def test_parts_in_which_nothing_changed_are_the_same_objects():
    clean = {"a": [1, "x", ("y", None)], "b": {"c": 1.5}}
    value = {"clean": clean, "dirty": ["password=Tr0ub4dor"]}
    redacted = Redactor().value(value)
    assert redacted["clean"] is clean
    assert redacted["dirty"] == ["password=<redacted:secret:1>"] and value["dirty"] == ["password=Tr0ub4dor"]


@pytest.mark.parametrize(
    "text", ("ok \ud83d", "\x00", "\u2028 \u2029", "İstanbul İ", "\ud83d\ude00", "\r\r\n"), ids=ascii
)
def test_odd_characters_survive_beside_a_secret(text):
    token = TOKENS[0].secret
    assert Redactor().text(text) == text
    assert Redactor().text(f"{text} {token} {text}") == f"{text} <redacted:github-pat:1> {text}"


def test_a_header_does_not_eat_past_its_end():
    for end in ('"', "'", "\n", "\\n", "\\r\\n", '\\"', "`"):
        text = f"Authorization: Bearer opaque4f9d8c7b{end} and the rest"
        assert Redactor().text(text) == f"Authorization: Bearer <redacted:secret:1>{end} and the rest"


# ---- numbers --------------------------------------------------------------------------------------------


def test_a_secret_has_one_placeholder_in_every_context():
    password = 'p"a\\s\u00e9%/x1'
    redactor = Redactor()
    placeholder = redactor.value({"password": password})["password"]
    for text in (
        json.dumps({"password": password}),
        json.dumps({"password": password}, ensure_ascii=False),
        json.dumps(json.dumps({"password": password})),
        json.dumps({"a": json.dumps({"b": json.dumps({"password": password})})}),
        json.dumps({"password": password}).replace("password", "p\\u0061ssword"),
        repr({"password": password}),
        f"postgres://u:{quote(password, safe='')}@h/db",
    ):
        assert placeholder in redactor.text(text), text
    token = TOKENS[0].secret
    redacted = {
        redactor.text(text)
        for text in (token, json.dumps(token)[1:-1], token[:4] + f"\\u{ord(token[4]):04x}" + token[5:])
    }
    redacted |= {redactor.value({"token": token})["token"], redactor.text(f"password={token}")[9:]}
    assert redacted == {"<redacted:github-pat:1>"}


def test_ordinals_come_from_the_given_numbering():
    seen = []

    def number(kind, secret):
        seen.append((kind, secret))
        return 41

    assert Redactor(number=number).text("PASSWORD=Tr0ub4dor") == "PASSWORD=<redacted:secret:41>"
    assert seen == [("secret", "Tr0ub4dor")]


def test_the_numbering_of_its_own_keeps_no_secret():
    redactor = Redactor()
    redactor.text("PASSWORD=Tr0ub4dorXyzzy")
    held = repr([cell.cell_contents for cell in redactor._number.__closure__])
    assert "Xyzzy" not in held


# ---- failing closed -------------------------------------------------------------------------------------


def test_what_cannot_be_redacted_is_dropped_and_the_rest_kept():
    def number(kind, secret):
        raise OSError("the journal is gone")

    redactor = Redactor(number=number)
    assert redactor.value({"a": "PASSWORD=Tr0ub4dor", "b": ["fine", 1]}) == {"a": FAILED, "b": ["fine", 1]}
    assert redactor.failures == 1


def test_circular_deep_and_shared_structures_end():
    loop = {"name": "x"}
    loop["self"] = [loop]
    assert Redactor().value(loop) == {"name": "x", "self": [CIRCULAR]}
    deep = "PASSWORD=Tr0ub4dor"
    for _ in range(5000):
        deep = [deep]
    inner, depth = Redactor().value(deep), 0
    while isinstance(inner, list):
        inner, depth = inner[0], depth + 1
    assert (inner, depth) == (TOO_DEEP, MAX_DEPTH)
    shared = ["PASSWORD=Tr0ub4dor"]
    for _ in range(60):
        shared = [shared, shared]
    assert Redactor().value(shared)[0][1] is not None


def test_unusual_values_come_back_untouched():
    value = [1, -2.5, float("inf"), None, True, 10**5000, object, re.compile("x")]
    assert Redactor().value(value) is value


# ---- patterns of the user -------------------------------------------------------------------------------


def test_custom_patterns_redact_and_leave_placeholders_alone():
    redactor = Redactor(custom_patterns=[r"ACME-\d{6}", r"\w+@corp\b", r"\d+"])
    assert redactor.text("id ACME-123456 by bob@corp") == "id <redacted:custom:1> by <redacted:custom:2>"
    once = redactor.text("a 77 b")
    assert redactor.text(once) == once == "a <redacted:custom:3> b"


@pytest.mark.parametrize(
    "pattern", ("[", "(a+)+$", "(?:a|a)*b", r"(\w+\s?)+:", r"(x*)*y", r"(?:(?:ab?)+c?)+$")
)
def test_a_bad_or_catastrophic_pattern_is_refused_by_name(pattern):
    with pytest.raises(RedactionError, match=re.escape(repr(pattern))):
        Redactor(custom_patterns=["fine", pattern])


@pytest.mark.parametrize(
    "pattern", (r"ACME-\d+", r"(?:[a-z0-9-]+\.)+corp\.local", r"employee[-_ ]\w{4,20}", r"(?i)project\s+\w+")
)
def test_a_sound_pattern_is_taken(pattern):
    Redactor(custom_patterns=[pattern])


# ---- finished artifacts ---------------------------------------------------------------------------------


def test_find_reports_what_a_generated_source_still_holds_and_no_placeholder():
    redactor = Redactor()
    events = [{"content": keep, "n": n} for n, keep in enumerate(KEEP)]
    clean = "TIMELINE = [\n" + "".join(f"    {event!a},\n" for event in redactor.value(events)) + "]\n"
    assert redactor.find(clean) == []
    for sample in TOKENS + PLACED:
        line = "    " + ascii({"content": "first line\n" + sample.text}) + ",\n"
        source = clean + line
        found = redactor.find(source)
        assert found and all(finding.start >= len(clean) for finding in found), sample
        assert redactor.find(clean + ascii(redactor.value({"content": sample.text}))) == []


@pytest.mark.parametrize(
    "value",
    (
        "kubectl create secret generic db --from-file=password= ./password.txt\U0001f600",
        "password:  str\u2026",
        "\U0001f511 token: \u2705 ok",
        "token TOKEN_TTL=3600OLDPWD=/srv/app\u2028",
        {"token": "token \n"},
        {"token": "Bearer \u2026"},
        {"auth": ("bob", "Tr0ub" + "4dor")},
        "Password:  https://medium.com/@someone/a-post-123Z1\U0001f600requests.get(url)",
        "curl --user bobAPP_KEY=" + "4f9d8c7b6a5e" + "4d3c https://h.example",
        "curl -u bob:<redacted:secret:3>@<redacted:github-pat:1> https://h.example",
    ),
    ids=ascii,
)
def test_the_source_of_a_redacted_value_passes_the_scan_whatever_its_escapes(value):
    redactor = Redactor()
    redacted = redactor.value(value)
    for source in (f"STEP = {redacted!a}\n", json.dumps([redacted]), json.dumps(json.dumps([redacted]))):
        assert redactor.find(source) == [], source


def test_the_second_of_a_pair_for_authentication_is_a_password():
    password = "Tr0ub" + "4dor"
    assert Redactor().value({"auth": ("bob", password)}) == {"auth": ("bob", "<redacted:secret:1>")}
    for kept in ({"auth": ["basic", "oauth"]}, {"auth": ("bob",)}, {"auth": ("bob", None)}):
        assert Redactor().value(kept) == kept


def test_a_secret_in_a_named_entry_or_behind_its_option_is_replaced():
    secret = "Velvet" + "Rocket1301"
    for value, redacted in (
        ({"Name": "/prod/db/password", "Value": secret}, {"Name": "/prod/db/password", "Value": "<>"}),
        ({"password": {"value": secret, "age": 3}}, {"password": {"value": "<>", "age": 3}}),
        (["tool", "--password", secret, "--user"], ["tool", "--password", "<>", "--user"]),
        (["tool", "--password", "--user", "bob"], ["tool", "--password", "--user", "bob"]),
    ):
        expected = json.loads(json.dumps(redacted).replace("<>", "<redacted:secret:1>"))
        assert Redactor().value(value) == expected


def test_find_gives_offsets_of_the_given_text():
    token = TOKENS[0].secret
    hidden = "".join(f"\\u{ord(c):04x}" for c in token[:6]) + token[6:]
    text = f"'a\\/b' and '{hidden}' end"
    (finding,) = Redactor().find(text)
    assert text[finding.start : finding.end] == hidden and finding.kind == "github-pat"


# ---- cost -----------------------------------------------------------------------------------------------


UNITS = (
    "0123456789abcdef", "aB3+/xZ9", "a", '"', "@", ".", "\\", "[", '{"a":', "sk-", "-----BEGIN ",
    "password=", "eyJ", ":", "//", "password=[", '"password":["', "xoxb-", "a@", "a:b@", "a@b.co ",
    "://a:b@", "\\u0041", "…", "é", "日", "-----BEGIN PRIVATE KEY-----", "token: ", "Cookie: a=b;",
    "%40", '\\"', "secret='", "curl -u a:b ",
    "echo a | sudo -S ", "| --with-token", "a:b@tcp(", "someone@example.com ", "a@a.", "7z -p",
)  # fmt: skip


@pytest.mark.parametrize("start", ('password="', '"password":"', "token=a", "\\/", "key: |\\"))
def test_time_grows_in_line_with_the_backslashes_after(start):
    redactor = Redactor()

    def seconds(length):
        started = time.process_time()
        redactor.text(start + "\\" * length)
        return time.process_time() - started

    seconds(1000)
    assert seconds(160_000) < 10 * max(seconds(40_000), 0.02)


@pytest.mark.parametrize("unit", UNITS)
def test_time_grows_in_line_with_one_unbroken_run(unit):
    redactor = Redactor()

    def seconds(length):
        text = (unit * (length // len(unit) + 1))[:length]
        best = 9.0
        for _ in range(2):
            started = time.process_time()
            redactor.text(text)
            best = min(best, time.process_time() - started)
        return best

    seconds(1000)
    short = max(seconds(40_000), 0.002)
    assert seconds(160_000) < 10 * short


def test_importing_the_module_compiles_no_pattern():
    code = (
        "import re\ncalls = []\nplain = re.compile\n"
        "re.compile = lambda *a, **k: calls.append(a) or plain(*a, **k)\n"
        "import hermes_unroll._common.redact\nassert calls == [], calls\n"
    )
    root = Path(__file__).resolve().parents[2]
    assert subprocess.run([sys.executable, "-c", code], cwd=root).returncode == 0


def test_a_random_log_with_secrets_loses_only_these():
    draw = random.Random(7)
    for _ in range(50):
        samples = draw.sample(TOKENS, 3)
        pieces = draw.sample(KEEP, 4)
        text = "\n".join(
            [pieces[0], *(f"{piece}\n{s.secret}" for piece, s in zip(pieces[1:], samples, strict=True))]
        )
        redacted = Redactor().text(text)
        assert PLACEHOLDER.sub("", redacted) == "\n".join(
            [pieces[0], *(f"{piece}\n" for piece in pieces[1:])]
        )


@pytest.mark.parametrize("unit", ["api_key=", "token=", "AccountKey="])
def test_names_in_a_row_are_read_in_linear_time(unit: str) -> None:
    def seconds(size: int) -> float:
        text, redactor = unit * (size // len(unit)), Redactor()
        began = time.process_time()
        redactor.text(text)
        return time.process_time() - began

    seconds(4_000)
    # Four times the text takes about four times as long; sixteen times would be quadratic.
    assert min(seconds(40_000) / seconds(10_000) for _ in range(3)) < 10


@pytest.mark.parametrize("pattern", ["((a{1,5}){1,5}){1,5}b", "a*a*a*a*a*a*b"])
def test_the_check_of_a_slow_pattern_ends_soon_itself(pattern: str) -> None:
    began = time.process_time()
    with pytest.raises(RedactionError, match="could take forever"):
        Redactor(custom_patterns=[pattern])
    assert time.process_time() - began < 20
