"""The proxy that takes the core's tests to a device: what it carries, and what it does not let pass."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import gsp_fb
from gsp_fb import energy, operators
from tests.support import device
from tests.support.device_proxy import DeviceProxy, why_not

FERRY = DeviceProxy(device.DEVICE)
GF = FERRY.wrap(gsp_fb)
PATH = GF.Graph.from_edges([(0, 1), (1, 2)])
ROOT = Path(__file__).parents[2]


def test_the_library_computes_on_the_device_and_the_test_on_the_host(monkeypatch):
    seen = []
    real = operators.affine_product
    monkeypatch.setattr(operators, "affine_product", lambda *args: seen.append(args[1]) or real(*args))
    for x in (np.ones(3), [1, 1, 1], np.ones((3, 2)), sparse.eye_array(3)):
        y = GF.operator(PATH, "rw") @ x
        assert isinstance(y, np.ndarray | sparse.csr_array)
    assert {gsp_fb.backend.device_of(x) for x in seen} == {device.DEVICE}


def test_objects_are_seen_as_what_they_are():
    op = GF.operator(PATH, "sym", "high")
    assert isinstance(op, gsp_fb.Operator)
    assert isinstance(op.graph, GF.Graph)
    assert op.graph is PATH
    assert (PATH.device, op.T.graph.device) == (device.DEVICE, device.DEVICE)
    assert isinstance(op.left, np.ndarray)
    bank = GF.FilterBank(op, [gsp_fb.filters.heat(1.0)])
    assert len(bank + bank) == 2
    with pytest.raises(AttributeError):
        op.left = op.right


def test_an_implicit_copy_to_the_host_fails(monkeypatch):
    monkeypatch.setattr(energy.dirichlet, "quadratic_form", lambda graph, x, *vectors: np.asarray(x))
    with pytest.raises(RuntimeError, match="to a NumPy array"):
        GF.dirichlet_energy(GF.operator(PATH, "sym", "high"), np.ones(3))


def test_a_result_that_has_left_the_device_fails():
    leaking = FERRY.function(lambda op: gsp_fb.backend.to_host(op.left))
    with pytest.raises(AssertionError, match=r"shape \(3,\) in ndarray has left the device"):
        leaking(GF.operator(PATH, "sym"))
    assert FERRY.function(np.ones)(3).tolist() == [1, 1, 1]


def test_names_of_the_library_are_put_back(monkeypatch):
    shore, real = FERRY.wrap(operators), operators.affine_product
    with monkeypatch.context() as patch:
        patch.setattr(shore, "affine_product", None)
        assert operators.affine_product is None
    assert operators.affine_product is real


def test_every_test_of_the_core_has_a_twin_on_the_device():
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--collect-only",
        "-p",
        "no:cacheprovider",
        "tests/test_operators.py",
    ]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    tests = [line for line in said.splitlines() if "::" in line]
    here, there = ([line for line in tests if ("@double" in line) is aboard] for aboard in (False, True))
    assert len(here) > 10
    assert [line.replace("@double", "") for line in there] == here


def test_a_device_that_is_not_there_says_why():
    assert why_not("cpu") is None
    assert why_not(device.DEVICE) is None
    assert "unknown device 'abacus'; choose one of" in why_not("abacus")
