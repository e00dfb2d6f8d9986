"""The commands under mpirun: what one process prints, printed once; and what a killed rank leaves behind."""

import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import gsp_fb as gf
from gsp_fb.cli import main
from gsp_fb.outofcore import write_folder

ROOT = Path(__file__).parents[2]
WAIT = 600  # against a hang; a busy machine needs a part of it


def _environment(petsc=None):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMI"))}
    debian = {"PETSC_DIR": petsc} if petsc else {}
    path = f"{ROOT}:{petsc}/lib/python3/dist-packages" if petsc else str(ROOT)
    single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    return {**clean, **debian, **single, "PYTHONPATH": path, "OMPI_MCA_mpi_yield_when_idle": "1"}


def _candidates():
    """Pythons that may have petsc4py, with their environments: this one, and Debian's with its builds."""
    yield sys.executable, _environment()
    yield "/usr/bin/python3", _environment()
    for petsc in sorted(glob.glob("/usr/lib/petscdir/petsc3*/*-real")):
        yield "/usr/bin/python3", _environment(petsc)


def _has_petsc(python, environment):
    line = [python, "-c", "import petsc4py, mpi4py, scipy"]
    if not os.path.exists(python):
        return False
    return subprocess.run(line, env=environment, capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="module")
def launcher():
    """Start a Python with arguments on several ranks."""
    found = next((pair for pair in _candidates() if _has_petsc(*pair)), None) if shutil.which("mpirun") else None
    if found is None:
        pytest.skip("no mpirun, or no Python with petsc4py: `make test-mpi` installs them")
    python, environment = found
    options = ["--oversubscribe", "--bind-to", "none", *(["--allow-run-as-root"] if os.geteuid() == 0 else [])]

    def command(n_ranks, *arguments):
        line = ["mpirun", *options, "-n", str(n_ranks), python, *map(str, arguments)]
        return {"args": line, "env": environment, "cwd": ROOT, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}

    return command


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("graphs")
    rng = np.random.default_rng(0)
    for name, graph in {"grid": gf.datasets.grid(30, 25), "ring": gf.datasets.ring(12)}.items():
        write_folder(graph, path / f"{name}.npyd")
        np.save(path / f"{name}-x.npy", rng.random((graph.n_nodes, 3)))
        np.savetxt(path / f"{name}-y.csv", rng.integers(-1, 3, graph.n_nodes), fmt="%d", delimiter=",")
    return path


