"""Compare two traces step by step, by what happened.

This text is also embedded in every generated trace (for its --diff), so it stays self-contained beside
reader.py: the standard library of Python 3.9, imported where it is used.

A step is its kind, tool name, arguments, texts, result and status. Times, ids, durations and token
counts never count, nor do stream deltas, whose pieces depend on timing alone.
"""

from __future__ import annotations

from .reader import printable, short

DIFF_SCHEMA = 1
CONTENT_FIELDS = (
    *("name", "args", "status", "error_type", "error_message", "file_path", "skill", "text", "content"),
    *("finish_reason", "status_code", "reason", "error", "names", "what", "why", "background", "inner"),
    *("child_role", "child_goal", "child_status", "child_summary", "completed", "interrupted", "failed"),
)
MAX_DIFFERENCES = 20
THOROUGH = 10_000  # steps of one stretch on the left times those on the right
MARKS = {"changed": "~", "added": "+", "removed": "-"}


def compare(left: dict, right: dict) -> dict:
    """Compare two traces (as read_trace gives them) by content.

    Returns {"schema", "equal", "counts": {"equal", "changed", "added", "removed"}, "rows"}; a row is
    {"op", "left", "right", "kind", "name", "differences"}: step numbers (None where there is none) and,
    for a changed step, up to 20 of {"field", "path", "left", "right"}, the values as short text.
    Time grows with n log n of the steps.
    """
    one, other = _Side(left), _Side(right)
    pairs = _match_gaps(one.names, other.names, _match(one.prints, other.prints))
    rows = []
    i = j = 0
    for pair in [*pairs, None]:
        until_i, until_j = pair or (len(one.numbers), len(other.numbers))
        rows += [_row("removed", one.numbers[n], None, one.names[n]) for n in range(i, until_i)]
        rows += [_row("added", None, other.numbers[n], other.names[n]) for n in range(j, until_j)]
        if pair:
            same = one.prints[until_i] == other.prints[until_j]
            row = _row("equal", one.numbers[until_i], other.numbers[until_j], one.names[until_i])
            if not same:
                row["op"] = "changed"
                row["differences"] = step_differences(one.views[until_i], other.views[until_j])
            rows.append(row)
        i, j = until_i + 1, until_j + 1
    counts = {op: sum(row["op"] == op for row in rows) for op in ("equal", *MARKS)}
    return {"schema": DIFF_SCHEMA, "equal": counts["equal"] == len(rows), "counts": counts, "rows": rows}


def _row(op: str, left: object, right: object, name: tuple) -> dict:
    return {"op": op, "left": left, "right": right, "kind": name[0], "name": name[1], "differences": []}


class _Side:
    """One trace made ready: the numbers of its steps, what each is compared by, and that as text."""

    def __init__(self, trace: dict) -> None:
        import json

        timeline = trace["TIMELINE"]
        self.numbers = [n for n, step in enumerate(timeline) if step["kind"] != "on_stream_delta"]
        self.views = [step_content(trace, timeline[number]) for number in self.numbers]
        self.prints = [json.dumps(view, sort_keys=True) for view in self.views]
        self.names = [(view["kind"], str(view.get("name", ""))) for view in self.views]


def step_content(trace: dict, step: dict) -> dict:
    """Return what a step is compared by: its content fields, the message it added and the tool's result."""
    messages = trace["CONVERSATION_HISTORY"]
    view = {"kind": step["kind"]}
    for field in CONTENT_FIELDS:
        value = step.get(field)
        if value is not None and value is not False:
            view[field] = value
    if step["kind"] == "tool_call":
        view["result"] = trace["RESPONSE_CACHE"].get("tool:" + step["event_id"], {}).get("result")
    if "message" in step:
        view.update(message_content(_at(messages, step["message"])))
        if "result" in view and view["text"] == view["result"]:
            del view["text"]
    if step["kind"] == "context":
        view["messages"] = [_summary(_at(messages, index)) for index in step.get("messages") or []]
    return view


def message_content(message: dict) -> dict:
    """Return the content of a message without ids: text, reasoning, tool calls with parsed arguments."""
    view = {"text": message.get("content")}
    reasoning = message.get("reasoning") or message.get("reasoning_content")
    if reasoning:
        view["reasoning"] = reasoning
    if isinstance(message.get("tool_calls"), list) and message["tool_calls"]:
        view["tool_calls"] = [_call_content(call) for call in message["tool_calls"]]
    return view


def _call_content(call: object) -> object:
    if not isinstance(call, dict):
        return call
    function = call["function"] if isinstance(call.get("function"), dict) else call
    return {"name": function.get("name"), "arguments": _parsed(function.get("arguments"))}


def _at(messages: list, index: object) -> dict:
    return messages[index] if type(index) is int and 0 <= index < len(messages) else {}


def _summary(message: dict) -> str:
    import hashlib
    import json

    text = json.dumps(message_content(message), sort_keys=True)
    return f"{message.get('role')}: {text[:60]} ({hashlib.sha256(text.encode()).hexdigest()[:8]})"


# Aligning ------------------------------------------------------------------------------------


