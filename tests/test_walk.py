"""A new user's walk: clean clone, `make demo`, the report in a browser, the README as it stands, the documentation.

It makes an environment of its own and installs into it, so it takes minutes: ``pytest -m slow tests/test_walk.py``.
The minutes that are promised are a test too, the one exception from "no time limits": it wants a machine that has
nothing else to do. ``pytest -m slow -s tests/test_walk.py -k minutes`` prints the seconds of each step.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.test_questions import ASKED

ROOT = Path(__file__).parents[1]
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
NOWHERE = "http://127.0.0.1:9"
OFFLINE = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), NOWHERE)
OFFLINE |= {"no_proxy": "", "NO_PROXY": "", "GSP_FB_OFFLINE": "1"}
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not ROOT.joinpath(".git").exists(), reason="not a git repository: nothing to clone"),
    pytest.mark.skipif(not (shutil.which("git") and shutil.which("make")), reason="the walk needs git and make"),
]


def run(*command, cwd, **settings):
    """Run a command as a user without our settings would, and return what it said; its whole output if it fails."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("GSP_FB_", "PYTEST", "PYTHON"))}
    plain.pop("VIRTUAL_ENV", None)
    done = subprocess.run(command, cwd=cwd, env={**plain, **settings}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def seconds():
    """Return a table of the steps and how long they took."""
    return {}


@contextmanager
def timed(seconds, step):
    began = time.perf_counter()
    yield
    seconds[step] = time.perf_counter() - began


@pytest.fixture(scope="module")
def clone(seconds):
    """Return a clean clone; what is not committed is not in it."""
    with tempfile.TemporaryDirectory(prefix="gsp-fb-walk-") as folder:
        target = Path(folder, "gsp-fb")
        with timed(seconds, "git clone"):
            run("git", "clone", "--quiet", str(ROOT), str(target), cwd=folder)
        yield target


@pytest.fixture(scope="module")
def demo(clone, seconds):
    """Return the clone and what `make demo` printed there."""
    with timed(seconds, "make demo"):
        printed = run("make", "demo", cwd=clone, PYTHON=sys.executable)
    return clone, printed


def test_the_demo_shows_what_it_promises(demo):
    _, printed = demo
    for word in ("homophilic", "heterophilic", "fb-gcn", "demo-report.html"):
        assert word in printed


def test_the_demo_leaves_nothing_that_git_sees(demo):
    clone, _ = demo
    assert run("git", "status", "--porcelain", cwd=clone) == ""


@pytest.fixture
def browser(tmp_path):
    webdriver = pytest.importorskip("selenium.webdriver", reason="the browser test needs selenium")
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("no chromium and chromedriver here")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={tmp_path / 'profile'}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


def assert_a_report(browser, page):
    browser.get(page.as_uri())
    assert browser.find_element("tag name", "h1").text
    assert browser.find_element("id", "mix").is_displayed()
    assert browser.find_element("id", "spectrum").is_displayed()
    # Four answers, each with its reason or its command.
    answers = [item.text.splitlines() for item in browser.find_elements("css selector", ".answers > div")]
    assert len(answers) == 4
    assert all(len(lines) >= 3 and all(lines) for lines in answers)
    assert browser.get_log("browser") == []


def test_the_report_opens_in_a_browser(demo, browser):
    clone, _ = demo
    assert_a_report(browser, clone / "demo-report.html")


def report_of_towns(clone, tmp_path):
    """Write a table of roads and one of towns, and return the report that the clone makes of them."""
    edges = [f"t{i},t{j}" for i in range(20) for j in (i + 1, i + 2) if j < 20]
    rows = [f"t{i},{i},{i % 2},{20 - i}.5,{'south' if i < 10 else 'north'}" for i in range(20)]
    tmp_path.joinpath("roads.csv").write_text("\n".join(["from,to", *edges, ""]), encoding="utf-8")
    tmp_path.joinpath("towns.csv").write_text("\n".join(["name,x,y,heat,region", *rows, ""]), encoding="utf-8")
    command = ("report", "roads.csv", "--nodes", "towns.csv", "--label", "region", "-o", "roads.html")
    run(clone / ".venv" / "bin" / "gsp-fb", *command, cwd=tmp_path)
    return tmp_path / "roads.html"


def test_a_report_of_ones_own_files(demo, browser, tmp_path):
    clone, _ = demo
    assert_a_report(browser, report_of_towns(clone, tmp_path))
    titles = [option.text for option in browser.find_elements("css selector", "#signal option")]
    assert {"label north", "label south", "heat"} <= set(titles)


def test_from_the_clone_to_the_answers_takes_less_than_five_minutes(demo, seconds, browser, tmp_path):
    clone, _ = demo
    with timed(seconds, "open the report of the demo, find its four answers"):
        assert_a_report(browser, clone / "demo-report.html")
    with timed(seconds, "gsp-fb report on files of one's own, opened"):
        assert_a_report(browser, report_of_towns(clone, tmp_path))
    print(*(f"{took:7.1f} s  {step}" for step, took in seconds.items()), f"{sum(seconds.values()):7.1f} s", sep="\n")
    assert sum(seconds.values()) < 300


def test_the_readme_runs_as_it_stands(demo, tmp_path):
    clone, _ = demo
    text = clone.joinpath("README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks
    python = clone / ".venv" / "bin" / "python"
    for number, block in enumerate(blocks):
        name = tmp_path / f"block{number}.txt"
        name.write_text(block, encoding="utf-8")
        shown = ["-m", "doctest", "-o", "ELLIPSIS", "-o", "NORMALIZE_WHITESPACE"] if ">>>" in block else []
        run(python, *shown, name, cwd=tmp_path)


@pytest.fixture(scope="module")
def site(demo):
    """Return the clone, the folder of its documentation and what building it printed, without a connection."""
    clone, _ = demo
    run("make", ".venv/.docs", cwd=clone)
    return clone, clone / "docs" / "_build" / "html", run("make", "docs", cwd=clone, **OFFLINE)


def test_the_documentation_builds_offline_without_a_warning(site):
    clone, built, printed = site
    assert "WARNING" not in printed
    for page in ("index.html", "concepts.html", "api/index.html", "auto_gallery/index.html"):
        assert built.joinpath(page).is_file()
    assert len(list(built.joinpath("auto_gallery").glob("plot_*.html"))) == len(
        list(clone.joinpath("docs", "gallery").glob("plot_*.py"))
    )


def test_the_documentation_offers_a_notebook_and_the_wheel_to_the_browser(site):
    clone, built, _ = site
    lite = built / "lite"
    assert lite.joinpath("notebooks", "index.html").is_file()
    for notebook in clone.joinpath("docs", "browser").glob("*.ipynb"):
        assert lite.joinpath("files", notebook.name).read_bytes() == notebook.read_bytes()
        assert f"lite/notebooks/index.html?path={notebook.name}" in built.joinpath("index.html").read_text("utf-8")
    index = json.loads(lite.joinpath("pypi", "all.json").read_text(encoding="utf-8"))
    (release,) = next(iter(index["gsp-fb"]["releases"].values()))
    wheel = lite / "pypi" / release["filename"]
    assert release["digests"]["sha256"] == hashlib.sha256(wheel.read_bytes()).hexdigest()
    with zipfile.ZipFile(wheel) as packed:
        kept = {name for name in packed.namelist() if name.endswith(".py")}
    assert kept == {str(path.relative_to(clone)) for path in clone.joinpath("gsp_fb").rglob("*.py")}


def test_no_page_shows_the_address_of_an_object(site):
    _, built, _ = site
    pages = [page for page in built.rglob("*.html") if "lite" not in page.relative_to(built).parts]
    shown = {page: re.sub(r"<[^>]*>", "", page.read_text(encoding="utf-8")) for page in pages}
    found = r"&lt;(?:matplotlib\.|function |built-in |bound method )\S+|\bat 0x[0-9a-f]{6,}"
    assert {page.name for page, text in shown.items() if re.search(found, text)} == set()


def test_code_stays_in_its_box_at_desktop_width(site, browser):
    _, built, _ = site
    browser.set_window_size(1280, 900)
    wide = "return [...document.querySelectorAll('.bd-article pre')].filter((p) => p.scrollWidth > p.clientWidth + 1)"
    pages = [*built.glob("*.html"), *built.glob("auto_gallery/*.html"), *built.glob("api/generated/*.html")]
    found = {}
    for page in pages:
        browser.get(page.as_uri())
        found[page.name] = browser.execute_script(f"{wide}.length")
    assert {name: number for name, number in found.items() if number} == {}


@pytest.mark.parametrize("question", ASKED)
def test_the_search_finds_the_answer_to_a_question(site, browser, question):
    from selenium.webdriver.support.ui import WebDriverWait

    _, built, _ = site
    browser.get(f"{built.joinpath('search.html').as_uri()}?q={quote(question)}")
    summary = "return document.querySelector('.search-summary')?.textContent ?? ''"
    WebDriverWait(browser, 30).until(lambda _: "found" in browser.execute_script(summary))
    listed = "return [...document.querySelectorAll('ul.search li > a')].map((link) => link.getAttribute('href'))"
    first = browser.execute_script(listed)[0]
    assert first.split("/")[-1].startswith("questions.html#")
    # The heading is on the first screen of what is opened, and a paragraph below it.
    browser.get(built.joinpath(first).as_uri())
    heading = "return document.querySelector(`[id='${decodeURIComponent(location.hash.slice(1))}'] h2`)"
    WebDriverWait(browser, 30).until(lambda _: browser.execute_script(f"{heading}.getBoundingClientRect().top") >= 0)
    screen = browser.execute_script("return innerHeight")
    assert question.lower() in browser.execute_script(heading).text.lower()
    assert browser.execute_script(f"{heading}.nextElementSibling.getBoundingClientRect().top") < screen
