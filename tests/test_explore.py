"""The widget of a notebook: its model in Python, and its view in Chromium."""

import json
import re
import shutil

import numpy as np
import pytest

import gsp_fb as gf
from gsp_fb.errors import GraphError, ParameterError
from gsp_fb.report.drawing import RESPONSES

pytest.importorskip("anywidget", reason="the widget needs anywidget")
GRAPH = gf.datasets.grid(5, 6)
X = np.random.default_rng(0).standard_normal((30, 2))


def test_values_are_read_and_set_in_python():
    view = gf.explore(GRAPH, X, kernel="heat", value=3.0)
    laplacian = gf.operator(GRAPH, "sym", channel="high")
    exact = gf.FilterBank(laplacian, [gf.filters.heat(3.0)]).analyze(X[:, 0])[:, 0]
    assert np.allclose(view.filtered, exact)
    view.family, view.gamma, view.kernel, view.value, view.signal = "renorm_rw", 2.0, "pair", 0.25, "feature 1"
    low = gf.operator(GRAPH, "renorm_rw", gamma=2.0) @ X[:, 1]
    assert np.allclose(view.filtered, 0.75 * low + 0.25 * (X[:, 1] - low))


def test_signals_come_from_the_node_table():
    named = GRAPH.with_nodes({"height": np.arange(30.0), "kind": ["a", "b"] * 15})
    view = gf.explore(named, y="kind")
    assert {"label a", "label b", "height", "degree"} == set(view.signals)


@pytest.mark.parametrize("kernel", RESPONSES)
def test_every_response_has_its_kernel(kernel):
    view = gf.explore(GRAPH, X, kernel=kernel)
    assert view.response([0.0, 1.0]).shape == (2,)
    assert view.filtered.shape == (30,)


def test_refusals():
    with pytest.raises(GraphError, match="undirected"):
        gf.explore(gf.Graph.from_edges([(0, 1)], directed=True))
    with pytest.raises(GraphError, match="too large"):
        gf.explore(gf.datasets.ring(6000))
    with pytest.raises(ParameterError, match="unknown kernel 'heaat'"):
        gf.explore(GRAPH, kernel="heaat")
    view = gf.explore(GRAPH, X)
    view.signal = "none such"
    with pytest.raises(ParameterError, match="unknown signal 'none such'"):
        _ = view.filtered


PAGE = """<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>widget</title><style>%s</style><body>
<div id="cell"></div><script type="module">%s
const values = %s, listeners = {};
const model = {
  get: (name) => values[name],
  set: (name, value) => {
    if (values[name] === value) return;
    values[name] = value;
    (listeners[name] ?? []).forEach((f) => f());
  },
  on: (event, f) => { (listeners[event.slice(7)] ??= []).push(f); },
  off: () => {}, save_changes: () => { window.saved = { ...values }; },
};
window.model = model;
render({ model, el: document.getElementById("cell") });
</script></body></html>"""


@pytest.fixture
def browser(tmp_path):
    webdriver = pytest.importorskip("selenium.webdriver", reason="the view needs selenium")
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        pytest.skip("no chromium and chromedriver here (Debian: chromium, chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    flags = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-sync")
    for flag in (*flags, "--disable-background-networking", f"--user-data-dir={tmp_path / 'profile'}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    yield driver
    driver.quit()


def test_the_view_follows_the_model_and_back(browser, tmp_path):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import Select, WebDriverWait

    view = gf.explore(GRAPH, X, kernel="heat", value=3.0)
    names = ("data", "markup", "prefix", "signal", "family", "gamma", "kernel", "value")
    values = json.dumps({name: getattr(view, name) for name in names}).replace("</", "<\\/")
    script = re.sub(r"^export default .*$", "", view._esm, flags=re.MULTILINE)
    page = tmp_path / "widget.html"
    page.write_text(PAGE % (view._css, script, values), encoding="utf-8")
    browser.get(page.as_uri())

    def saved(name):
        return browser.execute_script(f"return window.saved?.{name}")

    def until(holds):
        WebDriverWait(browser, 20, poll_frequency=0.05).until(lambda _: holds())

    laplacian = gf.operator(GRAPH, "sym", channel="high")
    until(lambda: saved("s_after") is not None and abs(saved("s_after") - gf.s_value(laplacian, view.filtered)) < 1e-6)
    browser.execute_script("model.set('value', 0.5)")
    view.value = 0.5
    until(lambda: abs(saved("s_after") - gf.s_value(laplacian, view.filtered)) < 1e-6)
    Select(browser.find_element(By.ID, f"{view.prefix}kernel")).select_by_visible_text(RESPONSES["band"].title)
    until(lambda: saved("kernel") == "band")
    browser.find_element(By.ID, f"{view.prefix}mix").send_keys(Keys.HOME)
    until(lambda: saved("value") == 0)
    assert browser.get_log("browser") == []
    assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth")
