"""The page in a real browser: it opens in silence, filters as the library does, and fits every screen and paper."""

import base64
import shutil

import numpy as np
import pytest

import gsp_fb as gf
from gsp_fb.report import collect, write_report
from gsp_fb.variants import VARIANTS

webdriver = pytest.importorskip("selenium.webdriver", reason="the browser test needs selenium")
from selenium.webdriver.common.by import By  # noqa: E402  # only where selenium is there
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import Select, WebDriverWait  # noqa: E402

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None, reason="no chromium and chromedriver here (Debian: chromium, chromium-driver)"
)
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--allow-file-access-from-files",
)
HOSTILE = "<script>document.title = 'broken'</script>"
PIXELS = "return document.getElementById('canvas').toDataURL()"


@pytest.fixture(scope="module")
def data():
    """Return a weighted block model with a loop, an isolated node and a hostile name."""
    made = gf.datasets.contextual_sbm(60, 3, degree=6, n_features=4, rng=3)
    source, target, _ = made.graph.edges()
    rng = np.random.default_rng(0)
    pairs = np.append(np.stack([source, target], axis=1), [[5, 5]], axis=0)
    names = (HOSTILE, *(f"node {k}" for k in range(1, 61)))
    graph = gf.Graph.from_edges(pairs, rng.uniform(0.2, 3.0, len(pairs)), n_nodes=61, nodes=names)
    return graph, np.append(made.x, np.ones((1, 4)), axis=0), np.append(made.y, 0)


@pytest.fixture(scope="module")
def report(data):
    graph, x, y = data
    return collect(graph, x=x, y=y, name=HOSTILE)


@pytest.fixture(scope="module")
def page(report, tmp_path_factory):
    return write_report(report, tmp_path_factory.mktemp("page") / "report.html")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def opened(browser, page):
    """Open the page afresh: desktop, light; and insist on an empty console when the test is done."""
    look(browser)
    browser.get(page.as_uri())
    yield browser
    assert browser.get_log("browser") == []


def look(browser, width=1200, height=900, scheme="light"):
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def element(browser, name):
    return browser.find_element(By.ID, name)


def exact(browser, name):
    return float(element(browser, name).get_attribute("data-exact"))


def until(browser, holds):
    """Wait for what the page does after an event; the browser hands events on in its own time."""
    WebDriverWait(browser, 20, poll_frequency=0.05).until(lambda _: holds())


def press(browser, name, *keys):
    element(browser, name).send_keys(*keys)


def test_the_title_is_text_and_nothing_of_it_runs(opened):
    assert opened.title.startswith(HOSTILE)
    assert opened.find_element(By.TAG_NAME, "h1").text == HOSTILE


