import json
from pathlib import Path

import pytest

from hermes_ops.core.model import NoAnswer, OverBudget, Usage, endpoint, through_host
from hermes_ops.errors import OpsError, Unreadable
from hermes_ops.host import command
from hermes_ops.host.command import Said
from tests.ops.loopback import Loopback, Says

FILES = Path(__file__).parent / "answers"
KEY = "sk-" + "made-up-key-0123456789abcdef"
ASK = [{"role": "user", "content": "What is it?"}]
PATH = "/v1/chat/completions"


def case(name):
    return Says((FILES / name).read_bytes())


def says(content, finish="stop", **more):
    return Says({"choices": [{"message": {"content": content}, "finish_reason": finish}], **more})


@pytest.fixture
def server():
    with Loopback() as running:
        yield running


def client(server, model="m", **options):
    waited = []
    made = endpoint(f"{server.url}/v1/", model, KEY, wait=waited.append, **options)
    made.waited = waited
    return made


def refused(asked):
    with pytest.raises(NoAnswer) as found:
        asked.complete(ASK)
    assert KEY not in str(found.value) and "SCRATCH" not in str(found.value)
    return found.value


def test_an_answer_comes_with_its_model_and_its_use(server):
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 60}}
    server.answers[PATH] = says(" It is. ", model="served-by", usage={**usage, "cost": 0.25})
    asked = client(server)
    reply = asked.complete(ASK, max_tokens=77)
    assert (reply.text, reply.model, reply.cut) == ("It is.", "served-by", False)
    assert reply.usage == Usage(100, 20, 0, 0.25)
    assert (asked.calls, asked.usd, asked.unknown_calls) == (1, 0.25, 0)
    sent = json.loads(server.asked[0].body)
    assert sent == {"model": "m", "messages": ASK, "stream": False, "max_tokens": 77}
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"


def test_content_in_parts_is_read_and_bad_use_costs_the_use_not_the_answer(server):
    server.answers[PATH] = case("content_parts.json")
    asked = client(server)
    reply = asked.complete(ASK)
    assert reply.text == "hello"
    assert reply.usage == Usage(None, None, None, None)
    assert (asked.usd, asked.unknown_calls) == (0.0, 1)


def test_reasoning_that_was_cut_is_no_answer_and_is_paid_for(server):
    server.answers[PATH] = case("reasoning_truncated.json")
    asked = client(server)
    error = refused(asked)
    assert str(error) == "no answer, cut at limit" and not error.retryable
    assert error.usage == Usage(1000, 1600, 1600, 0.0123)
    assert (asked.calls, asked.usd) == (1, 0.0123)


@pytest.mark.parametrize("name", ["error_200.json", "null.json"])
def test_an_error_with_status_200_is_tried_again_and_then_said(server, name):
    server.answers[PATH] = case(name)
    asked = client(server)
    error = refused(asked)
    assert error.retryable and len(server.asked) == asked.calls == 3 and asked.waited == [1.0, 2.0]
    if name == "error_200.json":
        assert "Upstream provider is out of reach" in str(error)
    server.answers[PATH] = [case(name), says("at last")]
    assert asked.complete(ASK).text == "at last"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"choices": []}, "error instead of an answer"),
        ({"choices": [None]}, "error instead of an answer"),
        ({"choices": "x"}, "error instead of an answer"),
        ({"choices": [{"message": None}]}, "error instead of an answer"),
        ({"choices": [{"message": {"content": None}}]}, "empty answer"),
        ({"choices": [{"message": {"content": [{"type": "thinking", "text": "SCRATCH"}]}}]}, "empty answer"),
        ({"choices": [{"message": {"content": {"a": 1}}}]}, "empty answer"),
        ({"choices": [{"message": {"content": "", "refusal": "no"}}]}, "refused to answer"),
        ({"choices": [{"message": {"content": ""}, "finish_reason": "content_filter"}]}, "refused to answer"),
        ({"choices": [{"message": {"tool_calls": [{"id": "1"}]}}]}, "asked for a tool"),
        (
            {"choices": [{"message": {"content": "<think>SCRATCH"}, "finish_reason": "length"}]},
            "cut at limit",
        ),
        ({"choices": [{"message": {"content": "<think>SCRATCH</think>  "}}]}, "cut at limit"),
        ([1], "no JSON object"),
        (b"<html>", "no JSON object"),
        (b"[" * 100_000, "no JSON object"),
    ],
)
def test_what_is_no_answer_says_so(server, body, why):
    server.answers[PATH] = Says(body)
    assert why in str(refused(client(server)))


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<think>SCRATCH</think>\nYes.", "Yes."),
        ("SCRATCH without a beginning</think>Yes.", "Yes."),
        (
            [{"type": "reasoning", "text": "SCRATCH"}, {"type": "text", "text": "Ye"}, {"text": "s."}, None],
            "Yes.",
        ),
        ("Write <think> and </think> around it.", "Write <think> and </think> around it."),
    ],
)
def test_scratch_reasoning_is_not_part_of_the_answer(server, content, text):
    server.answers[PATH] = says(content)
    assert client(server).complete(ASK).text == text


