import json

import pytest

from hermes_ops.core.watch import Context
from hermes_ops.spend.accounts import configured

KEY = "sk-" + "made-up-key-0123456789abcdef"
OTHER = "sk-or-" + "made-up-key-0123456789abcdef"
NOW = 1_796_000_000.0
NAMES = (
    "DEEPSEEK_API_KEY",
    "OPENROUTER_API_KEY",
    "WALLET_API_KEY",
    "WALLET_API_KEY_ENV",
    "WALLET_BALANCE_URL",
    "WALLET_PROVIDER",
    "WALLET_JSON_PATH",
    "WALLET_CURRENCY",
    "WALLET_LOW_BALANCE",
    "WALLET_DAILY_BURN",
)


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def env(home, **values):
    home.mkdir(parents=True, exist_ok=True)
    (home / ".env").write_text("".join(f"{name}={value}\n" for name, value in values.items()))


def config(home, wallet):
    (home / "config.yaml").write_text(json.dumps({"ops": {"wallet": wallet}}))


def wallet(home):
    return configured(Context(home, NOW))


def only(home):
    found = wallet(home)
    assert found.problems == () and found.unusable == ()
    [one] = found.watched
    return one


def test_nothing_set_is_nothing_watched(home):
    found = wallet(home)
    assert (found.watched, found.unusable, found.problems) == ((), (), ())


def test_a_known_key_in_the_env_file_picks_its_provider(home):
    env(home, DEEPSEEK_API_KEY=KEY)
    one = only(home)
    assert (one.account.name, one.account.provider, one.account.key) == ("deepseek", "deepseek", KEY)
    assert one.account.url == "https://api.deepseek.com/user/balance"
    assert (one.floor, one.daily_burn, one.key_from) == (2.0, 1.5, "DEEPSEEK_API_KEY")


def test_two_known_keys_are_two_accounts_and_a_placeholder_is_none(home):
    env(home, DEEPSEEK_API_KEY=KEY, OPENROUTER_API_KEY=OTHER)
    assert [one.account.name for one in wallet(home).watched] == ["deepseek", "openrouter"]
    env(home, DEEPSEEK_API_KEY="changeme", OPENROUTER_API_KEY=OTHER)
    assert [one.account.name for one in wallet(home).watched] == ["openrouter"]


def test_keys_of_every_profile_are_found_and_a_shared_one_is_one_account(home):
    env(home, DEEPSEEK_API_KEY=KEY)
    env(home / "profiles" / "coder", DEEPSEEK_API_KEY=KEY + "-two")
    env(home / "profiles" / "writer", DEEPSEEK_API_KEY=KEY)
    assert [one.account.name for one in wallet(home).watched] == ["deepseek", "deepseek@coder"]


def test_one_profile_that_cannot_be_read_does_not_hide_the_others(home):
    env(home, DEEPSEEK_API_KEY=KEY)
    (home / "profiles" / "coder" / ".env").mkdir(parents=True)
    found = wallet(home)
    assert [one.account.name for one in found.watched] == ["deepseek"]
    assert [name for name, _, _ in found.unusable] == ["deepseek@coder", "openrouter@coder"]


def test_the_old_names_work_from_the_environment_and_from_the_env_file(home, monkeypatch):
    env(home, WALLET_API_KEY_ENV="DEEPSEEK_API_KEY", DEEPSEEK_API_KEY=KEY, WALLET_LOW_BALANCE="5")
    monkeypatch.setenv("WALLET_DAILY_BURN", "0.75")
    one = only(home)
    assert (one.account.key, one.floor, one.daily_burn) == (KEY, 5.0, 0.75)
    env(home, WALLET_API_KEY=KEY, WALLET_BALANCE_URL="http://127.0.0.1:9/left", WALLET_PROVIDER="json")
    one = only(home)
    assert (one.account.provider, one.account.key, one.key_from) == ("json", KEY, "WALLET_API_KEY")


