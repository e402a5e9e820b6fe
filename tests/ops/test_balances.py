import dataclasses

import pytest

from hermes_ops.core import http
from hermes_ops.errors import Unreadable
from hermes_ops.spend.balances import Account, Left, read_balance
from tests.ops.loopback import Loopback, Says

KEY = "sk-" + "made-up-key-0123456789abcdef"


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(http, "_wait", lambda seconds, deadline: True)


@pytest.fixture
def server():
    with Loopback() as running:
        yield running


def account(server, provider="deepseek", path="", currency="USD", key=KEY):
    url = {"deepseek": "/user/balance", "openrouter": "/api/v1/credits", "json": "/left"}[provider]
    return Account("main", provider, server.url + url, key, currency, path)


def deepseek(*infos, **more):
    return {"is_available": True, "balance_infos": list(infos), **more}


def usd(amount, currency="USD"):
    return {
        "currency": currency,
        "total_balance": amount,
        "granted_balance": "0.00",
        "topped_up_balance": amount,
    }


def unreadable(server, body, provider="deepseek", path="", **says):
    one = account(server, provider, path)
    server.answers[one.url.removeprefix(server.url)] = Says(body, **says)
    with pytest.raises(Unreadable) as found:
        read_balance(one, timeout=2.0)
    assert KEY not in str(found.value)
    return found.value.why


# --- DeepSeek


def test_deepseek_says_its_amounts_as_texts_in_several_currencies(server):
    both = deepseek(usd("110.00", "CNY"), usd("9.87"))
    server.answers["/user/balance"] = Says(both)
    assert read_balance(account(server)) == Left(9.87, "USD", True)
    assert read_balance(account(server, currency="CNY")) == Left(110.0, "CNY", True)
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
    server.answers["/user/balance"] = Says(deepseek(usd("0.00"), is_available=False))
    assert read_balance(account(server)) == Left(0.0, "USD", False)


def test_an_account_in_another_currency_is_not_taken_for_dollars(server):
    why = unreadable(server, deepseek(usd("110.00", "CNY")))
    assert why == "no balance in USD; the account has CNY: set ops.wallet.currency"


def test_a_bare_number_is_understood(server):
    server.answers["/user/balance"] = Says(b"7.25\n")
    assert read_balance(account(server)) == Left(7.25, "USD")
    server.answers["/left"] = Says(b'"7.25"')
    assert read_balance(account(server, "json")).amount == 7.25


@pytest.mark.parametrize(
    ("amount", "why"),
    [
        (b"NaN", "NaN in the answer"),
        (b"-Infinity", "-Infinity in the answer"),
        (b"1e999", "inf, which is no amount"),
        (b"true", "true, not an amount"),
        (b"null", "null, not an amount"),
        (b"[]", "a list, not an amount"),
        (b"{}", "an object, not an amount"),
        (b'"NaN"', "the text 'NaN', not an amount"),
        (b'"1,000.00"', "not an amount"),
        (b'"0x10"', "not an amount"),
        (b'"\xd9\xa1"', "not an amount"),
        (b'"1e3"', "not an amount"),
        (b'""', "not an amount"),
        (b"-3.10", "negative (-3.10 USD)"),
        (b'"-0.01"', "negative (-0.01 USD)"),
        (b"1" * 400, "which is no amount"),
    ],
)
@pytest.mark.parametrize("provider", ["deepseek", "json"])
def test_what_is_no_amount_is_never_one(server, provider, amount, why):
    if provider == "deepseek":
        body = b'{"is_available": true, "balance_infos": [{"currency": "USD", "total_balance": %s}]}' % amount
        assert why in unreadable(server, body)
    else:
        assert why in unreadable(server, b'{"data": {"balance": %s}}' % amount, "json", "data.balance")


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({}, "no balance_infos in the answer (it has nothing)"),
        ({"balance_infos": []}, "no balance_infos"),
        ({"balance_infos": [None]}, "no balance in USD; the account has none"),
        (deepseek({"currency": "USD"}), "no total_balance in the answer (it has currency)"),
        (deepseek(usd("1"), usd("2")), "2 balances in USD"),
        ([1], "a list, not an amount"),
        (b"<!DOCTYPE html><html>Bad gateway</html>", "a page of HTML"),
        (b"", "an empty answer"),
        (b"ok", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"9.87 USD", "no JSON"),
    ],
)
def test_an_answer_of_another_shape_says_what_it_is(server, body, why):
    assert why in unreadable(server, body)


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (401, "HTTP 401: the key is not accepted (no such key: <key>)"),
        (403, "HTTP 403: the key is not accepted"),
        (404, "HTTP 404: no such address"),
        (429, "HTTP 429: too many requests"),
        (418, "HTTP 418"),
    ],
)
def test_a_refusal_is_not_a_balance(server, status, why):
    body = {"error": {"message": f"no such key: {KEY}"}, "balance_infos": [usd("5")]}
    assert unreadable(server, body, status=status).startswith(why)


def test_a_failing_provider_is_asked_twice_and_not_believed(server):
    assert unreadable(server, deepseek(usd("5")), status=500) == "HTTP 500: the provider fails"
    assert len(server.asked) == 2
    server.answers["/user/balance"] = [Says(status=502), Says(deepseek(usd("5.00")))]
    assert read_balance(account(server)).amount == 5.0


def test_a_provider_that_does_not_answer_is_left_in_time(server):
    server.answers["/user/balance"] = lambda handler: server.stopping.wait(10)
    with pytest.raises(Unreadable, match="no complete answer within"):
        read_balance(account(server), timeout=0.3)


