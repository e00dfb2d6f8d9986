"""The widget in JupyterLab itself: a cell runs, the arrow keys move the slider, and Python reads the value.

It needs jupyterlab, selenium and Chromium: ``pytest -m slow tests/test_explore_jupyter.py``.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

pytest.importorskip("jupyterlab", reason="the widget is tried in JupyterLab")
webdriver = pytest.importorskip("selenium.webdriver", reason="the widget is tried in a browser")
from selenium.webdriver.common.by import By  # noqa: E402  # only where selenium is there
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

ROOT = Path(__file__).parents[1]
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
CELLS = (
    "import gsp_fb as gf\ng = gf.datasets.grid(5, 6)\nview = gf.explore(g, range(30), kernel='heat', value=3.0)\nview",
    "s = gf.s_value(gf.operator(g, 'sym', channel='high'), view.filtered)\nprint('READ', view.value, view.s_after, s)",
)
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason="no chromium and chromedriver here"),
]


@pytest.fixture
def lab(tmp_path):
    """Start JupyterLab on a notebook with two cells, and return its address."""
    cell = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    cells = [{**cell, "id": f"cell-{k}", "source": text} for k, text in enumerate(CELLS)]
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    notebook = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "explore.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folders = {f"JUPYTER_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    options = ("--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}", "--IdentityProvider.token=")
    command = [sys.executable, "-m", "jupyterlab", *options, f"--ServerApp.root_dir={tmp_path}"]
    settings = {**os.environ, **folders, "IPYTHONDIR": str(tmp_path / "ipython"), "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, env=settings, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        try:
            yield _ready(f"http://127.0.0.1:{port}")
        finally:
            server.terminate()


def _ready(address):
    for _ in range(600):
        try:
            urllib.request.urlopen(f"{address}/lab").close()
        except OSError:
            time.sleep(0.2)
        else:
            return address
    pytest.fail("JupyterLab did not start")


@pytest.fixture
def browser(tmp_path):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, "--window-size=1280,1400", f"--user-data-dir={tmp_path / 'profile'}"):
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


def test_the_slider_moves_and_python_reads_its_value(lab, browser):
    def first(selector):
        found = browser.find_elements(By.CSS_SELECTOR, selector)
        return found[0] if found else None

    def until(holds):
        return WebDriverWait(browser, 120, poll_frequency=0.2).until(lambda _: holds())

    def run(cell):
        browser.find_elements(By.CSS_SELECTOR, ".jp-Notebook .jp-CodeCell .cm-content")[cell].click()
        browser.switch_to.active_element.send_keys(Keys.SHIFT, Keys.ENTER)

    browser.get(f"{lab}/doc/tree/explore.ipynb")
    until(lambda: len(browser.find_elements(By.CSS_SELECTOR, ".jp-Notebook .jp-CodeCell .cm-content")) == 2)
    until(lambda: first(".jp-Notebook-ExecutionIndicator[data-status=idle]"))
    run(0)
    until(lambda: first("dd[id$='-s-after']") is not None and first("dd[id$='-s-after']").text)
    before = first("dd[id$='-s-after']").text
    first("input[id$='-mix']").send_keys(*[Keys.ARROW_RIGHT] * 6)
    until(lambda: first("dd[id$='-s-after']").text != before)
    shown = first("dd[id$='-s-after']").text
    run(1)
    until(lambda: first(".jp-OutputArea-output pre") is not None)
    word, value, in_view, in_python = first(".jp-OutputArea-output pre").text.split()
    assert word == "READ"
    assert float(value) > 3
    assert float(in_view) == pytest.approx(float(in_python), abs=1e-6)
    assert float(shown) == pytest.approx(float(in_python), abs=1e-6)
