"""The page in a real browser: it opens in silence, filters as the library does, and fits every screen and paper."""

import base64
import shutil

import numpy as np
import pytest

import gsp_fb as gf
from gsp_fb.report import collect, write_report
from gsp_fb.report.drawing import RESPONSES, view_end
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
# The slider comes right after the picture that it moves.
ORDER = ["canvas", "spectrum", "kernel", "mix", "signal", "colour", "family", "zoom-in", "zoom-out", "zoom-fit"]
ORDER += ["button", "save-picture", "save-signal"]
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
        if reached[-1] == "save-signal":
            break
    assert [name for name in reached if name in ORDER] == ORDER


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


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_names_stay_inside_their_figures_and_numbers_on_one_line(opened, page, width):
    look(opened, width=width)
    opened.get(page.as_uri())
    outside = """return [...document.querySelectorAll('figure')].flatMap((figure) => {
        const frame = figure.getBoundingClientRect();
        return [...figure.querySelectorAll('svg text')].filter((item) => item.getBoundingClientRect().left < frame.left
            || item.getBoundingClientRect().right > frame.right).map((item) => item.textContent); })"""
    assert opened.execute_script(outside) == []
    # A cell that is not long has one line.
    broken = """return [...document.querySelectorAll('td:not(.long)')].filter((cell) => {
        const words = document.createRange(); words.selectNodeContents(cell);
        const line = parseFloat(getComputedStyle(cell).fontSize);
        return cell.textContent && words.getBoundingClientRect().height > 2 * line;
        }).map((cell) => cell.textContent)"""
    assert opened.execute_script(broken) == []
    cards = opened.find_elements(By.CSS_SELECTOR, ".cards > div")
    rows = [card.rect["y"] for card in cards]
    assert len({rows.count(row) for row in rows}) == 1


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


def test_it_opens_in_a_state_that_shows_something(opened):
    assert exact(opened, "s-after") != pytest.approx(exact(opened, "s-before"), rel=0.05)
    assert element(opened, "formula").text == RESPONSES["pair"].formula


