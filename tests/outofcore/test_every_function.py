"""Every public function that takes a graph or an operator works on disk, or names the remedy: never another error."""

import inspect
import tempfile
from dataclasses import replace

import numpy as np
import pytest

import gsp_fb as gf
from gsp_fb.errors import GraphError
from gsp_fb.outofcore import write_folder

X = np.random.default_rng(0).random(63)
Y = np.arange(63) // 21

# What the parameters of public functions are given, by their names; those with a default keep it.
ARGUMENTS = {
    "x": X,
    "signals": {"x": X},
    "low": X,
    "high": X,
    "y": Y,
    "train_mask": X > 0.3,
    "pairs": [(0, 1), (2, 5)],
    "tau": 1.0,
    "k": 3,
    "known": X > 0.5,
    "signal_psd": 1.0,
    "noise_psd": 0.1,
    "family": "sym",
    "n_samples": 8,
    "keep": np.arange(20),
    "nodes": np.arange(20),
    "values": X[:20],
    "epsilon": 0.5,
    "levels": 2,
    "kernels": gf.filters.heat(1.0),
    "flow": np.ones(110),
    "sampling": "max_cut",
}
# What single functions are given instead.
INSTEAD = {
    "advise": {"x": X[:, None], "y": Y, "train_mask": X > 0.3},
    "joint_filter": {"x": X[:, None], "kernel": gf.filters.heat(1.0), "time_kernel": abs},
    "joint_gft": {"x": X[:, None]},
    "joint_igft": {"c": X[:, None]},
    "spatially_variable": {"x": X},
    "stationarity": {"x": np.stack([X, X[::-1]], axis=1)},
}
GRAPHS, OPERATORS = {"graph", "g"}, {"op", "laplacian", "high", "low"}


def public():
    """Yield the public functions with a parameter for a graph or an operator, with that parameter's name."""
    names = ("energy", "filters", "plot", "reduction", "report", "sampling", "theory")
    for module in (gf, *filter(None, (getattr(gf, name, None) for name in names))):
        for name in module.__all__:
            function = getattr(module, name)
            if not callable(function) or isinstance(function, type):
                continue
            first = next(iter(inspect.signature(function).parameters), None)
            if first in GRAPHS | OPERATORS:
                yield pytest.param(function, first, id=f"{module.__name__}.{name}")


@pytest.fixture(scope="module", params=["small limit", "ample limit"])
def on_disk(request):
    pairs = np.random.default_rng(1).integers(0, 63, (900, 2))
    graph = gf.Graph.from_edges(pairs, n_nodes=63, duplicates="first", loops="drop")
    with tempfile.TemporaryDirectory() as folder:
        write_folder(graph, f"{folder}/graph.npyd")
        # The small one holds a few columns, not the edges.
        yield gf.open_graph(f"{folder}/graph.npyd", memory="25kB" if request.param == "small limit" else "1GB")


def attempt(call):
    """Return whether a call works; the only error allowed is a GraphError that names the remedy."""
    try:
        call()
    except GraphError as refused:
        if ".load()" not in str(refused):
            raise
        return False
    except ImportError as missing:
        pytest.skip(str(missing))
    return True


@pytest.mark.parametrize(("function", "first"), list(public()))
def test_a_function_of_a_graph_on_disk(on_disk, function, first):
    parameters = list(inspect.signature(function).parameters.values())[1:]
    needed = [p for p in parameters if p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    own = INSTEAD.get(function.__name__, {})
    unknown = {p.name for p in needed} - ARGUMENTS.keys() - own.keys()
    if unknown & {"path"}:
        pytest.skip("writes or reads a file of its own")
    assert not unknown, f"name what {function.__name__} is given for {unknown}"
    options = own or {p.name: ARGUMENTS[p.name] for p in needed}
    subject = on_disk if first in GRAPHS else gf.operator(on_disk, "sym", channel="high")
    attempt(lambda: function(subject, **options))


WORKS = (
    lambda g, op: op @ X,
    lambda g, op: op.bounds,
    lambda g, op: gf.s_value(op, X),
    lambda g, op: gf.dirichlet_energy(op, X),
    lambda g, op: gf.nonsmooth_energy(op, X),
    lambda g, op: gf.signal_energy(X, op),
    lambda g, op: gf.edge_homophily(g, Y),
    lambda g, op: gf.node_homophily(g, Y),
    lambda g, op: gf.class_homophily(g, Y),
    lambda g, op: gf.adjusted_homophily(g, Y),
    lambda g, op: gf.label_informativeness(g, Y),
    lambda g, op: gf.FilterBank(op, gf.filters.heat(1.0)).analyze(X),
    lambda g, op: (g.sha256, g.n_components, g.degrees, g.loop_weights, repr(g), g._repr_html_()),
)


@pytest.mark.parametrize("number", range(len(WORKS)))
def test_what_must_work_on_disk(on_disk, number):
    assert attempt(lambda: WORKS[number](on_disk, gf.operator(on_disk, "sym", channel="high")))


@pytest.mark.parametrize("name", [name for name in dir(gf.Graph) if not name.startswith("_")])
def test_a_member_of_a_graph_on_disk(on_disk, name):
    given = {
        "to": ("cpu",),
        "local": (X,),
        "check_signal": (X,),
        "check_labels": (Y,),
        "subgraph": ([0, 1],),
        "signals": (X,),
        "check_real": ("this",),
        "check_unsigned": ("this",),
    }
    if name in {"from_edges", "from_adjacency", "from_points", "storage", "with_nodes", "with_coordinates", "plot"}:
        return

    def use():
        member = getattr(on_disk, name)
        return member(*given.get(name, ())) if callable(member) else member

    attempt(use)


@pytest.mark.parametrize("name", [name for name in dir(gf.Operator) if not name.startswith("_")])
def test_a_member_of_an_operator_on_disk(on_disk, name):
    op = gf.operator(on_disk, "sym", channel="high")
    given = {"apply": (X,), "multiply": (X,)}

    def use():
        member = getattr(op, name)
        return member(*given.get(name, ())) if callable(member) else member

    attempt(use)


def dataset(graph):
    return replace(gf.datasets.contextual_sbm(63, rng=0), graph=graph)


NETWORKS = {
    "build": lambda nn, g: nn.build("fb-gcn", dataset(g)),
    "build gat": lambda nn, g: nn.build("gat", dataset(g)),
    "propagation": lambda nn, g: nn.operator_propagation(g, "sym"),
    "sparse matrix": lambda nn, g: nn.SparseMatrix.from_operator(gf.operator(g, "sym")),
    "filter": lambda nn, g: nn.filter_signal(
        gf.FilterBank(gf.operator(g, "sym", "high"), gf.filters.heat(1.0)), pytest.importorskip("torch").from_numpy(X)
    ),
    "audit": lambda nn, g: nn.audit(nn.build("gcn", dataset(g.load())), dataset(g), bands=2, probes=2),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_of_a_graph_on_disk(on_disk, name):
    nn = pytest.importorskip("gsp_fb.nn", reason="networks need torch")
    attempt(lambda: NETWORKS[name](nn, on_disk))


@pytest.mark.parametrize("name", ["FilterBankClassifier", "FilterBankTransformer", "GraphSpectralEmbedding"])
def test_estimators_of_a_graph_on_disk(on_disk, name):
    estimators = pytest.importorskip("gsp_fb.estimators", reason="estimators need scikit-learn")
    attempt(lambda: getattr(estimators, name)(on_disk).fit(X[:, None], Y))