def test_the_key_does_not_go_where_a_redirect_leads_and_the_answer_there_is_no_balance(server):
    with Loopback({"*": Says(deepseek(usd("5.00")))}) as other:
        server.answers["/user/balance"] = Says(status=302, headers={"Location": f"{other.url}/user/balance"})
        for answer in (Says(deepseek(usd("5.00"))), Says(status=401)):
            other.answers["*"] = answer
            with pytest.raises(Unreadable, match=f"redirected to another origin \\({other.url}/user/balance"):
                read_balance(account(server))
        assert len(other.asked) == 2 and KEY not in str(other.asked)
        server.answers["/left"] = Says(status=302, headers={"Location": f"{other.url}/left"})
        other.answers["*"] = Says("5.00")
        assert read_balance(account(server, "json", key=None)).amount == 5.0, "without a key nothing is lost"


def test_a_short_key_that_comes_back_is_in_no_message(server):
    short = "plainkey" * 2
    for answer in ({short: 1}, {"left": short}, short, {"error": {"message": f"no {short}"}}):
        for status in (200, 401, 500):
            server.answers["/left"] = Says(answer, status=status)
            with pytest.raises(Unreadable) as caught:
                read_balance(account(server, "json", path="left", key=short))
            assert short not in str(caught.value)


# --- OpenRouter


def credits(total, used):
    return Says({"data": {"total_credits": total, "total_usage": used}})


def key(**data):
    return Says({"data": data})


def test_openrouter_is_what_was_bought_less_what_was_used(server):
    server.answers["/api/v1/credits"] = credits(20, 12.345)
    server.answers["/api/v1/key"] = key(limit=None, limit_remaining=None, usage=3)
    assert read_balance(account(server, "openrouter")) == Left(7.655, "USD")


def test_the_smaller_of_account_and_limit_of_the_key_counts(server):
    one = account(server, "openrouter")
    server.answers["/api/v1/credits"] = credits(20, 12)
    server.answers["/api/v1/key"] = key(limit=5, limit_remaining=0.5)
    left = read_balance(one)
    assert left.amount == 0.5 and "the account has 8.00 USD" in left.note
    server.answers["/api/v1/key"] = key(limit=50, limit_remaining=40)
    assert read_balance(one) == Left(8.0, "USD")
    server.answers["/api/v1/key"] = Says(status=404)
    with pytest.raises(Unreadable, match="HTTP 404"):
        read_balance(one)
    server.answers["/api/v1/key"] = Says(status=403)
    assert read_balance(one).amount == 8.0 and "limit is not known" in read_balance(one).note


def test_a_key_that_may_not_see_the_account_has_its_own_limit_or_nothing(server):
    one = account(server, "openrouter")
    server.answers["/api/v1/credits"] = Says({"error": {"message": "Only management keys"}}, 403)
    server.answers["/api/v1/key"] = key(limit=5, limit_remaining=1.25)
    left = read_balance(one)
    assert left.amount == 1.25 and "for a management key alone" in left.note
    server.answers["/api/v1/key"] = key(limit=None, limit_remaining=None)
    with pytest.raises(Unreadable, match="management key alone, and this key has no limit"):
        read_balance(one)
    server.answers["/api/v1/credits"] = server.answers["/api/v1/key"] = Says(status=401)
    with pytest.raises(Unreadable, match="HTTP 401: the key is not accepted"):
        read_balance(one)


@pytest.mark.parametrize("part", ["credits", "key"])
@pytest.mark.parametrize(
    "broken",
    [
        Says({"data": {}}),
        Says({"data": None}),
        Says({}),
        Says([]),
        Says({"data": {"total_credits": None, "total_usage": 1, "limit": 5, "limit_remaining": None}}),
        Says({"data": {"total_credits": 1, "total_usage": 2, "limit": 5, "limit_remaining": -0.5}}),
        Says({"data": {"total_credits": True, "total_usage": 0, "limit": 5, "limit_remaining": True}}),
        Says(b"<html>502 Bad Gateway</html>"),
        Says(status=500),
    ],
)
def test_half_a_reading_of_openrouter_is_none(server, part, broken):
    server.answers["/api/v1/credits"] = credits(20, 12)
    server.answers["/api/v1/key"] = key(limit=5, limit_remaining=4)
    server.answers[f"/api/v1/{part}"] = broken
    with pytest.raises(Unreadable):
        read_balance(account(server, "openrouter"), timeout=3.0)


# --- anything else


def test_a_path_leads_to_the_number(server):
    server.answers["/left"] = Says({"data": {"balance": "12.5"}, "items": [{"left": 3}]})
    assert read_balance(account(server, "json", "data.balance")) == Left(12.5, "USD")
    assert read_balance(account(server, "json", "items.0.left", key=None)).amount == 3.0
    assert "authorization" not in server.asked[1].headers


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("data.credit", "no data.credit in the answer (it has balance)"),
        ("data.balance.x", "no data.balance.x in the answer (found the text '12.5')"),
        ("items.7", "no items.7 in the answer (found a list)"),
        ("", "the answer is an object, not an amount"),
    ],
)
def test_a_path_that_leads_nowhere_says_where_it_ended(server, path, why):
    assert unreadable(server, {"data": {"balance": "12.5"}, "items": []}, "json", path) == why


# --- accounts


def test_an_account_is_told_apart_by_what_does_not_give_the_key_away():
    one = Account("main", "json", "https://a.example/left", KEY)
    ids = {
        one.id,
        dataclasses.replace(one, key=KEY + "x").id,
        dataclasses.replace(one, url="https://b.example/left").id,
        dataclasses.replace(one, key=None).id,
    }
    assert len(ids) == 4 and all(len(found) == 12 for found in ids)
    assert dataclasses.replace(one, name="other").id == one.id
    assert KEY not in repr(one)