def test_an_answer_cut_at_the_limit_says_so(server):
    server.answers[PATH] = says("The first half", "length")
    assert client(server).complete(ASK).cut


@pytest.mark.parametrize("status", [400, 401, 402, 404, 413])
def test_what_was_wrong_with_the_request_is_not_tried_again(server, status):
    server.answers[PATH] = Says({"error": {"message": f"no {KEY} today"}}, status)
    asked = client(server)
    error = refused(asked)
    assert not error.retryable and len(server.asked) == 1 and asked.waited == []
    assert str(error).startswith(f"HTTP {status}: no ")
    assert (asked.usd, asked.unknown_calls) == (0.0, 0)


def test_a_busy_provider_is_asked_again_when_it_says(server):
    busy = Says({"error": "slow down"}, 429, {"Retry-After": "7"})
    server.answers[PATH] = [busy, Says(b"", 503), says("here")]
    asked = client(server)
    assert asked.complete(ASK).text == "here" and asked.waited == [7.0, 2.0]
    server.answers[PATH] = Says(b"", 429, {"Retry-After": "4000"})
    error = refused(client(server))
    assert error.retryable and error.after == 4000


def test_the_newer_name_of_the_limit_is_used_where_the_older_is_refused(server):
    old = Says({"error": {"message": "Unsupported 'max_tokens': use 'max_completion_tokens'"}}, 400)
    server.answers[PATH] = [old, says("a"), says("b")]
    asked = client(server)
    assert [asked.complete(ASK).text, asked.complete(ASK).text] == ["a", "b"]
    assert "max_tokens" in json.loads(server.asked[0].body)
    assert [json.loads(one.body).get("max_completion_tokens") for one in server.asked[1:]] == [1600, 1600]


def test_neither_the_key_nor_the_prompt_goes_to_another_origin(server):
    with Loopback({"*": says("stolen")}) as other:
        server.answers[PATH] = Says(status=307, headers={"Location": f"{other.url}/v1/chat/completions"})
        with pytest.raises(Unreadable, match="does not leave the origin"):
            client(server).complete(ASK)
        server.answers[PATH] = Says(status=302, headers={"Location": f"{other.url}/x"})
        client(server).complete(ASK)
        assert KEY not in str(other.asked) and "What is it" not in str(other.asked)


def test_a_call_that_never_ended_counts_as_one_of_unknown_price(server):
    server.answers[PATH] = lambda handler: server.stopping.wait(10)
    asked = client(server, timeout=0.3)
    with pytest.raises(Unreadable, match="no complete answer within"):
        asked.complete(ASK)
    assert (asked.calls, asked.unknown_calls) == (1, 1)


def test_calls_end_at_the_budget_of_calls(server):
    server.answers[PATH] = says("x")
    asked = client(server, max_calls=2)
    asked.complete(ASK)
    asked.complete(ASK)
    with pytest.raises(OverBudget, match="2 of 2 calls"):
        asked.complete(ASK)
    server.answers[PATH] = case("null.json")
    assert refused(client(server, max_calls=1)).retryable


def test_a_call_that_may_go_over_the_budget_of_dollars_is_not_made(server, monkeypatch):
    monkeypatch.setattr("hermes_ops.core.model._provider_of", lambda url: "openai")
    usage = {"prompt_tokens": 1_000_000, "completion_tokens": 0}
    server.answers[PATH] = says("x", usage=usage)
    asked = client(server, "gpt-4o", max_usd=2.51)  # 2.50 per million tokens of input
    first = asked.complete(ASK, max_tokens=10)
    assert first.usage.usd == pytest.approx(2.5)
    with pytest.raises(OverBudget, match=r"\$2\.5000 of \$2\.5100 are spent"):
        asked.complete(ASK, max_tokens=10_000)
    with pytest.raises(OverBudget):
        client(server, "gpt-4o", max_usd=0.01).complete([{"role": "user", "content": "x" * 100_000}])
    unknown = client(server, "nobody-knows-it", max_usd=0.01)
    for _ in range(3):
        unknown.complete(ASK)
    assert (unknown.usd, unknown.unknown_calls) == (0.0, 3)