@pytest.mark.parametrize(
    ("settings", "provider", "url"),
    [
        ({"api_key": KEY}, "deepseek", "https://api.deepseek.com/user/balance"),
        ({"api_key": OTHER}, "openrouter", "https://openrouter.ai/api/v1/credits"),
        ({"url": "https://openrouter.ai/api/v1/credits", "api_key": KEY}, "openrouter", None),
        ({"url": "https://a.example/x", "json_path": "data.balance"}, "json", None),
        ({"url": "https://a.example/x", "api_key": KEY}, "deepseek", None),
        ({"url": "https://api.deepseek.com.evil.example/x", "json_path": "a"}, "json", None),
    ],
)
def test_the_kind_of_answer_follows_from_address_path_and_key(home, settings, provider, url):
    config(home, settings)
    one = only(home)
    assert one.account.provider == provider
    assert one.account.url == (url or settings["url"])


def test_the_key_of_a_provider_is_not_sent_to_another_address_unasked(home):
    env(home, DEEPSEEK_API_KEY=KEY, WALLET_BALANCE_URL="https://a.example/balance")
    one = only(home)
    assert (one.account.key, one.key_from) == (None, "no key")


def test_a_key_that_is_set_nowhere_is_said(home):
    env(home, WALLET_API_KEY_ENV="MY_KEY")
    found = wallet(home)
    assert found.watched == ()
    assert found.unusable == (("deepseek", "MY_KEY is set nowhere", f"set MY_KEY in {home / '.env'}"),)
    env(home, WALLET_PROVIDER="json", WALLET_API_KEY=KEY)
    assert wallet(home).unusable[0][1] == "it has no address to ask"


def test_generic_is_another_word_for_json(home):
    env(home, WALLET_PROVIDER="generic", WALLET_API_KEY=KEY, WALLET_BALANCE_URL="http://127.0.0.1:9/left")
    assert only(home).account.provider == "json" and wallet(home).problems == ()
    accounts = [{"name": "lab", "provider": "generic", "url": "http://127.0.0.1:9/left"}]
    config(home, {"accounts": accounts})
    assert only(home).account.provider == "json"


def test_several_accounts_have_their_own_limits(home):
    env(home, DEEPSEEK_API_KEY=KEY, LAB_KEY=KEY + "-lab")
    accounts = [
        {"name": "main", "provider": "deepseek", "floor": 10},
        {"name": "lab", "url": "http://127.0.0.1:9/left", "key_variable": "LAB_KEY", "json_path": "a.b"},
        {"name": "yuan", "provider": "deepseek", "currency": "CNY", "daily_burn": 12},
    ]
    config(home, {"accounts": accounts, "floor": 3})
    found = wallet(home)
    assert [(one.account.name, one.floor, one.daily_burn) for one in found.watched] == [
        ("main", 10.0, 1.5),
        ("lab", 3.0, 1.5),
        ("yuan", 3.0, 12.0),
    ]
    assert found.watched[1].account.key == KEY + "-lab"


@pytest.mark.parametrize(
    ("accounts", "why"),
    [
        ({}, "expected a list of accounts"),
        ([1], "account 1: expected a mapping"),
        ([{"name": "a", "jsonpath": "x"}], "unknown key 'jsonpath'; did you mean json_path?"),
        ([{"provider": "deepseek"}], "account 1: expected a name of its own"),
        ([{"name": "a"}, {"name": "a"}], "account 2: expected a name of its own"),
        ([{"name": "a", "floor": "much"}], "account 1: floor: expected a number of at least 0"),
        ([{"name": "a", "provider": "bank"}], "provider: expected one of auto, deepseek"),
        ([{"name": "a", "url": 5}], "account 1: url: expected text"),
    ],
)
def test_accounts_that_are_wrong_are_said_with_their_place(home, accounts, why):
    config(home, {"accounts": accounts})
    [problem] = wallet(home).problems
    assert why in problem


def test_a_limit_that_is_none_is_said_and_the_default_holds(home):
    env(home, DEEPSEEK_API_KEY=KEY, WALLET_LOW_BALANCE="nan")
    found = wallet(home)
    assert found.watched[0].floor == 2.0
    assert found.problems == (
        "WALLET_LOW_BALANCE: wallet.floor 'nan': expected a number of at least 0; 2.0 holds",
    )


def test_no_key_is_ever_shown(home):
    env(home, WALLET_API_KEY=KEY, WALLET_LOW_BALANCE="x")
    assert KEY not in repr(wallet(home))