@pytest.mark.parametrize("family", ["comb", "sym", "lazy_rw"])
@pytest.mark.parametrize("kernel", [name for name in RESPONSES if name != "pair"])
def test_the_spectral_view_filters_as_the_library_does(opened, report, data, family, kernel):
    graph, _, _ = data
    row, x = RESPONSES[kernel], report.drawing.signals["feature 2"]
    Select(element(opened, "signal")).select_by_visible_text("feature 2")
    Select(element(opened, "family")).select_by_visible_text(f"{family}: {VARIANTS[family].title}")
    Select(element(opened, "kernel")).select_by_visible_text(row.title)
    press(opened, "mix", Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    slider = float(element(opened, "mix").get_attribute("value"))
    top = view_end(VARIANTS[family].norm, graph.degrees)
    response = row.make(10**slider if row.log else slider, top)
    laplacian = gf.operator(graph, family, channel="high")
    y = gf.FilterBank(laplacian, [response], tol=1e-12).analyze(x)[:, 0]
    until(opened, lambda: abs(exact(opened, "s-after") - gf.s_value(laplacian, y)) < 1e-7 * top)
    assert exact(opened, "kept") == pytest.approx(gf.signal_energy(y) / gf.signal_energy(x), rel=1e-7)
    edges = np.linspace(0, top, 42)
    for name, values in (("before", x), ("after", y)):
        wanted = gf.energy_profile(laplacian, values, bins=edges)
        shown = np.array(element(opened, "spectrum").get_attribute(f"data-{name}").split(), dtype=float)
        scale = 1.0 if name == "before" else wanted.total / gf.energy_profile(laplacian, x, bins=edges).total
        assert np.allclose(shown, np.asarray(wanted.fraction) * scale, atol=1e-7)


def test_the_response_and_the_output_move_with_the_slider(opened):
    picture = "return document.getElementById('spectrum').toDataURL()"
    seen = opened.execute_script(picture)
    before = element(opened, "spectrum").get_attribute("data-after")
    press(opened, "mix", *(Keys.ARROW_RIGHT,) * 5)
    until(opened, lambda: opened.execute_script(picture) != seen)
    assert element(opened, "spectrum").get_attribute("data-after") != before
    press(opened, "spectrum", Keys.ARROW_RIGHT)
    until(opened, lambda: "of the energy of x" in element(opened, "band").text)
    assert "Response at both ends" in element(opened, "spectrum").get_attribute("aria-label")


def test_zoom_and_pan(opened):
    seen = opened.execute_script(PIXELS)
    element(opened, "zoom-in").send_keys(Keys.ENTER)
    until(opened, lambda: float(element(opened, "canvas").get_attribute("data-zoom")) == 1.6)
    zoomed = opened.execute_script(PIXELS)
    assert zoomed != seen
    press(opened, "canvas", Keys.SHIFT + Keys.ARROW_RIGHT)
    until(opened, lambda: opened.execute_script(PIXELS) != zoomed)
    press(opened, "canvas", "0")
    until(opened, lambda: float(element(opened, "canvas").get_attribute("data-zoom")) == 1)


def test_picture_and_filtered_signal_are_saved(opened, report, data):
    catch = "URL.createObjectURL = (blob) => { blob.text().then((text) => { window.saved = text; }); return '#'; }"
    opened.execute_script(catch)
    element(opened, "save-signal").send_keys(Keys.ENTER)
    until(opened, lambda: opened.execute_script("return window.saved") is not None)
    lines = opened.execute_script("return window.saved").splitlines()
    low = gf.operator(data[0], "sym") @ report.drawing.signals["label 0"]
    assert lines[0] == "node,x,y"
    assert lines[1].startswith(f'"{HOSTILE}",')
    assert np.allclose([float(line.rsplit(",", 1)[1]) for line in lines[1:]], low)
    opened.execute_script("window.saved = null")
    element(opened, "save-picture").send_keys(Keys.ENTER)
    until(opened, lambda: (opened.execute_script("return window.saved") or "")[1:4] == "PNG")


def test_tool_tips_have_names_and_attributes_and_many_classes_differ(opened, tmp_path):
    graph = gf.datasets.ring(12).with_nodes({"town": [f"town {k}" for k in range(12)], "height": list(range(12))})
    classes = [f"kind {k}" for k in range(12)]
    opened.get(write_report(collect(graph, y=classes), tmp_path / "towns.html").as_uri())
    press(opened, "canvas", Keys.ARROW_LEFT)
    until(opened, lambda: "height:" in element(opened, "tip").text)
    assert "class: kind" in element(opened, "tip").text
    Select(element(opened, "colour")).select_by_visible_text("classes")
    swatches = "return [...document.querySelectorAll('#class-keys canvas')].map((item) => item.toDataURL())"
    until(opened, lambda: element(opened, "class-keys").is_displayed())
    found = opened.execute_script(swatches)
    assert len(found) == len(set(found)) == 12


@pytest.fixture(scope="module")
def towns(tmp_path_factory):
    """Return the report of nine named towns on a wide map."""
    names = [f"town {k}" for k in range(9)]
    graph = gf.Graph.from_edges([(k, k + 1) for k in range(8)], n_nodes=9, nodes=names)
    graph = graph.with_nodes({"x": np.arange(9.0), "y": 0.4 * (np.arange(9) % 3)})
    assert graph.coordinates is not None
    report = collect(graph, x=np.arange(9.0), name="towns")
    return write_report(report, tmp_path_factory.mktemp("towns") / "towns.html")


def test_own_names_are_drawn_and_stay_while_the_slider_moves(opened, towns, page):
    names = "return Number(document.getElementById('canvas').dataset.names)"
    opened.get(towns.as_uri())
    until(opened, lambda: opened.execute_script(names) == 9)
    press(opened, "mix", Keys.END)
    assert opened.execute_script(names) == 9
    opened.get(page.as_uri())
    until(opened, lambda: 0 < opened.execute_script(names) < 61)


def test_numbers_are_no_names(opened, data, tmp_path):
    graph, x, y = data
    plain = gf.Graph.from_adjacency(graph.adjacency)
    opened.get(write_report(collect(plain, x=x, y=y), tmp_path / "plain.html").as_uri())
    assert opened.execute_script("return document.getElementById('canvas').dataset.names") == "0"


def test_a_phone_shows_drawing_axis_and_slider_on_one_screen(opened, page, towns):
    look(opened, 390, 664)
    box = "const of = (id) => document.getElementById(id).getBoundingClientRect(); return "
    for report in (page, towns):
        opened.get(report.as_uri())
        until(opened, lambda: opened.execute_script(box + "of('canvas').height") > 0)
        for kernel in RESPONSES.values():
            Select(element(opened, "kernel")).select_by_visible_text(kernel.title)
            assert opened.execute_script(box + "of('mix').bottom - of('canvas').top") < 664
            assert opened.execute_script("return document.documentElement.scrollWidth") == 390
    # The wide map has no empty half above and below it.
    assert opened.execute_script(box + "of('canvas').width / of('canvas').height") > 1.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast_and_controls_have_names(opened, page, scheme):
    look(opened, scheme=scheme)
    opened.get(page.as_uri())
    colours = """const style = getComputedStyle(document.body);
        const read = (name) => { const pen = document.createElement('canvas').getContext('2d');
            pen.fillStyle = style.getPropertyValue(name).trim(); return pen.fillStyle; };
        return ['--ink', '--soft', '--focus', '--paper', '--card'].map(read)"""
    ink, soft, focus, paper, card = map(luminance, opened.execute_script(colours))
    for text in (ink, soft, focus):
        for ground in (paper, card):
            light, dark = max(text, ground), min(text, ground)
            assert (light + 0.05) / (dark + 0.05) >= 4.5
    unnamed = """return [...document.querySelectorAll('select, input, button, canvas[tabindex]')].filter((item) =>
        !(item.getAttribute('aria-label') || item.textContent.trim() || item.labels?.[0]?.textContent)
        ).map((item) => item.id)"""
    assert opened.execute_script(unnamed) == []


def luminance(colour):
    """Return the relative luminance of a hexadecimal colour, as WCAG 2 defines it."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
