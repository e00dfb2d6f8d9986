"""One call of every public function and command at a given size, and the names that have no growth, with the reason."""

from __future__ import annotations

import importlib
import io
import tempfile
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import gsp_fb as gf
from gsp_fb import filters, outofcore, reduction, report, sampling, theory
from gsp_fb.cli import main

from .graphs import community_edges

MODULES = (
    "",
    "datasets",
    "energy",
    "filters",
    "learning",
    "nn",
    "outofcore",
    "plot",
    "reduction",
    "report",
    "sampling",
)
MODULES += ("theory",)
DEGREE, COLUMNS, CLASSES, MODES = 16, 4, 5, 6


@dataclass(frozen=True)
class Setting:
    """A community graph of ``n`` nodes with signals, labels and files of it, each made when first asked for."""

    n: int

    @cached_property
    def rng(self) -> Any:
        return np.random.default_rng(0)

    @cached_property
    def graph(self) -> gf.Graph:
        pairs = community_edges(self.n, self.n * DEGREE // 2)
        return gf.Graph.from_edges(pairs, n_nodes=self.n, duplicates="first").largest_component()

    @cached_property
    def op(self) -> gf.Operator:
        return gf.operator(self.graph, "sym", channel="high")

    @cached_property
    def low(self) -> gf.Operator:
        return gf.operator(self.graph, "sym")

    @cached_property
    def x(self) -> Any:
        return self.rng.standard_normal((self.graph.n_nodes, COLUMNS))

    @cached_property
    def x1(self) -> Any:
        return np.ascontiguousarray(self.x[:, 0])

    @cached_property
    def y(self) -> Any:
        return self.rng.integers(0, CLASSES, self.graph.n_nodes)

    @cached_property
    def known(self) -> Any:
        return self.rng.random(self.graph.n_nodes) < 0.2

    @cached_property
    def nodes(self) -> Any:
        return self.rng.permutation(self.graph.n_nodes)[: 4 * MODES]

    @cached_property
    def points(self) -> Any:
        return self.rng.standard_normal((self.n, COLUMNS))

    @cached_property
    def image(self) -> Any:
        side = round(self.n**0.5)
        return self.rng.random((side, side))

    @cached_property
    def folder(self) -> Path:
        return Path(tempfile.mkdtemp(prefix="growth-"))

    @cached_property
    def file(self) -> Path:
        gf.write_graph(self.graph, self.folder / "g.npz")
        np.save(self.folder / "x.npy", self.x)
        np.save(self.folder / "y.npy", self.y)
        return self.folder / "g.npz"

    @cached_property
    def csv(self) -> Path:
        gf.write_graph(self.graph, self.folder / "g.csv")
        return self.folder / "g.csv"

    @cached_property
    def npyd(self) -> Path:
        outofcore.write_folder(self.graph, self.folder / "g.npyd")
        return self.folder / "g.npyd"

    @cached_property
    def pairs(self) -> Path:
        source, target, _ = self.graph.edges()
        np.save(self.folder / "pairs.npy", np.stack([source, target], axis=1).astype(np.int64))
        return self.folder / "pairs.npy"

    @cached_property
    def report(self) -> Any:
        return report.collect(self.graph, x=self.x, y=self.y)


# What is made before the clock starts, and what is timed.
Call = Callable[[Setting], Callable[[], Any]]


def _on(*names: str) -> Callable[[Callable[..., Any]], Call]:
    """Return a decorator for a function of some fields of the setting, which are made before it is timed."""

    def make(function: Callable[..., Any]) -> Call:
        def prepare(s: Setting) -> Callable[[], Any]:
            values = [getattr(s, name) for name in names]
            return lambda: function(*values)

        return prepare

    return make


def _back(there: str, back: str) -> Call:
    """Return the call of a converter on what the opposite one made."""

    def prepare(s: Setting) -> Callable[[], Any]:
        other = getattr(gf, there)(s.graph)
        return lambda: getattr(gf, back)(other)

    return prepare


def _arrow(s: Setting) -> Callable[[], Any]:
    import pyarrow  # noqa: PLC0415  # an extra

    table = pyarrow.Table.from_pandas(gf.to_pandas(s.graph))
    return lambda: gf.from_arrow(table)


def _flow(s: Setting) -> Callable[[], Any]:
    flow = gf.gradient(s.op, s.x1)
    return lambda: gf.divergence(s.op, flow)


def _command(*words: str, signal: bool = False, output: str = "") -> Call:
    """Return the call of a command on the file of the setting."""

    def prepare(s: Setting) -> Callable[[], Any]:
        argv = [words[0], str(s.file), *words[1:]]
        argv += ["--signal", str(s.folder / "x.npy"), "--labels", str(s.folder / "y.npy")] if signal else []
        argv += [*output.split()[:-1], str(s.folder / output.rsplit(maxsplit=1)[-1])] if output else []

        def run() -> None:
            with redirect_stdout(io.StringIO()):
                code = main(argv)
            if code:
                raise RuntimeError(f"exit code {code}")

        return run

    return prepare


GENERATORS: dict[str, Callable[[Setting], Any]] = {
    "barabasi_albert": lambda s: gf.datasets.barabasi_albert(s.n, rng=0),
    "comet": lambda s: gf.datasets.comet(s.n, s.n // 2),
    "community": lambda s: gf.datasets.community(s.n, rng=0),
    "complete": lambda s: gf.datasets.complete(s.n),
    "contextual_sbm": lambda s: gf.datasets.contextual_sbm(s.n, rng=0),
    "cube": lambda s: gf.datasets.cube(s.n, rng=0),
    "david_sensor_net": lambda s: gf.datasets.david_sensor_net(s.n, rng=0),
    "erdos_renyi": lambda s: gf.datasets.erdos_renyi(s.n, DEGREE / s.n, rng=0),
    "grid": lambda s: gf.datasets.grid(round(s.n**0.5)),
    "low_stretch_tree": lambda s: gf.datasets.low_stretch_tree(round(np.log2(s.n) / 2)),
    "path": lambda s: gf.datasets.path(s.n),
    "random_regular": lambda s: gf.datasets.random_regular(s.n, 6, rng=0),
    "random_ring": lambda s: gf.datasets.random_ring(s.n, rng=0),
    "ring": lambda s: gf.datasets.ring(s.n),
    "road": lambda s: gf.datasets.road(s.n, rng=0),
    "sensor": lambda s: gf.datasets.sensor(s.n, rng=0),
    "sphere": lambda s: gf.datasets.sphere(s.n, rng=0),
    "star": lambda s: gf.datasets.star(s.n),
    "swiss_roll": lambda s: gf.datasets.swiss_roll(s.n, rng=0),
    "torus": lambda s: gf.datasets.torus(round(s.n**0.5)),
    "two_moons": lambda s: gf.datasets.two_moons(s.n, rng=0),
}

CALLS: dict[str, Call] = {
    "operator": _on("graph")(lambda g: gf.operator(g, "sym")),
    "adjusted_homophily": _on("graph", "y")(gf.adjusted_homophily),
    "advise": _on("graph", "x", "y", "known")(gf.advise),
    "aggregation_similarity": _on("graph", "x", "y")(gf.aggregation_similarity),
    "cartesian_product": _on("graph")(lambda g: gf.cartesian_product(g, gf.datasets.path(4))),
    "strong_product": _on("graph")(lambda g: gf.strong_product(g, gf.datasets.path(4))),
    "tensor_product": _on("graph")(lambda g: gf.tensor_product(g, gf.datasets.path(4))),
    "class_homophily": _on("graph", "y")(gf.class_homophily),
    "edge_homophily": _on("graph", "y")(gf.edge_homophily),
    "node_homophily": _on("graph", "y")(gf.node_homophily),
    "label_informativeness": _on("graph", "y")(gf.label_informativeness),
    "col_diff": _on("x")(gf.col_diff),
    "row_diff": _on("x")(gf.row_diff),
    "effective_rank": _on("x")(gf.effective_rank),
    "signal_energy": _on("x")(gf.signal_energy),
    "row_normalized": _on("x")(lambda x: gf.row_normalized(abs(x))),
    "one_hot": _on("y")(gf.one_hot),
    "dirichlet_energy": _on("op", "x")(gf.dirichlet_energy),
    "nonsmooth_energy": _on("op", "x")(gf.nonsmooth_energy),
    "s_value": _on("op", "x")(gf.s_value),
    "expected_s_value": _on("op", "x")(gf.expected_s_value),
    "s_value_significance": _on("op", "x1")(lambda op, x: gf.s_value_significance(op, x, rng=0)),
    "energy_profile": _on("op", "x")(gf.energy_profile),
    "spectral_density": _on("op")(lambda op: gf.spectral_density(op, rng=0)),
    "lambda_max": _on("op")(gf.lambda_max),
    "lambda_max_bounds": _on("op")(gf.lambda_max_bounds),
    "eigengap": _on("op")(gf.eigengap),
    "spectrum": _on("op")(lambda op: gf.spectrum(op, MODES)),
    "laplacian_pe": _on("op")(lambda op: gf.laplacian_pe(op, MODES)),
    "gearys_c": _on("graph", "x")(gf.gearys_c),
    "morans_i": _on("graph", "x")(gf.morans_i),
    "spatially_variable": _on("graph", "x")(gf.spatially_variable),
    "gradient": _on("op", "x1")(gf.gradient),
    "divergence": _flow,
    "incidence": _on("op")(gf.incidence),
    "total_variation": _on("op", "x")(gf.total_variation),
    "line_graph": _on("graph")(gf.line_graph),
    "joint_gft": _on("op", "x")(gf.joint_gft),
    "joint_igft": _on("op", "x")(gf.joint_igft),
    "joint_filter": _on("op", "x")(lambda op, x: gf.joint_filter(op, x, filters.heat(1.0), abs)),
    "resistance": _on("graph")(lambda g: gf.resistance(g, [(0, 1), (2, 5)])),
    "explore": _on("graph", "x1", "y")(gf.explore),
    "learn_graph": _on("points")(gf.learn_graph),
    "learn_weights": _on("points")(gf.learning.learn_weights),
    "verify": _on("graph")(lambda g: gf.verify(g, max_nodes=g.n_nodes)),
    "from_arrow": _arrow,
    **{f"to_{name}": _on("graph")(getattr(gf, f"to_{name}")) for name in ("igraph", "networkx", "pandas", "pyg")},
    **{f"to_{name}": _on("graph")(getattr(gf, f"to_{name}")) for name in ("pygsp", "torch")},
    **{f"from_{name}": _back(f"to_{name}", f"from_{name}") for name in ("igraph", "networkx", "pandas", "pygsp")},
    **{f"from_{name}": _back(f"to_{name}", f"from_{name}") for name in ("torch", "pyg")},
    "write_graph": _on("graph", "folder")(lambda g, folder: gf.write_graph(g, folder / "w.csv")),
    "read_graph": _on("csv")(gf.read_graph),
    "open_graph": _on("npyd")(
        lambda path: gf.operator(gf.open_graph(path), "sym") @ np.ones(gf.open_graph(path).n_nodes)
    ),
    "write_folder": _on("graph", "folder")(lambda g, folder: outofcore.write_folder(g, folder / "w.npyd")),
    "build_folder": _on("pairs", "folder")(lambda pairs, folder: outofcore.build_folder(pairs, folder / "b.npyd")),
    "classify": _on("op", "y", "known")(lambda op, y, known: filters.classify(op, np.where(known, y, -1))),
    "denoise": _on("op", "x")(filters.denoise),
    "interpolate": _on("op", "x1", "known")(filters.interpolate),
    "tikhonov": _on("op", "x")(lambda op, x: filters.tikhonov(op, x, 1.0)),
    "wiener": _on("op", "x")(lambda op, x: filters.wiener(op, x, 1.0, 0.1)),
    "stationarity": _on("op", "x")(filters.stationarity),
    "two_channel": _on("graph", "x")(lambda g, x: filters.two_channel(g, levels=3).analyze(x)),
    "FilterBank.analyze": _on("op", "x")(lambda op, x: gf.FilterBank(op, filters.mexican_hat(4)).analyze(x)),
    "FilterBank.analyze, meyer": _on("op", "x")(lambda op, x: gf.FilterBank(op, filters.meyer(4)).analyze(x)),
    "TwoChannelBank.sampling": _on("graph")(lambda g: filters.two_channel(g).sampling(expensive=True)),
    "coarsen": _on("graph")(reduction.coarsen),
    "kron": _on("graph")(lambda g: reduction.kron(g, np.arange(0, g.n_nodes, 2))),
    "sparsify": _on("graph")(lambda g: reduction.sparsify(g, 0.9)),
    "sampling_set": _on("op")(lambda op: sampling.sampling_set(op, MODES, 4 * MODES)),
    "recover": _on("op", "nodes", "x1")(lambda op, nodes, x: sampling.recover(op, nodes, x[nodes], MODES)),
    "condition": _on("op", "nodes")(lambda op, nodes: sampling.condition(op, nodes, MODES)),
    "paper_dense": _on("graph")(lambda g: theory.paper_dense(g, "sym")),
    "paper_matrix": _on("low")(theory.paper_matrix),
    "verify_each": _on("graph")(lambda g: list(theory.verify_each(g, max_nodes=g.n_nodes))),
    "collect": _on("graph", "x", "y")(lambda g, x, y: report.collect(g, x=x, y=y)),
    "render_html": _on("report")(report.render_html),
    "render_json": _on("report")(report.render_json),
    "render_markdown": _on("report")(report.render_markdown),
    "write_report": _on("report", "folder")(lambda found, folder: report.write_report(found, folder / "r.html")),
    "random_splits": _on("y")(lambda y: gf.datasets.random_splits(y, rng=0)),
    "image_grid": _on("image")(gf.datasets.image_grid),
    "image_patches": _on("image")(gf.datasets.image_patches),
    "read": _on("csv")(lambda path: gf.datasets.read(path, features=())),
    **{name: (lambda s, make=make: lambda: make(s)) for name, make in GENERATORS.items()},
}

COMMANDS: dict[str, Call] = {
    "info": _command("info", signal=True),
    "energy": _command("energy", signal=True),
    "spectrum": _command("spectrum"),
    "verify": _command("verify"),
    "eigengap": _command("eigengap"),
    "report": _command("report", signal=True, output="-o r.html"),
    "advise": _command("advise", signal=True),
    "filter": _command("filter", signal=True, output="-o c.npy"),
    "profile": _command("profile", signal=True),
    "convert": _command("convert", output="w.csv"),
}

_KERNEL = "returns a kernel, whatever the graph"
_NAME = "looks at a name, a number or a table of the package"
_NETWORK = "trains or reads a network: NN_RESULTS.md and AUDIT.md"
_DRAWS = "draws what another row computes"
EXCLUDED: dict[str, str] = {
    **dict.fromkeys(filters.KERNELS, _KERNEL),
    **dict.fromkeys(("as_kernel", "gabor", "rational"), _KERNEL),
    **dict.fromkeys(("set_threads", "cache_dir", "info", "names", "is_edge_list", "is_folder_name"), _NAME),
    **dict.fromkeys(("parse_bytes", "tolerance", "format_of"), _NAME),
    "with_validation": "draws from the numbers of training items",
    **dict.fromkeys(("load", "relations"), "reads a data set of fixed size"),
    "from_anndata": "wraps arrays that are in memory; needs the extra for omics",
}
EXCLUDED_MODULES = {"nn": _NETWORK, "plot": _DRAWS}
EXCLUDED_COMMANDS = {
    **dict.fromkeys(("train", "search", "predict", "embed", "audit"), _NETWORK),
    **dict.fromkeys(("models", "datasets"), _NAME),
    "demo": "runs on embedded data of fixed size",
}


def public_functions() -> dict[str, str]:
    """Return the names of all public functions, with the module that lists them."""
    found: dict[str, str] = {}
    for module in MODULES:
        package = importlib.import_module(f"gsp_fb.{module}".rstrip("."))
        for name in package.__all__:
            value = getattr(package, name)
            if callable(value) and not isinstance(value, type):
                found.setdefault(name if module not in EXCLUDED_MODULES else f"{module}.{name}", module)
    return found
