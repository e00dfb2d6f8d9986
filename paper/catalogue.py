"""The experiments: one row a table or figure of the paper, each with its data sets, models and what is measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from .control import arm_rows, core_rows, seed_rows
from .directed import directed_rows
from .published import adaptive_rows, polynomial_rows, script_rows, webkb_rows
from .rows import (
    ATTENTION,
    S_VALUES,
    SAINT,
    SHALLOW,
    Row,
    ablation,
    deep,
    elsewhere,
    geometric,
    isomorphism,
    searched,
    selected,
)

__all__ = ["EXPERIMENTS", "FAMILIES", "METRICS", "PAPER_NAMES", "UNITS", "Experiment"]


@dataclass(frozen=True)
class Experiment:
    """One table or figure.

    Attributes
    ----------
    name, title : str
    kind : str
        How a cell is measured; a row of ``paper.measures.MEASURES``.
    measure : str
        What of a cell the table shows: ``score``, ``s-values``, ``alphas``, ``search``, ``selection`` or nothing for
        figures.
    printed : str
        The table's name among the paper's numbers.
    datasets : tuple of str
    rows : tuple of Row
    protocols : tuple of str
    note : str
        What a reader must know.

    Examples
    --------
    >>> table = EXPERIMENTS["table9"]
    >>> table.kind, table.datasets[:2], table.rows[0].label
    ('nodes', ('cornell', 'wisconsin'), 'MLP')
    """

    name: str
    title: str
    kind: str
    measure: str
    printed: str
    datasets: tuple[str, ...]
    rows: tuple[Row, ...]
    protocols: tuple[str, ...] = ("paper", "tuned")
    note: str = ""


WEBKB = ("cornell", "wisconsin", "texas")
NINE = (*WEBKB, "actor", "chameleon", "squirrel", "cora", "citeseer", "pubmed")
FURTHER = ("dblp", "coauthor_cs", "coauthor_physics", "amazon_computers", "amazon_photo")
LEAK_FREE = ("chameleon_filtered", "squirrel_filtered", "minesweeper", "tolokers")
COLLECTIONS = (
    "MUTAG",
    "PTC",
    "PROTEINS",
    "IMDB-BINARY",
    "IMDB-MULTI",
    "NCI1",
    "REDDIT-BINARY",
    "COLLAB",
    "REDDIT-MULTI-5K",
)
# Heterophilic sets whose sources list arcs.
DIRECTED = ("texas", "chameleon_filtered")
CONTROL = (*NINE, "cornell_fixed", *FURTHER, *LEAK_FREE)
# Data sets of one source are not independent draws; a set that is alone in its family stands for itself.
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "webkb": (*WEBKB, "cornell_fixed"),
    "wikipedia": ("chameleon", "squirrel", "chameleon_filtered", "squirrel_filtered"),
    "citation": ("cora", "citeseer", "pubmed", "dblp"),
    "coauthor": ("coauthor_cs", "coauthor_physics"),
    "amazon": ("amazon_computers", "amazon_photo"),
}
# The public files of cornell carry the features and labels of texas: one observation, not two.
UNITS: Mapping[str, str] = {"cornell": "texas"}
# Our name of a data set -> the one in the paper's tables.
PAPER_NAMES = {
    "IMDB-BINARY": "IMDB-B",
    "IMDB-MULTI": "IMDB-M",
    "REDDIT-BINARY": "RDT-B",
    "REDDIT-MULTI-5K": "RDT-M5K",
}
# Data sets that are not scored by accuracy.
METRICS = {"minesweeper": "roc_auc", "tolokers": "roc_auc", "ppi": "micro_f1"}

_NO_LAZY = (
    "The paper prints GraphSAGE and GAT with a lazy filter too, but defines none for neighbour means or attention; "
    "ours stand beside its 'sym' rows."
)
_CONTROL = (
    "Not in the paper. Rows are named by channels, mixing, inner ReLU (relu) or none (linear), filter (sym: "
    "renormalised, lazy: lazy random walk) and form (2: two layers, deep: four residual layers with layer "
    "normalisation). Every row of a data set chooses among the same settings on validation nodes."
)
_TABLE = (
    Experiment("table1", "S-values by L_sym", "s-values", "s-values", "table1", NINE, (S_VALUES,), ("paper",)),
    Experiment(
        "table3",
        "S-values by the renormalised Laplacian, of data and of outputs",
        "s-values",
        "s-values",
        "table3",
        NINE,
        (
            S_VALUES,
            elsewhere("GCN", "gcn", "table9", printed="s_value_output_gcn"),
            elsewhere("FB-GCN-sym", "fb-gcn", "table9", printed="s_value_output_fb_gcn"),
        ),
    ),
    Experiment(
        "table9",
        "Lazy against renormalised filters on nine data sets",
        "nodes",
        "score",
        "table9_lazy",
        NINE,
        (*SHALLOW, *ATTENTION),
        note=_NO_LAZY,
    ),
    Experiment(
        "table2",
        "Shallow networks",
        "nodes",
        "score",
        "table2",
        NINE,
        (
            *SAINT,
            *(
                elsewhere(label, model, "table9", printed=printed)
                for label, model, printed in (
                    ("GraphSAGE", "graphsage", "GraphSAGE"),
                    ("FB-GraphSAGE", "fb-graphsage", "FB-GraphSAGE"),
                    ("GAT", "gat", "GAT"),
                    ("FB-GAT", "fb-gat", "FB-GAT"),
                    ("GCN", "gcn", "GCN"),
                    ("FB-GCN-sym", "fb-gcn", "FB-GCN"),
                )
            ),
            *geometric(),
            Row("GWNN", "gwnn"),
            Row("FB-GWNN", "fb-gwnn"),
        ),
        note=(
            "Rows that Table 9 trains too are the same cells; the paper's two tables differ by up to 30 points there. "
            "Elsewhere the paper points to others' settings, which are the defaults here: GraphSAINT's random walks "
            "of length 2 (512 units, dropout 0.1, no decay), GWNN's scale and threshold, Geom-GCN's weight decay."
        ),
    ),
    Experiment("table4", "Deep networks", "nodes", "score", "table4", NINE, deep()),
    Experiment(
        "table5",
        "Channels and transformation",
        "nodes",
        "score",
        "table5_ablation_graphsaint",
        ("cora", "cornell", "texas"),
        ablation(),
    ),
    Experiment(
        "table6",
        "Whole graphs, ten folds",
        "graphs",
        "score",
        "table6_graph_classification",
        COLLECTIONS,
        isomorphism(),
        note=(
            "Protocol 'paper' is GIN's: the epoch is chosen by the scored folds themselves, so its figures are "
            "optimistic. 'tuned' sets a tenth of each fold's training graphs aside as validation. RDT-M5K is not at "
            "hand."
        ),
    ),
    Experiment(
        "table7",
        "Mixing weights of the output layer",
        "nodes",
        "alphas",
        "table7_alphas",
        NINE,
        (elsewhere("FB-GraphSAINT", "fb-graphsaint", "table2"),),
    ),
    Experiment(
        "figure-alphas",
        "Course of the mixing weights in training",
        "alphas",
        "",
        "",
        ("cora", "cornell", "texas"),
        (Row("FB-GraphSAINT", "fb-graphsaint"),),
        ("paper",),
    ),
    Experiment(
        "table8",
        "Channels and transformation on PPI",
        "nodes",
        "score",
        "table8_ppi",
        ("ppi",),
        ablation(),
        note="The data set is not at hand here.",
    ),
    Experiment(
        "table10",
        "Lazy against renormalised filters on five further data sets",
        "nodes",
        "score",
        "table10_lazy_more",
        FURTHER,
        (*SHALLOW, *ATTENTION),
        note="The paper's splits are not public; ours are 60/20/20, stratified, from one seed. " + _NO_LAZY,
    ),
    Experiment(
        "figure-tsne",
        "Embeddings of the channels",
        "tsne",
        "",
        "",
        NINE,
        (Row("FB-GCN-sym", "fb-gcn", listed=("FB-GCN", "renorm_sym")),),
    ),
    Experiment(
        "leak-free",
        "The comparison where duplicates do not leak from training to test",
        "nodes",
        "score",
        "",
        LEAK_FREE,
        SHALLOW,
        ("tuned",),
        note="Not in the paper. ROC AUC on Minesweeper and Tolokers.",
    ),
    Experiment(
        "control",
        "The high channel against the identity",
        "nodes",
        "score",
        "",
        CONTROL,
        core_rows(),
        ("tuned",),
        note=_CONTROL,
    ),
    Experiment(
        "control-factors",
        "The control under node mixing, inner ReLU, the lazy filter and four normalised residual layers",
        "nodes",
        "score",
        "",
        CONTROL,
        arm_rows(),
        ("tuned",),
        note=_CONTROL,
    ),
    Experiment(
        "control-seeds",
        "The search of six cells of the control repeated with other seeds",
        "nodes",
        "score",
        "",
        ("texas", "chameleon", "cora"),
        seed_rows(),
        ("tuned",),
        note="Settings, weights and dropout are drawn anew; splits are the same.",
    ),
    Experiment(
        "directed",
        "Arcs as listed, magnetic and undirected",
        "nodes",
        "score",
        "",
        DIRECTED,
        directed_rows(),
        ("tuned",),
        note=(
            "Not in the paper. Rows differ in the graph alone: undirected; magnetic (Hermitian adjacency of the arcs, "
            "complex channels as pairs of real columns, q of 0.1 or 0.25 chosen with the other settings); out-arcs "
            "(each node sees the nodes that its arcs point to). All have the renormalised random walk, a low channel "
            "alone or low and high, and choose among the same settings on validation nodes."
        ),
    ),
    Experiment(
        "published",
        "Learnable polynomial filters beside their authors' figures",
        "nodes",
        "score",
        "published",
        ("texas", "cornell", "cora"),
        polynomial_rows(),
        ("tuned",),
        note=(
            "Not in the paper. In brackets the figures of Wang and Zhang 2022 (GPRGNN, BernNet, JacobiConv) and He et "
            "al. 2022 (ChebNetII), on random splits with equally many training nodes of every class; ours come from "
            "one seed, theirs from others. Every parameter has one learning rate, and nothing is dropped before the "
            "filter; the next table shows what that costs on Cornell: eight points for BernNet, five for ChebNetII. On "
            "Cora all four are within 1.5 points of their authors."
        ),
    ),
    Experiment(
        "published-webkb",
        "Learnable polynomial filters, trained as their authors do on WebKB",
        "nodes",
        "score",
        "published",
        ("cornell", "texas"),
        webkb_rows(),
        ("tuned",),
        note=(
            "Not in the paper. As in the table before, but with dropout before the filter (0.5; JacobiConv 0.7) and, "
            "except GPRGNN, a learning rate of the filter's coefficients that is 0.02 of the maps'; JacobiConv in the "
            "basis a = -0.75, b = 0.25 with ratios below 0.5. These values come from the scripts that the authors "
            "publish for Cornell; all others are chosen on validation nodes. On Cornell all four stay two to four "
            "points below their authors; with the settings and on the splits of the scripts, in the next tables, they "
            "are within 1.5 points. Of BernNet and ChebNetII the settings and the splits are worth about a point each "
            "(three seeds a split, not stored): the choice prefers a larger weight decay, which is one point better on "
            "the 37 validation nodes and one worse on the test nodes."
        ),
    ),
    *(
        Experiment(
            f"published-{name}",
            f"Learnable polynomial filters with the settings and splits of their authors' scripts: {name.capitalize()}",
            "nodes",
            "score",
            "published",
            (name,),
            script_rows(name),
            ("paper",),
            note=(
                "Not in the paper. The ten random splits are those of the scripts of BernNet and ChebNetII, drawn with "
                "their seeds (JacobiConv's come from others). Settings are those that each script lists for this set, "
                "apart from two: coefficients have no weight decay, and GPRGNN starts at another filter. Raw or "
                "row-normalised features are chosen by validation. Every figure is within 1.5 points of its authors'."
            ),
        )
        for name in ("cornell", "texas")
    ),
    Experiment(
        "published-acm",
        "ACM-GCN beside its authors' figures",
        "nodes",
        "score",
        "published-acm",
        WEBKB,
        adaptive_rows(),
        ("tuned",),
        note=(
            "Not in the paper. In brackets the figures of Luan et al. 2022 on the same ten splits. On Texas ours is "
            "1.6 points lower, with a standard error over the splits of 1.0."
        ),
    ),
    Experiment(
        "selection",
        "What a choice on the test nodes gains",
        "selection",
        "selection",
        "table9_lazy",
        WEBKB,
        selected(),
        ("tuned",),
        note=(
            "Not in the paper. 64 of the 1 080 settings of the grid train on all ten splits, and two are compared: the "
            "best by validation and the best by the test score itself. The paper does not print how its settings were "
            "chosen; where the second choice reaches the printed figure and the first does not, a choice on test nodes "
            "would explain it. That is an inference, not an observation. The best of all settings of the grid on test "
            "nodes lies at or above the best of these 64."
        ),
    ),
    Experiment(
        "wide-search",
        "Validation accuracy instead of the loss chooses the epoch",
        "nodes",
        "search",
        "table9_lazy",
        (*WEBKB, "cora"),
        (
            elsewhere("MLP", "mlp", "table9"),
            elsewhere("FB-GCN-lazy", "fb-gcn", "table9"),
            searched("FB-GCN-lazy-accuracy", monitor="score"),
        ),
        ("tuned",),
        note=(
            "Not in the paper, whose figures for the lazy filter are not reached here. 64 settings on all splits, "
            "chosen on validation nodes; that these data sets were searched further was decided after their "
            "test scores "
            "in table9 had been seen. The MLP, which has no filter, is beside them."
        ),
    ),
)
EXPERIMENTS: Mapping[str, Experiment] = MappingProxyType({row.name: row for row in _TABLE})
