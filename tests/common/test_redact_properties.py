"""What redaction promises for any text and any structure, tried on generated ones.

`scripts/fuzz-redact` runs the same properties for longer: REDACT_EXAMPLES sets the examples of each.
"""

import json
import os

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hermes_unroll._common.redact import PLACEHOLDER, Redactor
from tests.common.redaction_corpus import KEEP, PLACED, PRIVATE_KEYS, TOKENS

EXAMPLES = int(os.environ.get("REDACT_EXAMPLES", "80"))
examples = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    print_blob=True,
    database=None,
)

SAMPLES = TOKENS + PLACED
GLUE = ("", " ", "\n", "\\n", ", ", '"', "'", "\\", "=", ": ", ".", "…", "...", "[", "}", "<", "&", "%",
        "/", "-",
        "\x00",
        "\ud83d", "\u2028", "İ", "é", "😀", "\\u0041", '\\"', "`", "$", "token", "password", "Bearer ",
        "://", "A" * 20)  # fmt: skip

plain_texts = st.text(max_size=30) | st.sampled_from(KEEP)
fragments = st.one_of(
    st.sampled_from([sample.text for sample in SAMPLES]),
    st.sampled_from([sample.secret for sample in TOKENS]),
    st.sampled_from(KEEP),
    st.sampled_from(PRIVATE_KEYS),
    st.sampled_from(GLUE),
    st.text(max_size=12),
)
mixtures = st.lists(fragments, max_size=6).map("".join)
separated = st.lists(fragments, max_size=5).map("\n".join)
names = st.sampled_from(
    ("a", "content", "note", "usage", "arguments", "password", "token", "api_key", "name",
     "value", "pin", "auth",
     "имя")
)  # fmt: skip
leaves = st.one_of(
    separated, st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.binary(max_size=20)
)
structures = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(names | separated, inner, max_size=3)
        | st.tuples(inner, inner)
    ),
    max_leaves=8,
)


@st.composite
def planted_documents(draw):
    """A JSON document whose leaves are texts that redaction leaves alone, and secrets at known paths."""
    quiet = Redactor()
    planted = {}

    def build(path, depth):
        kind = draw(st.integers(0, 9))
        if kind < 2:
            sample = draw(st.sampled_from(TOKENS))
            before, after = (
                draw(st.sampled_from(("", "see ", "a\n", "\t"))),
                draw(st.sampled_from(("", " ok", "\nb", "."))),
            )
            planted[path] = sample.secret
            return before + sample.secret + after
        if kind < 6 or depth > 3:
            leaf = draw(plain_texts | st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False))
            return leaf if not isinstance(leaf, str) or quiet.text(leaf) == leaf else "x"
        if kind < 8:
            return [build((*path, i), depth + 1) for i in range(draw(st.integers(0, 3)))]
        document = {}
        for name in draw(
            st.lists(
                st.sampled_from(("a", "text", "note", "args", "id", "имя", "x y")), max_size=3, unique=True
            )
        ):
            document[name] = build((*path, name), depth + 1)
        if draw(st.integers(0, 4)) == 0:
            name = draw(st.sampled_from(("password", "api_key", "X-Auth-Token", "clientSecret")))
            document[name] = draw(st.sampled_from(("Tr0ub4dor&3", 'q"uo\\te', "пароль7", "a b\nc", "S")))
            planted[(*path, name)] = document[name]
        return document

    return build((), 0), planted


def differing(one, other, path=()):
    """The paths at which two JSON values differ."""
    if type(one) is type(other) is dict and list(one) == list(other):
        return [p for key in one for p in differing(one[key], other[key], (*path, key))]
    if type(one) is type(other) is list and len(one) == len(other):
        return [p for i in range(len(one)) for p in differing(one[i], other[i], (*path, i))]
    return [] if type(one) is type(other) and one == other else [path]


@examples
@example((["Password:"], {}), 2, False, 1)
@example(({"a": "Token:"}, {}), 3, True, 2)
@given(planted_documents(), st.integers(1, 3), st.booleans(), st.sampled_from((None, 1, 2)))
def test_a_json_document_changes_at_the_planted_paths_alone(planted_document, levels, ascii_only, indent):
    document, planted = planted_document
    text = json.dumps(document, ensure_ascii=ascii_only, indent=indent)
    for _ in range(levels - 1):
        text = json.dumps({"arguments": text}, ensure_ascii=ascii_only)
    redactor = Redactor()
    redacted = redactor.text(text)
    assert PLACEHOLDER.sub("", redacted).count("redacted:") == text.count("redacted:")
    value = redacted
    for _ in range(levels - 1):
        value = json.loads(value)["arguments"]
    value = json.loads(value)
    assert sorted(map(repr, differing(document, value))) == sorted(map(repr, planted))
    assert value == redactor.value(document)
    for secret in planted.values():
        assert len(secret) < 8 or json.dumps(secret)[1:-1] not in redacted


@examples
@given(mixtures)
def test_redacting_twice_changes_nothing_more(text):
    redactor = Redactor()
    once = redactor.text(text)
    assert redactor.text(once) == once
    assert redactor.find(once) == []


@examples
@given(st.lists(fragments, max_size=6).map(" ".join))
def test_text_outside_the_placeholders_is_a_part_of_the_original(text):
    position = 0
    for part in PLACEHOLDER.sub("\0\0", Redactor().text(text)).split("\0\0"):
        position = text.find(part, position)
        assert position >= 0
        position += len(part)


@examples
@given(structures)
def test_a_redacted_structure_stays_and_its_source_passes_the_scan(value):
    redactor = Redactor()
    redacted = redactor.value(value)
    assert redactor.failures == 0
    assert redactor.value(redacted) == redacted
    assert redactor.find(f"STEP = {redacted!a}\n") == []


@examples
@given(st.text(alphabet=st.characters(), max_size=300))
def test_any_text_passes_without_an_error(text):
    redactor = Redactor()
    redactor.text(text + "\ud83d" + text)
    redactor.find(text)


@examples
@given(st.sampled_from(SAMPLES), st.text(max_size=20), st.text(max_size=20))
def test_a_secret_disappears_between_any_lines(sample, before, after):
    text = f"{before}\n{sample.text}\n{after}"
    for given_text in (text, json.dumps({"out": text}), ascii(text)):
        redacted = Redactor().text(given_text)
        assert sample.secret[10:22] not in redacted or len(sample.secret) < 14