def on_ranks(launcher, *arguments, n_ranks=3):
    done = subprocess.run(**launcher(n_ranks, "-m", "gsp_fb", *arguments), timeout=WAIT, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def alone(capsys, *arguments):
    code = main([*map(str, arguments)])
    return code, *capsys.readouterr()


def assert_same(actual, expected):
    """Compare two results of a command; solvers have names of their own, and bounds on their errors."""
    if isinstance(expected, dict):
        assert actual.keys() == expected.keys()
        for key in expected.keys() - {"method", "proof", "error"}:
            assert_same(actual[key], expected[key])
    elif isinstance(expected, list):
        assert len(actual) == len(expected)
        for one, other in zip(actual, expected, strict=True):
            assert_same(one, other)
    elif isinstance(expected, float):
        assert actual == pytest.approx(expected, rel=1e-9, abs=1e-9)
    else:
        assert actual == expected


COMMANDS = (
    ("energy", "--gamma", "0.5"),
    ("eigengap",),
    ("spectrum", "-k", "3", "--family", "lazy_rw"),
    ("filter", "--kernel", "heat:tau=5", "--kernel", "mexican_hat"),
    ("profile", "--on", "labels"),
)


@pytest.mark.parametrize("name", ["grid", pytest.param("ring", marks=pytest.mark.slow)])
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_command_prints_once_what_one_process_prints(launcher, folder, capsys, command, name):
    verb, *options = command
    files = ("--signal", folder / f"{name}-x.npy", "--labels", folder / f"{name}-y.csv", "--json")
    arguments = (verb, folder / f"{name}.npyd", *options, *files)
    code, out, error = on_ranks(launcher, *arguments)
    assert (code, error) == (0, "")
    assert_same(json.loads(out), json.loads(alone(capsys, *arguments)[1]))


def test_the_table_is_that_of_one_process(launcher, folder, capsys):
    arguments = ("energy", folder / "grid.npyd", "--signal", folder / "grid-x.npy")
    assert on_ranks(launcher, *arguments) == alone(capsys, *arguments)


def test_coefficients_are_written_once(launcher, folder, capsys):
    arguments = ("filter", folder / "grid.npyd", "--signal", folder / "grid-x.npy", "--kernel", "meyer")
    assert alone(capsys, *arguments, "-o", folder / "one.npy")[0] == 0
    code, _, error = on_ranks(launcher, *arguments, "-o", folder / "three.npy")
    assert (code, error) == (0, "")
    np.testing.assert_allclose(np.load(folder / "three.npy"), np.load(folder / "one.npy"), rtol=0, atol=1e-12)


ERRORS = {
    "no folder": (4, ("energy", "{}/none.npyd", "--signal", "{}/grid-x.npy")),
    "no signal": (2, ("energy", "{}/grid.npyd")),
    "another graph's signal": (3, ("energy", "{}/grid.npyd", "--signal", "{}/ring-x.npy")),
    "bad option": (2, ("energy", "{}/grid.npyd", "--signal", "{}/grid-x.npy", "--gamma", "-1")),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_those_of_one_process_and_said_once(launcher, folder, capsys, case):
    code, arguments = ERRORS[case]
    arguments = [argument.format(folder) for argument in arguments]
    expected = alone(capsys, *arguments)
    actual = on_ranks(launcher, *arguments)
    assert actual[:2] == expected[:2] == (code, "")
    assert actual[2].count("gsp-fb: ") == 1
    assert expected[2].strip() in actual[2]


def test_what_ranks_cannot_share_is_refused(launcher, folder):
    code, out, error = on_ranks(launcher, "info", folder / "grid.npyd", n_ranks=2)
    assert (code, out) == (2, "")
    assert "was started 2 times by an MPI launcher" in error


def _pid(path):
    deadline = time.monotonic() + WAIT
    while time.monotonic() < deadline:
        if path.exists() and path.read_text():
            return int(path.read_text())
        time.sleep(0.05)
    raise AssertionError(f"{path} was not written")


@pytest.mark.parametrize("turn", [0, *(pytest.param(i, marks=pytest.mark.slow) for i in range(1, 6))])
def test_a_killed_rank_ends_the_job_and_leaves_the_file_whole(launcher, folder, turn):
    target = folder / f"victim-{turn}.npy"
    with subprocess.Popen(**launcher(3, Path(__file__).with_name("victim.py"), folder / "grid.npyd", target)) as job:
        pid = _pid(target.with_name(f"{target.name}.pid{turn % 3}"))
        while not target.exists():
            assert job.poll() is None, job.stderr.read()
            time.sleep(0.01)
        time.sleep(0.3 + 0.137 * turn)
        os.kill(pid, signal.SIGKILL)
        _, error = job.communicate(timeout=WAIT)
    assert job.returncode != 0
    assert b"exited on signal 9 (Killed)" in error
    found = np.load(target)
    assert found.shape == (750, 8)
    assert np.all(found == found[0, 0])


def test_a_few_laws_on_two_ranks(launcher):
    """A short pass of what `make test-mpi` runs whole."""
    few = "facts or bounds or energies or refused"
    laws = ("-m", "pytest", "-c", "tests/mpi/pytest.ini", "tests/mpi/test_mpi_laws.py", "-k", few)
    done = subprocess.run(**launcher(2, *laws), timeout=WAIT, text=True, check=False)
    if "No module named pytest" in done.stderr:
        pytest.skip("the Python with petsc4py has no pytest: `make test-mpi` installs it")
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
