"""Settings: environment before .env before config.yaml; what is wrong is said and the default holds."""

import json
import re
from pathlib import Path

import pytest

from hermes_ops import settings
from hermes_ops._common import config

OPTIONS = (
    settings.Option("wallet.floor", 2.0, settings.number(0), "floor", ("WALLET_LOW_BALANCE",)),
    settings.Option("wallet.key", "", settings.text, "key", ("WALLET_API_KEY",), secret=True),
    settings.Option("budget.act", False, settings.switch, "act"),
    settings.Option("alerts", (), settings.words, "channels"),
    settings.Option("mode", "a", settings.choice("a", "b"), "mode"),
)


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    monkeypatch.delenv("WALLET_LOW_BALANCE", raising=False)
    config._cache.clear()
    return tmp_path


def write(home, ops, entries=None):
    content = {"ops": ops, "plugins": {"entries": entries or {}}}
    (home / "config.yaml").write_text(json.dumps(content))


def test_defaults_hold_without_any_file(home):
    found = settings.load(home, OPTIONS)
    assert (found["wallet.floor"], found["alerts"], found.problems) == (2.0, (), [])
    assert set(found.sources.values()) == {"default"}


def test_the_environment_wins_over_dotenv_and_dotenv_over_the_config(home, monkeypatch):
    write(home, {"wallet": {"floor": 3}})
    assert settings.load(home, OPTIONS)["wallet.floor"] == 3.0
    (home / ".env").write_text("export WALLET_LOW_BALANCE='4'\n")
    assert settings.load(home, OPTIONS)["wallet.floor"] == 4.0
    monkeypatch.setenv("WALLET_LOW_BALANCE", "5")
    found = settings.load(home, OPTIONS)
    assert (found["wallet.floor"], found.sources["wallet.floor"]) == (5.0, "WALLET_LOW_BALANCE")


def test_the_plugins_own_entry_wins_over_the_section(home):
    write(home, {"mode": "a"}, {"hermes-ops": {"settings": {"mode": "b"}}})
    assert settings.load(home, OPTIONS)["mode"] == "b"


@pytest.mark.parametrize(
    ("ops", "name", "said"),
    [
        ({"wallet": {"floor": "NaN"}}, "wallet.floor", "at least 0"),
        ({"wallet": {"floor": -1}}, "wallet.floor", "at least 0"),
        ({"wallet": {"floor": True}}, "wallet.floor", "at least 0"),
        ({"wallet": {"floor": [1]}}, "wallet.floor", "at least 0"),
        ({"budget": {"act": "maybe"}}, "budget.act", "true or false"),
        ({"alerts": 5}, "alerts", "list"),
        ({"mode": "c"}, "mode", "a, b"),
    ],
)
def test_what_is_wrong_is_said_and_the_default_holds(home, ops, name, said):
    write(home, ops)
    found = settings.load(home, OPTIONS)
    [problem] = found.problems
    assert name in problem and said in problem
    assert found[name] == next(option.default for option in OPTIONS if option.name == name)
    assert found.sources[name] == "default"


def test_a_secret_of_the_wrong_kind_is_not_repeated(home):
    write(home, {"wallet": {"key": 12345678}})
    [problem] = settings.load(home, OPTIONS).problems
    assert "12345678" not in problem


def test_names_that_are_no_settings_are_told_with_the_nearest(home):
    write(home, {"wallet": {"flor": 1}, "budgte": {"act": True}, "mode": "a"})
    problems = settings.unknown_names(home, OPTIONS)
    assert any("ops.wallet.flor" in one and "wallet.floor" in one for one in problems)
    assert any("ops.budgte" in one for one in problems)
    assert len(problems) == 2


def test_an_unreadable_config_is_a_problem_and_not_a_crash(home):
    (home / "config.yaml").write_text("ops: [")
    assert settings.load(home, OPTIONS).problems
    (home / "config.yaml").write_text("ops: 5")
    assert settings.load(home, OPTIONS).problems


def test_an_unreadable_dotenv_is_a_problem_and_not_a_crash(home):
    (home / ".env").mkdir()
    write(home, {"wallet": {"floor": 3}})
    found = settings.load(home, OPTIONS)
    assert found["wallet.floor"] == 3.0
    [problem] = found.problems
    assert ".env" in problem


def test_every_module_that_has_options_is_listed():
    package = Path(settings.__file__).parent
    having = {
        ".".join(path.relative_to(package).with_suffix("").parts)
        for path in package.rglob("*.py")
        if re.search(r"^OPTIONS\b", path.read_text("utf-8"), re.MULTILINE)
    }
    assert having == set(settings.MODULES)
    assert list(settings.MODULES) == sorted(settings.MODULES)


def test_every_option_of_every_module_has_a_name_of_its_own_and_a_default_that_passes():
    options = settings.all_options()
    assert len({option.name for option in options}) == len(options) > 20
    variables = [variable for option in options for variable in option.variables]
    assert len(set(variables)) == len(variables)
    for option in options:
        assert option.help
        if option.default not in (None, "", (), False):
            option.check(option.default)
