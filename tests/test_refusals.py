"""What the core states when it refuses, word for word: what is wrong, which value, what to do."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy import sparse

import gsp_fb as gf
from gsp_fb._arguments import (
    check_choice,
    check_count,
    check_csr,
    check_device,
    check_labels,
    check_positive,
    check_rng,
    check_signal,
    host_array,
)
from gsp_fb.backend import TABLE
from gsp_fb.energy.density import lambda_max, lambda_max_bounds
from gsp_fb.errors import GraphError, ParameterError, SignalError
from gsp_fb.variants import check_gamma
from tests.support import device

EDGE = gf.Graph.from_edges([(0, 1)])
ARCS = gf.Graph.from_edges([(0, 1), (1, 2)], directed=True)
LONELY = gf.Graph.from_edges([(0, 2)], n_nodes=4)
HIGH, LOW = (gf.operator(EDGE, "sym", channel) for channel in ("high", "low"))
WIDE = np.finfo(np.float64).max


def compressed(indptr, indices, *, shape=(2, 2), n_data=None, form="csr", **more):
    """Return the parts of a compressed matrix as they might come from a file: no library has looked at them."""
    indices = np.array(indices)
    data = np.ones(len(indices) if n_data is None else n_data)
    return SimpleNamespace(
        format=form, shape=shape, indptr=np.array(indptr), indices=indices, data=data, ndim=2, **more
    )


def sparse_signal(**parts):
    x = sparse.csr_array(np.eye(2))
    for name, value in parts.items():
        setattr(x, name, np.array(value))
    return x


def malformed(form):
    x = sparse.csr_array(np.eye(2)).asformat(form)
    x.indices = np.array([0, 7])
    return x


TEXTS = {
    "unknown name": (
        lambda: check_choice("hgih", ["low", "high"], "channel"),
        "unknown channel 'hgih'; choose one of low, high (did you mean 'high'?)",
    ),
    "unknown name near none": (
        lambda: check_choice("xyz", ["low", "high"], "channel"),
        "unknown channel 'xyz'; choose one of low, high",
    ),
    "no name at all": (lambda: check_choice(None, ["low"], "channel"), "unknown channel None; choose one of low"),
    "not a number": (lambda: check_positive("1", "gamma"), "gamma must be a positive number, not '1'"),
    "a bool": (lambda: check_positive(True, "gamma"), "gamma must be a positive number, not True"),
    "a numpy bool": (lambda: check_positive(np.True_, "gamma"), "gamma must be a positive number, not np.True_"),
    "zero": (lambda: check_positive(0, "gamma"), "gamma must be finite and > 0, not 0"),
    "infinite": (lambda: check_positive(np.inf, "gamma"), "gamma must be finite and > 0, not inf"),
    "nan": (lambda: check_positive(float("nan"), "gamma"), "gamma must be finite and > 0, not nan"),
    "negative count": (lambda: check_count(-1, "k", minimum=0), "k must be an integer >= 0, not -1"),
    "count of zero": (lambda: check_count(0, "k"), "k must be an integer >= 1, not 0"),
    "fractional count": (lambda: check_count(2.0, "k"), "k must be an integer >= 1, not 2.0"),
    "bool as count": (lambda: check_count(True, "k"), "k must be an integer >= 1, not True"),
    "numpy bool as count": (lambda: check_count(np.True_, "k"), "k must be an integer >= 1, not np.True_"),
    "no seed": (
        lambda: check_rng("seed"),
        "rng must be None, an integer seed or a numpy Generator, not 'seed'",
    ),
    "indptr too short": (
        lambda: check_csr(compressed([0, 1], [0])),
        "indptr has shape (2,) for 2 rows; it must have 3 entries from 0",
    ),
    "indptr from one": (
        lambda: check_csr(compressed([1, 1, 1], [0])),
        "indptr has shape (3,) for 2 rows; it must have 3 entries from 0",
    ),
    "indptr of a csc matrix counts columns": (
        lambda: check_csr(compressed([0, 0, 0], [], shape=(2, 3), form="csc")),
        "indptr has shape (3,) for 3 rows; it must have 4 entries from 0",
    ),
    "indptr of a bsr matrix counts blocks": (
        lambda: check_csr(compressed([0, 0, 0], [], shape=(6, 8), form="bsr", blocksize=(2, 4))),
        "indptr has shape (3,) for 3 rows; it must have 4 entries from 0",
    ),
    "indptr falls": (
        lambda: check_csr(compressed([0, 2, 1], [0, 1])),
        "indptr decreases at row 1; a CSR matrix needs non-decreasing row pointers",
    ),
    "too few indices": (
        lambda: check_csr(compressed([0, 1, 3], [0, 1], n_data=3)),
        "indptr ends at 3 but only 2 indices are stored",
    ),
    "too few values": (
        lambda: check_csr(compressed([0, 1, 3], [0, 1, 1], n_data=2)),
        "indptr ends at 3 but only 3 indices are stored",
    ),
    "index too large": (
        lambda: check_csr(compressed([0, 1, 2], [0, 2])),
        "column index 2 at position 1 is outside 0..1",
    ),
    "index negative": (
        lambda: check_csr(compressed([0, 1, 2], [-1, 0])),
        "column index -1 at position 0 is outside 0..1",
    ),
    "index of a csc matrix is a row": (
        lambda: check_csr(compressed([0, 1, 1, 1], [2], shape=(2, 3), form="csc")),
        "column index 2 at position 0 is outside 0..1",
    ),
    "index of a bsr matrix is a block": (
        lambda: check_csr(compressed([0, 1, 1, 1], [2], shape=(6, 8), form="bsr", blocksize=(2, 4))),
        "column index 2 at position 0 is outside 0..1",
    ),
    "another device": (
        lambda: check_device(np.ones(2), device.from_host(np.ones(2))),
        f"the signal is on 'cpu' but the graph on {device.DEVICE!r}; call .to('cpu') on the graph, or move the signal",
    ),
    "tensor elsewhere": (
        lambda: host_array(torch.ones(2, device="meta"), SignalError, "signal"),
        "signal is a torch tensor on meta; call .cpu() on it first",
    ),
    "masked": (
        lambda: host_array(np.ma.masked_invalid([1.0, np.nan]), SignalError, "signal"),
        "signal has masked entries; fill them first",
    ),
    "words": (
        lambda: check_signal(np.array(["a", "b"]), 2),
        "signal has dtype <U1; numbers are needed",
    ),
    "three axes": (
        lambda: check_signal(np.ones((2, 1, 1)), 2),
        "signal has shape (2, 1, 1); it must be (n_nodes,) or (n_nodes, n_signals)",
    ),
    "too long": (lambda: check_signal(np.ones(3), 2), "signal has 3 rows but the graph has 2 nodes"),
    "transposed": (
        lambda: check_signal(np.ones((3, 2)), 2),
        "signal has 3 rows but the graph has 2 nodes (transposed?)",
    ),
    "not transposed": (lambda: check_signal(np.ones((3, 4)), 2), "signal has 3 rows but the graph has 2 nodes"),
    "nan in a vector": (
        lambda: check_signal([1.0, np.nan], 2),
        "signal is nan at index 1; signals must be finite",
    ),
    "infinity in a matrix": (
        lambda: check_signal([[1.0, 2.0], [3.0, -np.inf]], 2),
        "signal is -inf at index (1, 1); signals must be finite",
    ),
    "sparse of the wrong shape": (
        lambda: check_signal(sparse.csr_array((3, 5)), 2),
        "signal has shape (3, 5) but the graph has 2 nodes",
    ),
    "sparse with one axis": (
        lambda: check_signal(sparse.coo_array(np.ones(2)), 3),
        "signal has shape (2,) but the graph has 3 nodes",
    ),
    "malformed sparse": (
        lambda: check_signal(sparse_signal(indices=[0, 7]), 2),
        "sparse signal: column index 7 at position 1 is outside 0..1",
    ),
    **{
        f"malformed {form}": (
            lambda form=form: check_signal(malformed(form), 2),
            "sparse signal: column index 7 at position 1 is outside 0..1",
        )
        for form in ("csc", "bsr")
    },
    "nan in a sparse row": (
        lambda: check_signal(sparse_signal(data=[1.0, np.nan]), 2),
        "signal is nan in row 1; signals must be finite",
    ),
    "labels too many": (lambda: check_labels([0, 1, 1], 2), "labels have shape (3,) but the graph has 2 nodes"),
    "labels in halves": (
        lambda: check_labels([0.5, 1.0], 2),
        "labels must be integers (negative: unlabelled), not float64 [0.5, 1.0]...",
    ),
    "labels in words": (
        lambda: check_labels(["a", "b"], 2),
        "labels must be integers (negative: unlabelled), not <U1 ['a', 'b']...",
    ),
    "labels in halves, elsewhere": (
        lambda: check_labels(device.from_host(np.array([0.5, 1.0, 2.0, 3.0])), 4),
        "labels must be integers (negative: unlabelled), not array_api_strict.float64 [0.5, 1.0, 2.0]...",
    ),
    "labels that are complex": (
        lambda: check_labels([1j, 0.0], 2),
        "labels must be integers (negative: unlabelled), not complex128 [1j, 0j]...",
    ),
    "labels that are masked": (
        lambda: check_labels(np.ma.masked_equal([0, 1], 1), 2),
        "labels has masked entries; fill them first",
    ),
    "bad gamma": (lambda: check_gamma("lazy_rw", 0.0), "gamma must be finite and > 0, not 0.0"),
    "no gamma here": (
        lambda: check_gamma("sym", 2.0),
        "family 'sym' has no gamma (got 2.0); families with one: renorm_sym, renorm_rw, lazy_sym, lazy_rw",
    ),
    "unknown family": (
        lambda: gf.operator(EDGE, "gcn"),
        "unknown family 'gcn'; choose one of comb, sym, rw, renorm_sym, renorm_rw, lazy_sym, lazy_rw",
    ),
    "unknown channel": (
        lambda: gf.operator(EDGE, "sym", "up"),
        "unknown channel 'up'; choose one of low, high",
    ),
    "unknown policy": (
        lambda: gf.operator(EDGE, "sym", isolated="drop"),
        "unknown isolated policy 'drop'; choose one of self, zero, error (did you mean 'zero'?)",
    ),
    "isolated node": (
        lambda: gf.operator(LONELY, "rw", isolated="error"),
        "node 1 is isolated; give isolated='self' or 'zero', or drop the node",
    ),
    "bounds of arcs": (
        lambda: gf.operator(ARCS, "rw").bounds,
        "a directed graph's operator has no real spectrum to bound; give symmetrize= to the graph, or take "
        "graph.magnetic()",
    ),
    "matrix of scipy from elsewhere": (
        lambda: gf.operator(EDGE.to(device.DEVICE), "sym").to_scipy(),
        f"the graph is on {device.DEVICE!r}: to_sparse() gives the matrix there, and an operator of graph.to('cpu') "
        "the one of scipy",
    ),
    "contradiction": (
        lambda: gf.Graph.from_edges([(0, 1)], directed=True, symmetrize="max"),
        "directed=True and symmetrize='max' contradict each other; give one",
    ),
    "labels of other nodes": (
        lambda: gf.Graph.from_edges([(0, 2)], nodes=("a", "b")),
        "the node table has 2 rows for 3 nodes",
    ),
    "unknown loops": (
        lambda: gf.Graph.from_edges([(0, 1)], loops="ignore"),
        "unknown loops 'ignore'; choose one of keep, drop",
    ),
    "negative number of nodes": (
        lambda: gf.Graph.from_edges([], n_nodes=-1),
        "n_nodes must be an integer >= 0, not -1",
    ),
    "unknown device": (
        lambda: EDGE.to("abacus"),
        f"unknown device 'abacus'; choose one of {', '.join(TABLE)}",
    ),
    "renumbering elsewhere": (
        lambda: EDGE.to(device.DEVICE).reordered(),
        f"nodes are renumbered on the CPU; call .to('cpu') on this graph on {device.DEVICE!r} first",
    ),
    "transform of arcs": (
        lambda: gf.spectrum(gf.operator(ARCS, "rw")),
        "a directed graph has no graph Fourier transform; give symmetrize= to the graph, or take graph.magnetic()",
    ),
    "unknown end": (lambda: gf.spectrum(HIGH, 1, "middle"), "unknown which 'middle'; choose one of low, high"),
    "no modes": (lambda: gf.spectrum(HIGH, 0), "k must be an integer >= 1, not 0"),
    "too many modes": (lambda: gf.spectrum(HIGH, 3), "k=3 modes asked of a graph with 2 nodes"),
    "too much memory": (
        lambda: gf.spectrum(gf.operator(gf.Graph.from_edges([(0, 1)], n_nodes=10_000), "sym"), max_bytes=10**9),
        "all 10000 modes need about 2.4 GB (max_bytes=1.0 GB); ask for k modes, use polynomial filters, "
        "or raise max_bytes",
    ),
    "coefficients of other modes": (
        lambda: gf.spectrum(HIGH).igft(np.ones((3, 2))),
        "coefficients have shape (3, 2) but there are 2 modes",
    ),
    "coefficients with three axes": (
        lambda: gf.spectrum(HIGH).igft(np.ones((2, 2, 2))),
        "coefficients have shape (2, 2, 2) but there are 2 modes",
    ),
    "ragged coefficients": (
        lambda: gf.spectrum(HIGH).igft(np.ma.masked_equal([1.0, 2.0], 2.0)),
        "coefficients has masked entries; fill them first",
    ),
    "energy of a low channel": (
        lambda: gf.s_value(LOW, [1.0, 2.0]),
        "energies belong to a high channel, and Operator(sym, low, n_nodes=2) is a low channel: give op.complement()",
    ),
    "energy of a number": (
        lambda: gf.signal_energy(3.0),
        "signal is the single value 3.0; it must have one entry a node",
    ),
    "energy of a masked signal": (
        lambda: gf.signal_energy(np.ma.masked_equal([1.0, 2.0], 2.0)),
        "signal has masked entries; fill them first",
    ),
    "energy that overflows": (
        lambda: gf.signal_energy([1e200, 1e200]),
        "the energy of this signal overflows float64; rescale it",
    ),
    "S of nothing": (
        lambda: gf.s_value(HIGH, [0.0, 0.0]),
        "signal is zero everywhere; S = E_S / E is undefined",
    ),
    "S that overflows": (
        lambda: gf.s_value(gf.operator(gf.Graph.from_edges([(0, 1)], [WIDE / 2]), "comb", "high"), [1.0, -1.0]),
        "the quadratic form overflows float64: the degrees are too large; rescale the weights",
    ),
    "one class only": (
        lambda: gf.aggregation_similarity(EDGE, [1.0, 2.0], [1, 1]),
        "aggregation_similarity compares a class with the others; the labels have fewer than two",
    ),
    "label beyond the classes": (
        lambda: gf.one_hot([0, 2], n_classes=2),
        "label 2 does not fit n_classes=2",
    ),
    "no classes": (lambda: gf.one_hot([0], n_classes=0), "n_classes must be an integer >= 1, not 0"),
    "bins and quantiles": (
        lambda: gf.energy_profile(HIGH, [1.0, 2.0], bins=2, quantiles=[0.5]),
        "give bins= or quantiles=, not both",
    ),
    "profile of nothing": (
        lambda: gf.energy_profile(HIGH, [0.0, 0.0]),
        "signal is zero everywhere; its energy lies nowhere",
    ),
    "no bins": (lambda: gf.energy_profile(HIGH, [1.0, 2.0], bins=0), "bins must be an integer >= 1, not 0"),
    "no products": (
        lambda: gf.energy_profile(HIGH, [1.0, 2.0], matvecs=0),
        "matvecs must be an integer >= 1, not 0",
    ),
    "bins that fall": (
        lambda: gf.energy_profile(HIGH, [1.0, 2.0], bins=[1.0, 0.0]),
        "bins must be a count or ascending edges, not [1.0, 0.0]",
    ),
    "bins that stay": (
        lambda: gf.energy_profile(HIGH, [1.0, 2.0], bins=[0.0, 1.0, 1.0]),
        "bins must be a count or ascending edges, not [0.0, 1.0, 1.0]",
    ),
    "one edge": (
        lambda: gf.energy_profile(HIGH, [1.0, 2.0], bins=[1.0]),
        "bins must be a count or ascending edges, not [1.0]",
    ),
    "masked bins": (
        lambda: gf.energy_profile(HIGH, [1.0, 2.0], bins=np.ma.masked_equal([1.0, 2.0], 2.0)),
        "bins has masked entries; fill them first",
    ),
    "masked quantiles": (
        lambda: gf.energy_profile(HIGH, [1.0, 2.0], quantiles=np.ma.masked_equal([0.1, 0.2], 0.2)),
        "quantiles has masked entries; fill them first",
    ),
    **{
        f"quantiles {quantiles}": (
            lambda quantiles=quantiles: gf.energy_profile(HIGH, [1.0, 2.0], quantiles=quantiles),
            f"quantiles must ascend strictly between 0 and 1, not {quantiles!r}",
        )
        for quantiles in ([], [0.0, 0.5], [0.5, 1.0], [0.5, 0.5], [0.7, 0.2])
    },
    "unknown surrogate": (
        lambda: gf.s_value_significance(HIGH, [1.0, 2.0], kind="shuffle"),
        "unknown kind of surrogate 'shuffle'; choose one of permute, spectral_sign",
    ),
    "no surrogates": (
        lambda: gf.s_value_significance(HIGH, [1.0, 2.0], n_surrogates=0),
        "n_surrogates must be an integer >= 1, not 0",
    ),
    "one vector": (
        lambda: gf.spectral_density(HIGH, n_vectors=1),
        "n_vectors must be an integer >= 2, not 1",
    ),
    "no products for the density": (
        lambda: gf.spectral_density(HIGH, matvecs=0),
        "matvecs must be an integer >= 1, not 0",
    ),
    "rtol of nothing": (lambda: lambda_max(HIGH, rtol=0.0), "rtol must be finite and > 0, not 0.0"),
    "failure of nothing": (lambda: lambda_max_bounds(HIGH, failure=0.0), "failure must be finite and > 0, not 0.0"),
    "rtol of one": (lambda: lambda_max(HIGH, rtol=1.0), "rtol and failure must be < 1, not 1.0 and 1e-10"),
    "failure of one": (lambda: lambda_max_bounds(HIGH, failure=1.0), "rtol and failure must be < 1, not 1e-06 and 1.0"),
}


@pytest.mark.parametrize("case", TEXTS)
def test_the_refusal_says_exactly(case):
    call, text = TEXTS[case]
    with pytest.raises((GraphError, ParameterError, SignalError)) as refused:
        call()
    assert str(refused.value) == text


def test_a_ragged_list_is_told_apart_from_numpys_own_error():
    with pytest.raises(SignalError, match=r"^signal is not a rectangular array: setting an array element") as refused:
        check_signal([[1.0], [1.0, 2.0]], 2)
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__


def test_a_zero_column_has_no_s_value_and_says_so_at_the_callers_line():
    x = np.array([[1.0, 0.0], [2.0, 0.0]])
    with pytest.warns(gf.errors.GspWarning) as caught:
        values = gf.s_value(HIGH, x, per_column=True)
    assert str(caught[0].message) == "signal column 1 is zero everywhere; its S-value is nan"
    assert caught[0].filename == __file__
    assert np.isnan(values[1])
    assert values[0] == gf.s_value(HIGH, x[:, 0])


def test_what_passes_the_door_keeps_its_values_and_gets_the_promised_dtype():
    counts = check_signal(sparse.csr_array(np.array([[1, 0], [2, 3]])), 2)
    assert counts.dtype == np.float64
    assert counts.toarray().tolist() == [[1.0, 0.0], [2.0, 3.0]]
    assert check_signal(sparse.csr_array(np.array([[1, 0], [2, 0]])), 2).shape == (2, 2)  # the last column is empty
    assert check_signal([[True, False]], 1).tolist() == [[1.0, 0.0]]
    assert check_signal(np.ones(2, dtype=np.float16), 2).dtype == np.float64
    assert check_signal(np.ones(2, dtype=np.clongdouble), 2).dtype == np.complex128
    assert check_labels([1.0, -1.0], 2).tolist() == [1, -1]
    assert check_labels([True, False], 2).dtype == np.int64
    assert check_labels(np.ma.array([1, 2]), 2).tolist() == [1, 2]
    assert check_signal([1e308, 1e308], 2).tolist() == [1e308, 1e308]  # the sum overflows, the terms are finite
    assert check_signal(torch.tensor([1.0, 2.0], requires_grad=True), 2).tolist() == [1.0, 2.0]


def test_seeds_of_every_kind():
    generator = np.random.default_rng(3)
    assert check_rng(generator) is generator
    wanted = np.random.default_rng(3).random()
    assert check_rng(3).random() == check_rng(np.int64(3)).random() == wanted
    assert check_rng(np.random.SeedSequence(3)).random() == wanted
    assert check_rng(None).random() != check_rng(None).random()