def test_an_endpoint_that_nobody_knows_has_no_list_price(server):
    server.answers[PATH] = says("x", usage={"prompt_tokens": 10, "completion_tokens": 1})
    assert client(server, "gpt-4o").complete(ASK).usage == Usage(10, 1, 0, None)


# --- through the host


@pytest.fixture
def host(monkeypatch):
    """Stands in for the host's command: `host.said`, `host.report`; keeps the arguments."""

    class Host:
        said = Said(0, "Four.\n", "")
        report = {  # noqa: RUF012
            "input_tokens": 1000,
            "output_tokens": 50,
            "cache_read_tokens": 200,
            "cache_write_tokens": 0,
            "reasoning_tokens": 10,
            "estimated_cost_usd": 0.02,
            "cost_status": "estimated",
            "model": "m",
            "completed": True,
            "failed": False,
        }
        arguments = None

        def run(self, home, arguments, timeout=60.0, stdin=None):
            self.arguments = list(arguments)
            if self.report is not None:
                path = Path(arguments[arguments.index("--usage-file") + 1])
                assert path.parent.stat().st_mode & 0o77 == 0
                path.write_text(json.dumps(self.report))
            return self.said

    found = Host()
    monkeypatch.setattr(command, "run_hermes", found.run)
    return found


def test_the_host_is_asked_without_tools_and_its_own_bill_is_read(host, tmp_path):
    asked = through_host(tmp_path, "m", "p")
    reply = asked.complete(ASK)
    assert (reply.text, reply.model) == ("Four.", "m")
    assert reply.usage == Usage(1200, 50, 10, 0.02)
    assert host.arguments[:3] == ["--oneshot=What is it?", "--toolsets", "context_engine"]
    assert host.arguments[5:] == ["--model", "m", "--provider", "p"]
    assert not Path(host.arguments[4]).exists()


def test_several_messages_become_one_prompt_that_says_whose_each_is(host, tmp_path):
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "--x\0"}]
    through_host(tmp_path).complete(messages)
    assert host.arguments[0] == "--oneshot=Instructions:\nBe brief.\n\nUser:\n--x"


@pytest.mark.parametrize(
    ("said", "report", "why"),
    [
        (Said(0, "HTTP 400: bad model\n", ""), {"failed": True, "completed": False}, "HTTP 400: bad model"),
        (Said(2, "", ""), {"failed": False, "completed": False}, "cut at limit"),
        (
            Said(0, "\u26a0\ufe0f No reply: the model returned empty content after retries", ""),
            {},
            "an empty answer",
        ),
        (Said(0, "half of it", ""), {"completed": False}, "half of it"),
        (Said(1, "", "hermes -z: agent failed: boom"), None, "agent failed: boom"),
        (Said(0, "text", ""), None, "hermes -z: text"),
        (Said(None, "", ""), None, "no answer within"),
        (Said(0, " \n", ""), {}, "an empty answer"),
    ],
)
def test_what_the_host_prints_instead_of_an_answer_is_none(host, tmp_path, said, report, why):
    host.said = said
    host.report = None if report is None else {**host.report, **report}
    asked = through_host(tmp_path, max_calls=1)
    assert why in str(refused(asked))
    if report is not None:
        assert asked.usd == 0.02, "what the failed run cost is booked"


def test_a_price_that_the_host_does_not_know_is_not_zero(host, tmp_path):
    host.report = {**host.report, "estimated_cost_usd": 0.0, "cost_status": "unknown"}
    asked = through_host(tmp_path)
    assert asked.complete(ASK).usage.usd is None
    assert asked.unknown_calls == 1


def test_a_prompt_that_no_command_line_can_hold_is_said(host, tmp_path):
    asked = through_host(tmp_path)
    with pytest.raises(NoAnswer, match="`hermes -z` takes 130,000"):
        asked.complete([{"role": "user", "content": "x" * 140_000}])
    assert host.arguments is None


def test_a_provider_without_a_model_is_refused_as_the_host_would(tmp_path):
    with pytest.raises(OpsError, match="without a model"):
        through_host(tmp_path, None, "openrouter")