def _match(left: list, right: list) -> list:
    """Pair equal items so that the pairs rise on both sides.

    What both sides begin with is paired first, then what occurs once on each side; the same again
    between those. Where nothing occurs once, a short stretch is searched thoroughly, and in a long one
    the k-th occurrence meets the k-th: that keeps the time near n log n.
    """
    from difflib import SequenceMatcher

    pairs = []
    work = [(0, len(left), 0, len(right))]
    while work:
        i, end_i, j, end_j = work.pop()
        while i < end_i and j < end_j and left[i] == right[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        one, other, base_i, base_j = left[i:end_i], right[j:end_j], i, j
        anchors = _rising(_places(one, once=True), _places(other, once=True))
        if not anchors and len(one) * len(other) <= THOROUGH:
            for block in SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks():
                pairs += [(i + block.a + n, j + block.b + n) for n in range(block.size)]
            continue
        anchors = anchors or _rising(_places(one), _places(other))
        for a, b in anchors:
            pairs.append((base_i + a, base_j + b))
            work.append((i, base_i + a, j, base_j + b))
            i, j = base_i + a + 1, base_j + b + 1
        if anchors:
            work.append((i, end_i, j, end_j))
    return sorted(pairs)


def _places(items: list, once: bool = False) -> dict:
    """Return (item, how many of it came before) -> index; with `once` only for items that occur once."""
    places, counts = {}, {}
    for index, item in enumerate(items):
        counts[item] = counts.get(item, 0) + 1
        places[item, counts[item]] = index
    return {key: index for key, index in places.items() if counts[key[0]] == 1} if once else places


def _rising(left: dict, right: dict) -> list:
    """Pair the indexes of common keys, as many as can rise on both sides (a longest rising run)."""
    from bisect import bisect_left

    # ends[n] is the place on the right where the best run of n + 1 pairs ends; runs[n] is that run,
    # linked from its last pair back.
    ends, runs = [], []
    for key, index in left.items():
        if key in right:
            length = bisect_left(ends, right[key])
            ends[length : length + 1] = [right[key]]
            runs[length : length + 1] = [((index, right[key]), runs[length - 1] if length else None)]
    pairs = []
    run = runs[-1] if runs else None
    while run:
        pairs.append(run[0])
        run = run[1]
    return pairs[::-1]


def _match_gaps(left: list, right: list, pairs: list) -> list:
    """Add to rising pairs those that match between each two of them."""
    found = []
    i = j = 0
    for pair in [*pairs, None]:
        until_i, until_j = pair or (len(left), len(right))
        if i < until_i and j < until_j:
            found += [(i + a, j + b) for a, b in _match(left[i:until_i], right[j:until_j])]
        found += [pair] if pair else []
        i, j = until_i + 1, until_j + 1
    return found


# Differences within a step -------------------------------------------------------------------


class _Missing:
    """Stands for the value that one side does not have."""

    def __repr__(self) -> str:
        return "nothing"


MISSING = _Missing()


def step_differences(left: dict, right: dict) -> list:
    """Name where two views of a step differ: field, JSON pointer within it, both values as short text."""
    from itertools import islice

    found = []
    for field in [*left, *(field for field in right if field not in left)]:
        one, other = (_parsed(view.get(field, MISSING)) for view in (left, right))
        for path, *values in islice(differences(one, other), MAX_DIFFERENCES - len(found)):
            start = _first_difference(*values)
            texts = [repr(value) if value is MISSING else short(value, 80, start) for value in values]
            found.append({"field": field, "path": path, "left": texts[0], "right": texts[1]})
    return found


def differences(left: object, right: object):
    """Yield (path, left, right) for each place where two values differ; the path is a JSON pointer."""
    work = [("", left, right)]
    while work:
        path, left, right = work.pop()
        if type(left) is dict and type(right) is dict:
            keys = [*left, *(key for key in right if key not in left)]
            inside = [(key, left.get(key, MISSING), right.get(key, MISSING)) for key in keys]
        elif type(left) is list and type(right) is list:
            longest = max(len(left), len(right))
            one, other = (side + [MISSING] * (longest - len(side)) for side in (left, right))
            inside = [(index, one[index], other[index]) for index in range(longest)]
        else:
            if left != right or type(left) is not type(right):
                yield path, left, right
            continue
        for key, one, other in reversed(inside):
            step = str(key).replace("~", "~0").replace("/", "~1")
            work.append((f"{path}/{step}", one, other))


def _parsed(value: object) -> object:
    """Return the structure inside a JSON text, any other value as it is."""
    import json

    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _first_difference(left: object, right: object) -> int:
    """Return where an excerpt of two long texts should start so that it shows their first difference."""
    if not (isinstance(left, str) and isinstance(right, str)) or max(len(left), len(right)) <= 80:
        return 0
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if left[:middle] == right[:middle] else (low, middle - 1)
    return max(0, low - 20)


def report(comparison: dict, left: str, right: str) -> str:
    """Return a comparison as text: two headings, an entry for each step that differs, the sum."""
    lines = [f"--- {printable(left)}", f"+++ {printable(right)}"]
    for row in comparison["rows"]:
        if row["op"] != "equal":
            numbers = " -> ".join(str(row[side]) for side in ("left", "right") if row[side] is not None)
            name = f" {printable(row['name'])}" if row["name"] else ""
            lines.append(f"{MARKS[row['op']]} step {numbers}  {row['kind']}{name}")
        for difference in row["differences"]:
            place = f" at {printable(difference['path'])}" if difference["path"] else ""
            lines.append(f"    {difference['field']}{place}: {difference['left']} -> {difference['right']}")
    counts = comparison["counts"]
    if comparison["equal"]:
        lines.append(f"the same: {counts['equal']} steps")
    else:
        lines.append(", ".join(f"{counts[op]} {op}" for op in MARKS) + f", {counts['equal']} the same")
    return "\n".join(lines) + "\n"
