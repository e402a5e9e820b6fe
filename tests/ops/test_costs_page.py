"""The cost page in a real browser: no request, no error, figures of the JSON, nothing injected, readable."""

from __future__ import annotations

import json
import shutil
from datetime import timezone
from types import SimpleNamespace

import pytest

from hermes_ops import cli
from hermes_ops.core.ledger import Balance, Ledger
from tests.ops.state_databases import EVENING, JOB, NEXT_EVENING, evening_home, grow_a_day

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="no chromium with its driver on PATH"),
]

HOSTILE = (
    """</script><img src=x onerror="window.injected=1"> '"`</style></title><svg onload=window.injected=1>"""
)
WORDS = {"unknown", "in a plan", "not attributable to a day yet"}
UTC = timezone.utc

FIGURES = "return [...document.querySelectorAll('[data-figure]')].map(e => [e.dataset.figure, e.textContent])"
SMALLEST = """
return Math.min(...[...document.querySelectorAll('body *')].filter(e => [...e.childNodes].some(
  n => n.nodeType === 3 && n.textContent.trim())).map(e => parseFloat(getComputedStyle(e).fontSize)))"""
OVERLAPS = """
return [...document.querySelectorAll('svg.chart > g')].filter(g => {
  const [label, value] = [...g.querySelectorAll('text')].map(t => t.getBoundingClientRect());
  return label.right > value.left || value.right > document.documentElement.clientWidth;
}).map(g => g.textContent)"""
CONTRASTS = """
const light = c => { const [r, g, b] = c.match(/[0-9.]+/g).map(Number).map(v => v / 255).map(
  v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126*r + 0.7152*g + 0.0722*b; };
const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
  if (!/, 0\\)$|transparent/.test(c)) return c; } return 'rgb(255, 255, 255)'; };
return [...document.querySelectorAll('body *')].filter(e => [...e.childNodes].some(
  n => n.nodeType === 3 && n.textContent.trim()) && !e.closest('title, desc')).map(e => {
    const s = getComputedStyle(e), a = light(e.closest('svg') ? s.fill : s.color), b = light(behind(e));
    return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.textContent.slice(0, 40)]; })"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The page and the JSON of one home with everything on it, names that attack included."""
    home = tmp_path_factory.mktemp("home")
    state = evening_home(home)
    for column in ("title", "chat_id", "thread_id"):
        state.connection.execute(f"ALTER TABLE sessions ADD COLUMN {column} TEXT")
    state.connection.execute("UPDATE sessions SET title = ?, chat_id = '-100'", (HOSTILE,))
    ledger = Ledger.open(home)
    ledger.record_balance(Balance(EVENING, "openrouter", "k", 10.0, "USD"))
    ledger.collect(EVENING)
    grow_a_day(state)
    for i in range(14):
        name = f"{HOSTILE} {i}" if i else HOSTILE
        state.use("long_chat", NEXT_EVENING - 600, name, f"provider {i}", calls=1, input=10**i, usd=0.001 * i)
    state.use(
        "long_chat", NEXT_EVENING - 600, "unpriced" * 9, task=HOSTILE, status="unknown", calls=2, input=9
    )
    ledger.record_balance(Balance(NEXT_EVENING, "openrouter", "k", 8.5, "USD"))
    ledger.close()
    (home / "cron").mkdir()
    job = {"id": JOB, "name": HOSTILE, "prompt": "x", "schedule": {"kind": "cron", "expr": "0 6 * * *"}}
    (home / "cron" / "jobs.json").write_text(json.dumps({"jobs": [job]}), "utf-8")
    path = tmp_path_factory.mktemp("out") / "page #1.html"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HERMES_HOME", str(home))
        patch.setenv("HERMES_TIMEZONE", "UTC")
        patch.setattr("hermes_ops.commands.costs.time", SimpleNamespace(time=lambda: NEXT_EVENING))
        told = []
        patch.setattr("hermes_ops.commands.costs.say_json", told.append)
        assert cli.main(["costs", "--days", "4", "--out", str(path), "--json"]) == 0
    state.close()
    return path, json.loads(json.dumps(told[0]))


@pytest.fixture(scope="module")
def browser(page):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    try:
        driver.get(page[0].as_uri())
        yield driver
    finally:
        driver.quit()


def shown_at(browser, width: int, scheme: str = "light") -> None:
    size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})


def at(data, place: str):
    for part in place.split("."):
        data = data[int(part)] if isinstance(data, list) else data[part]
    return data


def test_the_page_asks_for_nothing_and_reports_no_error(browser, page):
    assert browser.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
    assert set(asked) == {page[0].as_uri()}
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0


def test_every_figure_is_that_of_the_json(browser, page):
    figures = browser.execute_script(FIGURES)
    for place, text in figures:
        value = at(page[1], place)
        if value is None:
            assert text in WORDS, place
            continue
        number = float(text.replace("≥", "").replace("$", "").replace(",", "").replace("+", ""))
        precise = 0.00005 if abs(value) < 0.01 else 0.005
        assert number == value if isinstance(value, int) else abs(number - value) <= precise + 1e-9, place
    places = [place for place, _ in figures]
    data = page[1]
    groups = [f"by_{name}" for name in ("provider", "model", "task", "job", "session")]
    expected = {f"by_day.{i}.usd" for i in range(4)} | {"total.usd", "total.calls", "total.tokens"}
    expected |= {f"{name}.rows.{i}.usd" for name in groups for i in range(len(data[name]["rows"]))}
    expected |= {f"{name}.rest.usd" for name in groups if data[name]["rest"]}
    expected |= {"measured.0.fell", "measured.0.estimated.usd", "measured.0.unexplained"}
    assert expected <= set(places)
    assert places.count("by_model.rest.usd") == 2, "in the chart and in the table"


def test_figures_say_what_is_a_lower_bound_and_what_is_unknown(browser, page):
    texts = dict(browser.execute_script(FIGURES))
    for place, text in texts.items():
        if place.endswith(".usd") and not place.startswith("measured"):
            figure = at(page[1], place.removesuffix(".usd"))
            assert text.startswith("≥") == (figure["at_least"] and figure["usd"] is not None), place
    assert "unknown" in texts.values() and "not attributable to a day yet" in texts.values()


def test_names_that_attack_are_text(browser):
    assert browser.execute_script("return window.injected === undefined")
    assert (
        browser.execute_script("return document.querySelectorAll('img, script, svg:not(.chart)').length") == 0
    )
    assert browser.execute_script("return document.querySelectorAll('style, title').length") > 1
    body = browser.execute_script("return document.body.textContent")
    assert '<img src=x onerror="window.injected=1">' in body


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_is_readable_on_a_narrow_and_a_wide_screen(browser, width):
    shown_at(browser, width)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert browser.execute_script(SMALLEST) >= 12
    assert browser.execute_script(OVERLAPS) == []
    [tall] = browser.execute_script(
        "return [document.querySelector('svg.chart').getBoundingClientRect().height]"
    )
    assert tall >= 4 * 40


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_contrast_in_both_schemes(browser, scheme):
    shown_at(browser, 390, scheme)
    paper = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
    found = browser.execute_script(CONTRASTS)
    assert len(found) > 100 and min(found)[0] >= 4.5, min(found)
