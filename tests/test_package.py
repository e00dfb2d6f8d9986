"""Wheel and source distribution: built, complete, installed in empty environments and tried.

Building and installing takes about a minute: ``pytest -m slow tests/test_package.py`` or ``make package``.
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from gsp_fb import __version__

ROOT = Path(__file__).parents[1]
# Tried where nothing is installed but numpy and scipy.
TRY = """
import gsp_fb as gf
graph = gf.Graph.from_edges([(0, 1), (1, 2)])
value = gf.s_value(gf.operator(graph, "comb", channel="high"), [1.0, 0.0, 0.0])
assert abs(value - 1.0) < 1e-12, value
low, high = gf.FilterBank.two_channel(graph, "lazy_rw").analyze([1.0, 0.0, 0.0])
assert abs(low + high - [1.0, 0.0, 0.0]).max() < 1e-12
assert "texas" in gf.datasets.REGISTRY
print(gf.__version__, gf.__file__)
"""


def run(*command, cwd):
    """Run a command outside of the repository and return its output; its errors if it fails."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("GSP_FB_", "PYTEST", "PYTHON"))}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=plain,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def committed(*folders):
    """Return the files of the repository below some folders, as git knows them."""
    if shutil.which("git") is None or not ROOT.joinpath(".git").exists():
        pytest.skip("not a git repository: nothing to compare with")
    listed = subprocess.run(["git", "ls-files", *folders], cwd=ROOT, capture_output=True, text=True, check=True)
    return {name for name in listed.stdout.splitlines() if ROOT.joinpath(name).exists()}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return the wheel and the source distribution, built from a copy of what git knows."""
    pytest.importorskip("build", reason="needs the build package: pip install build")
    source, output = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    for name in committed():
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", output, source, cwd=output)
    [wheel], [sdist] = output.glob("*.whl"), output.glob("*.tar.gz")
    return {"wheel": wheel, "sdist": sdist}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_it_installs_into_an_empty_environment_and_runs(built, kind, tmp_path):
    run(sys.executable, "-m", "venv", tmp_path / "venv", cwd=tmp_path)
    binaries = tmp_path / "venv" / "bin"
    run(binaries / "python", "-m", "pip", "install", "--quiet", built[kind], cwd=tmp_path)
    version, path = run(binaries / "python", "-c", TRY, cwd=tmp_path).split()
    assert version == __version__
    assert Path(path).is_relative_to(tmp_path)
    assert run(binaries / "gsp-fb", "--version", cwd=tmp_path).split() == ["gsp-fb", __version__]
    assert '"texas"' in run(binaries / "gsp-fb", "datasets", "--json", cwd=tmp_path)
    listed = run(binaries / "python", "-m", "pip", "list", "--format=freeze", cwd=tmp_path)
    names = {line.partition("==")[0].lower().replace("_", "-") for line in listed.splitlines()}
    assert names - {"pip", "setuptools", "wheel"} == {"gsp-fb", "numpy", "scipy"}


@pytest.mark.slow
def test_the_source_distribution_holds_every_file_of_the_repository_that_tests_and_pages_need(built):
    with tarfile.open(built["sdist"]) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    folders = ("benchmarks", "docs", "gsp_fb", "paper", "tests", "tools", "Makefile", "conftest.py", "constraints.txt")
    assert committed(*folders) - held == set()


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_nothing_else(built):
    with zipfile.ZipFile(built["wheel"]) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert held == committed("gsp_fb")


def test_every_file_that_names_a_version_names_the_same():
    changelog = ROOT.joinpath("CHANGELOG.md").read_text(encoding="utf-8")
    released = re.search(r"^## (\d+\.\d+\.\d+) \((\d{4}-\d\d-\d\d)\)$", changelog, re.MULTILINE)
    citation = ROOT.joinpath("CITATION.cff").read_text(encoding="utf-8")
    assert released[1] == __version__
    assert f"\nversion: {__version__}\n" in citation
    assert f"\ndate-released: {released[2]}\n" in citation
