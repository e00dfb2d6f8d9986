"""Every public function that takes a graph or an operator works on disk, or names the remedy: never another error."""

import inspect
import re
import tempfile
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import gsp_fb as gf
from gsp_fb.errors import GraphError
from gsp_fb.files import FORMATS
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


def random_graph():
    pairs = np.random.default_rng(1).integers(0, 63, (900, 2))
    return gf.Graph.from_edges(pairs, n_nodes=63, duplicates="first", loops="drop")


def arguments(function):
    """Return what a function is given beside the graph or operator; None if it reads or writes a file."""
    parameters = list(inspect.signature(function).parameters.values())[1:]
    needed = [p for p in parameters if p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    own = INSTEAD.get(function.__name__, {})
    unknown = {p.name for p in needed} - ARGUMENTS.keys() - own.keys()
    if unknown & {"path"}:
        return None
    assert not unknown, f"name what {function.__name__} is given for {unknown}"
    return own or {p.name: ARGUMENTS[p.name] for p in needed}


@pytest.fixture(scope="module", params=["small limit", "ample limit"])
def on_disk(request):
    graph = random_graph()
    with tempfile.TemporaryDirectory() as folder:
        write_folder(graph, f"{folder}/graph.npyd")
        # The small one holds a few columns, not the edges.
        yield gf.open_graph(f"{folder}/graph.npyd", memory="25kB" if request.param == "small limit" else "1GB")


def attempt(call, on_missing=pytest.skip):
    """Return whether a call works; the only error allowed is a GraphError that names the remedy."""
    try:
        call()
    except GraphError as refused:
        if ".load()" not in str(refused):
            raise
        return False
    except ImportError as missing:
        if on_missing is not None:
            on_missing(str(missing))
    return True


@pytest.mark.parametrize(("function", "first"), list(public()))
def test_a_function_of_a_graph_on_disk(on_disk, function, first):
    options = arguments(function)
    if options is None:
        pytest.skip("writes or reads a file of its own")
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


def high(graph):
    return gf.operator(graph, "sym", channel="high")


def bank(graph):
    return gf.FilterBank(high(graph), gf.filters.heat(1.0))


def write_each_format(graph):
    """Try every format; a graph that is not in memory is refused by each of them."""
    for row in FORMATS.values():
        assert not attempt(lambda row=row: gf.write_graph(graph, f"never written{row.suffixes[0]}"))


# Public names that are not functions of a graph or an operator alone, and what is done with a graph on disk.
OTHERS = {
    "gsp_fb.FilterBank": lambda g: (bank(g).synthesize(bank(g).analyze(X)), bank(g).plan(X), repr(bank(g))),
    "gsp_fb.Operator": lambda g: (high(g) @ X, 2 * high(g), high(g).complement(), repr(high(g)), high(g) == high(g)),
    "gsp_fb.Spectrum": lambda g: gf.spectrum(high(g)).gft(X),
    "gsp_fb.StreamingEnergy": lambda g: gf.StreamingEnergy(high(g), X),
    "gsp_fb.cartesian_product": lambda g: gf.cartesian_product(g, gf.datasets.ring(3)),
    "gsp_fb.strong_product": lambda g: gf.strong_product(gf.datasets.ring(3), g),
    "gsp_fb.tensor_product": lambda g: gf.tensor_product(g, g),
    "gsp_fb.signal_energy": lambda g: gf.signal_energy(X, high(g)),
    "gsp_fb.write_graph": write_each_format,
    "gsp_fb.filters.TwoChannelBank": lambda g: gf.filters.TwoChannelBank(gf.operator(g, "sym")).analyze(X),
    "gsp_fb.reduction.Pyramid": lambda g: gf.reduction.Pyramid(g, 2),
    "gsp_fb.datasets.Dataset": lambda g: repr(gf.datasets.Dataset.from_arrays(g, X[:, None], Y)),
    "gsp_fb.plot.gft": lambda g: gf.plot.gft(high(g), X),
    "gsp_fb.plot.response": lambda g: gf.plot.response(bank(g), eigenvalues=True),
    "gsp_fb.plot.spectrum": lambda g: gf.plot.spectrum(high(g)),
    "gsp_fb.outofcore.write_folder": lambda g: write_folder(g, "never written"),
    "gsp_fb.distributed.local_rows": lambda g: gf.distributed.local_rows(g, X),
    "gsp_fb.distributed.on_root": lambda g: gf.distributed.on_root(g, list),
    "gsp_fb.advice.gather": lambda g: gf.advice.gather(g, X[:, None], Y, X > 0.3),
    **{
        f"gsp_fb.estimators.{name}": lambda g, name=name: getattr(gf.estimators, name)(g).fit(X[:, None], Y)
        for name in ("FilterBankClassifier", "FilterBankTransformer", "GraphSpectralEmbedding")
    },
}


def run(nn, folder):
    """Train for one epoch in memory and return the folder of the run."""
    data = gf.datasets.contextual_sbm(63, rng=0)
    nn.train(nn.build("gcn", data), data, data.splits[0], nn.TrainConfig(epochs=1), directory=folder)
    return folder


NETWORKS = {
    "audit": lambda nn, g, folder: nn.audit(nn.build("gcn", dataset(g.load())), dataset(g), bands=2, probes=2),
    "build": lambda nn, g, folder: nn.build("fb-gcn", dataset(g)),
    "build gat": lambda nn, g, folder: nn.build("gat", dataset(g)),
    "SparseMatrix": lambda nn, g, folder: nn.SparseMatrix.from_operator(gf.operator(g, "sym")),
    "embed": lambda nn, g, folder: nn.embed(run(nn, folder), dataset(g)),
    "filter_signal": lambda nn, g, folder: nn.filter_signal(bank(g), pytest.importorskip("torch").from_numpy(X)),
    "operator_propagation": lambda nn, g, folder: nn.operator_propagation(g, "sym"),
    "predict": lambda nn, g, folder: nn.predict(run(nn, folder), dataset(g)),
    "search": lambda nn, g, folder: nn.search("gcn", dataset(g), dataset(g).splits[:1], folder, n_trials=1),
    "train": lambda nn, g, folder: nn.train(nn.build("gcn", dataset(g.load())), dataset(g), dataset(g).splits[0]),
    "train_splits": lambda nn, g, folder: nn.train_splits("gcn", dataset(g), dataset(g).splits[:1]),
    "watch": lambda nn, g, folder: nn.watch(nn.build("gcn", dataset(g.load())), dataset(g)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_public_name_with_a_graph_on_disk(on_disk, name):
    if ".estimators." in name:
        pytest.importorskip("sklearn", reason="estimators need scikit-learn")
    attempt(lambda: OTHERS[name](on_disk))


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_of_a_graph_on_disk(on_disk, name, tmp_path):
    nn = pytest.importorskip("gsp_fb.nn", reason="networks need torch")
    attempt(lambda: NETWORKS[name](nn, on_disk, tmp_path / "run"))


# Results that hold a graph of their own, types of test strategies, and tables of formats: nothing is read from disk.
RESULTS = {"Reordered", "Sampling", "LearnedGraph", "Coarsened", "Sparsified", "GraphCollection", "Report", "Format"}
TAKES = re.compile(r"\b(Graph|Operator|Spectrum|FilterBank|TwoChannelBank)\b")


def takers():
    """Yield the public names with a parameter that is a graph, or holds one."""
    reference = (Path(__file__).parents[2] / "docs/api/index.md").read_text(encoding="utf-8")
    for module in re.findall(r"^   (gsp_fb\S*)$", reference, re.MULTILINE):
        if module == "gsp_fb.testing" or (module.startswith("gsp_fb.nn") and not find_spec("torch")):
            continue
        for name in import_module(module).__all__:
            thing = getattr(import_module(module), name)
            is_error = isinstance(thing, type) and issubclass(thing, BaseException)
            if callable(thing) and hasattr(thing, "__name__") and name not in RESULTS and not is_error:
                parameters = inspect.signature(thing).parameters.values()
                if any(TAKES.search(str(p.annotation)) or p.name in {"dataset", "data"} for p in parameters):
                    yield f"{module}.{name}"


def test_every_public_name_that_takes_a_graph_is_tried():
    tried = {*OTHERS, *(f"gsp_fb.nn.{name}" for name in NETWORKS), *(parameter.id for parameter in public())}
    known = {name.rpartition(".")[2] for name in tried}
    # From another library to a graph; a stored run of a data set by its name.
    others = {"from_pyg", "from_anndata", "Measured"}
    assert {name for name in takers() if name.rpartition(".")[2] not in known | others} == set()
