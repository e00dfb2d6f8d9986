"""A new user's walk: clean clone, `make demo`, the report in a browser, the README as it stands, the documentation.

It makes an environment of its own and installs into it, so it takes minutes: ``pytest -m slow tests/test_walk.py``.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

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
def clone():
    """Return a clean clone; what is not committed is not in it."""
    with tempfile.TemporaryDirectory(prefix="gsp-fb-walk-") as folder:
        target = Path(folder, "gsp-fb")
        run("git", "clone", "--quiet", str(ROOT), str(target), cwd=folder)
        yield target


@pytest.fixture(scope="module")
def demo(clone):
    """Return the clone and what `make demo` printed there."""
    return clone, run("make", "demo", cwd=clone, PYTHON=sys.executable)


def test_the_demo_shows_what_it_promises(demo):
    _, printed = demo
    for word in ("homophilic", "heterophilic", "fb-gcn", "demo-report.html"):
        assert word in printed


def test_the_demo_leaves_nothing_that_git_sees(demo):
    clone, _ = demo
    assert run("git", "status", "--porcelain", cwd=clone) == ""


@pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason="no chromium and chromedriver here")
def test_the_report_opens_in_a_browser(demo, tmp_path):
    webdriver = pytest.importorskip("selenium.webdriver", reason="the browser test needs selenium")
    clone, _ = demo
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={tmp_path}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    try:
        browser.get(clone.joinpath("demo-report.html").as_uri())
        assert browser.find_element("tag name", "h1").text
        assert browser.find_element("id", "mix").is_displayed()
        assert browser.find_element("id", "spectrum").is_displayed()
        answers = [item.text for item in browser.find_elements("css selector", ".answers dd")]
        assert len(answers) == 4
        assert all(answers)
        assert browser.get_log("browser") == []
    finally:
        browser.quit()


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


def test_the_documentation_builds_offline_without_a_warning(demo):
    clone, _ = demo
    run("make", ".venv/.docs", cwd=clone)
    said = run("make", "docs", cwd=clone, **OFFLINE)
    assert "WARNING" not in said
    built = clone / "docs" / "_build" / "html"
    for page in ("index.html", "concepts.html", "api/index.html", "auto_gallery/index.html"):
        assert built.joinpath(page).is_file()
    assert len(list(built.joinpath("auto_gallery").glob("plot_*.html"))) == len(
        list(clone.joinpath("docs", "gallery").glob("plot_*.py"))
    )