@pytest.mark.parametrize("family", VARIANTS)
def test_the_shown_s_value_is_that_of_the_library(opened, report, data, family):
    graph, _, _ = data
    Select(element(opened, "family")).select_by_visible_text(f"{family}: {VARIANTS[family].title}")
    for title in ("label 1", "feature 2", "degree"):
        Select(element(opened, "signal")).select_by_visible_text(title)
        for keys in ((Keys.HOME,), (Keys.ARROW_RIGHT,) * 3, (Keys.END,)):
            press(opened, "mix", *keys)
            if VARIANTS[family].has_gamma:
                press(opened, "gamma", Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
            gamma = 10 ** float(element(opened, "gamma").get_attribute("value")) if VARIANTS[family].has_gamma else None
            t = float(element(opened, "mix").get_attribute("value"))
            low, high = gf.FilterBank.two_channel(graph, family, gamma=gamma).analyze(report.drawing.signals[title])
            laplacian = gf.operator(graph, family, "high", gamma)
            wanted = gf.s_value(laplacian, (1 - t) * low + t * high)
            until(opened, lambda wanted=wanted: abs(exact(opened, "s-after") - wanted) < 1e-9)
            assert float(element(opened, "s-after").text) == pytest.approx(wanted, abs=1e-6)
            before = gf.s_value(laplacian, report.drawing.signals[title])
            assert exact(opened, "s-before") == pytest.approx(before, abs=1e-9)
            kept = gf.signal_energy((1 - t) * low + t * high) / gf.signal_energy(report.drawing.signals[title])
            assert exact(opened, "kept") == pytest.approx(kept, rel=1e-9)


def test_sliders_change_the_picture_and_reset_brings_it_back(opened):
    seen = [opened.execute_script(PIXELS)]

    def changes():
        until(opened, lambda: opened.execute_script(PIXELS) not in seen)
        seen.append(opened.execute_script(PIXELS))

    press(opened, "mix", Keys.END)
    changes()
    Select(element(opened, "family")).select_by_index(3)
    changes()
    press(opened, "gamma", Keys.END)
    changes()
    opened.find_element(By.CSS_SELECTOR, "button[type=reset]").send_keys(Keys.ENTER)
    until(opened, lambda: opened.execute_script(PIXELS) == seen[0])


def test_a_signal_that_is_filtered_away_has_no_s(opened, data, tmp_path):
    ring = write_report(collect(gf.datasets.ring(8), x=np.ones(8)), tmp_path / "ring.html")
    opened.get(ring.as_uri())
    press(opened, "mix", Keys.END)
    until(opened, lambda: element(opened, "s-after").text == "undefined: y is zero")


def test_gamma_is_off_where_the_family_has_none(opened):
    assert not element(opened, "gamma").is_enabled()
    Select(element(opened, "family")).select_by_index(6)
    until(opened, element(opened, "gamma").is_enabled)


def test_the_keyboard_reaches_everything(opened):
    reached = []
    body = opened.find_element(By.TAG_NAME, "body")
    body.send_keys(Keys.TAB)
    for _ in range(40):
        active = opened.switch_to.active_element
        reached.append(active.get_attribute("id") or active.tag_name)
        outline = active.value_of_css_property("outline-style")
        assert outline != "none", reached[-1]
        active.send_keys(Keys.TAB)
        if "mix" in reached and "button" in reached:
            break
    assert [name for name in reached if name in ("canvas", "signal", "family", "mix")] == [
        "canvas",
        "signal",
        "family",
        "mix",
    ]


def test_arrow_keys_walk_over_nodes_and_say_their_values(opened):
    press(opened, "canvas", Keys.ARROW_LEFT)
    until(opened, lambda: element(opened, "readout").text.startswith("Node "))
    first = element(opened, "readout").text
    assert "y = " in first
    press(opened, "canvas", Keys.ARROW_LEFT)
    until(opened, lambda: element(opened, "readout").text != first)


def test_pointing_at_a_node_says_its_name_and_value(opened, report):
    canvas = element(opened, "canvas")
    x, y = report.drawing.positions[0]
    width, height = canvas.rect["width"], canvas.rect["height"]
    offset = int(16 + x * (width - 34) - width / 2), int(16 + y * (height - 34) - height / 2)
    opened.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", canvas)
    webdriver.ActionChains(opened).move_to_element_with_offset(canvas, *offset).perform()
    until(opened, lambda: element(opened, "readout").text.startswith(f"Node {HOSTILE}"))


def test_dark_mode_is_dark(opened, page):
    lightness = "return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
    light, picture = opened.execute_script(lightness), opened.execute_script(PIXELS)
    look(opened, scheme="dark")
    assert sum(opened.execute_script(lightness)[:3]) < 150 < sum(light[:3])
    until(opened, lambda: opened.execute_script(PIXELS) != picture)


@pytest.mark.parametrize("width", [320, 375, 768, 1600])
def test_no_screen_scrolls_sideways(opened, page, width):
    look(opened, width=width)
    opened.get(page.as_uri())
    assert opened.execute_script("return document.documentElement.scrollWidth") <= width
    cramped = """return [...document.querySelectorAll('select, button, input')]
        .filter(e => e.getBoundingClientRect().right > innerWidth).map(e => e.id)"""
    assert opened.execute_script(cramped) == []


def test_it_prints(opened):
    content = base64.b64decode(opened.print_page())
    assert content.startswith(b"%PDF")
    assert len(content) > 10_000
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert not element(opened, "mix").is_displayed()
    assert element(opened, "canvas").is_displayed()
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_a_large_graph_is_shown_without_a_filter(opened, data, tmp_path, monkeypatch):
    monkeypatch.setattr("gsp_fb.report.drawing.LIVE_NODES", 10)
    monkeypatch.setattr("gsp_fb.report.drawing.SAMPLE_NODES", 10)
    graph, x, y = data
    opened.get(write_report(collect(graph, x=x, y=y), tmp_path / "part.html").as_uri())
    before = opened.execute_script(PIXELS)
    Select(element(opened, "signal")).select_by_visible_text("degree")
    until(opened, lambda: opened.execute_script(PIXELS) != before)
    assert opened.find_elements(By.ID, "mix") == []
